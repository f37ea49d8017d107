//! The turn clock: the server acts for a seat that is too late.

use std::thread;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{Signal, TestGame, TestServer, TestViewer::*};

fn timed<'a>(server: &'a TestServer, preset: &str, seconds: u32) -> TestGame<'a> {
    let seats = [(); 4].map(|()| json!({"kind": "human", "level": "greedy"}));
    let body = json!({"rules": {"preset": preset}, "seats": seats, "first_dealer": 0,
        "turn_seconds": seconds});
    TestGame::create(server, &body)
}

fn time(text: &Value) -> Timestamp {
    let text = text.as_str().expect("a time");
    text.parse().expect("RFC 3339")
}

fn deadline(game: &TestGame<'_>) -> Timestamp {
    time(&game.view(Spectator)["deadline"])
}

#[test]
fn the_server_acts_when_the_time_is_up() {
    let server = TestServer::shared();
    let play = |preset: &str| {
        let game = timed(&server, preset, 1);
        let stream = game.events_after(Spectator, 0);
        let created = stream.next().expect("the creation").data;
        let dealt = stream.next().expect("the deal").data;
        assert_eq!(dealt["events"][0]["type"], "cards_dealt");
        let waited = time(&dealt["at"]).duration_since(time(&created["at"]));
        assert!(waited.as_millis() >= 1_000, "acted before the deadline");
        // The clock does not ask for help (RULES §7.3).
        let expected = match preset {
            "hausregeln" => "exchange_passed",
            _ => "card_offered",
        };
        let mut is_over = false;
        while !is_over {
            let entry = stream.next().expect("an entry").data;
            let events = entry["events"].as_array().expect("events");
            let (answer, by) = (&events[0]["type"], &events[0]["by"]);
            assert_eq!((answer, by), (&json!(expected), &json!("clock")));
            is_over = events.iter().any(|event| event["type"] == "play_began");
        }
        // A turn or two.
        while stream.next().expect("an entry").data["events"][0]["type"] != "card_played" {}
        assert_eq!(game.view(Spectator)["turn_seconds"], 1);
    };
    thread::scope(|scope| {
        for preset in ["hausregeln", "spielanleitung"] {
            scope.spawn(move || play(preset));
        }
    });
}

#[test]
fn the_server_acts_when_the_clock_was_put_back() {
    let server = TestServer::start();
    let game = timed(&server, "dogspiel-it", 600);
    server.stop(Signal::Kill);
    // As if the game had been created when the clock was a day ahead.
    let ahead = ["updated_at", "deadline", "due_at"].map(|at| format!("{at} = {at} + 86400000000"));
    server.database().change_game(&game.id, &ahead.join(", "));
    server.restart(Signal::Kill);
    let wait = game.get(Spectator, "?after_version=1").send().expect(200);
    assert_eq!(wait["last_action"]["type"], "cards_dealt");
    let left = time(&wait["deadline"]).duration_since(Timestamp::now());
    let left = left.as_secs();
    assert!((500..=600).contains(&left), "{left}");
}

#[test]
fn the_clock_runs_on_while_no_server_does() {
    let server = TestServer::start();
    let game = timed(&server, "dogspiel-it", 600);
    server.stop(Signal::Kill);
    // Move the deadline as if ten minutes had passed.
    let passed = "deadline = deadline - 600000000, due_at = due_at - 600000000";
    server.database().change_game(&game.id, passed);
    server.restart(Signal::Kill);
    let wait = game.get(Spectator, "?after_version=1").send();
    assert_eq!(wait.expect(200)["last_action"]["type"], "cards_dealt");
}

#[test]
fn a_move_in_time_starts_a_new_deadline() {
    let server = TestServer::shared();
    let game = timed(&server, "dogspiel-it", 600);
    // So the server plays for a person.
    assert_eq!(game.view(Spectator)["seats"][0]["level"], "greedy");
    let before = deadline(&game);
    game.deal();
    let dealt = deadline(&game);
    assert!(dealt > before, "a new deadline for the exchange");
    game.offer(0);
    assert_eq!(deadline(&game), dealt, "the same for all four");
    game.exchange();
    let begun = deadline(&game);
    assert!(begun > dealt, "a new deadline for the first turn");
    game.post(Host, "/seats/2/token").send().expect(200);
    assert_eq!(deadline(&game), begun, "not for a fresh token");
    game.play_on();
    assert!(deadline(&game) > begun);
}

#[test]
fn games_without_a_clock_have_no_deadline() {
    let server = TestServer::shared();
    let view = TestGame::dealt(&server).view(Spectator);
    assert_eq!(view["turn_seconds"], Value::Null);
    assert_eq!(view["deadline"], Value::Null);
    for seconds in [json!(0), json!(604_801), json!("1")] {
        let created = server.create(&json!({"turn_seconds": seconds}));
        created.refused("invalid_request");
    }
}
