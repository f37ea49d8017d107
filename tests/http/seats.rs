//! `PUT /v1/games/{id}/seats/{n}` and what follows from it: a hand belongs to a person.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::support::{Dice, TestGame, TestServer, TestTable, TestViewer::*, verify};

/// Bots do nothing for a minute, so that a test can look at the table meanwhile.
const SLOW: u32 = 60_000;

/// A full table in play of its first round, in which bots wait.
fn in_play(server: &TestServer) -> TestTable<'_> {
    let table = TestTable::full(server, &json!({"bot_pace_ms": SLOW}));
    table.game.deal();
    table.game.exchange();
    table
}

#[track_caller]
fn sees_no_hand(game: &TestGame, seat: usize) {
    let viewer = Seat(seat);
    let view = game.view(viewer);
    for card in ["hand", "gave", "received"] {
        assert_eq!(view["seats"][seat][card], Value::Null, "{card}");
    }
    assert_eq!(view["actions"], json!([]));
    for response in [
        game.get(viewer, "/legal-moves").send(),
        game.get(viewer, "/legal-moves/seven?begun=7:").send(),
        game.get(viewer, "/suggest-move?level=greedy").send(),
        game.post_json(viewer, "/swap", &json!({"card": "K"})),
        game.try_play(viewer, "fold"),
    ] {
        assert_eq!(response.refused("forbidden")["reason"], "stand_in_plays");
    }
    // No earlier hand is in the history or the stream.
    let streamed = game.events_after(viewer, 0).take(game.version() as usize);
    let streamed = streamed.into_iter().map(|message| message.data);
    for entry in streamed.chain(game.entries(viewer)) {
        for event in entry["events"].as_array().expect("events") {
            let mut hands = event["hands"].as_array().into_iter().flatten();
            assert!(hands.all(Value::is_null), "{event}");
            let mut given = event["given"].as_array().into_iter().flatten();
            assert!(given.all(|given| given["card"].is_null()), "{event}");
            let offered = event["type"] == "card_offered";
            assert!(!offered || event["card"].is_null(), "{event}");
        }
    }
}

#[test]
fn a_player_leaves_and_comes_back_with_the_same_hand() {
    let server = TestServer::shared();
    let table = in_play(&server);
    let (game, seat) = (&table.game, table.game.turn());
    let (hand, moves) = (game.hand(seat), game.legal_moves(seat));
    let put = |changed: usize, body: Value| table.put(Seat(seat), changed, &body);
    let left = put(seat, json!({"kind": "bot"})).expect(200);
    let event = json!({"type": "seat_handed_over", "seat": seat, "name": format!("Seat {seat}"),
        "kind": "bot", "level": "fast"});
    assert_eq!(left["events"], json!([event]));
    // The token stays valid for viewing.
    assert_eq!(game.hand(seat), hand);
    let id = moves[0]["id"].as_str().expect("an id");
    let play = game.try_play(Seat(seat), id);
    assert_eq!(play.refused("forbidden")["reason"], "bot_plays");
    put((seat + 1) % 4, json!({"kind": "bot"})).refused("forbidden");
    let back = put(seat, json!({"kind": "human"})).expect(200);
    assert_eq!(back["game"]["actions"][0]["route"], "play");
    game.play(seat, id);
    let renamed = put(seat, json!({"name": "Zoe"})).expect(200);
    assert_eq!(renamed["game"]["seats"][seat]["name"], "Zoe");
    put(seat, json!({})).refused("invalid_request");
}

#[test]
fn a_person_who_comes_back_in_a_later_round_waits_for_the_next_deal() {
    let server = TestServer::start();
    let table = TestTable::full(&server, &json!({"bot_pace_ms": 0}));
    let game = &table.game;
    // Seat 2 leaves before the first deal, so the hand is a bot's.
    table.put(Seat(2), 2, &json!({"kind": "bot"})).expect(200);
    game.deal();
    assert_eq!(game.view(Seat(2))["seats"][2]["hand"], Value::Null);
    table.put(Seat(2), 2, &json!({"kind": "human"})).expect(200);
    assert_eq!(game.view(Host)["seats"][2]["stand_in"], true);
    sees_no_hand(game, 2);
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
                Some("swap") => drop(game.offer(seat)),
                Some("play") => {
                    game.play_on();
                }
                Some("deal") => return,
                _ => continue,
            }
            acted = true;
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
    let stream = old.events(Seat(seat), "");
    stream.next().expect("the game");
    let ticket = old.post(Seat(seat), "/events/ticket").send().expect(200)["ticket"].take();
    let first = table.open(seat);
    let second = table.open(seat);
    // The player who is gone sees nothing more, by any route.
    for rest in [
        "",
        "?after_version=3",
        "/history",
        "/events",
        "/legal-moves",
        "/suggest-move",
        "/board.svg",
    ] {
        old.get(Seat(seat), rest).send().refused("token_replaced");
    }
    for rest in ["/events/ticket", &format!("/seats/{seat}/token")] {
        old.post(Seat(seat), rest).send().refused("token_replaced");
    }
    let back = old.put(Seat(seat), seat, &json!({"kind": "human"}));
    back.refused("token_replaced");
    let ticket = ticket.as_str().expect("a ticket");
    let with_ticket = old.get(Spectator, &format!("/events?ticket={ticket}"));
    with_ticket.send().refused("token_replaced");
    assert!(stream.rest().is_empty(), "the open stream has ended");

    let any = json!({"invitation": table.invitation, "seat": seat});
    for body in [any, json!({"invitation": first})] {
        table.ask_to_join(&body).refused("wrong_invitation");
    }
    let joined = table.join(&json!({"invitation": second, "name": "Nina"}));
    assert_eq!(joined["game"]["seats"][seat]["stand_in"], true);
    sees_no_hand(&table.game, seat);
    // Saying that one is human changes nothing.
    table
        .put(Seat(seat), seat, &json!({"kind": "human"}))
        .expect(200);
    sees_no_hand(&table.game, seat);
}

