//! `POST /v1/join`: a seat at any table with these rules.

use std::{
    collections::{BTreeMap, HashSet},
    iter,
    process::Command,
    thread,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::{
    ServerDatabase, Signal, Stream, TestGame, TestServer, TestViewer::*, UNCACHED, at_once,
    of_seats, wait_until,
};

const KEY: &str = "Zk3vQ9xT1bN7cR5wY8mLpA";

/// A seat that somebody got.
pub struct Taken<'a> {
    pub game: TestGame<'a>,
    pub seat: usize,
    answer: Value,
}

impl Taken<'_> {
    pub fn id(&self) -> &str {
        self.answer["id"].as_str().expect("an id")
    }

    pub fn events(&self) -> Stream {
        self.game.events(Seat(self.seat), "")
    }

    fn leave(&self) {
        let open = json!({"kind": "open"});
        self.game.put(Seat(self.seat), self.seat, &open).expect(200);
    }
}

pub fn join<'a>(server: &'a TestServer, body: &Value) -> Taken<'a> {
    let send = || server.post("/v1/join").json(body).send();
    // Of a crowd, those who have waited for long come again.
    let mut answers = iter::repeat_with(send);
    let answer = answers.find(|answer| answer.status != 503);
    let answer = answer.expect("they never end").expect(201);
    let seat = answer["seat"].as_u64().expect("a seat") as usize;
    let token = answer["token"].as_str().expect("a token");
    server.forbid_in_log(token);
    let mut tokens = vec![String::new(); 6];
    tokens[seat] = token.to_owned();
    let game = TestGame {
        server,
        id: answer["id"].as_str().expect("an id").to_owned(),
        tokens,
        host: String::new(),
    };
    Taken { game, seat, answer }
}

fn kinds(view: &Value) -> Value {
    of_seats(view, "kind")
}

#[test]
fn people_meet_at_one_table_and_the_server_deals() {
    let server = TestServer::start();
    let anna = join(&server, &json!({"name": "Anna"}));
    let beat = server.post("/v1/join").json(&json!({"name": "Beat"}));
    let beat = beat.send();
    assert_eq!(beat.header("location"), Some(&*anna.game.path("")));
    let beat = beat.expect(201);
    assert_eq!(beat["id"], anna.answer["id"]);
    // They sit down like at any table that is open to anyone.
    let event = json!([{"type": "seat_taken", "seat": 1, "name": "Beat"}]);
    assert_eq!((&beat["seat"], &beat["events"]), (&json!(1), &event));
    let view = &beat["game"];
    let table = ["phase", "join", "start"].map(|name| &view[name]);
    assert_eq!(json!(table), json!(["seating", "anyone", "full"]));
    let settings = ["turn_seconds", "bot_pace_ms", "reactions"].map(|name| &view[name]);
    assert_eq!(json!(settings), json!([60, 1_000, true]));
    assert_eq!(kinds(view), json!(["human", "human", "open", "open"]));
    // People with other rules sit elsewhere. The same rules may be written in another way.
    let other = join(&server, &json!({"rules": {"preset": "hausregeln"}}));
    assert_ne!(other.id(), anna.id());
    let rules = json!({"preset": "dogspiel-it", "seats": 4});
    let same = join(&server, &json!({"rules": rules}));
    assert_eq!((same.id(), same.seat), (anna.id(), 2));
    // A condition means nothing here. The document does not list it, so the response is unchecked.
    let conditional = server.post("/v1/join").if_match("\"99\"");
    let rules = json!({"preset": "hausregeln", "seats": 6});
    let response = conditional.json(&json!({"rules": rules})).run();
    assert_eq!(response.status(), 201);
    // A person who gives the seat up lets somebody else in.
    same.leave();
    let dani = join(&server, &json!({}));
    assert_eq!((dani.id(), dani.seat), (anna.id(), 2));
    let eva = join(&server, &json!({"name": "Eva"}));
    assert_eq!((eva.id(), eva.seat), (anna.id(), 3));
    let stream = eva.events();
    let mut messages = std::iter::from_fn(|| stream.next());
    let dealt = messages.find(|message| message.data["events"][0]["type"] == "cards_dealt");
    let mut dealt = dealt.expect("a deal").data["events"][0].take();
    assert_eq!(dealt["by"], "server");
    let hands = dealt["hands"].as_array_mut().expect("hands");
    assert!(hands[3].is_array() && hands[..3].iter().all(Value::is_null));
    // The table is full.
    assert_ne!(join(&server, &json!({})).id(), anna.id());
}

