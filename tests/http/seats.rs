//! `PUT /v1/games/{id}/seats/{n}` and what follows from it: a hand belongs to a person.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::support::{
    Dice, Stream, TestGame, TestServer, TestTable,
    TestViewer::{self, *},
    run,
};

/// Bots do nothing for a minute, so that a test can look at the table meanwhile.
const SLOW: u32 = 60_000;

fn slow() -> Value {
    json!({"bot_pace_ms": SLOW})
}

/// A full table in play of its first round, in which bots wait.
fn in_play(server: &TestServer) -> TestTable<'_> {
    let table = TestTable::full(server, &slow());
    table.game.deal();
    table.game.exchange();
    table
}

#[track_caller]
fn sees_no_hand(game: &TestGame, viewer: TestViewer) {
    let Seat(seat) = viewer else {
        panic!("{viewer}")
    };
    let view = game.view(viewer);
    for card in ["hand", "gave", "received"] {
        assert_eq!(view["seats"][seat][card], Value::Null, "{card}");
    }
    assert_eq!(view["actions"], json!([]));
    let body = json!({"move": "fold"});
    let requests = [
        game.get(viewer, "/legal-moves"),
        game.get(viewer, "/legal-moves/seven?begun=7:"),
        game.get(viewer, "/suggest-move?level=greedy"),
        game.post(viewer, "/swap").json(&json!({"card": "K"})),
        game.post(viewer, "/play").json(&body),
    ];
    for request in requests {
        let refused = request.send().refused("forbidden");
        assert_eq!(refused["reason"], "stand_in_plays");
    }
    // No earlier hand is in the history or the stream.
    let history = game.get(viewer, "/history").send().expect(200);
    let stream = Stream::open(game.get(viewer, "/events").header("Last-Event-ID", "0"));
    let version = view["version"].as_u64().expect("a version");
    let streamed = (0..version).map(|_| stream.next().expect("an entry").data);
    let entries = history["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .cloned();
    for entry in streamed.chain(entries) {
        for event in entry["events"].as_array().expect("events") {
            let hands = event["hands"].as_array().into_iter().flatten();
            assert!(hands.into_iter().all(Value::is_null), "{event}");
            let given = event["given"].as_array().into_iter().flatten();
            assert!(
                given.into_iter().all(|given| given["card"].is_null()),
                "{event}"
            );
            assert!(
                event["type"] != "card_offered" || event["card"].is_null(),
                "{event}"
            );
        }
    }
}

#[test]
fn a_player_leaves_and_comes_back_with_the_same_hand() {
    let server = TestServer::shared();
    let table = in_play(&server);
    let (game, seat) = (&table.game, table.game.turn());
    let (hand, moves) = (game.hand(seat), game.legal_moves(seat));
    let left = table
        .put(Seat(seat), seat, &json!({"kind": "bot"}))
        .expect(200);
    let event = json!({"type": "seat_handed_over", "seat": seat, "name": format!("Seat {seat}"),
        "kind": "bot", "level": "fast"});
    assert_eq!(left["events"], json!([event]));
    // The token stays valid for viewing.
    assert_eq!(game.hand(seat), hand);
    let id = &moves[0]["id"];
    let play = game.post(Seat(seat), "/play").json(&json!({"move": id}));
    assert_eq!(play.send().refused("forbidden")["reason"], "bot_plays");
    table
        .put(Seat(seat), (seat + 1) % 4, &json!({"kind": "bot"}))
        .refused("forbidden");
    let back = table
        .put(Seat(seat), seat, &json!({"kind": "human"}))
        .expect(200);
    assert_eq!(back["game"]["actions"][0]["route"], "play");
    game.play(seat, id.as_str().expect("an id"));
    let renamed = table
        .put(Seat(seat), seat, &json!({"name": "Zoe"}))
        .expect(200);
    assert_eq!(renamed["game"]["seats"][seat]["name"], "Zoe");
    table
        .put(Seat(seat), seat, &json!({}))
        .refused("invalid_request");
}

#[test]
fn who_comes_back_in_a_later_round_waits_for_the_next_deal() {
    let server = TestServer::start();
    let table = TestTable::full(&server, &json!({"bot_pace_ms": 0}));
    let game = &table.game;
    // Seat 2 leaves before the first deal, so the hand is a bot's.
    table.put(Seat(2), 2, &json!({"kind": "bot"})).expect(200);
    game.deal();
    sees_no_hand_of_the_bot(game, 2);
    table.put(Seat(2), 2, &json!({"kind": "human"})).expect(200);
    assert_eq!(game.view(Host)["seats"][2]["stand_in"], true);
    sees_no_hand(game, Seat(2));
    play_until_round(game, 2, &[0, 1, 3]);
    // Whoever deals, the stand-in included: from this deal on the hand is the person's.
    while game.view(Spectator)["phase"] == "deal" {
        game.post(Host, "/deal").send();
    }
    let view = game.view(Seat(2));
    assert_eq!(view["seats"][2]["stand_in"], false);
    assert_eq!(view["actions"][0]["route"], "swap");
    assert_eq!(game.hand(2).len(), 5);
}

fn sees_no_hand_of_the_bot(game: &TestGame, seat: usize) {
    assert_eq!(game.view(Seat(seat))["seats"][seat]["hand"], Value::Null);
}

/// Plays with these seats, whose players act, until this round is to be dealt or was.
fn play_until_round(game: &TestGame, round: u64, seats: &[usize]) {
    loop {
        let view = game.view(Spectator);
        if view["round"].as_u64() >= Some(round) || view["phase"] == "finished" {
            return;
        }
        let mut acted = false;
        for &seat in seats {
            let view = game.view(Seat(seat));
            match view["actions"][0]["route"].as_str() {
                Some("swap") => {
                    let card = view["seats"][seat]["hand"][0].clone();
                    game.swap(seat, &json!({"card": card}));
                    acted = true;
                }
                Some("play") => {
                    let id = game.legal_moves(seat)[0]["id"].take();
                    game.play(seat, id.as_str().expect("an id"));
                    acted = true;
                }
                Some("deal") => return,
                _ => {}
            }
        }
        if !acted {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn the_host_replaces_a_player_who_is_gone() {
    let server = TestServer::shared();
    let mut table = in_play(&server);
    let seat = table.game.turn();
    let old = table.game.clone();
    let stream = Stream::open(old.get(Seat(seat), "/events"));
    stream.next().expect("the game");
    let ticket = old.post(Seat(seat), "/events/ticket").send().expect(200)["ticket"].take();
    let keyed = old
        .post(Seat(seat), "/swap")
        .key("a-swap")
        .json(&json!({"card": "K"}));
    keyed.send().refused("wrong_phase");

    let first = table.open(seat);
    let second = table.open(seat);
    // The player who is gone sees nothing more, by any route.
    for request in [
        old.get(Seat(seat), ""),
        old.get(Seat(seat), "?after_version=3"),
        old.get(Seat(seat), "/history"),
        old.get(Seat(seat), "/events"),
        old.get(Seat(seat), "/legal-moves"),
        old.get(Seat(seat), "/suggest-move"),
        old.get(Seat(seat), "/board.svg"),
        old.post(Seat(seat), "/events/ticket"),
        old.post(Seat(seat), &format!("/seats/{seat}/token")),
        old.request("PUT", Seat(seat), &format!("/seats/{seat}"))
            .json(&json!({"kind": "human"})),
    ] {
        request.send().refused("token_replaced");
    }
    let ticket = ticket.as_str().expect("a ticket");
    let with_ticket = old.get(Spectator, &format!("/events?ticket={ticket}"));
    with_ticket.send().refused("token_replaced");
    assert!(stream.rest().is_empty(), "the open stream has ended");

    let any = json!({"invitation": table.invitation, "seat": seat});
    table.ask_to_join(&any).refused("wrong_invitation");
    table
        .ask_to_join(&json!({"invitation": first}))
        .refused("wrong_invitation");
    let joined = table.join(&json!({"invitation": second, "name": "Nina"}));
    assert_eq!(joined["game"]["seats"][seat]["stand_in"], true);
    sees_no_hand(&table.game, Seat(seat));
    // Telling that one is human changes nothing.
    table
        .put(Seat(seat), seat, &json!({"kind": "human"}))
        .expect(200);
    sees_no_hand(&table.game, Seat(seat));
}

#[test]
fn a_seat_that_is_given_up_is_open_and_its_token_dead() {
    let server = TestServer::shared();
    let mut table = TestTable::full(&server, &json!({"join": "anyone", "bot_pace_ms": SLOW}));
    let game = table.game.clone();
    game.deal();
    let path = game.path("/seats/1");
    let give_up = || {
        let request = server
            .request("PUT", &path)
            .token(&game.tokens[1])
            .key("give-up");
        request.json(&json!({"kind": "open"})).send()
    };
    let given_up = give_up().expect(200);
    assert!(given_up.get("invitation").is_none());
    assert_eq!(given_up["game"]["seats"][1]["kind"], "open");
    assert_eq!(given_up["game"]["seats"][1]["hand"], Value::Null);
    game.get(Seat(1), "").send().refused("token_replaced");
    // The server replays the request that killed the token, and no other.
    assert_eq!(give_up().expect(200), given_up);
    let other = server
        .request("PUT", &path)
        .token(&game.tokens[1])
        .key("other");
    other
        .json(&json!({"kind": "open"}))
        .send()
        .refused("token_replaced");
    let joined = table.join(&json!({"name": "Nina"}));
    assert_eq!(joined["seat"], 1);
    sees_no_hand(&table.game, Seat(1));
}

#[test]
fn the_record_of_a_game_in_which_people_came_and_went_verifies() {
    let server = TestServer::start();
    let table = TestTable::full(&server, &json!({"bot_pace_ms": 0}));
    let game = &table.game;
    game.deal();
    for seat in [1, 3] {
        table
            .put(Seat(seat), seat, &json!({"kind": "bot", "level": "greedy"}))
            .expect(200);
    }
    table.put(Seat(3), 3, &json!({"kind": "human"})).expect(200);
    table.put(Seat(3), 3, &json!({"kind": "bot"})).expect(200);
    table.open(1);
    let settings = json!({"bot_pace_ms": 0, "turn_seconds": null, "listed": false});
    game.request("PATCH", Host, "")
        .json(&settings)
        .send()
        .expect(200);
    for seat in [0, 2] {
        let kind = json!({"kind": "bot", "level": "greedy"});
        table.put(Host, seat, &kind).expect(200);
    }
    let mut version = game.version();
    while game.view(Spectator)["phase"] != "finished" {
        game.get(Spectator, &format!("?after_version={version}"))
            .send();
        version = game.version();
    }
    let record = game
        .get(Spectator, "/history")
        .header("Accept", "text/plain")
        .send();
    assert_eq!(record.status, 200);
    let text = record.text();
    assert!(text.starts_with("[Dog \"2\"]"), "{text}");
    for line in [
        "1 joins \"Seat 1\"",
        "3 becomes human greedy \"Seat 3\"",
        "(bot) ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let mut verify = std::process::Command::new(env!("CARGO_BIN_EXE_dog"));
    let verified = run(verify.args(["verify", "-"]), text.as_bytes());
    assert!(verified.status.success(), "{verified:?}");
    let imported = server
        .post("/v1/games/import")
        .text("text/plain", &text)
        .send()
        .expect(201);
    let imported = TestGame::of(&server, &imported);
    let again = imported
        .get(Spectator, "/history")
        .header("Accept", "text/plain")
        .send();
    let steps = |text: &str| text.split_once("\n\n").expect("a head").1.to_owned();
    assert_eq!(steps(&again.text()), steps(&text));
}

#[test]
fn a_player_whose_clock_acts_twice_is_away_until_the_player_acts() {
    let server = TestServer::start();
    let wishes = json!({"turn_seconds": 1, "bot_pace_ms": 1_000});
    let table = TestTable::full(&server, &wishes);
    let game = &table.game;
    let stream = Stream::open(game.get(Seat(0), "/events").header("Last-Event-ID", "5"));
    let mut acts = [0; 4];
    let mut away = None;
    while away.is_none() {
        let entry = stream.next().expect("an entry").data;
        let events = entry["events"].as_array().expect("events");
        assert_eq!(events[0]["by"], "clock", "{entry}");
        let seat = events[0]["seat"].as_u64().or(events[0]["dealer"].as_u64());
        let seat = seat.expect("a seat") as usize;
        acts[seat] += 1;
        if events.iter().any(|event| event["type"] == "seat_away") {
            away = Some(seat);
        }
    }
    let seat = away.expect("a seat is away");
    assert_eq!(acts[seat], 2);
    assert_eq!(game.view(Spectator)["seats"][seat]["away"], true);
    let back = table
        .put(Seat(seat), seat, &json!({"kind": "human"}))
        .expect(200);
    let events = back["events"].as_array().expect("events");
    assert!(
        events.iter().any(|event| event["type"] == "seat_back"),
        "{back}"
    );
    assert_eq!(back["game"]["seats"][seat]["away"], false);
}

#[test]
fn the_host_changes_settings() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let patch = |viewer, body: Value| game.request("PATCH", viewer, "").json(&body).send();
    patch(Seat(0), json!({"listed": false})).refused("forbidden");
    for body in [
        json!({}),
        json!({"turn_seconds": 9}),
        json!({"turn_seconds": 0}),
        json!({"bot_pace_ms": -1}),
    ] {
        patch(Host, body).refused("invalid_request");
    }
    let changed = patch(Host, json!({"turn_seconds": 600})).expect(200);
    let event = json!({"type": "settings_changed", "turn_seconds": 600, "bot_pace_ms": 250,
        "listed": true, "reactions": true});
    assert_eq!(changed["events"], json!([event]));
    assert_eq!(
        changed["game"]["deadline"],
        Value::Null,
        "the clock counts from the next turn"
    );
    let (seat, id) = game.first_move();
    assert!(game.play(seat, &id)["game"]["deadline"].is_string());
    let changed = patch(Host, json!({"turn_seconds": null, "listed": false})).expect(200);
    assert_eq!(changed["game"]["deadline"], Value::Null);
    assert_eq!(changed["game"]["listed"], false);
    let listed = server.get("/v1/games?limit=100").send().expect(200);
    let listed = listed["games"].as_array().expect("games");
    assert!(listed.iter().all(|other| other["id"] != json!(game.id)));
    let early = TestGame::fixed(&server);
    let early = early
        .request("PATCH", Host, "")
        .json(&json!({"turn_seconds": 1}));
    early.send().expect(200);
    let over = TestGame::imported(&server);
    let over = over
        .request("PATCH", Host, "")
        .json(&json!({"listed": false}));
    over.send().refused("game_over");
}

#[test]
fn coming_and_going_closes_no_seat_to_others() {
    let server = TestServer::shared();
    let mut table = TestTable::create(&server, &json!({"join": "anyone"}));
    for _ in 0..110 {
        let seat = table.join(&json!({}))["seat"].as_u64().expect("a seat") as usize;
        let leave = table.put(Seat(seat), seat, &json!({"kind": "open"}));
        leave.expect(200);
    }
    // Others find each seat open, and have the whole allowance of a person; so has the host.
    for seat in 0..3 {
        table.join(&json!({"seat": seat}));
        for name in ["Zoe", "Ann"].repeat(20) {
            table
                .put(Seat(seat), seat, &json!({"name": name}))
                .expect(200);
        }
    }
    for _ in 0..40 {
        let invitation = table.open(3);
        table.join(&json!({"invitation": invitation}));
    }
}

#[test]
fn changes_of_a_seat_have_a_limit_that_never_refuses_play() {
    let server = TestServer::shared();
    let table = TestTable::full(&server, &json!({}));
    let rename = |seat: usize| table.put(Seat(seat), seat, &json!({"name": "Zoe"}));
    let mut done = 0;
    let refused = loop {
        let response = rename(1);
        if response.status != 200 {
            break response;
        }
        done += 1;
    };
    refused.refused("too_many_changes");
    assert!((40..60).contains(&done), "{done}");
    // Neither the other seats nor the host pay for it, and play goes on.
    rename(2).expect(200);
    table.put(Host, 3, &json!({"kind": "bot"})).expect(200);
    let mut dice = Dice::new(1);
    table.put(Seat(3), 3, &json!({"kind": "human"})).expect(200);
    table.game.step(&mut dice);
}
