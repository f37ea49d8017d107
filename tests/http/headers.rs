//! Conditions of requests: `If-Match` and `If-None-Match`.

use serde_json::json;

use crate::support::{Dice, TestGame, TestServer, TestTable, TestViewer::*, raw};

#[test]
fn several_fields_of_a_guard_are_one_list() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let deal = |guards: [&str; 2]| {
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\
             Authorization: Bearer {}\r\nIf-Match: {}\r\nIf-Match: {}\r\n\r\n",
            game.path("/deal"),
            game.host,
            guards[0],
            guards[1]
        );
        raw(&server, head.as_bytes())
    };
    deal(["\"7\"", "\"8\""]).refused("stale_version");
    deal(["\"1\"", "\"8"]).refused("bad_request");
    deal(["\"1\"", "*"]).refused("bad_request");
    deal(["\"7\"", "\"1\""]).expect(200);
    let refused = game.post(Host, "/deal").json(&json!({"version": 2}));
    refused.if_match("\"2\"").send().refused("wrong_phase");
}

#[test]
fn a_write_is_refused_in_a_state_that_the_client_excludes() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let before = game.snapshot();
    let write = |method: &str, rest: &str, excluded: &str| {
        let request = game.request(method, Host, rest);
        let answer = request.header("If-None-Match", excluded).run();
        answer.status().as_u16()
    };
    for excluded in ["*", "\"1\"", "\"7\", W/\"1-host\"", "\"1-host-gzip\""] {
        for (method, rest) in [
            ("POST", "/deal"),
            ("POST", "/seats/0/token"),
            ("POST", "/host/token"),
            ("POST", "/events/ticket"),
            ("PATCH", ""),
            ("PUT", "/seats/0"),
            ("DELETE", ""),
        ] {
            let status = write(method, rest, excluded);
            assert_eq!(status, 412, "{method} {rest}: {excluded}");
        }
    }
    for malformed in ["1", "1-host"] {
        assert_eq!(write("POST", "/deal", malformed), 400);
    }
    assert_eq!(game.snapshot(), before);
    // A new game or person knows no state.
    let open = TestTable::create(&server, &json!({"join": "anyone"})).game;
    for request in [server.post("/v1/games"), open.post(Spectator, "/join")] {
        let created = request.header("If-None-Match", "*").run();
        assert_eq!(created.status(), 201);
    }
    assert_eq!(write("POST", "/deal", "\"2\", \"1-0\""), 200);
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
        ("", "\"1-host-gzip\"", "\"1-0-gzip\""),
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
    for path in [
        "/v1/games",
        "/v1/rules",
        "/v1/layout",
        "/openapi.json",
        "/docs/",
        "/",
    ] {
        let get = |name: &str, tags: &str| {
            let answer = server.get(path).header(name, tags).run();
            answer.status().as_u16()
        };
        for (name, known, unknown) in [("If-Match", 200, 412), ("If-None-Match", 304, 200)] {
            let found = ["*", "\"x\"", "x"].map(|tags| get(name, tags));
            assert_eq!(found, [known, unknown, 400], "{path}: {name}");
        }
    }
}

#[test]
fn each_encoding_of_a_file_has_its_own_tag() {
    // Nobody else changes the list of games.
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let get = |path: &str, accepted: &str, known: &str| {
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
             Accept-Encoding: {accepted}\r\nIf-None-Match: {known}\r\n\r\n"
        );
        raw(&server, head.as_bytes())
    };
    let board = game.path("/board.svg");
    for path in [
        "/",
        "/src/main.js",
        "/docs/",
        "/docs/swagger-ui.css",
        "/docs/swagger-initializer.js",
        "/docs/guide/",
        "/docs/guide/rules",
        "/docs/guide/guide.css",
        "/docs/guide/pictures/last-move.svg",
        "/openapi.json",
        "/v1/rules",
        "/v1/layout",
        "/v1/games?limit=1&phase=finished",
        &board,
    ] {
        let mut tags = Vec::new();
        for (accepted, encoding) in [
            ("gzip", Some("gzip")),
            ("identity", None),
            ("deflate", None),
            ("deflate, gzip;q=0.5", Some("gzip")),
        ] {
            let sent = get(path, accepted, "\"x\"");
            let found = (sent.status, sent.header("content-encoding"));
            assert_eq!(found, (200, encoding), "{path}");
            let tag = sent.header("etag").expect(path).to_owned();
            assert!(!tag.starts_with("W/"), "{path}: {tag}");
            let again = get(path, accepted, &tag);
            let found = (again.status, again.header("etag"));
            assert_eq!(found, (304, Some(&*tag)), "{path}");
            let vary = again.list("vary");
            assert!(vary.contains(&"accept-encoding".to_owned()), "{path}");
            tags.push(tag);
        }
        assert!(tags[0] == tags[3] && tags[1] == tags[2], "{path}: {tags:?}");
        assert_ne!(tags[0], tags[1], "{path}");
        assert_eq!(get(path, "gzip", &tags[1]).status, 200, "{path}");
    }
}

