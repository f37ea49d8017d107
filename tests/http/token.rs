//! `POST /v1/games/{id}/seats/{n}/token`

use serde_json::json;

use crate::support::{
    Signal, TestGame, TestServer,
    TestViewer::{self, *},
};

/// The game with a new token for a seat.
fn reissue<'a>(game: &TestGame<'a>, by: TestViewer, seat: usize) -> TestGame<'a> {
    let mut game = game.clone();
    assert_eq!(game.renew(by, seat)["seat"], seat);
    game
}

#[test]
fn only_the_first_renewal_by_a_seat_is_an_event() {
    let server = TestServer::shared();
    let old = reissue(&TestGame::dealt(&server), Seat(2), 2);
    let event = json!({"type": "token_renewed", "seat": 2});
    assert_eq!(old.view(Spectator)["last_action"], event);
    let (public, hand) = (old.snapshot(), old.hand(2));
    let fresh = reissue(&old, Seat(2), 2);
    assert_ne!(fresh.tokens[2], old.tokens[2]);
    assert!(fresh.tokens[2].len() >= 22);
    assert_eq!(fresh.snapshot(), public);
    assert_eq!(fresh.hand(2), hand);
    old.get(Seat(2), "").send().refused("token_replaced");
    let body = json!({"card": hand[0]});
    let by_old = old.post_json(Seat(2), "/swap", &body);
    by_old.refused("token_replaced");
    let by_old = old.post(Seat(2), "/seats/2/token").send();
    by_old.refused("token_replaced");
    fresh.swap(2, &body);
    for viewer in [Seat(0), Seat(1), Seat(3), Host] {
        assert_eq!(old.get(viewer, "").send().status, 200);
    }
}

#[test]
fn a_renewal_by_the_host_is_a_public_event() {
    let server = TestServer::shared();
    let old = TestGame::dealt(&server);
    let response = old.post(Host, "/seats/1/token").send().expect(200);
    assert_eq!(response["version"], 3);
    let event = json!({"type": "token_reissued", "seat": 1});
    for viewer in [Seat(0), Seat(3), Host, Spectator] {
        let view = old.view(viewer);
        assert_eq!(view["version"], 3);
        assert_eq!(view["last_action"], event);
        let token = response["token"].as_str().expect("a token");
        assert!(!view.to_string().contains(token));
    }
    old.get(Seat(1), "").send().refused("token_replaced");
    // The game continues unchanged.
    let fresh = reissue(&old, Host, 1);
    fresh.exchange();
    let (seat, id) = fresh.first_move();
    fresh.play(seat, &id);
}

#[test]
fn new_tokens_survive_a_restart_and_old_ones_stay_revoked() {
    let server = TestServer::start();
    let old = TestGame::dealt(&server);
    let fresh = reissue(&reissue(&old, Seat(0), 0), Host, 3);
    server.restart(Signal::Kill);
    for seat in 0..4 {
        fresh.hand(seat);
    }
    for seat in [0, 3] {
        old.get(Seat(seat), "").send().refused("token_replaced");
    }
}

#[test]
fn there_are_as_many_seats_as_the_rules_say() {
    let server = TestServer::shared();
    let four = TestGame::fixed(&server);
    let rules = json!({"preset": "dogspiel-it", "seats": 6});
    let six = TestGame::create(&server, &json!({"rules": rules}));
    let ask = |game: &TestGame, seat: &str| {
        let path = format!("/seats/{seat}/token");
        game.post(Host, &path).send()
    };
    ask(&six, "5").expect(200);
    ask(&six, "6").refused("seat_not_found");
    for seat in "4 255 256 99999999999999999999 -1 00 01 x 1.0 %31%00 0x1".split(' ') {
        ask(&four, seat).refused("seat_not_found");
    }
    assert_eq!(four.version(), 1);
}
