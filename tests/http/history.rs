//! The history of a game: as each viewer may see it, in full once the game is finished, and
//! imported again from its record.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{
    Raw, TestGame, TestServer,
    TestViewer::{self, *},
    available, raw, run, verify,
};

const NDJSON: &str = "application/x-ndjson";

/// A game that bots have played to its end.
fn finished(server: &TestServer) -> TestGame<'_> {
    let game = TestGame::with_bots(server, "greedy", 0);
    game.events(Spectator, "").rest();
    game
}

/// The game and its entries, as lines of JSON.
fn lines(game: &TestGame<'_>, viewer: TestViewer) -> Vec<Value> {
    let lines = game.get(viewer, "/history").header("Accept", NDJSON).send();
    let parse = |line: &str| serde_json::from_str(line).expect("a line of JSON");
    lines.text().lines().map(parse).collect()
}

#[test]
fn during_a_game_each_viewer_sees_its_own_history() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    for viewer in game.viewers() {
        let history = game.get(viewer, "/history").send().expect(200);
        assert_eq!(history["shuffle_seed"], Value::Null);
        let entries = history["entries"].as_array().expect("entries");
        assert_eq!(entries.len() as u64, game.version());
        let deal = &entries[1]["events"][0];
        for seat in 0..4 {
            let is_own = viewer == Seat(seat);
            assert_eq!(deal["hands"][seat].is_array(), is_own, "{viewer}");
            let offer = &entries[2 + seat]["events"][0];
            assert_eq!(offer["card"].is_string(), is_own, "{viewer}");
        }
        // The stream sends the same entries, and so do the lines.
        let streamed = game.events_after(viewer, 0).take(entries.len());
        for (message, entry) in streamed.iter().zip(entries) {
            for name in ["version", "at", "events"] {
                assert_eq!(message.data[name], entry[name], "{viewer}: {name}");
            }
        }
        let mut lines = lines(&game, viewer);
        let mut head = lines.remove(0);
        head["entries"] = json!(lines);
        assert_eq!(head, history, "{viewer}");
    }
    let record = game.get(Seat(0), "/history").header("Accept", "text/plain");
    record.send().refused("game_not_over");
}

#[test]
fn judgements_are_added_to_the_text_alone() {
    let server = TestServer::shared();
    let game = TestGame::imported(&server);
    for accept in ["application/json", "application/x-ndjson"] {
        let get = |query: &str| {
            let path = format!("/history?review={query}");
            game.get(Spectator, &path).header("Accept", accept).send()
        };
        let refused = get("true").refused("invalid_request");
        assert_eq!(refused["reason"], "wrong_combination");
        assert_eq!(get("false").status, 200);
    }
}

#[test]
fn a_finished_game_hides_nothing_and_can_be_checked() {
    let server = TestServer::shared();
    let game = finished(&server);
    let history = game.get(Spectator, "/history").send().expect(200);
    assert_eq!(
        history["shuffle_seed"],
        game.view(Spectator)["shuffle_seed"]
    );
    let hands = history["entries"][1]["events"][0]["hands"].as_array();
    assert!(hands.expect("hands").iter().all(Value::is_array));
    let (verified, printed) = verify(&game.record());
    assert!(verified && printed.contains(&game.id), "{printed}");
    assert_eq!(json!(lines(&game, Host)[1..]), history["entries"]);
}

#[test]
fn a_long_history_comes_in_every_form_and_encoding() {
    let server = TestServer::start();
    let game = TestGame::long(&server, 1_000);
    let request = |method, form| {
        let request = game.request(method, Spectator, "/history");
        request.header("Accept", form).send()
    };
    for (form, content_type) in [
        ("application/json", "application/json"),
        (NDJSON, NDJSON),
        ("text/plain", "text/plain; charset=utf-8"),
    ] {
        let (get, head) = (request("GET", form), request("HEAD", form));
        assert_eq!((head.status, head.body.len()), (200, 0));
        for response in [&get, &head] {
            assert_eq!(response.header("content-type"), Some(content_type));
        }
        if form == "text/plain" {
            assert!(verify(&get.text()).0);
        }
        if available(&["gzip"]) {
            let packed = format!(
                "GET {} HTTP/1.1\r\nHost: a\r\nAccept: {form}\r\nAccept-Encoding: gzip\r\n\
                 Connection: close\r\n\r\n",
                game.path("/history")
            );
            let packed = raw(&server, packed.as_bytes());
            assert_eq!(packed.header("content-encoding"), Some("gzip"));
            let unpacked = run(Command::new("gzip").arg("-dc"), &packed.unchunked());
            assert_eq!(unpacked.stdout, get.body, "{form}");
        }
    }
    request("GET", "text/html").refused("not_acceptable");
    let history = request("GET", "application/json").json();
    let entries = history["entries"].as_array().expect("entries").iter();
    let versions = entries.map(|entry| entry["version"].as_u64());
    assert!(versions.eq((1..=1_000).map(Some)));
}

