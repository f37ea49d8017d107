//! `…/rematch`: the next game of the same people.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use super::quick_join::end_the_wait;
use crate::support::{
    ServerDatabase, Signal, Stream, TestGame, TestResponse, TestServer, TestTable,
    TestViewer::{self, *},
    at_once, of_seats as seats,
};

/// A finished game of four people who joined: bots have played it to the end for them.
fn finished(server: &TestServer) -> TestTable<'_> {
    let table = TestTable::full(server, &json!({"bot_pace_ms": 0}));
    let greedy = json!({"kind": "bot", "level": "greedy"});
    for seat in 0..4 {
        table.put(Seat(seat), seat, &greedy).expect(200);
    }
    table.game.post(Host, "/deal").send();
    // The people come back when it is nearly over, or they would not be asked for a rematch.
    let game = &table.game;
    let home = |view: &Value| {
        let home = |seat: usize| view["board"][seat]["goal"].as_array().map_or(0, Vec::len);
        home(0) + home(2) >= 6 || home(1) + home(3) >= 6
    };
    game.wait_for(home);
    let human = json!({"kind": "human"});
    for seat in 0..4 {
        table.put(Seat(seat), seat, &human).expect(200);
    }
    while game.view(Spectator)["phase"] != "finished" {
        let route = |seat| game.view(Seat(seat))["actions"][0]["route"].clone();
        let mut routes = (0..4).map(|seat| (seat, route(seat)));
        match routes.find(|(_, route)| !route.is_null()) {
            Some((seat, route)) if route == "swap" => drop(game.offer(seat)),
            Some((seat, route)) if route == "play" => drop(game.play_suggested(seat, 1)),
            Some((seat, _)) => drop(game.post(Seat(seat), "/deal").send()),
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
    table
}

/// A finished game of four people who joined, and left it to bots before the first deal.
fn left(server: &TestServer) -> TestTable<'_> {
    let table = TestTable::full(server, &json!({"bot_pace_ms": 0}));
    for seat in 0..4 {
        let bot = json!({"kind": "bot", "level": "fast", "name": format!("Person {seat}")});
        table.put(Seat(seat), seat, &bot).expect(200);
    }
    table.game.post(Host, "/deal").send();
    table.game.wait_for(|view| view["phase"] == "finished");
    table
}

/// The next game, with the tokens of the old one in this order.
fn next<'a>(old: &TestGame<'a>, answer: &Value, order: [usize; 4]) -> TestGame<'a> {
    let mut next = old.clone();
    next.id = answer["id"].as_str().expect("an id").to_owned();
    next.tokens = order.iter().map(|&from| old.tokens[from].clone()).collect();
    next
}

fn ask(game: &TestGame, viewer: TestViewer, body: &Value) -> TestResponse {
    game.post_json(viewer, "/rematch", body)
}

