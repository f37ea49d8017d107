//! Bot seats: the server deals, swaps and plays for them, in the background.

use std::{thread, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{Message, Signal, Stream, TestGame, TestServer, TestViewer::*, verify};

fn bot(level: &str) -> Value {
    json!({"kind": "bot", "level": level})
}

fn human() -> Value {
    json!({"kind": "human"})
}

/// Waits until the game is over, and checks that its log is whole.
#[track_caller]
fn to_the_end(game: &TestGame<'_>) {
    let entries = log(game).rest();
    let versions = entries.iter().map(|entry| entry.version());
    assert!(versions.eq(1..=entries.len() as u64), "one entry a version");
    let last = &entries.last().expect("an entry").data["events"];
    let last = last.as_array().and_then(|events| events.last());
    assert_eq!(last.expect("an event")["type"], "game_won");
}

/// A stream of the log from its beginning.
fn log(game: &TestGame<'_>) -> Stream {
    game.lines(Spectator, "?last_event_id=0")
}

/// The first entries of the log after the creation, and how many milliseconds each took.
fn with_times(game: &TestGame<'_>, count: usize) -> Vec<(Value, i128)> {
    let entries = log(game).take(count);
    let at = |entry: &Message| -> Timestamp {
        let text = entry.data["at"].as_str().expect("a time");
        text.parse().expect("RFC 3339")
    };
    let took = |pair: &[Message]| at(&pair[1]).duration_since(at(&pair[0])).as_millis();
    let pairs = entries.windows(2);
    pairs
        .map(|pair| (pair[1].data.clone(), took(pair)))
        .collect()
}

#[test]
fn bots_play_a_game_to_the_end_by_themselves() {
    play_to_the_end(&["greedy", "random", "greedy", "greedy"]);
}

#[test]
#[ignore = "takes half a minute"]
fn six_bots_play_a_game_to_the_end_by_themselves() {
    play_to_the_end(&["greedy", "random", "greedy", "fast", "greedy", "random"]);
}

fn play_to_the_end(levels: &[&str]) {
    let server = TestServer::shared();
    let seats: Vec<Value> = levels.iter().map(|level| bot(level)).collect();
    let rules = json!({"preset": "hausregeln", "seats": seats.len()});
    let game = TestGame::create(&server, &json!({"rules": rules, "seats": seats}));
    to_the_end(&game);
    let view = game.view(Spectator);
    assert_eq!(view["phase"], "finished");
    assert!(view["winner"].is_u64());
    assert_eq!(view["seats"][1]["kind"], "bot");
    assert_eq!(view["seats"][1]["level"], "random");
    assert_eq!(view["bot_pace_ms"], 0);
}

/// Some seats cannot leave the kennel with their first hand, so they have no choice to make.
#[test]
fn the_time_that_a_bot_takes_tells_nothing_of_its_hand() {
    let server = TestServer::shared();
    for (level, promised) in [("greedy", 1), ("fast", 5), ("strong", 205)] {
        let game = TestGame::with_bots(&server, level, 0);
        for (entry, took) in with_times(&game, 14) {
            let is_dealt = entry["events"][0]["type"] == "cards_dealt";
            assert!(
                is_dealt || took >= promised,
                "{level}: {took} ms for {entry}"
            );
        }
    }
}

#[test]
fn bots_have_no_tokens() {
    let server = TestServer::shared();
    let body = json!({"seats": [human(), bot("fast"), human(), {"kind": "bot"}]});
    let created = server.post("/v1/games").json(&body).send().expect(201);
    let tokens = created["seat_tokens"].as_array().expect("tokens");
    let has_token: Vec<bool> = tokens.iter().map(Value::is_string).collect();
    assert_eq!(has_token, [true, false, true, false]);
    let game = TestGame::from_created(&server, &created);
    let history = game.get(Spectator, "/history").send().expect(200);
    for seats in [&created["game"]["seats"], &history["players"]] {
        let level = seats[0].get("level").expect("a level that is always sent");
        assert!(
            level.is_null(),
            "nothing is played for a human without a clock"
        );
        assert_eq!(seats[3]["level"], "fast", "the level if none is named");
    }
    assert_eq!(created["game"]["seats"][3]["name"], "Bot 3");
    let pace = &created["game"]["bot_pace_ms"];
    assert_eq!(*pace, 250, "slow enough for people to follow");
}

/// Plays for a human seat as fast as possible.
fn play_along(game: &TestGame<'_>, seat: usize) {
    let mut view = game.view(Seat(seat));
    while view["phase"] != "finished" {
        let route = view["actions"][0]["route"].clone();
        match route.as_str() {
            Some("deal") => drop(game.post(Seat(seat), "/deal").send().expect(200)),
            Some(_) => {
                let advice = game.get(Seat(seat), "/suggest-move?level=greedy").send();
                let request = &advice.expect(200)["suggestions"][0]["request"];
                game.as_suggested(seat, request).expect(200);
            }
            None => {
                let known = view["version"].as_u64().expect("a version");
                let wait = format!("?after_version={known}");
                game.get(Seat(seat), &wait).send();
            }
        }
        view = game.view(Seat(seat));
    }
}

#[test]
fn a_person_plays_with_bots() {
    let server = TestServer::shared();
    let seats = json!([bot("greedy"), bot("fast"), human(), bot("greedy")]);
    let rules = json!({"preset": "hausregeln"});
    let body = json!({"rules": rules, "seats": seats, "bot_pace_ms": 0});
    let game = TestGame::create(&server, &body);
    play_along(&game, 2);
    to_the_end(&game);
}

#[test]
fn a_bot_waits_for_its_human_partner() {
    let server = TestServer::shared();
    let seats = json!([human(), bot("greedy"), bot("greedy"), human()]);
    let rules = json!({"preset": "hausregeln", "exchange": "optional"});
    let body = json!({"rules": rules, "seats": seats, "first_dealer": 0, "bot_pace_ms": 0});
    let game = TestGame::create(&server, &body);
    game.deal();
    // Once bots of another game have dealt and offered their cards, the server has looked at those
    // of this game.
    log(&TestGame::with_bots(&server, "greedy", 0)).take(6);
    assert_eq!(game.version(), 2, "nobody has answered yet");
    game.swap(0, &json!({"ask": true}));
    let state = |view: &Value, seat: usize| view["seats"][seat]["exchange"].clone();
    let view = game.wait_for(|view| state(view, 2) != "pending");
    assert_eq!(state(&view, 1), "pending", "seat 3 has not answered");
    game.swap(3, &json!({"decline": true}));
    assert_eq!(state(&game.view(Spectator), 1), "kept");
}

#[test]
fn bots_keep_their_pace() {
    let server = TestServer::shared();
    let entries = with_times(&TestGame::with_bots(&server, "random", 40), 9);
    for (entry, pause) in &entries[1..] {
        assert!(*pause >= 40, "{pause} ms before {entry}");
    }
}

#[test]
fn the_host_hands_a_seat_to_a_bot_and_back() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let (seat, id) = game.first_move();
    let version = game.version();
    let hand_over = |to: &Value| game.put(Host, seat, to).expect(200);
    let changed = hand_over(&bot("greedy"));
    assert_eq!(changed["version"], version + 1);
    let event = json!({"type": "seat_handed_over", "seat": seat, "name": format!("Seat {seat}"),
        "kind": "bot", "level": "greedy"});
    assert_eq!(changed["events"], json!([event]));
    // The bot plays, and the seat's human cannot.
    let wait = format!("?after_version={}", version + 1);
    assert_eq!(game.get(Spectator, &wait).send().status, 200);
    game.try_play(Seat(seat), &id).refused("forbidden");
    let token = game.post(Host, &format!("/seats/{seat}/token"));
    token.send().refused("no_human");
    let view = game.view(Seat(seat));
    assert_eq!(view["actions"], json!([]));
    assert!(view["seats"][seat]["hand"].is_array());

    hand_over(&json!({"kind": "human", "name": "Beat"}));
    let view = game.view(Spectator);
    assert_eq!(view["seats"][seat]["kind"], "human");
    assert_eq!(view["seats"][seat]["name"], "Beat");
    while game.turn() != seat {
        game.play_on();
    }
    let (_, id) = game.first_move();
    game.play(seat, &id);
}

