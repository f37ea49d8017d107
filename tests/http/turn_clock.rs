//! The turn clock: the server acts for a seat that is too late.

use std::thread;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{Signal, Stream, TestGame, TestServer, TestViewer::*};

fn timed<'a>(server: &'a TestServer, preset: &str, seconds: u32) -> TestGame<'a> {
    let seats = [(); 4].map(|()| json!({"kind": "human", "level": "greedy"}));
    let wishes = json!({"rules": {"preset": preset}, "seats": seats, "first_dealer": 0,
        "turn_seconds": seconds});
    TestGame::create(server, &wishes)
}

fn deadline(view: &Value) -> Timestamp {
    let text = view["deadline"].as_str().expect("a deadline");
    text.parse().expect("RFC 3339")
}

#[test]
fn the_server_acts_when_the_time_is_up() {
    let server = TestServer::shared();
    let play = |preset: &str| {
        let game = timed(&server, preset, 1);
        let stream = Stream::open(game.get(Spectator, "/events").header("Last-Event-ID", "0"));
        let at = |entry: &Value| -> Timestamp {
            let text = entry["at"].as_str().expect("a time");
            text.parse().expect("RFC 3339")
        };
        let created = stream.next().expect("the creation").data;
        let dealt = stream.next().expect("the deal").data;
        assert_eq!(dealt["events"][0]["type"], "cards_dealt");
        let waited = at(&dealt).duration_since(at(&created));
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
    let left = deadline(&wait).duration_since(Timestamp::now()).as_secs();
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
    let view = game.view(Spectator);
    assert_eq!(
        view["seats"][0]["level"], "greedy",
        "how the server plays for a human"
    );
    let before = deadline(&view);
    game.deal();
    let dealt = deadline(&game.view(Spectator));
    assert!(dealt > before, "a new deadline for the exchange");
    game.swap(0, &json!({"card": game.hand(0)[0]}));
    assert_eq!(
        deadline(&game.view(Spectator)),
        dealt,
        "the same for all four"
    );
    for seat in 1..4 {
        game.swap(seat, &json!({"card": game.hand(seat)[0]}));
    }
    let begun = deadline(&game.view(Spectator));
    assert!(begun > dealt, "a new deadline for the first turn");
    game.post(Host, "/seats/2/token").send().expect(200);
    assert_eq!(
        deadline(&game.view(Spectator)),
        begun,
        "not for a fresh token"
    );
    let (seat, id) = game.first_move();
    game.play(seat, &id);
    assert!(deadline(&game.view(Spectator)) > begun);
}

#[test]
fn games_without_a_clock_have_no_deadline() {
    let server = TestServer::shared();
    let view = TestGame::dealt(&server).view(Spectator);
    assert_eq!(
        (&view["turn_seconds"], &view["deadline"]),
        (&Value::Null, &Value::Null)
    );
    for seconds in [json!(0), json!(604_801), json!("1")] {
        let request = server
            .post("/v1/games")
            .json(&json!({"turn_seconds": seconds}));
        request.send().refused("invalid_request");
    }
}
