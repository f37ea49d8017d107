//! `If-Match`: its syntax, and writes whose guard cannot be parsed.

use serde_json::{Value, json};

use crate::support::{TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN, raw};

/// Values of `If-Match` that name no entity tags.
const UNREADABLE: [&[u8]; 11] = [
    b"",
    b",",
    b" , ,",
    b"\"\xc3\xa9\"",
    b"\"1",
    b"1\"",
    b"1-host",
    b"*, \"1\"",
    b"\"1\" \"2\"",
    b"w/\"1\"",
    b"\"x, 1\"",
];

/// A write without a body, with this `If-Match`.
fn guarded(method: &str, path: &str, token: &str, guard: &[u8]) -> Vec<u8> {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\
         Authorization: Bearer {token}\r\nIf-Match: "
    );
    [head.as_bytes(), guard, b"\r\n\r\n"].concat()
}

#[test]
fn a_write_with_a_guard_that_cannot_be_read_is_refused() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let before = game.snapshot();
    for guard in UNREADABLE {
        for (method, rest) in [
            ("POST", "/deal"),
            ("POST", "/play"),
            ("POST", "/swap"),
            ("POST", "/seats/0/token"),
            ("POST", "/events/ticket"),
            ("PUT", "/seats/0"),
            ("DELETE", ""),
        ] {
            let request = guarded(method, &game.path(rest), &game.host, guard);
            let problem = raw(&server, &request).refused("bad_request");
            let detail = problem["detail"].as_str().unwrap_or_default();
            assert!(detail.contains("If-Match"), "{method} {rest}: {detail}");
        }
        // A malformed request is refused before the game is looked up.
        for (path, token) in [
            (game.path("/deal"), UNKNOWN_TOKEN),
            (
                "/v1/games/00000000000000000000000000/deal".to_owned(),
                UNKNOWN_TOKEN,
            ),
        ] {
            let request = guarded("POST", &path, token, guard);
            raw(&server, &request).refused("bad_request");
        }
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn a_guard_names_whole_tags() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let deal = |guard: &str| game.post(Host, "/deal").if_match(guard).send();
    for other in [
        "\"a,1,b\"",
        "W/\"1\"",
        "W/\"1-host\"",
        "\"01\"",
        "\"*\"",
        "2, 3",
        "\"1-0\"",
    ] {
        deal(other).refused("stale_version");
    }
    assert_eq!(game.version(), 1);
    for own in ["1", "\"1\"", "\"a,2\",, W/\"1\", \"1-host\"", "7, 1", " * "] {
        let game = TestGame::fixed(&server);
        let dealt = game.post(Host, "/deal").if_match(own).send();
        assert_eq!(dealt.status, 200, "{own}: {}", dealt.text());
    }
}

#[test]
fn several_fields_of_a_guard_are_one_list() {
    let server = TestServer::shared();
    let deal = |game: &TestGame<'_>, guards: &[&str]| {
        let fields: String = guards
            .iter()
            .map(|guard| format!("If-Match: {guard}\r\n"))
            .collect();
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\
             Authorization: Bearer {}\r\n{fields}\r\n",
            game.path("/deal"),
            game.host
        );
        raw(&server, head.as_bytes())
    };
    let game = TestGame::fixed(&server);
    deal(&game, &["\"7\"", "\"8\""]).refused("stale_version");
    deal(&game, &["\"1\"", "\"8"]).refused("bad_request");
    deal(&game, &["\"1\"", "*"]).refused("bad_request");
    deal(&game, &["\"7\"", "\"1\""]).expect(200);
    let body: Value = json!({"version": 2});
    let refused = game.post(Host, "/deal").json(&body);
    refused.if_match("\"2\"").send().refused("wrong_phase");
}