#[test]
fn a_quick_join_is_refused_before_it_makes_a_table() {
    let server = TestServer::start();
    let send = |body: &Value| server.post("/v1/join").json(body).send();
    send(&json!({"seat": 1})).refused("invalid_request");
    send(&json!({"name": ""})).refused("invalid_request");
    send(&json!({"rules": {"preset": "hausregeln", "seats": 5}})).refused("invalid_rules");
    let weak = server.post("/v1/join").key("order-17").json(&json!({}));
    weak.send().refused("weak_idempotency_key");
    let list = server.get("/v1/games").send().expect(200);
    assert_eq!(list["games"], json!([]));
}

#[test]
fn a_retry_gets_the_same_seat() {
    let server = TestServer::start();
    let body = json!({"name": "Anna"});
    let send = || server.post("/v1/join").key(KEY).json(&body).send();
    let first = send().expect(201);
    server.forbid_in_log(first["token"].as_str().expect("a token"));
    assert_eq!(send().expect(201), first);
    server.restart(Signal::Kill);
    let again = send();
    let id = first["id"].as_str().expect("an id");
    assert_eq!(again.header("location"), Some(&*format!("/v1/games/{id}")));
    assert_eq!(again.expect(201), first);
    let other = server.post("/v1/join").key(KEY).json(&json!({}));
    other.send().refused("idempotency_key_reused");
    assert_eq!(join(&server, &body).seat, 1);
}

