//! `POST /v1/games/{id}/seats/{n}/token`

use serde_json::json;

use crate::support::{
    Signal, TestGame, TestServer,
    TestViewer::{self, *},
    UNKNOWN_TOKEN,
};

/// Gets a new token for a seat; returns the game with it.
fn reissue<'a>(game: &TestGame<'a>, by: TestViewer, seat: usize) -> TestGame<'a> {
    let response = game
        .post(by, &format!("/seats/{seat}/token"))
        .send()
        .expect(200);
    assert_eq!(response["seat"], seat);
    let mut game = game.clone();
    game.tokens[seat] = response["token"].as_str().expect("a token").to_owned();
    game.server.forbid_in_log(&game.tokens[seat]);
    game
}

#[test]
fn a_seat_renews_its_token_without_an_event_but_the_first() {
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
    old.post(Seat(2), "/swap")
        .json(&body)
        .send()
        .refused("token_replaced");
    old.post(Seat(2), "/seats/2/token")
        .send()
        .refused("token_replaced");
    fresh.post(Seat(2), "/swap").json(&body).send().expect(200);
    for viewer in [Seat(0), Seat(1), Seat(3), Host] {
        assert_eq!(old.get(viewer, "").send().status, 200);
    }
}

#[test]
fn by_the_host_it_is_a_public_event() {
    let server = TestServer::shared();
    let old = TestGame::dealt(&server);
    let response = old.post(Host, "/seats/1/token").send().expect(200);
    assert_eq!(response["version"], 3);
    let event = json!({"type": "token_reissued", "seat": 1});
    for viewer in [Seat(0), Seat(3), Host, Spectator] {
        let view = old.view(viewer);
        assert_eq!(
            (&view["version"], &view["last_action"]),
            (&json!(3), &event)
        );
        assert!(
            !view
                .to_string()
                .contains(response["token"].as_str().expect("a token"))
        );
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
fn other_seats_and_spectators_get_no_token() {
    let server = TestServer::shared();
    let (game, other) = (TestGame::dealt(&server), TestGame::dealt(&server));
    let before = game.snapshot();
    let path = "/seats/1/token";
    for seat in [0, 2, 3] {
        game.post(Seat(seat), path).send().refused("forbidden");
    }
    game.post(Spectator, path).send().refused("unauthorized");
    for token in [UNKNOWN_TOKEN, &other.host, &other.tokens[1]] {
        let response = server.post(&game.path(path)).token(token).send();
        response.refused("unauthorized");
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn there_are_as_many_seats_as_the_rules_say() {
    let server = TestServer::shared();
    let four = TestGame::fixed(&server);
    let six = TestGame::create(
        &server,
        &json!({"rules": {"preset": "dogspiel-it", "seats": 6}}),
    );
    let status = |game: &TestGame, seat: &str| {
        let path = format!("/seats/{seat}/token");
        game.post(Host, &path).send()
    };
    status(&six, "5").expect(200);
    status(&six, "6").refused("seat_not_found");
    for seat in [
        "4",
        "255",
        "256",
        "99999999999999999999",
        "-1",
        "00",
        "01",
        "x",
        "1.0",
        "%31%00",
        "0x1",
    ] {
        status(&four, seat).refused("seat_not_found");
    }
    assert_eq!(four.version(), 1);
}

#[test]
fn a_guard_lets_only_its_version_pass() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let before = game.snapshot();
    for by in [Seat(0), Host] {
        let request = || game.post(by, "/seats/0/token");
        request().if_match("\"1\"").send().refused("stale_version");
        let body = json!({"version": 1});
        request().json(&body).send().refused("stale_version");
        let body = json!({"colour": "red"});
        request().json(&body).send().refused("invalid_request");
    }
    assert_eq!(game.snapshot(), before);
    let request = game.post(Host, "/seats/0/token").if_match("\"2-host\"");
    request.json(&json!({"version": 2})).send().expect(200);
}

#[test]
fn the_other_route_takes_no_token_from_anybody_else() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let fresh = reissue(&game, Seat(0), 0);
    // The new token is valid only for seat 0 in this game.
    fresh
        .post(Seat(0), "/seats/1/token")
        .send()
        .refused("forbidden");
    fresh
        .request("DELETE", Seat(0), "")
        .send()
        .refused("forbidden");
    let other = TestGame::dealt(&server);
    let response = server.get(&other.path("")).token(&fresh.tokens[0]).send();
    response.refused("unauthorized");
}
