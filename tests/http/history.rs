//! The history of a game: as each viewer may see it, in full once the game is finished, and
//! imported again from its record.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{
    Raw, Stream, TestGame, TestResponse, TestServer, TestViewer::*, UNKNOWN_TOKEN, available, raw,
    run,
};

const NDJSON: &str = "application/x-ndjson";

/// A game that bots have played to its end.
fn finished<'a>(server: &'a TestServer, preset: &str) -> TestGame<'a> {
    let seats = [(); 4].map(|()| json!({"kind": "bot", "level": "greedy"}));
    let wishes = json!({"rules": {"preset": preset}, "seats": seats});
    let game = TestGame::create(server, &wishes);
    Stream::open(game.get(Spectator, "/events")).rest();
    game
}

fn text_of(game: &TestGame<'_>) -> String {
    let response = game
        .get(Spectator, "/history")
        .header("Accept", "text/plain")
        .send();
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(
        response.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    response.text()
}

fn import(server: &TestServer, record: &str) -> TestResponse {
    server
        .post("/v1/games/import")
        .text("text/plain", record)
        .send()
}

/// `dog verify` on a text.
fn verify(text: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dog"));
    run(
        command.args(["verify", "-"]).stderr(Stdio::piped()),
        text.as_bytes(),
    )
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
            assert_eq!(
                deal["hands"][seat].is_array(),
                viewer == Seat(seat),
                "{viewer}"
            );
            let offer = &entries[2 + seat]["events"][0];
            assert_eq!(offer["card"].is_string(), viewer == Seat(seat), "{viewer}");
        }
        // The stream sends the same entries.
        let stream = game.get(viewer, "/events").header("Last-Event-ID", "0");
        let streamed = Stream::open(stream).take(entries.len());
        for (message, entry) in streamed.iter().zip(entries) {
            for name in ["version", "at", "events"] {
                assert_eq!(message.data[name], entry[name], "{viewer}: {name}");
            }
        }
        let lines = game.get(viewer, "/history").header("Accept", NDJSON).send();
        let mut lines = lines
            .text()
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .into_iter();
        let parse = |line: String| serde_json::from_str::<Value>(&line).expect("a line of JSON");
        let mut head = lines.next().map(parse).expect("the game");
        head["entries"] = lines.map(parse).collect();
        assert_eq!(head, history, "{viewer}");
    }
    let record = game.get(Seat(0), "/history").header("Accept", "text/plain");
    record.send().refused("wrong_phase");
}

#[test]
fn a_finished_game_hides_nothing_and_can_be_checked() {
    let server = TestServer::shared();
    let game = finished(&server, "hausregeln");
    let response = game.get(Spectator, "/history").send();
    let history = response.json();
    assert_eq!(
        history["shuffle_seed"],
        game.view(Spectator)["shuffle_seed"]
    );
    let deal = &history["entries"][1]["events"][0];
    assert!(
        deal["hands"]
            .as_array()
            .expect("hands")
            .iter()
            .all(Value::is_array)
    );
    let output = verify(&text_of(&game));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(told.contains(&game.id), "{told}");
    // The lines are the same.
    let lines = game.get(Host, "/history").header("Accept", NDJSON).send();
    let lines: Vec<Value> = lines
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(&lines[1..], history["entries"].as_array().expect("entries"));
}

#[test]
fn a_long_history_comes_in_every_form_and_encoding() {
    let server = TestServer::start();
    let game = TestGame::long(&server, 1_000);
    let request = |method, form| {
        let request = game.request(method, Spectator, "/history");
        request.header("Accept", form).send()
    };
    for form in ["application/json", NDJSON, "text/plain"] {
        let (get, head) = (request("GET", form), request("HEAD", form));
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-type"), get.header("content-type"));
        if form == "text/plain" {
            assert!(verify(&get.text()).status.success());
        }
        if available(&["gzip"]) {
            let (address, path) = (server.address(), game.path("/history"));
            let packed = format!(
                "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {form}\r\n\
                 Accept-Encoding: gzip\r\nConnection: close\r\n\r\n"
            );
            let packed = raw(&server, packed.as_bytes());
            assert_eq!(packed.header("content-encoding"), Some("gzip"));
            let unpacked = run(Command::new("gzip").arg("-dc"), &packed.unchunked());
            assert_eq!(unpacked.stdout, get.body, "{form}");
        }
    }
    let history = request("GET", "application/json").json();
    let entries = history["entries"].as_array().expect("entries").iter();
    let versions = entries.map(|entry| entry["version"].as_u64());
    assert!(versions.eq((1..=1_000).map(Some)));
}