#[test]
fn a_history_waits_for_its_reader_and_ends_early_with_its_game() {
    let server = TestServer::start();
    let game = TestGame::long(&server, 10_000);
    let mut connection = Raw::get(&game, Spectator, "/history");
    connection.wait_for_bytes();
    game.remove();
    let response = connection.response().expect("the beginning");
    assert_eq!(response.status, 200);
    assert!(!response.body.is_empty());
    assert!(
        !response.body.ends_with(b"0\r\n\r\n"),
        "as if it were whole"
    );
}

#[test]
fn an_imported_record_is_the_same_game() {
    let server = TestServer::shared();
    let game = finished(&server);
    let record = game.record();
    let as_json = server.post("/v1/games/import");
    let as_json = as_json.json(&json!({"record": record, "listed": false}));
    for (response, listed) in [(server.import(&record), true), (as_json.send(), false)] {
        let location = response.header("location").expect("a location").to_owned();
        let created = response.expect(201);
        assert_eq!(created["seat_tokens"], json!([null, null, null, null]));
        let copy = TestGame::from_created(&server, &created);
        assert_eq!(location, copy.path(""));
        assert_ne!(copy.id, game.id);
        let (mut view, mut original) = (copy.view(Spectator), game.view(Spectator));
        let marks = json!([view["imported"], view["listed"], original["imported"]]);
        assert_eq!(marks, json!([true, listed, false]));
        for view in [&mut view, &mut original] {
            for name in ["id", "imported", "listed", "created_at", "updated_at"] {
                view[name].take();
            }
        }
        assert_eq!(view, original);
        let events = |game: &TestGame<'_>| {
            let entries = lines(game, Spectator).into_iter().skip(1);
            entries
                .map(|mut entry| entry["events"].take())
                .collect::<Vec<_>>()
        };
        assert_eq!(events(&copy), events(&game));
        assert!(verify(&copy.record()).0);
        copy.remove();
    }
}

#[test]
fn an_impossible_record_is_not_imported() {
    let server = TestServer::start();
    let record = include_str!("../records/four.dog");
    server.import(record).expect(201);
    let games = || server.get("/v1/games?limit=100").send().expect(200);
    let before = games();
    // An illegal move: its line, and why. Another seed, a game without an end, no record at all.
    let first = record.lines().position(|line| line == "3 K:out");
    let line = format!("line {}", first.expect("the first play") + 1);
    let half: Vec<&str> = record.lines().take(60).collect();
    let changed = |from: &str, to: &str| record.replacen(from, to, 1);
    for (text, words) in [
        (changed("3 K:out", "3 9:16>25"), [&*line, "9:16>25"]),
        (changed("3 K:out", "1 K:out"), [&*line, "seat 3 is to move"]),
        (changed("[Seed \"b1", "[Seed \"b2"), ["line", "seed"]),
        (half.join("\n"), ["line 60", ""]),
        ("no record".to_owned(), ["line 1", ""]),
        ("\u{0}".to_owned(), ["line 1", ""]),
    ] {
        let refused = server.import(&text).refused("invalid_record");
        let detail = refused["detail"].as_str().expect("a detail");
        assert!(words.iter().all(|word| detail.contains(word)), "{detail}");
    }
    let post = || server.post("/v1/games/import");
    let no_utf_8 = post().bytes("text/plain", b"\xff\xfe");
    no_utf_8.send().refused("malformed_json");
    for request in [post().json(&json!({"record": 7})), post()] {
        request.send().refused("invalid_request");
    }
    let xml = post().text("application/xml", record);
    xml.send().refused("unsupported_media_type");
    let long = format!("{record}{}", " \n".repeat(700_000));
    server.import(&long).refused("body_too_large");
    assert_eq!(games(), before);
}