#[test]
fn a_seat_that_is_given_up_is_open_and_its_token_dead() {
    let server = TestServer::shared();
    let mut table = TestTable::full(&server, &json!({"join": "anyone", "bot_pace_ms": SLOW}));
    let game = table.game.clone();
    game.deal();
    let give_up = |key: &str| {
        let request = game.request("PUT", Seat(1), "/seats/1").key(key);
        request.json(&json!({"kind": "open"})).send()
    };
    let given_up = give_up("give-up").expect(200);
    assert!(given_up.get("invitation").is_none());
    assert_eq!(given_up["game"]["seats"][1]["kind"], "open");
    assert_eq!(given_up["game"]["seats"][1]["hand"], Value::Null);
    game.get(Seat(1), "").send().refused("token_replaced");
    // The server replays the request that killed the token, and no other.
    assert_eq!(give_up("give-up").expect(200), given_up);
    give_up("other").refused("token_replaced");
    let joined = table.join(&json!({"name": "Nina"}));
    assert_eq!(joined["seat"], 1);
    sees_no_hand(&table.game, 1);
}

#[test]
fn the_record_of_a_game_in_which_people_came_and_went_verifies() {
    let server = TestServer::start();
    let table = TestTable::full(&server, &json!({"bot_pace_ms": 0}));
    let game = &table.game;
    game.deal();
    let bot = json!({"kind": "bot", "level": "greedy"});
    for seat in [1, 3] {
        table.put(Seat(seat), seat, &bot).expect(200);
    }
    table.put(Seat(3), 3, &json!({"kind": "human"})).expect(200);
    table.put(Seat(3), 3, &json!({"kind": "bot"})).expect(200);
    table.open(1);
    let settings = json!({"bot_pace_ms": 0, "turn_seconds": null, "listed": false});
    game.patch(Host, &settings).expect(200);
    for seat in [0, 2] {
        table.put(Host, seat, &bot).expect(200);
    }
    game.wait_for(|view| view["phase"] == "finished");
    let text = game.record();
    assert!(text.starts_with("[Dog \"2\"]"), "{text}");
    for line in [
        "1 joins \"Seat 1\"",
        "3 becomes human greedy \"Seat 3\"",
        "(bot) ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let (verified, said) = verify(&text);
    assert!(verified, "{said}");
    let imported = TestGame::from_created(&server, &server.import(&text).expect(201));
    let steps = |text: &str| text.split_once("\n\n").expect("a head").1.to_owned();
    assert_eq!(steps(&imported.record()), steps(&text));
}

#[test]
fn a_player_whose_clock_acts_twice_is_away_until_the_player_acts() {
    let server = TestServer::start();
    let body = json!({"turn_seconds": 1, "bot_pace_ms": 1_000});
    let table = TestTable::full(&server, &body);
    let game = &table.game;
    let stream = game.events_after(Seat(0), 5);
    let mut acts = [0; 4];
    let seat = loop {
        let entry = stream.next().expect("an entry").data;
        let events = entry["events"].as_array().expect("events");
        assert_eq!(events[0]["by"], "clock", "{entry}");
        let seat = events[0]["seat"].as_u64().or(events[0]["dealer"].as_u64());
        let seat = seat.expect("a seat") as usize;
        acts[seat] += 1;
        if events.iter().any(|event| event["type"] == "seat_away") {
            break seat;
        }
    };
    assert_eq!(acts[seat], 2);
    assert_eq!(game.view(Spectator)["seats"][seat]["away"], true);
    let back = table.put(Seat(seat), seat, &json!({"kind": "human"}));
    let back = back.expect(200);
    let mut events = back["events"].as_array().expect("events").iter();
    assert!(events.any(|event| event["type"] == "seat_back"), "{back}");
    assert_eq!(back["game"]["seats"][seat]["away"], false);
}

#[test]
fn the_host_changes_settings() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let patch = |viewer, body: Value| game.patch(viewer, &body);
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
    // The clock counts from the next turn.
    assert_eq!(changed["game"]["deadline"], Value::Null);
    let (seat, id) = game.first_move();
    assert!(game.play(seat, &id)["game"]["deadline"].is_string());
    let changed = patch(Host, json!({"turn_seconds": null, "listed": false})).expect(200);
    assert_eq!(changed["game"]["deadline"], Value::Null);
    assert_eq!(changed["game"]["listed"], false);
    let listed = server.get("/v1/games?limit=100").send().expect(200);
    let listed = listed["games"].as_array().expect("games");
    assert!(listed.iter().all(|other| other["id"] != json!(game.id)));
    let early = TestGame::fixed(&server);
    early.patch(Host, &json!({"turn_seconds": 1})).expect(200);
    let over = TestGame::imported(&server).patch(Host, &json!({"listed": false}));
    over.refused("game_over");
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
            let named = table.put(Seat(seat), seat, &json!({"name": name}));
            named.expect(200);
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
    let done = (0..).take_while(|_| rename(1).status == 200).count();
    rename(1).refused("too_many_changes");
    assert!((40..60).contains(&done), "{done}");
    // Neither the other seats nor the host pay for it, and play goes on.
    rename(2).expect(200);
    table.put(Host, 3, &json!({"kind": "bot"})).expect(200);
    table.put(Seat(3), 3, &json!({"kind": "human"})).expect(200);
    table.game.step(&mut Dice::new(1));
}
