//! Names: what may be one, and what others see.

use std::thread;

use serde_json::{Value, json};

use crate::support::{TestGame, TestResponse, TestServer, TestTable, TestViewer::*, of_seats};

fn create(server: &TestServer, seats: &Value) -> TestResponse {
    server.create(&json!({"seats": seats}))
}

fn names(view: &Value) -> Value {
    of_seats(view, "name")
}

/// Asserts that this member of the body is refused. Returns the detail.
#[track_caller]
fn refused_at(response: TestResponse, pointer: &str) -> String {
    let problem = response.refused("invalid_request");
    let told = (&problem["reason"], &problem["errors"][0]["pointer"]);
    assert_eq!(told, (&json!("wrong_value"), &json!(pointer)), "{problem}");
    problem["detail"].as_str().expect("a detail").to_owned()
}

#[test]
fn a_name_is_checked_wherever_it_is_given() {
    let server = TestServer::shared();
    let table = TestTable::create(&server, &json!({"join": "anyone"}));
    let mut full = TestTable::create(&server, &json!({"join": "anyone"}));
    full.join(&json!({"seat": 0, "name": "Anna"}));
    for name in ["", "\u{200b}", "Eve\u{202e}", "Eve\n", "bOT2"] {
        let body = json!({"name": name});
        let seats = json!([{}, {}, {"kind": "open", "name": name}, {}]);
        refused_at(create(&server, &seats), "/seats/2/name");
        refused_at(server.post("/v1/join").json(&body).send(), "/name");
        refused_at(table.ask_to_join(&body), "/name");
        let said = refused_at(full.put(Seat(0), 0, &body), "/name");
        assert_eq!(said.contains("Bot"), name == "bOT2", "{said}");
        let body = json!({"kind": "human", "name": name});
        refused_at(full.put(Host, 1, &body), "/name");
    }
    for (game, first) in [(&table.game, "Seat 0"), (&full.game, "Anna")] {
        let view = game.view(Spectator);
        let expected = json!([first, "Seat 1", "Seat 2", "Seat 3"]);
        assert_eq!(names(&view), expected);
    }
}

#[test]
fn equal_names_are_told_apart_everywhere() {
    let server = TestServer::shared();
    let seats = json!([{"name": " Anna "}, {"kind": "bot", "name": "ANNA"}, {"kind": "open"},
        {"name": "Seat 2"}]);
    let created = create(&server, &seats).expect(201);
    let game = TestGame::from_created(&server, &created);
    let expected = json!(["Anna", "ANNA (2)", "Seat 2", "Seat 2 (2)"]);
    assert_eq!(names(&created["game"]), expected);
    let list = server.get("/v1/games?limit=100").send().expect(200);
    let listed = list["games"].as_array().expect("games").iter();
    let listed = listed.filter(|entry| entry["id"] == game.id);
    let listed: Vec<&Value> = listed.map(|entry| &entry["names"]).collect();
    assert_eq!(listed, [&expected]);
    // A person who sits down later gets the next number, in the answer, the event and the history.
    let body = json!({"invitation": created["invitation"], "name": "Anna\u{200b}"});
    let joined = game.post_json(Spectator, "/join", &body).expect(201);
    let third = "Anna\u{200b} (3)";
    assert_eq!(joined["events"][0]["name"], third);
    assert_eq!(names(&joined["game"])[2], third);
    let history = game.get(Spectator, "/history").send().expect(200);
    assert_eq!(history["entries"][1]["events"][0]["name"], third);
    assert_eq!(history["players"][1]["name"], "ANNA (2)");
    // One's own name is not changed, but a name that another seat has gets a number.
    let rename = |seat: usize, name: &str| {
        let changed = game.put(Seat(seat), seat, &json!({"name": name}));
        let mut changed = changed.expect(200);
        let name = changed["events"][0]["name"].take();
        assert_eq!(changed["game"]["seats"][seat]["name"], name);
        name
    };
    assert_eq!(rename(0, "Anna"), "Anna");
    assert_eq!(rename(3, "Seat 2 (2)"), "Seat 2 (2)");
    assert_eq!(rename(3, "anna"), "anna (4)");
}

/// Each of those who come at the same time is told apart from the others.
#[test]
fn people_with_the_same_name_who_come_at_once_are_told_apart() {
    let server = TestServer::start();
    let table = TestTable::create(&server, &json!({"join": "anyone"}));
    let rules = json!({"preset": "hausregeln"});
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| table.ask_to_join(&json!({"name": "Anna"})).expect(201));
            let body = json!({"name": "Anna", "rules": rules});
            let join = server.post("/v1/join").json(&body);
            scope.spawn(|| join.send().expect(201));
        }
    });
    let list = server.get("/v1/games").send().expect(200);
    let tables = list["games"].as_array().expect("games");
    assert_eq!(tables.len(), 2, "{list}");
    for table in tables {
        let names = table["names"].as_array().expect("names").iter();
        let mut names: Vec<&str> = names.filter_map(Value::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["Anna", "Anna (2)", "Anna (3)", "Anna (4)"]);
    }
}

