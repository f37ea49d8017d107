//! `GET /v1/analysis/suggest-move`: advice with everything in the address.

use serde_json::{Value, json};

use crate::{
    analysis::bare,
    limits::{behind_a_proxy, from},
    support::{TestResponse, TestServer},
};

const PATH: &str = "/v1/analysis/suggest-move";
const POSITION: &str = "rules=hausregeln&position=0f,9,g2/17/-/46&seat=0&hand=7,K,J";

fn ask(server: &TestServer, query: &str) -> TestResponse {
    server.get(&format!("{PATH}?{query}")).send()
}

/// The same question in a body.
fn asked_by_post(server: &TestServer) -> Value {
    let body = json!({
        "rules": {"preset": "hausregeln"}, "position": "0f 9 g2 / 17 / - / 46", "seat": 0,
        "hand": ["7", "K", "J"], "level": "fast", "samples": 40, "seed": 2,
    });
    bare(server.post(PATH).json(&body).send().expect(200))
}

#[test]
fn advice_by_address_is_the_same() {
    let server = TestServer::shared();
    let expected = asked_by_post(&server);
    let position = POSITION.strip_suffix("7,K,J").expect("the hand comes last");
    for hand in ["7,K,J", "7,k,bube", "j,+Re+,7,", "7,K%C3%B6nig,Fante"] {
        let query = format!("{position}{hand}&level=fast&samples=40&seed=2");
        assert_eq!(bare(ask(&server, &query).expect(200)), expected, "{hand}");
    }
    let jokers = "position=5/-/-/-&seat=0&hand=X,jolly,Joker&level=greedy";
    let jokers = ask(&server, jokers).expect(200);
    assert_eq!(jokers["suggestions"][0]["move"]["card"], "joker");
    let three = format!("{POSITION}&level=greedy&limit=3&board=false");
    let three = ask(&server, &three).expect(200);
    let suggestions = three["suggestions"].as_array().expect("suggestions");
    assert_eq!(suggestions.len(), 3);
    let mut moves = suggestions.iter().map(|one| &one["move"]);
    assert!(moves.all(|one| one.get("board").is_none()));
}

#[test]
fn repeatable_advice_may_be_cached() {
    let server = TestServer::shared();
    let same = format!("{POSITION}&level=fast&samples=40&seed=2");
    let first = ask(&server, &same);
    assert_eq!(first.header("cache-control"), Some("public, max-age=86400"));
    assert!(first.list("vary").contains(&"accept-encoding".to_owned()));
    assert!(!first.list("vary").contains(&"authorization".to_owned()));
    let etag = first.header("etag").expect("an ETag").to_owned();
    assert!(etag.starts_with("W/\""), "{etag}");
    let body = first.expect(200);
    assert_eq!(body["elapsed_ms"], Value::Null);
    let path = format!("{PATH}?{same}");
    let known = server.get(&path).header("If-None-Match", &etag).send();
    assert_eq!((known.status, known.text()), (304, String::new()));
    assert_eq!(known.header("etag"), Some(&*etag));
    let other = ask(&server, &format!("{POSITION}&level=fast&samples=40&seed=3"));
    assert_ne!(other.header("etag"), Some(&*etag));
    // The tag is compared before the search, but after the question is checked.
    let wrong = format!("{PATH}?{same}&limit=0");
    let refused = server.get(&wrong).header("If-None-Match", &etag).send();
    refused.refused("invalid_request");
    // Without a time, the question has its samples and its seed.
    for query in [
        "level=fast&samples=40",
        "level=fast&seed=2",
        "level=greedy",
        "level=fast",
    ] {
        let ask = || ask(&server, &format!("{POSITION}&{query}"));
        let (once, again) = (ask(), ask());
        assert_eq!(
            once.header("cache-control"),
            Some("public, max-age=86400"),
            "{query}"
        );
        let body = once.expect(200);
        assert_eq!(again.expect(200), body, "{query}");
        let expected = if query == "level=fast" { 400 } else { 40 };
        if query.starts_with("level=fast&samples") || query == "level=fast" {
            assert_eq!(body["budget"]["samples"], expected, "{query}");
        }
    }
    for query in ["level=fast&budget_ms=3", "level=fast&budget_ms=3&seed=2"] {
        let once = ask(&server, &format!("{POSITION}&{query}"));
        assert_eq!(once.header("cache-control"), Some("no-store"), "{query}");
        assert_eq!(once.header("etag"), None, "{query}");
        assert!(once.expect(200)["elapsed_ms"].is_number(), "{query}");
    }
}