#[test]
fn all_ask_and_play_again_with_partners_changed() {
    let server = TestServer::start();
    let table = finished(&server);
    let old = &table.game;
    old.get(Seat(0), "/rematch").send().refused("no_rematch");
    for wrong in [
        &[0, 1, 2][..],
        &[0, 1, 2, 2],
        &[0, 1, 2, 4],
        &[0, 1, 2, 3, 4],
    ] {
        ask(old, Seat(1), &json!({"seats": wrong})).refused("invalid_request");
    }
    ask(old, Spectator, &json!({})).refused("unauthorized");
    let order = [0, 2, 1, 3];
    let first = ask(old, Seat(1), &json!({"seats": order})).expect(201);
    // Old seat 1 sits at the new seat 2.
    assert_eq!(first["seat"], 2);
    let game = next(old, &first, order);
    let view = game.view(Host);
    assert_eq!(
        json!([view["phase"], view["version"]]),
        json!(["seating", 1])
    );
    let asked = [0, 1, 2, 3].map(|seat| &view["seats"][seat]["asked"]);
    assert_eq!(json!(asked), json!([false, false, true, false]));
    assert_eq!(view["seats"][0]["joined"], true);
    let dealer = |game: &TestGame| {
        let history = game.get(Host, "/history").send().expect(200);
        history["first_dealer"].as_u64()
    };
    assert_eq!(dealer(&game), dealer(old).map(|seat| (seat + 1) % 4));
    game.post(Seat(1), "/deal").send().refused("seats_open");

    // A later permutation does not count, and asking twice changes nothing.
    let second = ask(old, Seat(0), &json!({"seats": [3, 2, 1, 0]})).expect(200);
    let place = |answer: &Value| json!([answer["id"], answer["seat"], answer["game"]["version"]]);
    assert_eq!(place(&second), json!([first["id"], 0, 2]));
    let asked = json!({"type": "rematch_asked", "seat": 0});
    assert_eq!(second["game"]["last_action"], asked);
    let again = ask(old, Seat(0), &json!({})).expect(200);
    assert_eq!(again["game"]["version"], 2);
    let host = ask(old, Host, &json!({})).expect(200);
    assert_eq!(place(&host), json!([first["id"], null, 2]));
    ask(old, Seat(2), &json!({})).expect(200);
    let last = ask(old, Seat(3), &json!({})).expect(200);
    assert_eq!(last["game"]["phase"], "deal");
    let seen = |viewer| {
        let rematch = old.get(viewer, "/rematch").send().expect(200);
        json!([rematch["id"], rematch["seat"]])
    };
    assert_eq!(seen(Seat(3)), json!([first["id"], 3]));
    assert_eq!(seen(Spectator), json!([first["id"], null]));
    game.deal();
    game.exchange();
    let (seat, id) = game.first_move();
    game.play(seat, &id);
    // In the next game each person sees only their own hand, at the new seat.
    for seat in 0..4 {
        let view = game.view(Seat(seat));
        for other in 0..4 {
            assert_eq!(view["seats"][other]["hand"].is_array(), seat == other);
        }
    }
}

#[test]
fn the_host_does_not_wait_for_those_who_do_not_come() {
    let server = TestServer::start();
    let table = finished(&server);
    let first = ask(&table.game, Host, &json!({})).expect(201);
    assert_eq!(first["seat"], Value::Null);
    let game = next(&table.game, &first, [0, 1, 2, 3]);
    let opened = game.put(Host, 1, &json!({"kind": "open"})).expect(200);
    game.get(Seat(1), "").send().refused("token_replaced");
    // In the old game the token is still valid.
    assert_eq!(table.game.get(Seat(1), "").send().status, 200);
    game.post(Host, "/deal").send().refused("seats_open");
    let body = json!({"invitation": opened["invitation"], "name": "Nina"});
    game.post_json(Spectator, "/join", &body).expect(201);
    assert_eq!(game.deal()["events"][0]["type"], "cards_dealt");
}

#[test]
fn simultaneous_requests_make_one_game() {
    let server = TestServer::start();
    let other = TestServer::beside(&server);
    let table = finished(&server);
    let games = [table.game.clone(), table.game.at(&other)];
    let answers = at_once(40, |at| ask(&games[at % 2], Seat(at % 4), &json!({})));
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 1);
    let busy = |answer: &&TestResponse| answer.status != 503;
    let answers = answers.iter().filter(busy);
    let mut ids: Vec<Value> = answers.map(|answer| answer.json()["id"].take()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[test]
fn a_retry_gets_the_first_answer() {
    let server = TestServer::start();
    let table = finished(&server);
    let ask = |seat: usize, key: &str| {
        let request = table.game.post(Seat(seat), "/rematch").key(key);
        request.json(&json!({})).send()
    };
    let made = ask(0, "made").expect(201);
    let asked = ask(1, "asked").expect(200);
    let again = ask(1, "again").expect(200);
    ask(2, "other").expect(200);
    server.restart(Signal::Kill);
    assert_eq!(ask(0, "made").expect(201), made);
    assert_eq!(ask(1, "asked").expect(200), asked);
    assert_eq!(ask(1, "again").expect(200), again);
}

#[test]
fn only_people_of_a_finished_game_ask() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    ask(&game, Seat(0), &json!({})).refused("game_not_over");
    // Nobody has a token of a seat of an imported game, so its seats are open.
    let imported = TestGame::imported(&server);
    let made = ask(&imported, Host, &json!({})).expect(201);
    assert_eq!(made["game"]["phase"], "seating");
    let mut seats = made["game"]["seats"].as_array().expect("seats").iter();
    assert!(seats.all(|seat| seat["kind"] == "open" || seat["kind"] == "bot"));
}