#[test]
fn each_encoding_of_a_state_has_its_own_tag() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let send = |method: &str, path: &str, more: &str| {
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{more}\r\n");
        raw(&server, head.as_bytes())
    };
    let state = format!("{}-spectator", game.version());
    let plain = format!("\"{state}\"");
    for (accepted, encoding, end) in [
        ("gzip", Some("gzip"), "-gzip"),
        ("deflate, gzip;q=0.5", Some("gzip"), "-gzip"),
        ("identity", None, ""),
        ("deflate", None, ""),
    ] {
        let tag = format!("\"{state}{end}\"");
        for method in ["GET", "HEAD"] {
            let accept = format!("Accept-Encoding: {accepted}\r\n");
            let view = send(method, &game.path(""), &accept);
            let found = (
                view.status,
                view.header("content-encoding"),
                view.header("etag"),
            );
            assert_eq!(found, (200, encoding, Some(&*tag)), "{accepted}");
            let version = format!("\"{}\"", game.version());
            for known in [&tag, &plain, &version] {
                let known = format!("{accept}If-None-Match: {known}\r\n");
                let again = send(method, &game.path(""), &known);
                assert_eq!((again.status, again.header("etag")), (304, Some(&*tag)));
            }
        }
    }
    // So has the answer to a write; the client may guard the next write by it.
    let game = TestGame::fixed(&server);
    let write = |path: &str, guard: &str| {
        let more = format!(
            "Accept-Encoding: gzip\r\nContent-Length: 0\r\nDog-Token: {}\r\nIf-Match: {guard}\r\n",
            game.host
        );
        send("POST", &game.path(path), &more)
    };
    let dealt = write("/deal", "\"1-host-gzip\"");
    let found = (
        dealt.status,
        dealt.header("content-encoding"),
        dealt.header("etag"),
    );
    assert_eq!(found, (200, Some("gzip"), Some("\"2-host-gzip\"")));
    assert_eq!(write("/seats/0/token", "\"1-host-gzip\"").status, 412);
    assert_eq!(write("/seats/0/token", "\"2-host-gzip\"").status, 200);
}

/// The first renewal in a running game is a version; in one that is over nothing else tells of it.
#[test]
fn a_person_who_joins_after_the_end_is_seen() {
    let server = TestServer::shared();
    let mut game = TestGame::in_play(&server);
    let mut dice = Dice::new(1);
    while game.view(Spectator)["phase"] != "finished" {
        game.step(&mut dice);
    }
    let joined = |game: &TestGame<'_>| game.view(Spectator)["seats"][0]["joined"].clone();
    let read =
        |game: &TestGame<'_>, known: &str| game.get(Host, "").header("If-None-Match", known).send();
    let before = read(&game, "\"x\"");
    let known = before.header("etag").expect("an ETag").to_owned();
    assert_eq!(
        (joined(&game), read(&game, &known).status),
        (json!(false), 304)
    );
    game.renew(Seat(0), 0);
    assert_eq!(joined(&game), true);
    let after = read(&game, &known);
    let fresh = after.header("etag").expect("an ETag").to_owned();
    assert_eq!((after.status, read(&game, &fresh).status), (200, 304));
    // The version, which is the same, is no longer enough to know the view; a write needs no more.
    let version = format!("\"{}\"", game.version());
    assert_eq!(read(&game, &version).status, 200);
    let removal = game.request("DELETE", Host, "").if_match(&version).send();
    assert_eq!(removal.status, 204);
}

#[test]
fn an_answer_that_is_not_acceptable_is_not_made() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let before = game.snapshot();
    let position = json!({"position": "0f/-/-/-", "seat": 0, "hand": ["A"]});
    let requests = [
        server.get("/v1/games"),
        server.get("/v1/rules"),
        server.get("/v1/layout"),
        server.get("/healthz"),
        server.get("/openapi.json"),
        game.get(Host, ""),
        game.get(Host, "/presence"),
        game.get(Seat(1), "/legal-moves"),
        game.post(Host, "/seats/0/token").json(&json!({})),
        game.post(Host, "/events/ticket"),
        server.post("/v1/games").json(&json!({})),
        server.post("/v1/analysis/suggest-move").json(&position),
        server
            .post("/v1/analysis/legal-moves/seven")
            .json(&position),
    ];
    for request in requests {
        for accept in ["application/json;q=0", "*/*, application/*;q=0", "*/*;q=0"] {
            let refused = request.clone().header("Accept", accept).send();
            if refused.status != 200 || accept.ends_with("*/*;q=0") {
                refused.refused("not_acceptable");
            } else {
                // It has a picture, too.
                assert_eq!(refused.header("content-type"), Some("image/svg+xml"));
            }
        }
    }
    assert_eq!(game.snapshot(), before);
    // Without such a word JSON is better than nothing.
    let html = game.get(Host, "").header("Accept", "text/html").send();
    assert_eq!(html.status, 200);
    let picture = game.get(Host, "/board.svg");
    let picture = picture.header("Accept", "image/*;q=0").send();
    picture.refused("not_acceptable");
}
