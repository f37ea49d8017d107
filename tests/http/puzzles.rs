//! The position of the day: `/v1/puzzles`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{TestServer, with};

fn read(server: &TestServer, path: &str) -> Value {
    server.get(&format!("/v1/puzzles{path}")).send().expect(200)
}

fn answer(server: &TestServer, number: &Value, choice: &Value) -> Value {
    let request = server.post(&format!("/v1/puzzles/{number}/answer"));
    request.json(choice).send().expect(200)
}

/// What a suggestion says to send.
fn choice(suggestion: &Value) -> Value {
    match suggestion["kind"].as_str() {
        Some("play") => json!({"move": suggestion["move"]["id"]}),
        _ => json!({"swap": suggestion["swap"]}),
    }
}

#[test]
fn a_day_has_its_number() {
    let server = TestServer::start();
    let count = read(&server, "")["count"].as_u64().expect("a number");
    let today = read(&server, "/today");
    assert_eq!(read(&server, "")["today"], today["number"]);
    let number = |date: &str| read(&server, &format!("/today?date={date}"))["number"].clone();
    assert_eq!(number("2026-12-01"), 1);
    assert_eq!(number("2026-11-30"), count);
    assert_eq!(number("2026-11-29"), count - 1);
    let wrong = [
        "2199-01-01",
        "2026-13-01",
        "2026-12-1",
        "20261201",
        "tomorrow",
        "",
    ];
    for date in wrong {
        let asked = server.get(&format!("/v1/puzzles/today?date={date}"));
        asked.send().refused("invalid_request");
    }
    for number in ["0", "01", "-1", "x", "4294967296", &(count + 1).to_string()] {
        server
            .get(&format!("/v1/puzzles/{number}"))
            .send()
            .refused("puzzle_not_found");
    }
    let by_number = server
        .get(&format!("/v1/puzzles/{}", today["number"]))
        .send();
    assert_eq!(by_number.json(), today);
    let cached = by_number
        .header("cache-control")
        .expect("a header")
        .to_owned();
    assert!(
        cached.contains("immutable") && cached.contains("public"),
        "{cached}"
    );
    let etag = by_number.header("etag").expect("a tag").to_owned();
    assert!(etag.starts_with('"'), "{etag}");
    let again = server.get(&format!("/v1/puzzles/{}", today["number"]));
    assert_eq!(again.header("If-None-Match", &etag).send().status, 304);
    let of_day = server.get("/v1/puzzles/today").send();
    let seconds = of_day
        .header("cache-control")
        .and_then(|text| text.rsplit_once('='));
    let seconds: u32 = seconds.expect("a time").1.parse().expect("a number");
    assert!((1..=86_400).contains(&seconds));
}

#[test]
fn every_puzzle_has_one_right_answer_and_is_a_position_to_analyse() {
    let server = TestServer::start();
    let count = read(&server, "")["count"].as_u64().expect("a number");
    for number in 1..=count {
        let puzzle = read(&server, &format!("/{number}"));
        let number = &puzzle["number"];
        let members = [
            "rules", "position", "seat", "hand", "phase", "exchange", "known",
        ];
        let mut body = json!({"level": "greedy"});
        for member in members {
            if !puzzle[member].is_null() {
                body[member] = puzzle[member].clone();
            }
        }
        let advice = server
            .post("/v1/analysis/suggest-move")
            .json(&body)
            .send()
            .expect(200);
        let all: Vec<Value> = advice["suggestions"]
            .as_array()
            .expect("advice")
            .iter()
            .map(choice)
            .collect();
        // What the seat may do in the exchange is what it can be advised to do.
        let swaps = all.iter().filter_map(|choice| choice["swap"].as_object());
        let kinds: BTreeSet<&str> = swaps
            .flat_map(|swap| swap.keys().map(String::as_str))
            .collect();
        let choices = puzzle["choices"].as_array().into_iter().flatten();
        let choices: BTreeSet<&str> = choices.filter_map(Value::as_str).collect();
        assert_eq!(kinds, choices, "{number}");
        let right: Vec<&Value> = all
            .iter()
            .filter(|choice| answer(&server, number, choice)["right"] == true)
            .collect();
        let found = answer(&server, number, &all[0]);
        let best = &found["suggestions"][0];
        assert!(right.contains(&&choice(best)), "{number}: {right:?}");
        assert!(right.len() < all.len(), "{number}");
        let told = answer(&server, number, &choice(best));
        assert_eq!(told["right"], true);
        assert_eq!(told["chance"], best["win_probability"]);
        for (place, suggestion) in found["suggestions"]
            .as_array()
            .expect("a list")
            .iter()
            .enumerate()
        {
            let told = answer(&server, number, &choice(suggestion));
            assert_eq!(told["right"], place == 0, "{number}");
            let reasons = suggestion["reasons"].as_array().expect("reasons");
            assert!(!reasons.is_empty() && reasons.iter().all(|reason| reason["text"] != ""));
            if place > 0 {
                assert!(
                    suggestion["difference"].as_f64().expect("a number") >= 0.1,
                    "{number}"
                );
            }
        }
    }
}

#[test]
fn other_answers_are_refused() {
    let server = TestServer::start();
    let count = read(&server, "")["count"].as_u64().expect("a number");
    let of_phase = |phase: &str| {
        let mut puzzles = (1..=count).map(|number| read(&server, &format!("/{number}")));
        puzzles
            .find(|puzzle| puzzle["phase"] == phase)
            .expect("one")
    };
    let (play, exchange) = (of_phase("play"), of_phase("exchange"));
    let refused = |puzzle: &Value, body: Value, code: &str| {
        let path = format!("/v1/puzzles/{}/answer", puzzle["number"]);
        server.post(&path).json(&body).send().refused(code);
    };
    refused(&play, json!({}), "invalid_request");
    refused(&play, json!({"swap": {"decline": true}}), "invalid_request");
    refused(
        &play,
        with(json!({"move": "fold"}), &json!({"swap": {"ask": true}})),
        "invalid_request",
    );
    refused(&play, json!({"move": "fold"}), "illegal_move");
    refused(&play, json!({"move": "nonsense"}), "illegal_move");
    refused(&exchange, json!({"move": "fold"}), "invalid_request");
    refused(&exchange, json!({"swap": {}}), "invalid_request");
    refused(&exchange, json!({"swap": {"card": "1"}}), "unknown_card");
    let hand = exchange["hand"].as_array().expect("a hand");
    let cards = ["2", "3", "4", "5", "6", "7", "8", "9", "10"];
    let missing = cards
        .iter()
        .find(|card| !hand.contains(&json!(card)))
        .expect("one");
    refused(
        &exchange,
        json!({"swap": {"card": missing}}),
        "card_not_in_hand",
    );
    let unknown = json!({"number": count + 1});
    refused(&unknown, json!({"move": "fold"}), "puzzle_not_found");
}