#[test]
fn a_human_takes_over_from_a_bot() {
    let server = TestServer::shared();
    let seats = json!([human(), bot("greedy"), human(), human()]);
    let game = TestGame::create(&server, &json!({"seats": seats, "first_dealer": 0}));
    game.deal();
    game.put(Host, 1, &human()).expect(200);
    let fresh = game.post(Host, "/seats/1/token").send().expect(200);
    let token = fresh["token"].as_str().expect("a token");
    let view = game.get(Spectator, "").token(token).send().expect(200);
    // The hand was dealt to the bot, which plays it until the next deal.
    assert_eq!(view["seats"][1]["hand"], Value::Null);
    assert_eq!(view["seats"][1]["stand_in"], true);
}

/// Starts this many games of bots, kills the server this many times, and checks that all
/// games end, with one entry for each version, and records that verify.
fn kill_while_bots_play(games: usize, kills: u64) {
    let server = TestServer::start();
    let seats = [bot("greedy"), bot("random"), bot("greedy"), bot("fast")];
    let body = json!({"rules": {"preset": "hausregeln"}, "seats": seats});
    let games: Vec<TestGame<'_>> = (0..games)
        .map(|_| TestGame::create(&server, &body))
        .collect();
    for kill in 0..kills {
        thread::sleep(Duration::from_millis(150 + 70 * (kill % 5)));
        server.restart(Signal::Kill);
    }
    for game in &games {
        to_the_end(game);
        let (verified, said) = verify(&game.record());
        assert!(verified, "{said}");
    }
}

#[test]
fn bot_games_survive_kills() {
    kill_while_bots_play(3, 3);
}

#[test]
#[ignore = "takes a minute: cargo test --release --test http -- --ignored survive"]
fn many_bot_games_survive_many_kills() {
    kill_while_bots_play(20, 10);
}

#[test]
fn a_human_is_served_while_many_bots_play() {
    let server = TestServer::shared();
    for _ in 0..40 {
        TestGame::with_bots(&server, "greedy", 0);
    }
    let seats = [human(), bot("greedy"), bot("greedy"), bot("greedy")];
    let body = json!({"seats": seats, "bot_pace_ms": 0, "first_dealer": 1});
    let game = TestGame::create(&server, &body);
    let stream = game.events(Seat(0), "");
    // The bots of this game deal and offer their cards although forty other games keep bots busy.
    let offer = json!({"type": "card_offered", "seat": 2, "card": null, "by": "bot"});
    let offered = |message: Message| {
        message.data["seats"][2]["exchange"] == "offered" || message.data["events"][0] == offer
    };
    while !stream.next().is_some_and(offered) {}
    game.offer(0);
}
