//! `…/reactions`: a person says one word to the table, which only open streams carry.

use serde_json::{Value, json};

use crate::support::{
    Dice, Raw, TestGame, TestResponse, TestServer, TestTable,
    TestViewer::{self, *},
};

fn react(game: &TestGame<'_>, viewer: TestViewer, reaction: &str) -> TestResponse {
    game.post_json(viewer, "/reactions", &json!({"reaction": reaction}))
}

fn reaction(seat: usize, name: &str) -> Value {
    json!({"type": "reaction", "seat": seat, "reaction": name})
}

/// The refusal of a seat's person who reacts again and again.
fn until_refused(game: &TestGame<'_>, seat: usize) -> TestResponse {
    let mut answers = std::iter::repeat_with(|| react(game, Seat(seat), "lucky"));
    let refused = answers.find(|answer| answer.status != 204);
    refused.expect("an answer")
}

#[test]
fn every_stream_tells_a_reaction_once() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let streams = [
        game.events(Spectator, ""),
        game.events(Host, "?include=game"),
        game.lines(Seat(0), "?last_event_id=1"),
    ];
    let before = game.snapshot();
    let history = |viewer| game.get(viewer, "/history").send().body;
    let log = history(Host);
    let names = "well_played thanks sorry ouch lucky one_moment good_game dog";
    for (number, name) in names.split(' ').enumerate() {
        let seat = number % 4;
        react(&game, Seat(seat), name).expect(204);
        for stream in &streams {
            assert_eq!(stream.notice_of("reaction"), reaction(seat, name));
        }
    }
    // Only in streams that were open then.
    let late = game.events(Spectator, "");
    react(&game, Seat(3), "dog").expect(204);
    assert_eq!(late.notice_of("reaction"), reaction(3, "dog"));
    // It is not part of the game.
    assert_eq!(game.snapshot(), before);
    assert_eq!(history(Host), log);
    // A key, which the document does not name, is not read: the reaction is sent twice.
    for _ in 0..2 {
        let body = json!({"reaction": "thanks"});
        let again = game.post(Seat(1), "/reactions").json(&body).key("thanks");
        assert_eq!(again.run().status(), 204);
        assert_eq!(late.notice_of("reaction"), reaction(1, "thanks"));
    }
}

#[test]
fn a_person_may_react_five_times_in_twenty_seconds() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    for _ in 0..5 {
        react(&game, Seat(2), "lucky").expect(204);
    }
    let refusal = until_refused(&game, 2);
    let wait = refusal.header("retry-after").expect("a time");
    let seconds: u64 = wait.parse().expect("seconds");
    assert!((1..=20).contains(&seconds), "{seconds}");
    let policy = refusal.header("ratelimit-policy");
    assert_eq!(policy, Some("\"reactions\";q=5;w=20"));
    refusal.refused("too_many_requests");
    // Others may, and so may the same person at another table.
    react(&game, Seat(1), "lucky").expect(204);
    react(&TestGame::in_play(&server), Seat(2), "lucky").expect(204);
    // What is refused for another reason does not count.
    for _ in 0..5 {
        react(&game, Seat(3), "hello").refused("invalid_request");
    }
    react(&game, Seat(3), "dog").expect(204);
}

#[test]
fn only_people_at_a_seat_react_and_not_in_the_deal_or_exchange() {
    let server = TestServer::shared();
    let mut table = TestTable::full(&server, &json!({}));
    let game = table.game.clone();
    let refused = |viewer, code: &str| react(&game, viewer, "thanks").refused(code);
    refused(Spectator, "unauthorized");
    assert_eq!(refused(Host, "forbidden")["reason"], "seat_only");
    for phase in ["deal", "exchange"] {
        assert_eq!(refused(Seat(0), "wrong_phase")["phase"], phase);
        // The phase is checked before the content.
        react(&game, Seat(0), "hello").refused("wrong_phase");
        game.step(&mut Dice::new(1));
    }
    react(&game, Seat(0), "thanks").expect(204);
    for body in [
        json!({}),
        json!({"reaction": "Dog"}),
        json!({"reaction": "dog", "seat": 1}),
    ] {
        let wrong = game.post_json(Seat(0), "/reactions", &body);
        wrong.refused("invalid_request");
    }
    table.put(Seat(1), 1, &json!({"kind": "bot"})).expect(200);
    assert_eq!(refused(Seat(1), "forbidden")["reason"], "bot_plays");
    let invitation = table.open(2);
    table.join(&json!({"invitation": invitation}));
    let problem = react(&table.game, Seat(2), "thanks").refused("forbidden");
    assert_eq!(problem["reason"], "stand_in_plays");
    let mut seating = TestTable::create(&server, &json!({}));
    seating.join(&json!({"invitation": seating.invitations[1]}));
    react(&seating.game, Seat(1), "one_moment").expect(204);
}

#[test]
fn the_host_switches_reactions_off() {
    let server = TestServer::shared();
    let game = TestGame::create(&server, &json!({"reactions": false, "first_dealer": 0}));
    assert_eq!(game.view(Spectator)["reactions"], false);
    let problem = react(&game, Seat(0), "thanks").refused("forbidden");
    assert_eq!(problem["reason"], "reactions_off");
    let patch = |on: bool| game.patch(Host, &json!({"reactions": on})).expect(200);
    let changed = patch(true);
    let event = json!({"type": "settings_changed", "turn_seconds": null, "bot_pace_ms": 250,
        "listed": true, "reactions": true});
    assert_eq!(changed["events"], json!([event]));
    assert_eq!(changed["game"]["reactions"], true);
    game.deal();
    game.exchange();
    react(&game, Seat(0), "thanks").expect(204);
    assert_eq!(patch(false)["game"]["reactions"], false);
    let problem = react(&game, Seat(0), "thanks").refused("forbidden");
    assert_eq!(problem["reason"], "reactions_off");
    assert_eq!(TestGame::fixed(&server).view(Spectator)["reactions"], true);
}

/// A reader that does not read costs the others nothing.
#[test]
fn a_stalled_reader_holds_nobody_up() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let stalled = Raw::get(&game, Spectator, "/events");
    stalled.wait_for_bytes();
    let stream = game.events(Spectator, "");
    for seat in 0..4 {
        for _ in 0..5 {
            react(&game, Seat(seat), "good_game").expect(204);
            assert_eq!(stream.notice_of("reaction"), reaction(seat, "good_game"));
        }
    }
}