#[test]
fn the_name_of_a_bot_does_not_become_a_persons() {
    let server = TestServer::shared();
    let unnamed = json!({"kind": "bot", "level": "greedy"});
    let rex = json!({"kind": "bot", "name": "Rex", "level": "greedy"});
    let seats = json!([{"name": "Anna"}, unnamed, rex, {}]);
    let game = TestGame::from_created(&server, &create(&server, &seats).expect(201));
    let change = |viewer, seat: usize, body: Value| {
        let mut changed = game.put(viewer, seat, &body).expect(200);
        changed["game"]["seats"][seat]["name"].take()
    };
    let to = |kind: &str| json!({"kind": kind});
    // A person does not get the name `Bot 1`, but any other name stays.
    assert_eq!(change(Host, 1, to("human")), "Seat 1");
    assert_eq!(change(Host, 2, to("human")), "Rex");
    // A person who leaves and comes back has the same name.
    assert_eq!(change(Seat(0), 0, to("bot")), "Anna");
    assert_eq!(change(Seat(0), 0, to("human")), "Anna");
    // Among bots `Bot 2` is a name like any other.
    let bot = |name: &str| json!({"kind": "bot", "name": name});
    assert_eq!(change(Host, 3, bot("Bot 2")), "Bot 2");
    assert_eq!(change(Host, 2, bot("bot 2")), "bot 2 (2)");
    // A seat that is given up gets the default name, which somebody may have.
    assert_eq!(change(Host, 1, json!({"name": "Seat 3"})), "Seat 3");
    assert_eq!(change(Host, 3, to("open")), "Seat 3 (2)");
}

/// A record of an earlier release, or of another program, may have any names.
#[test]
fn a_record_with_any_names_is_imported() {
    let server = TestServer::shared();
    let record = include_str!("../records/joined.dog");
    assert!(record.contains("[Seat0 \"Anna\"]") && record.contains("1 joins \"Beat\""));
    let import = |record: &str| TestGame::from_created(&server, &server.import(record).expect(201));
    // Valid names are written as they were read.
    let plain = import(record).record();
    assert!(plain.contains("[Seat0 \"Anna\"]") && plain.contains("1 joins \"Beat\""));
    let eve = format!("\"{}\u{202e}\"", "Eve ".repeat(900));
    let changed = record
        .replace("[Seat0 \"Anna\"]", "[Seat0 \" \u{200b}\"]")
        .replace("joins \"Beat\"", &format!("joins {eve}"))
        .replace("\"Bot; of the house\"", "\"\u{2067}\"");
    let repaired = import(&changed).record();
    let eve = format!("joins \"{}Eve\"", "Eve ".repeat(9));
    for words in ["[Seat0 \"Seat 0\"]", &eve, " \"Bot "] {
        assert!(repaired.contains(words), "{words}: {repaired}");
    }
    // Everybody in the next game has a valid name.
    let human = "becomes human fast";
    let spoilt = record.replace(&format!("{human} \"Beat\""), &format!("{human} \"Bot 1\""));
    assert_ne!(spoilt, record);
    let game = import(&spoilt);
    let rematch = game.post(Host, "/rematch").send().expect(201);
    for seat in rematch["game"]["seats"].as_array().expect("seats") {
        let name = seat["name"].as_str().expect("a name");
        let is_bots = name.starts_with("Bot ");
        let is_valid = !name.is_empty() && (!is_bots || seat["kind"] == "bot");
        assert!(is_valid, "{seat}");
    }
}

#[test]
fn a_record_from_an_email_is_imported() {
    let server = TestServer::shared();
    let record = include_str!("../records/four.dog");
    let mailed = record
        .replace('\n', " \u{a0}\r\n")
        .replace("deal ", "\u{a0}deal\u{a0} ");
    let import = |media_type: &str| {
        let import = server.post("/v1/games/import");
        let created = import.text(media_type, &format!("\u{feff}{mailed}")).send();
        TestGame::from_created(&server, &created.expect(201)).view(Spectator)
    };
    let body = json!({"record": mailed});
    let as_json = server.post("/v1/games/import").json(&body).send();
    let as_json = TestGame::from_created(&server, &as_json.expect(201)).view(Spectator);
    let board = TestGame::imported(&server).view(Spectator)["board"].take();
    for view in [
        import("text/plain"),
        import("text/plain; charset=utf-8; format=flowed"),
        as_json,
    ] {
        assert_eq!(view["phase"], "finished");
        assert_eq!(view["board"], board);
    }
}