#[test]
fn a_history_waits_for_its_reader_and_ends_early_with_its_game() {
    let server = TestServer::start();
    let game = TestGame::long(&server, 10_000);
    let mut connection = Raw::connect(&server);
    let path = game.path("/history");
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    connection.send(request.as_bytes());
    connection.wait_for_bytes();
    assert_eq!(game.request("DELETE", Host, "").send().status, 204);
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
    let game = finished(&server, "hausregeln");
    let record = text_of(&game);
    let as_json = server.post("/v1/games/import");
    let as_json = as_json.json(&json!({"record": record, "listed": false}));
    for (response, listed) in [(import(&server, &record), true), (as_json.send(), false)] {
        let location = response.header("location").expect("a location").to_owned();
        let created = response.expect(201);
        assert_eq!(created["seat_tokens"], json!([null, null, null, null]));
        let copy = TestGame::of(&server, &created);
        assert_eq!(location, copy.path(""));
        assert_ne!(copy.id, game.id);
        let (mut view, mut original) = (copy.view(Spectator), game.view(Spectator));
        assert_eq!(
            (&view["imported"], &view["listed"]),
            (&json!(true), &json!(listed))
        );
        assert_eq!(original["imported"], false);
        for view in [&mut view, &mut original] {
            for name in ["id", "imported", "listed", "created_at", "updated_at"] {
                view[name].take();
            }
        }
        assert_eq!(view, original);
        let events = |game: &TestGame<'_>| {
            let history = game.get(Spectator, "/history").send().expect(200);
            let entries = history["entries"].as_array().expect("entries").iter();
            entries
                .map(|entry| entry["events"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(events(&copy), events(&game));
        assert!(verify(&text_of(&copy)).status.success());
        assert_eq!(copy.request("DELETE", Host, "").send().status, 204);
    }
}

#[test]
fn an_import_is_replayed_the_same() {
    let server = TestServer::shared();
    let record = include_str!("../records/six.dog");
    let send = |record: &str| {
        let request = server.post("/v1/games/import").text("text/plain", record);
        request.key("b3e1f0a297c84d56a1b2c3d4e5f60718").send()
    };
    let first = send(record).expect(201);
    assert_eq!(send(record).expect(201), first);
    send(include_str!("../records/four.dog")).refused("idempotency_key_reused");
}

#[test]
fn an_impossible_record_is_not_imported() {
    let server = TestServer::start();
    let record = include_str!("../records/four.dog");
    import(&server, record).expect(201);
    let games = || server.get("/v1/games?limit=100").send().expect(200);
    let before = games();
    let refused = |text: &str, words: &[&str]| {
        let problem = import(&server, text).refused("invalid_record");
        let detail = problem["detail"].as_str().expect("a detail");
        for word in words {
            assert!(detail.contains(word), "{detail}");
        }
    };
    // An illegal move: its line, and why.
    let first = record
        .lines()
        .position(|line| line == "3 K:out")
        .expect("the first play");
    let line = format!("line {}", first + 1);
    let illegal = record.replacen("3 K:out", "3 9:16>25", 1);
    refused(&illegal, &[&line, "9:16>25"]);
    refused(
        &record.replacen("3 K:out", "1 K:out", 1),
        &[&line, "seat 3 is to move"],
    );
    refused(&record.replacen("3 K:out", "3 K:uot", 1), &[&line]);
    // Another seed, another winner, a game without an end, no record at all.
    refused(
        &record.replacen("[Winner \"1\"]", "[Winner \"0\"]", 1),
        &["line"],
    );
    refused(
        &record.replacen("[Seed \"b1", "[Seed \"b2", 1),
        &["line", "seed"],
    );
    let half: Vec<&str> = record.lines().take(60).collect();
    refused(&half.join("\n"), &["line 60"]);
    for text in ["no record", "{}", "[Dog \"2\"]", "\u{0}"] {
        refused(text, &["line 1"]);
    }
    // Not even UTF-8.
    let post = || server.post("/v1/games/import");
    post()
        .bytes("text/plain", b"\xff\xfe")
        .send()
        .refused("malformed_json");
    post()
        .json(&json!({"record": 7}))
        .send()
        .refused("invalid_request");
    post().send().refused("invalid_request");
    post()
        .text("application/xml", record)
        .send()
        .refused("unsupported_media_type");
    let long = format!("{record}{}", " \n".repeat(700_000));
    import(&server, &long).refused("body_too_large");
    assert_eq!(games(), before);
}

#[test]
fn invalid_parameters_are_refused() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    game.get(Seat(0), "/history?from=1")
        .send()
        .refused("invalid_request");
    let foreign = game.get(Spectator, "/history").token(UNKNOWN_TOKEN);
    foreign.send().refused("unauthorized");
    let unknown = "/v1/games/00000000000000000000000000/history";
    server.get(unknown).send().refused("game_not_found");
    let request = game
        .get(Spectator, "/history")
        .header("Accept", "text/html");
    request.send().refused("not_acceptable");
}
