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

#[test]
fn a_write_is_refused_in_a_state_that_the_client_excludes() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let before = game.snapshot();
    let write = |method: &str, viewer, rest: &str, excluded: &str| {
        let request = game.request(method, viewer, rest);
        request.header("If-None-Match", excluded).run()
    };
    for excluded in ["*", "\"1\"", "\"7\", W/\"1-host\"", "1"] {
        for (method, rest) in [
            ("POST", "/deal"),
            ("POST", "/seats/0/token"),
            ("POST", "/host/token"),
            ("POST", "/events/ticket"),
            ("PATCH", ""),
            ("PUT", "/seats/0"),
            ("DELETE", ""),
        ] {
            let answer = write(method, Host, rest, excluded);
            assert_eq!(answer.status(), 412, "{method} {rest}: {excluded}");
        }
    }
    let unreadable = write("POST", Host, "/deal", "1-host");
    assert_eq!(unreadable.status(), 400);
    assert_eq!(game.snapshot(), before);
    // A new game or person knows no state.
    let create = server.post("/v1/games").header("If-None-Match", "*").run();
    assert_eq!(create.status(), 201);
    let open = TestGame::create(
        &server,
        &json!({"join": "anyone", "seats": [
            {"kind": "open"}, {"kind": "open"}, {"kind": "open"}, {"kind": "open"}
        ]}),
    );
    let join = open.post(Spectator, "/join").header("If-None-Match", "*");
    assert_eq!(join.run().status(), 201);
    let dealt = write("POST", Host, "/deal", "\"2\", \"1-0\"");
    assert_eq!(dealt.status(), 200);
}

#[test]
fn a_read_may_name_the_state_that_it_needs() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let picture = game.get(Host, "/board.svg").send();
    let picture = picture.header("etag").expect("an ETag").to_owned();
    for (rest, known, other) in [
        ("", "\"1-host\"", "\"1-0\""),
        ("", "W/\"1\", \"1\"", "W/\"1-host\""),
        ("", "*", "\"2\""),
        ("/board.svg", &*picture, "\"1-host\""),
    ] {
        let get = |tags: &str| {
            let request = game.get(Host, rest).header("If-Match", tags);
            let answer = request.header("If-None-Match", "\"x\"").run();
            answer.status().as_u16()
        };
        assert_eq!((get(known), get(other)), (200, 412), "{rest}: {known}");
    }
    for path in ["/v1/games", "/v1/layout", "/openapi.json", "/docs/", "/"] {
        let get = |tags: &str| {
            let answer = server.get(path).header("If-Match", tags).run();
            answer.status().as_u16()
        };
        assert_eq!(
            (get("*"), get("\"x\""), get("x")),
            (200, 412, 400),
            "{path}"
        );
    }
}

#[test]
fn each_encoding_of_a_file_has_its_own_tag() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let board = game.path("/board.svg");
    for path in [
        "/",
        "/src/main.js",
        "/docs/",
        "/docs/swagger-ui.css",
        "/docs/swagger-initializer.js",
        "/openapi.json",
        "/v1/layout",
        "/v1/games?limit=1&phase=finished",
        &board,
    ] {
        let get = |accepted: &str, known: &str| {
            let head = format!(
                "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
                 Accept-Encoding: {accepted}\r\nIf-None-Match: {known}\r\n\r\n"
            );
            raw(&server, head.as_bytes())
        };
        let mut tags = Vec::new();
        for (accepted, encoding) in [
            ("gzip", Some("gzip")),
            ("identity", None),
            ("deflate", None),
            ("deflate, gzip;q=0.5", Some("gzip")),
        ] {
            let sent = get(accepted, "\"x\"");
            assert_eq!(
                (sent.status, sent.header("content-encoding")),
                (200, encoding),
                "{path}"
            );
            let tag = sent.header("etag").expect(path).to_owned();
            assert!(!tag.starts_with("W/"), "{path}: {tag}");
            let again = get(accepted, &tag);
            assert_eq!(
                (again.status, again.header("etag")),
                (304, Some(&*tag)),
                "{path}"
            );
            assert!(
                again.list("vary").contains(&"accept-encoding".to_owned()),
                "{path}"
            );
            tags.push(tag);
        }
        assert!(tags[0] == tags[3] && tags[1] == tags[2], "{path}: {tags:?}");
        assert_ne!(tags[0], tags[1], "{path}");
        assert_eq!(get("gzip", &tags[1]).status, 200, "{path}");
    }
    // The tag of a game names its state, in each encoding.
    let view = game.path("");
    for accepted in ["gzip", "identity"] {
        let head = format!(
            "GET {view} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
             Accept-Encoding: {accepted}\r\n\r\n"
        );
        let tag = format!("\"{}-spectator\"", game.version());
        assert_eq!(raw(&server, head.as_bytes()).header("etag"), Some(&*tag));
    }
}