/// Nobody makes a table where there is one.
#[test]
fn hundreds_of_callers_at_several_nodes_fill_the_tables() {
    const CALLERS: usize = 402;
    let first = TestServer::start();
    let others = [TestServer::beside(&first), TestServer::beside(&first)];
    let all = [&first, &others[0], &others[1]];
    let joined = at_once(CALLERS, |number| {
        let name = json!({"name": format!("P{number}")});
        join(all[number % all.len()], &name)
    });
    let mut tables: BTreeMap<&str, HashSet<usize>> = BTreeMap::new();
    for taken in &joined {
        let is_free = tables.entry(taken.id()).or_default().insert(taken.seat);
        assert!(is_free, "a seat for two");
    }
    let mut sizes: Vec<usize> = tables.values().map(HashSet::len).collect();
    sizes.sort_unstable();
    let mut expected = vec![4; CALLERS.div_ceil(4)];
    expected[0] = CALLERS % 4;
    assert_eq!(sizes, expected);
    // There are no other tables.
    let mut found = 0;
    let mut path = "/v1/games?limit=100".to_owned();
    loop {
        let page = first.get(&path).send().expect(200);
        found += page["games"].as_array().expect("games").len();
        match page["next"].as_str() {
            Some(next) => path = format!("/v1/games?limit=100&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(found, tables.len());
}

/// The wait of a minute is real, so all that happens at its end is tested at once.
#[test]
#[ignore = "waits a minute"]
fn after_a_minute_ghosts_lose_their_seats_and_bots_come() {
    let server = TestServer::start();
    // Anna is there, Beat is not.
    let anna = join(&server, &json!({"name": "Anna"}));
    let beat = join(&server, &json!({"name": "Beat"}));
    let here = anna.events();
    here.wait_for_presence(json!([true, false, null, null]));
    // At another table nobody is there, and a third is left by all.
    let rules = json!({"preset": "hausregeln"});
    let ghosts = [(); 2].map(|()| join(&server, &json!({"rules": rules})));
    let rules_left = json!({"preset": "dogspiel-it", "jokers": 4});
    let left = join(&server, &json!({"rules": rules_left}));
    let is_listed = |query: &str| {
        let list = server.get(&format!("/v1/games{query}")).send().expect(200);
        let games = list["games"].as_array().expect("games");
        games.iter().any(|game| game["id"] == left.id())
    };
    assert!(is_listed("") && is_listed("?open=true"));
    left.leave();
    // Nobody sits there.
    assert!(!is_listed("") && !is_listed("?open=true"));

    let view = anna.game.wait_for(|view| view["phase"] == "exchange");
    assert_eq!(kinds(&view), json!(["human", "bot", "bot", "bot"]));
    let expected = json!([
        ["game_created", null, null, null],
        ["seat_taken", 0, null, null],
        ["seat_taken", 1, null, null],
        ["seat_handed_over", 1, "open", "server"],
        ["seat_handed_over", 1, "bot", "server"],
        ["seat_handed_over", 2, "bot", "server"],
        ["seat_handed_over", 3, "bot", "server"],
        ["cards_dealt", null, null, "server"],
    ]);
    let entries = anna.game.entries(Seat(0));
    let events = entries[..8].iter().map(|entry| &entry["events"][0]);
    let happened = events.map(|event| {
        let members = ["type", "seat", "kind", "by"].map(|name| &event[name]);
        json!(members)
    });
    assert_eq!(happened.collect::<Value>(), expected);
    let gone = beat.game.get(Seat(1), "").send();
    gone.refused("token_replaced");

    // The table of ghosts is used again, and so is the one that was left.
    let all_open = json!(["open", "open", "open", "open"]);
    let view = ghosts[0].game.wait_for(|view| kinds(view) == all_open);
    assert_eq!(view["phase"], "seating");
    let gone = ghosts[0].game.get(Seat(0), "").send();
    gone.refused("token_replaced");
    let eva = join(&server, &json!({"rules": rules, "name": "Eva"}));
    assert_eq!(eva.id(), ghosts[0].id());
    let again = join(&server, &json!({"rules": rules_left}));
    assert_eq!(again.id(), left.id());
    assert!(is_listed("") && is_listed("?open=true"));
    // A person who comes to it has the whole time again.
    let view = eva.game.view(Spectator);
    assert_eq!(kinds(&view), json!(["human", "open", "open", "open"]));
}

#[test]
fn a_table_at_which_nobody_sits_is_removed() {
    let server = TestServer::start_with(&[UNCACHED]);
    let left = join(&server, &json!({}));
    left.leave();
    let other = join(&server, &json!({"rules": {"preset": "hausregeln"}}));
    // As if this had happened eleven minutes ago. When bots come to the other one does not matter.
    let ago = 11 * 60 * 1_000_000_i64;
    let updated = format!("updated_at = updated_at - {ago}");
    let due = format!("{updated}, due_at = due_at - {ago}");
    // `change_game` would set `updated_at` so that it no longer fits `due_at`.
    for (taken, columns) in [(&left, &due), (&other, &updated)] {
        let (id, database) = (taken.id(), server.database());
        let change = format!("UPDATE games SET {columns} WHERE id = '{id}' RETURNING id");
        assert_eq!(database.sql(&change), [id]);
        if let ServerDatabase::Postgres(_) = database {
            let tell = "INSERT INTO changes (game, version) SELECT id, version FROM games";
            database.sql(&format!("{tell} WHERE id = '{id}'"));
        }
    }
    wait_until("it is gone", || {
        left.game.get(Spectator, "").send().status == 404
    });
    // Somebody who waits for others is not nobody.
    let view = other.game.view(Spectator);
    let first = &view["seats"][0]["kind"];
    assert!(first == "human" || first == "open", "{view}");
}

#[test]
fn a_table_with_all_its_changes_is_not_joined() {
    let server = TestServer::start_with(&[UNCACHED]);
    let first = join(&server, &json!({}));
    let columns = "token_renewals = 99999";
    server.database().change_game(first.id(), columns);
    let second = join(&server, &json!({}));
    assert_ne!(first.id(), second.id());
}

/// As if the minute in which others could come were over, and the outage a long one.
pub fn end_the_wait(database: &ServerDatabase, id: &str) {
    if let ServerDatabase::Postgres(_) = database {
        database.sql("UPDATE processes SET lease_until = 1 RETURNING process");
    }
    let sql = format!("SELECT seating FROM games WHERE id = '{id}'");
    let mut seating: Value = serde_json::from_str(&database.sql(&sql)[0]).expect("JSON");
    let past = "2026-01-01T00:00:00Z";
    seating["bots_at"] = json!(past);
    let due: Timestamp = past.parse().expect("a time");
    let columns = format!("seating = '{seating}', due_at = {}", due.as_microsecond());
    database.change_game(id, &columns);
}

/// People who were cut off get their seats back, and bots come for the others.
#[track_caller]
fn people_stay(people: &[Taken<'_>]) {
    let _here: Vec<Stream> = people.iter().map(Taken::events).collect();
    let view = people[0].game.wait_for(|view| view["phase"] != "seating");
    assert_eq!(kinds(&view), json!(["human", "human", "bot", "bot"]));
    for taken in people {
        taken.game.view(Seat(taken.seat));
    }
}

/// Two people of one table, and their streams.
fn two_people(server: &TestServer) -> ([Taken<'_>; 2], [Stream; 2]) {
    let people = ["Anna", "Beat"].map(|name| join(server, &json!({"name": name})));
    let here = people.each_ref().map(Taken::events);
    here[0].wait_for_presence(json!([true, true, null, null]));
    (people, here)
}

#[test]
#[ignore = "waits 15 seconds"]
fn nobody_loses_the_seat_by_a_restart() {
    let server = TestServer::start();
    let (people, here) = two_people(&server);
    server.stop(Signal::Kill);
    drop(here);
    end_the_wait(server.database(), people[0].id());
    server.restart(Signal::Kill);
    people_stay(&people);
}

#[test]
#[ignore = "a pause of 30 seconds"]
fn nobody_loses_the_seat_by_a_pause() {
    let server = TestServer::start();
    let (people, _here) = two_people(&server);
    let pause = |signal: &str| {
        let process = server.process_id().to_string();
        let done = Command::new("kill").args([signal, &process]).status();
        assert!(done.expect("kill").success());
    };
    pause("-STOP");
    // Longer than the lease, and than the time in which others may come.
    end_the_wait(server.database(), people[0].id());
    thread::sleep(Duration::from_secs(30));
    pause("-CONT");
    people_stay(&people);
}

fn time(text: &Value) -> Timestamp {
    text.as_str().expect("a text").parse().expect("a time")
}

/// At a full table with nobody there, each first action has 15 seconds, and not 60.
#[test]
#[ignore = "waits 15 seconds"]
fn people_who_never_came_do_not_hold_up_the_game() {
    let server = TestServer::start();
    let anna = join(&server, &json!({}));
    let here = anna.events();
    let away = [(); 3].map(|()| join(&server, &json!({})));
    assert!(away.iter().all(|taken| taken.id() == anna.id()));
    let view = anna.game.wait_for(|view| view["phase"] == "exchange");
    let (begun, view) = (time(&view["updated_at"]), anna.game.view(Seat(0)));
    let deadline = time(&view["deadline"]);
    anna.game
        .wait_for(|view| view["seats"][3]["exchange"] != "pending");
    // Each of them was played for at least 15 seconds after the deal and before the deadline.
    let entries = anna.game.entries(Seat(0));
    let by_clock = |entry: &&Value| entry["events"][0]["by"] == "clock";
    let acted: Vec<&Value> = entries.iter().filter(by_clock).collect();
    assert_eq!(acted.len(), 3, "{entries:?}");
    for entry in acted {
        assert_ne!(entry["events"][0]["seat"], anna.seat);
        let at = time(&entry["at"]);
        assert!(at >= begun + SignedDuration::from_secs(15), "{at}");
        assert!(at < deadline, "{at}");
    }
    // Anna is there, and keeps her minute.
    assert_eq!(anna.game.view(Seat(0))["seats"][0]["exchange"], "pending");
    drop(here);
}
