//! Bot seats: the server deals, swaps and plays for them, in the background.

use std::{process::Command, thread, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{Signal, Stream, TestGame, TestServer, TestViewer::*, run};

fn bot(level: &str) -> Value {
    json!({"kind": "bot", "level": level})
}

fn human() -> Value {
    json!({"kind": "human"})
}

/// Waits until the game is over; returns every entry of its log.
#[track_caller]
fn to_the_end(game: &TestGame<'_>) -> Vec<Value> {
    let request = game.get(Spectator, "/events");
    let stream = request.header("Accept", "application/x-ndjson");
    let entries = Stream::open(stream.header("Last-Event-ID", "0")).rest();
    let versions = entries.iter().map(|entry| entry.version());
    assert!(versions.eq(1..=entries.len() as u64), "one entry a version");
    let last = entries.last().expect("an entry").data["events"].clone();
    let last = last.as_array().and_then(|events| events.last()).cloned();
    assert_eq!(last.expect("an event")["type"], "game_won");
    entries.into_iter().map(|entry| entry.data).collect()
}

#[test]
fn bots_play_a_game_to_the_end_by_themselves() {
    play_to_the_end(&["greedy", "random", "greedy", "greedy"]);
}

#[test]
#[ignore = "takes half a minute: \
            cargo test --test http -- --ignored six_bots_play_a_game_to_the_end_by_themselves"]
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
        let game = TestGame::create(&server, &json!({"seats": vec![bot(level); 4]}));
        let request = game.get(Spectator, "/events");
        let stream = request.header("Accept", "application/x-ndjson");
        let stream = Stream::open(stream.header("Last-Event-ID", "0"));
        let entries: Vec<Value> = (0..14)
            .map(|_| stream.next().expect("an entry").data)
            .collect();
        let at = |entry: &Value| -> Timestamp {
            let text = entry["at"].as_str().expect("a time");
            text.parse().expect("RFC 3339")
        };
        for (before, entry) in entries.iter().zip(&entries[1..]) {
            let took = at(entry).duration_since(at(before)).as_millis();
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
    let wishes = json!({"seats": [human(), bot("fast"), human(), {"kind": "bot"}]});
    let created = server.post("/v1/games").json(&wishes).send().expect(201);
    let tokens = created["seat_tokens"].as_array().expect("tokens");
    let has_token: Vec<bool> = tokens.iter().map(Value::is_string).collect();
    assert_eq!(has_token, [true, false, true, false]);
    let seats = &created["game"]["seats"];
    assert_eq!(seats[3]["level"], "fast", "the level if none is named");
    let history = server.get(&format!(
        "/v1/games/{}/history",
        created["id"].as_str().expect("an id")
    ));
    let history = history.send().expect(200);
    for seat in [&seats[0], &history["players"][0]] {
        let level = seat.get("level").expect("a level that is always sent");
        assert!(
            level.is_null(),
            "nothing is played for a human without a clock: {seat}"
        );
    }
    assert_eq!(history["players"][3]["level"], "fast");
    assert_eq!(seats[3]["name"], "Bot 3");
    assert_eq!(
        created["game"]["bot_pace_ms"], 250,
        "slow enough for people to follow"
    );
}

#[test]
fn a_creation_with_bots_is_replayed_the_same() {
    let server = TestServer::shared();
    let wishes = json!({"seats": [human(), bot("random"), human(), bot("random")]});
    let send = || {
        let request = server.post("/v1/games").json(&wishes);
        request
            .key("0c9a7e5b31d24f86a0b1c2d3e4f50617")
            .send()
            .expect(201)
    };
    assert_eq!(send(), send());
}

#[test]
fn unknown_levels_and_kinds_are_refused() {
    let server = TestServer::shared();
    for seat in [
        json!({"kind": "bot", "level": "genius"}),
        json!({"kind": "bot", "level": 3}),
        json!({"kind": "robot"}),
    ] {
        let seats = json!([human(), seat, human(), human()]);
        let request = server.post("/v1/games").json(&json!({"seats": seats}));
        request.send().refused("invalid_request");
        let game = TestGame::fixed(&server);
        let before = game.snapshot();
        let request = game.request("PUT", Host, "/seats/1").json(&seat);
        request.send().refused("invalid_request");
        assert_eq!(game.snapshot(), before);
    }
    for pace in [json!(-1), json!(60_001), json!("fast")] {
        let request = server.post("/v1/games").json(&json!({"bot_pace_ms": pace}));
        request.send().refused("invalid_request");
    }
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
    let game = TestGame::create(
        &server,
        &json!({
            "rules": {"preset": "hausregeln"},
            "seats": [bot("greedy"), bot("fast"), human(), bot("greedy")],
            "bot_pace_ms": 0,
        }),
    );
    play_along(&game, 2);
    to_the_end(&game);
}

#[test]
fn a_bot_waits_for_its_human_partner() {
    let server = TestServer::shared();
    let game = TestGame::create(
        &server,
        &json!({
            "rules": {"preset": "hausregeln", "exchange": "optional"},
            "seats": [human(), bot("greedy"), bot("greedy"), human()],
            "first_dealer": 0,
            "bot_pace_ms": 0,
        }),
    );
    game.deal();
    // By now the server has looked at this game's bots.
    let seats = [(); 4].map(|()| bot("greedy"));
    to_the_exchange(&TestGame::create(&server, &json!({"seats": seats})));
    assert_eq!(game.version(), 2, "nobody has answered yet");
    game.swap(0, &json!({"ask": true}));
    let state = |view: &Value, seat: usize| view["seats"][seat]["exchange"].clone();
    let mut view = game.view(Spectator);
    while state(&view, 2) == "pending" {
        let wait = format!("?after_version={}", view["version"]);
        game.get(Spectator, &wait).send();
        view = game.view(Spectator);
    }
    assert_eq!(state(&view, 1), "pending", "seat 3 has not answered");
    game.swap(3, &json!({"decline": true}));
    assert_eq!(state(&game.view(Spectator), 1), "kept");
}

/// Waits until the bots have dealt and offered their cards.
fn to_the_exchange(game: &TestGame<'_>) {
    let stream = Stream::open(game.get(Spectator, "/events").header("Last-Event-ID", "0"));
    stream.take(6);
}

#[test]
fn bots_keep_their_pace() {
    let server = TestServer::shared();
    let seats = [(); 4].map(|()| bot("random"));
    let game = TestGame::create(&server, &json!({"seats": seats, "bot_pace_ms": 40}));
    let stream = Stream::open(game.get(Spectator, "/events").header("Last-Event-ID", "1"));
    let at = |entry: &Value| {
        let text = entry["at"].as_str().expect("a time");
        text.parse::<jiff::Timestamp>().expect("RFC 3339")
    };
    let entries = stream.take(8);
    for pair in entries.windows(2) {
        let pause = at(&pair[1].data).duration_since(at(&pair[0].data));
        assert!(pause.as_millis() >= 40, "{pause:?}");
    }
}

#[test]
fn the_host_hands_a_seat_to_a_bot_and_back() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let (seat, id) = game.first_move();
    let path = format!("/seats/{seat}");
    let other = Seat((seat + 1) % 4);
    let request = game.request("PUT", other, &path).json(&bot("greedy"));
    request.send().refused("forbidden");
    game.request("PUT", Spectator, &path)
        .json(&bot("greedy"))
        .send()
        .refused("unauthorized");
    game.request("PUT", Host, "/seats/4")
        .json(&bot("greedy"))
        .send()
        .refused("seat_not_found");

    let version = game.version();
    let request = game.request("PUT", Host, &path).json(&bot("greedy"));
    let changed = request.key("hand-over").send().expect(200);
    assert_eq!(changed["version"], version + 1);
    let event = json!({"type": "seat_handed_over", "seat": seat, "name": format!("Seat {seat}"),
        "kind": "bot", "level": "greedy"});
    assert_eq!(changed["events"], json!([event]));
    let request = game.request("PUT", Host, &path).json(&bot("greedy"));
    assert_eq!(request.key("hand-over").send().expect(200), changed);
    // The bot plays, and the seat's human cannot.
    let wait = format!("?after_version={}", version + 1);
    assert_eq!(game.get(Spectator, &wait).send().status, 200);
    let request = game.post(Seat(seat), "/play").json(&json!({"move": id}));
    request.send().refused("forbidden");
    game.post(Host, &format!("/seats/{seat}/token"))
        .send()
        .refused("no_human");
    assert_eq!(game.view(Seat(seat))["actions"], json!([]));
    assert!(game.view(Seat(seat))["seats"][seat]["hand"].is_array());

    let back = json!({"kind": "human", "name": "Beat"});
    game.request("PUT", Host, &path)
        .json(&back)
        .send()
        .expect(200);
    let view = game.view(Spectator);
    assert_eq!(view["seats"][seat]["kind"], "human");
    assert_eq!(view["seats"][seat]["name"], "Beat");
    while game.turn() != seat {
        let (seat, id) = game.first_move();
        game.play(seat, &id);
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
    game.request("PUT", Host, "/seats/1")
        .json(&human())
        .send()
        .expect(200);
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
    let wishes = json!({"rules": {"preset": "hausregeln"}, "seats": seats});
    let games: Vec<TestGame<'_>> = (0..games)
        .map(|_| TestGame::create(&server, &wishes))
        .collect();
    for kill in 0..kills {
        thread::sleep(Duration::from_millis(150 + 70 * (kill % 5)));
        server.restart(Signal::Kill);
    }
    for game in &games {
        to_the_end(game);
        let record = game
            .get(Spectator, "/history")
            .header("Accept", "text/plain");
        let mut verify = Command::new(env!("CARGO_BIN_EXE_dog"));
        let verified = run(verify.args(["verify", "-"]), &record.send().body);
        assert!(verified.status.success(), "{verified:?}");
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
fn two_processes_decide_each_turn_once() {
    let here = TestServer::start();
    let there = TestServer::beside(&here);
    let seats = [(); 4].map(|()| bot("greedy"));
    let games: Vec<TestGame<'_>> = (0..3)
        .map(|number| {
            let server = if number % 2 == 0 { &here } else { &there };
            TestGame::create(server, &json!({"seats": seats}))
        })
        .collect();
    for game in &games {
        to_the_end(game);
    }
}

#[test]
fn a_human_is_served_while_many_bots_play() {
    let server = TestServer::shared();
    let seats = [(); 4].map(|()| bot("greedy"));
    for _ in 0..40 {
        TestGame::create(&server, &json!({"seats": seats}));
    }
    let seats = [human(), bot("greedy"), bot("greedy"), bot("greedy")];
    let wishes = json!({"seats": seats, "bot_pace_ms": 0, "first_dealer": 1});
    let game = TestGame::create(&server, &wishes);
    let stream = Stream::open(game.get(Seat(0), "/events"));
    // The bots of this game deal and offer their cards although forty other games keep bots busy.
    let dealt = |message: &crate::support::Message| {
        message.data["seats"][2]["exchange"] == "offered"
            || message.data["events"][0]
                == json!({"type": "card_offered", "seat": 2, "card": null, "by": "bot"})
    };
    while !stream.next().is_some_and(|message| dealt(&message)) {}
    game.swap(0, &json!({"card": game.hand(0)[0]}));
}
