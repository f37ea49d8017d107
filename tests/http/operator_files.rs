//! Files of the operator that are read again: keys to create games, blocked addresses, a notice.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    limits::{behind_a_proxy, from},
    support::{OperatorFile, TestGame, TestRequest, TestServer, TestViewer::*},
};

const KEY: &str = "a-key-of-the-club";

/// The longest time until a changed file is read: it is looked at every five seconds.
const LONGEST: Duration = Duration::from_secs(60);

/// Waits until this holds.
#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONGEST, "{what}");
        sleep(Duration::from_millis(200));
    }
}

fn with_key<'a>(request: TestRequest<'a>) -> TestRequest<'a> {
    request.header("Dog-Key", KEY)
}

#[test]
fn a_closed_server_lets_those_with_a_key_create_games() {
    let keys = OperatorFile::new("keys", &format!("# the club\n{KEY}\n"));
    let server = TestServer::start_with(&[("DOG_CREATE_KEYS", keys.path())]);
    let people = json!({"seats": [{}, {"kind": "bot"}, {"kind": "bot"}, {"kind": "open"}]});
    let position =
        json!({"position": "0f / - / - / -", "seat": 0, "hand": ["5"], "level": "greedy"});
    let address = "/v1/analysis/suggest-move?position=0f/-/-/-&seat=0&hand=5&level=greedy";
    type Ask<'a> = Box<dyn Fn() -> TestRequest<'a> + 'a>;
    let (games, questions) = (json!({"games": [people]}), json!({"questions": [position]}));
    let side = json!({"name": "Red", "kind": "bot"});
    let tables = json!({"turn_seconds": 60, "sides": [side, side]});
    let asked: [(&str, Ask); 8] = [
        (
            "match",
            Box::new(|| server.post("/v1/matches").json(&tables)),
        ),
        (
            "batch",
            Box::new(|| server.post("/v1/games/batch").json(&games)),
        ),
        (
            "questions",
            Box::new(|| server.post("/v1/analysis/suggest-moves").json(&questions)),
        ),
        (
            "creation",
            Box::new(|| server.post("/v1/games").json(&people)),
        ),
        (
            "quick join",
            Box::new(|| server.post("/v1/join").json(&json!({"name": "A"}))),
        ),
        (
            "import",
            Box::new(|| {
                server
                    .post("/v1/games/import")
                    .json(&json!({"record": "x"}))
            }),
        ),
        (
            "advice",
            Box::new(|| server.post("/v1/analysis/suggest-move").json(&position)),
        ),
        ("advice by address", Box::new(|| server.get(address))),
    ];
    for (what, ask) in &asked {
        for wrong in [None, Some("another-key-of-some-club"), Some("")] {
            let request = ask();
            let request = match wrong {
                Some(key) => request.header("Dog-Key", key),
                None => request,
            };
            let refused = request.send();
            assert_eq!(refused.status, 403, "{what}");
            assert!(!refused.text().contains(KEY), "{what}");
            refused.refused("key_required");
        }
        let status = with_key(ask()).send().status;
        assert!([200, 201, 422].contains(&status), "{what}: {status}");
    }
    let kept = with_key(server.get(address)).send();
    assert_eq!(kept.header("cache-control"), Some("private, max-age=86400"));
    // Who was invited needs none.
    let created = with_key(server.post("/v1/games").json(&people))
        .send()
        .expect(201);
    let game = TestGame::from_created(&server, &created);
    let path = format!("/v1/games/{}/join", created["id"].as_str().expect("an id"));
    let join = json!({"name": "B", "invitation": created["invitation"]});
    server.post(&path).json(&join).send().expect(201);
    let moves = json!({"position": "0f / - / - / -", "seat": 0, "hand": ["5"]});
    server
        .post("/v1/analysis/legal-moves")
        .json(&moves)
        .send()
        .expect(200);
    assert_eq!(game.view(Spectator)["seats"][3]["name"], "B");
}

#[test]
fn keys_are_read_again_and_a_faulty_file_changes_nothing() {
    let keys = OperatorFile::new("new-keys", &format!("{KEY}\n"));
    let server = TestServer::start_with(&[("DOG_CREATE_KEYS", keys.path())]);
    let status = |key: &str| {
        let request = server.post("/v1/games").json(&json!({}));
        request.header("Dog-Key", key).send().status
    };
    assert_eq!((status(KEY), status("a-newer-key-of-the-club")), (201, 403));
    keys.write("short\n");
    let warning = "what was read before stays in force";
    wait_until(warning, || server.log().contains(warning));
    assert_eq!(status(KEY), 201);
    keys.write("a-newer-key-of-the-club\n");
    wait_until("the new key", || status("a-newer-key-of-the-club") == 201);
    assert_eq!(status(KEY), 403);
}

#[test]
fn nothing_is_created_or_joined_from_a_blocked_address() {
    let blocked = OperatorFile::new("blocked", "203.0.113.0/24\n2001:db8:7::/48\n");
    let server = behind_a_proxy(&[("DOG_BLOCKED", blocked.path())]);
    let create = || server.post("/v1/games").json(&json!({}));
    for address in ["203.0.113.9", "2001:db8:7:1::5"] {
        from(create(), address).send().refused("blocked");
        let batch = server.post("/v1/games/batch").json(&json!({"games": [{}]}));
        from(batch, address).send().refused("blocked");
        let body = json!({"turn_seconds": 60, "sides": [{"name": "Red", "kind": "bot"}, {}]});
        let two = server.post("/v1/matches").json(&body);
        from(two, address).send().refused("blocked");
        let join = server.post("/v1/join").json(&json!({"name": "A"}));
        from(join, address).send().refused("blocked");
        from(server.get("/v1/games"), address).send().expect(200);
    }
    from(create(), "198.51.100.1").send().expect(201);
    blocked.write("# nobody\n");
    wait_until("the end of the block", || {
        from(create(), "203.0.113.9").send().status == 201
    });
}

#[test]
fn what_is_refused_by_the_block_is_charged_as_a_request() {
    let blocked = OperatorFile::new("charged", "203.0.113.0/24\n");
    let server = behind_a_proxy(&[("DOG_BLOCKED", blocked.path()), ("DOG_ADDRESS_RATE", "1")]);
    let create = || from(server.post("/v1/games").json(&json!({})), "203.0.113.9");
    create().send().refused("blocked");
    let mut later = (0..50).map(|_| create().send());
    let limited = later.find(|answer| answer.status == 429);
    limited.expect("a limit").refused("too_many_requests");
}

#[test]
fn a_notice_reaches_open_streams() {
    let file = OperatorFile::new("notice", "");
    let server = TestServer::start_with(&[("DOG_NOTICE", file.path())]);
    let notice = || server.get("/v1/notice").send().expect(200)["notice"].take();
    assert_eq!(notice(), Value::Null);
    let game = TestGame::create(&server, &json!({}));
    let stream = game.lines(Spectator, "");
    file.write("Back at 22:00.\n");
    wait_until("the notice", || notice() == "Back at 22:00.");
    let expected = json!({"type": "notice", "notice": "Back at 22:00."});
    assert_eq!(stream.notice_of("notice"), expected);
    // A new stream is told at once.
    assert_eq!(game.lines(Spectator, "").notice_of("notice"), expected);
}