#[test]
fn what_may_be_cached_says_nothing_of_who_asked() {
    let server = behind_a_proxy(&[]);
    for (more, is_common) in [("&samples=40&seed=2", true), ("&budget_ms=3", false)] {
        for known in ["\"x\"", "*"] {
            let request = server.get(&format!("{PATH}?{POSITION}&level=fast{more}"));
            let request = from(request, "198.51.100.7");
            let advice = request.header("If-None-Match", known).send();
            for name in ["ratelimit", "ratelimit-policy", "x-request-id"] {
                assert_eq!(advice.header(name).is_none(), is_common, "{more}: {name}");
            }
        }
    }
}

/// The next time such a search may get further.
#[test]
fn advice_that_was_cut_short_is_not_cached() {
    let server = TestServer::start();
    let position = "position=2,9,23,50/12,33,45,60/20,29,40,57/5,38,47,61&seat=0&hand=7,K,A,3,5,9";
    let advice = ask(&server, &format!("{position}&samples=10000&seed=1"));
    assert_eq!(advice.header("cache-control"), Some("no-store"));
    assert_eq!(advice.header("etag"), None);
    assert!(advice.expect(200)["samples"].as_u64() < Some(10_000));
}

/// The most playouts that are allowed take seconds; a HEAD does not.
#[test]
fn head_does_not_search() {
    let server = TestServer::start();
    let path = format!("{PATH}?{POSITION}&level=strong&samples=10000&seed=2");
    let before = searches(&server);
    let head = server.request("HEAD", &path).send();
    assert_eq!(head.status, 200);
    assert!(head.header("etag").is_some());
    // The length is not known.
    assert_eq!(head.header("content-length"), None);
    assert_eq!(searches(&server), before);
    assert!(before.contains(" 0"), "{before}");
    let many = format!("{PATH}?position=-/-/-/-&seat=0&hand={}7", "K,".repeat(28));
    for wrong in [format!("{PATH}?{POSITION}&level=wise"), many] {
        let status = |method: &str| server.request(method, &wrong).send().status;
        assert_eq!((status("GET"), status("HEAD")), (422, 422), "{wrong}");
    }
}

#[test]
fn each_card_of_a_hand_has_a_name() {
    let server = TestServer::shared();
    let position = "position=-/-/-/-&seat=0&level=greedy";
    let ask = |hand: &str| ask(&server, &format!("{position}&hand={hand}"));
    for hand in ["A,,2", ",A", "A,,", "A,%20,2"] {
        ask(hand).refused("unknown_card");
    }
    for hand in ["", ",", "%20"] {
        ask(hand).refused("invalid_hand");
    }
    ask("A,%202").expect(200);
}

/// The metrics of advice by `strong`.
fn searches(server: &TestServer) -> String {
    let metrics = server.get("/metrics").send().text();
    let lines = metrics.lines();
    lines
        .filter(|line| line.starts_with("dog_advice") && line.contains("strong"))
        .collect()
}

/// Queries that are refused, with their codes.
const REFUSED: &str = "
invalid_request
invalid_request position=5/-/-/-&seat=0
invalid_request position=5/-/-/-&hand=7
invalid_request position=5/-/-/-&seat=4&hand=7
invalid_request position=5/-/-/-&seat=0&hand=7&known=x
invalid_request position=5/-/-/-&seat=0&hand=7&phase=exchange
invalid_request position=5/-/-/-&seat=0&hand=7&samples=1&budget_ms=1
invalid_rules position=5/-/-/-&seat=0&hand=7&rules=tock
invalid_board position=5/-/-&seat=0&hand=7
invalid_hand position=5/-/-/-&seat=0&hand=
invalid_hand position=5/-/-/-&seat=0&hand=7,7,7,7,7,7,7,7,7
unknown_card position=5/-/-/-&seat=0&hand=K,Z
finished_position position=g0,g1,g2,g3/-/g0,g1,g2,g3/-&seat=0&hand=7";

#[test]
fn wrong_questions_are_refused() {
    let server = TestServer::shared();
    for line in REFUSED.lines().skip(1) {
        let (code, query) = line.split_once(' ').unwrap_or((line, ""));
        ask(&server, query).refused(code);
    }
}

/// In bodies names are exact, and an error says which card is meant.
#[test]
fn bodies_name_cards_exactly() {
    let server = TestServer::shared();
    for (name, meant) in [("Ass", Some("A")), ("k", Some("K")), ("Z", None)] {
        let body = json!({"position": "5/-/-/-", "seat": 0, "hand": [name]});
        let refused = server.post(PATH).json(&body).send().refused("unknown_card");
        let detail = refused["detail"].as_str().expect("a text");
        assert!(detail.contains(&format!("{name:?}")), "{detail}");
        assert_eq!(refused.get("card").and_then(Value::as_str), meant);
    }
}