/// Streams that stay open after the end announce the next game, at other nodes too.
#[test]
fn streams_announce_the_next_game_after_the_end() {
    let server = TestServer::start();
    let there = TestServer::beside(&server);
    let table = finished(&server);
    let game = &table.game;
    let same = game.at(&there);
    let after_end = |game: &TestGame<'_>, viewer, accept: &str| {
        let version = game.version();
        let path = format!("/events?after_end=true&last_event_id={version}");
        Stream::open(game.get(viewer, &path).header("Accept", accept))
    };
    let events = after_end(game, Seat(0), "text/event-stream");
    let lines = after_end(&same, Spectator, "application/x-ndjson");
    // Without `after_end` there is nothing to wait for.
    let ended = format!("/events?last_event_id={}", game.version());
    game.get(Seat(0), &ended).send().expect(204);
    events.wait_for_presence(json!([true, false, false, false]));

    let next = ask(game, Seat(1), &json!({"seats": [2, 1, 0, 3]})).expect(201);
    let told = |stream: &Stream| loop {
        let message = stream.notice().expect("a message");
        if message.data["present"].is_null() {
            return message;
        }
    };
    let message = told(&events);
    assert_eq!((message.name.as_str(), message.id), ("rematch", 0));
    assert_eq!(message.data["seat"], 2);
    let seen = game.get(Seat(0), "/rematch").send().expect(200);
    assert_eq!(message.data, seen);
    let told_there = told(&lines).data;
    assert_eq!(told_there["id"], next["id"]);
    assert_eq!(told_there["seat"], Value::Null);
    // A viewer who comes later is told at once, after the game.
    let later = game.events(Seat(3), "?after_end=true");
    assert_eq!(later.next().expect("the game").data["phase"], "finished");
    assert_eq!(told(&later).data["id"], next["id"]);
}

#[test]
fn seats_are_kept_for_those_who_left() {
    let server = TestServer::start();
    let table = left(&server);
    let old = &table.game;
    let first = ask(old, Seat(1), &json!({})).expect(201);
    assert_eq!(first["seat"], 1);
    let game = next(old, &first, [0, 1, 2, 3]);
    let view = game.view(Spectator);
    assert_eq!(view["phase"], "seating");
    assert!(view["bots_at"].is_string());
    assert_eq!(seats(&view, "kind"), json!(vec!["human"; 4]));
    assert_eq!(seats(&view, "asked"), json!([false, true, false, false]));
    assert_eq!(seats(&view, "joined"), json!([true, true, true, true]));
    let present = game.get(Spectator, "/presence").send().expect(200);
    assert_eq!(present["present"], json!([false, false, false, false]));
    // Nobody else gets a seat, and nobody is left out who asks, or takes the seat back.
    let join = game.post_json(Spectator, "/join", &json!({"seat": 0}));
    join.refused("invitation_needed");
    game.post(Host, "/seats/0/token").send().refused("no_human");
    game.post(Seat(1), "/deal").send().refused("seats_open");
    assert_eq!(ask(old, Seat(0), &json!({})).expect(200)["seat"], 0);
    let human = json!({"kind": "human"});
    game.put(Seat(2), 2, &human).expect(200);
    let view = game.view(Spectator);
    assert_eq!(seats(&view, "asked"), json!([true, true, true, false]));

    let dealt = game.post(Host, "/deal").send().expect(200);
    let types = [0, 1].map(|event| &dealt["events"][event]["type"]);
    assert_eq!(json!(types), json!(["cards_dealt", "seat_handed_over"]));
    let view = game.view(Spectator);
    let kinds = json!(["human", "human", "human", "bot"]);
    assert_eq!(seats(&view, "kind"), kinds);
    assert_eq!(view["seats"][3]["name"], "Person 3");
    // The token takes it back.
    assert_eq!(ask(old, Seat(3), &json!({})).expect(200)["seat"], 3);
    let back = game.put(Seat(3), 3, &human).expect(200);
    let stand_in = ["kind", "name", "stand_in"].map(|name| &back["game"]["seats"][3][name]);
    assert_eq!(json!(stand_in), json!(["human", "Person 3", true]));
}

#[test]
fn the_next_game_does_not_begin_before_a_person_is_there() {
    let server = TestServer::start();
    let table = left(&server);
    table
        .put(Seat(3), 3, &json!({"kind": "human"}))
        .refused("game_over");
    let first = ask(&table.game, Host, &json!({})).expect(201);
    let id = first["id"].as_str().expect("an id");
    // A minute later.
    let server = TestServer::on_copy(&server, |database| end_the_wait(database, id));
    let old = table.game.at(&server);
    let game = next(&old, &first, [0, 1, 2, 3]);
    game.post(Host, "/deal").send().refused("seats_open");
    let opened = game.put(Host, 0, &json!({"kind": "open"})).expect(200);
    assert_eq!(opened["game"]["seats"][0]["kind"], "open");
    game.put(Host, 0, &json!({"kind": "bot"})).expect(200);
    game.post(Host, "/deal").send().refused("seats_open");
    let view = game.view(Host);
    assert_eq!(
        (&view["phase"], &view["actions"]),
        (&json!("seating"), &json!([]))
    );
    assert_eq!(seats(&view, "asked"), json!([null, false, false, false]));
    // With the first who comes, it is time for the others.
    ask(&old, Seat(2), &json!({})).expect(200);
    let view = game.wait_for(|view| view["phase"] != "seating");
    assert_eq!(seats(&view, "kind"), json!(["bot", "bot", "human", "bot"]));
}

#[test]
fn a_seat_that_was_given_up_or_opened_is_a_bots() {
    let server = TestServer::start();
    let table = TestTable::full(&server, &json!({"bot_pace_ms": 0}));
    let open = json!({"kind": "open"});
    table.put(Seat(1), 1, &open).expect(200);
    table.put(Host, 2, &open).expect(200);
    for seat in 0..4 {
        let bot = json!({"kind": "bot", "level": "fast"});
        table.put(Host, seat, &bot).expect(200);
    }
    table.game.post(Host, "/deal").send();
    table.game.wait_for(|view| view["phase"] == "finished");
    for gone in [1, 2] {
        ask(&table.game, Seat(gone), &json!({})).refused("token_replaced");
    }
    let first = ask(&table.game, Seat(3), &json!({})).expect(201);
    let asked = seats(&first["game"], "asked");
    assert_eq!(asked, json!([false, null, null, true]));
}

/// The game as it would be if nobody had a host's token.
fn without_host(database: &ServerDatabase) {
    let none = "0".repeat(64);
    let sql = match database {
        ServerDatabase::File(_) => format!("unhex('{none}' || substr(hex(token_hashes), 65))"),
        ServerDatabase::Postgres(_) => {
            format!("decode('{none}' || substr(encode(token_hashes, 'hex'), 65), 'hex')")
        }
    };
    database.sql(&format!("UPDATE games SET token_hashes = {sql}"));
}

#[test]
fn without_a_host_those_who_do_not_ask_become_bots_after_a_minute() {
    let finished_server = TestServer::start();
    let table = finished(&finished_server);
    let server = TestServer::on_copy(&finished_server, without_host);
    let old = table.game.at(&server);
    ask(&old, Host, &json!({})).refused("unauthorized");
    let first = ask(&old, Seat(1), &json!({})).expect(201);
    ask(&old, Seat(3), &json!({})).expect(200);
    let game = next(&old, &first, [0, 1, 2, 3]);
    let view = game.view(Spectator);
    assert_eq!(view["phase"], "seating");
    assert_eq!(seats(&view, "kind"), json!(vec!["human"; 4]));
    let server = TestServer::on_copy(&server, |database| end_the_wait(database, &game.id));
    let game = game.at(&server);
    // Those who asked keep their seats, although they are not connected.
    let view = game.wait_for(|view| view["phase"] != "seating");
    let kinds = json!(["bot", "human", "bot", "human"]);
    assert_eq!(seats(&view, "kind"), kinds);
}
