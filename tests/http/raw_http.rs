//! Malformed HTTP: a refusal or a closed connection, no panic, no 500, and no change.

use serde_json::{Value, json};

use crate::support::{Raw, TestGame, TestResponse, TestServer, TestViewer::*, raw};

/// A game that no malformed request may change.
struct GameUnderTest<'a> {
    server: &'a TestServer,
    game: TestGame<'a>,
    before: Vec<Vec<u8>>,
    list: Value,
}

impl GameUnderTest<'_> {
    fn new(server: &TestServer) -> GameUnderTest<'_> {
        let game = TestGame::in_play(server);
        GameUnderTest {
            server,
            before: game.snapshot(),
            game,
            list: server.get("/v1/games").send().expect(200),
        }
    }

    /// Sends these bytes; returns every response until the connection ends.
    #[track_caller]
    fn send(&self, bytes: &[u8]) -> Vec<TestResponse> {
        let mut connection = Raw::connect(self.server);
        connection.send(bytes);
        connection.finish_sending();
        connection.responses()
    }

    /// Sends these bytes, which must be refused, or the connection closed.
    #[track_caller]
    fn refused(&self, bytes: &[u8]) {
        for response in self.send(bytes) {
            assert_client_error(&response, &response.what);
        }
    }

    /// The head and body of a legal play, with these headers in place of those about the body.
    fn play(&self, headers: &str) -> (String, String) {
        let (seat, id) = self.game.first_move();
        let headers = format!(
            "Authorization: Bearer {}\r\nContent-Type: application/json\r\n{headers}",
            self.game.tokens[seat]
        );
        let head = head("POST", &self.game.path("/play"), &headers);
        (head, json!({"move": id}).to_string())
    }

    #[track_caller]
    fn is_unharmed(&self) {
        assert_eq!(self.game.snapshot(), self.before);
        assert_eq!(self.server.get("/v1/games").send().expect(200), self.list);
    }
}

/// A request without a body; `headers` end with the ends of their lines.
fn head(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n")
}

fn get(path: &str, headers: &str) -> Vec<u8> {
    let headers = format!("Connection: close\r\n{headers}");
    head("GET", path, &headers).into_bytes()
}

#[track_caller]
fn assert_client_error(response: &TestResponse, what: &str) {
    let status = response.status;
    assert!((400..500).contains(&status), "{what:?}: {status}");
}

#[test]
fn lengths_that_contradict_themselves_are_refused() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    for lengths in [
        "Content-Length: -1\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x10\r\n",
        "Content-Length: 1e3\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Content-Length: 99999999999999999999999999\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\u{b}chunked\r\n",
    ] {
        let (head, body) = target.play(lengths);
        target.refused(format!("{head}{body}").as_bytes());
        target.refused(format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).as_bytes());
        target.is_unharmed();
    }
    // Longer than any possible body.
    for length in ["1000000000", "9223372036854775807", "18446744073709551615"] {
        let (head, body) = target.play(&format!("Content-Length: {length}\r\n"));
        target.refused(format!("{head}{body}").as_bytes());
    }
    target.is_unharmed();
}

#[test]
fn malformed_chunks_are_refused() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let (head, body) = target.play("Transfer-Encoding: chunked\r\n");
    let length = format!("{:x}", body.len());
    for chunks in [
        format!("-1\r\n{body}\r\n0\r\n\r\n"),
        format!("x\r\n{body}\r\n0\r\n\r\n"),
        format!("\r\n{body}\r\n0\r\n\r\n"),
        format!("ffffffffffffffff\r\n{body}\r\n0\r\n\r\n"),
        format!("10000000000000000\r\n{body}\r\n0\r\n\r\n"),
        format!("{}{length}\r\n{body}\r\n0\r\n\r\n", "f".repeat(40)),
        format!("7fffffffffffffff\r\n{body}\r\n0\r\n\r\n"),
        format!("{length}\n{body}\n0\n\n"),
        format!("{length}\r\n{body}0\r\n\r\n"),
        format!("{length}\r\n{body}\r\n"),
        format!("1\r\n{body}\r\n0\r\n\r\n"),
        format!("0\r\n{body}"),
        format!("{length};{}\n\r\n{body}\r\n0\r\n\r\n", "x".repeat(100)),
        format!("{length}\r\n{body}\r\n-0\r\n\r\n"),
    ] {
        target.refused(format!("{head}{chunks}").as_bytes());
        target.is_unharmed();
    }
}

#[test]
fn well_formed_chunks_are_one_body() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let (head, body) = target.play("Transfer-Encoding: chunked\r\nConnection: close\r\n");
    let chunks = body.chars().map(|byte| format!("1;x=y\r\n{byte}\r\n"));
    let chunks: String = chunks.collect();
    let mut responses = target.send(format!("{head}{chunks}0\r\n\r\n").as_bytes());
    assert_eq!(responses.len(), 1);
    responses.remove(0).expect(200);
}

#[test]
fn a_name_longer_than_the_http_library_can_take_is_refused() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    for length in [33_000, 65_535, 65_536, 70_000, 120_000] {
        let header = format!("{}: 1\r\n", "X".repeat(length));
        target.refused(&get("/v1/rules", &header));
    }
    target.is_unharmed();
}

#[test]
fn strange_values_in_known_headers_do_no_harm() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let values: [&[u8]; 6] = [
        b"",
        b"\xff\xfe",
        b"Bearer \xff\xff",
        b",,,;;;===",
        b"\"",
        b"99999999999999999999999999",
    ];
    let names = "Accept Accept-Encoding Authorization Content-Encoding Content-Type Expect Host \
        Idempotency-Key If-Match If-None-Match Last-Event-ID Origin Range Upgrade \
        X-Forwarded-For X-Request-Id";
    for name in names.split(' ') {
        for value in values {
            for (method, rest) in [("GET", ""), ("GET", "/history"), ("POST", "/deal")] {
                let start = format!(
                    "{method} {} HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n{name}: ",
                    target.game.path(rest)
                );
                let bytes = [start.as_bytes(), value, b"\r\n\r\n{}"].concat();
                for response in target.send(&bytes) {
                    let status = response.status;
                    assert!(status < 500, "{name}: {value:?}: {status}");
                }
            }
        }
    }
    target.is_unharmed();
}

#[test]
fn unknown_methods_are_refused_and_not_repeated_in_the_log() {
    let server = TestServer::start();
    let method = "A".repeat(1_000);
    for method in ["BREW", "TRACE", "get", "PROPFIND", &method] {
        let request = head(method, "/v1/rules", "Connection: close\r\n");
        raw(&server, request.as_bytes()).refused("method_not_allowed");
    }
    server.get("/v1/rules").send().expect(200);
    let log = server.log();
    assert!(
        log.contains(" other /v1/rules 405 ") && !log.contains(&method),
        "{log}"
    );
}

#[test]
fn a_request_names_a_host() {
    let server = TestServer::shared();
    let status = |target: &str, host: &str| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        raw(&server, head.as_bytes()).status
    };
    let valid = ["", "a", "a:", "a:0", "a:65535", "[::1]", "[::1]:80"];
    for host in valid.into_iter().chain(["xn--d-7ga.example", "my_pc:80"]) {
        assert_eq!(status("/v1/rules", host), 200, "{host}");
    }
    for host in [
        "a b", "http://x", "x/", "x:abc", "x:65536", "x:+1", "x:1:2", "x:-1", ":80", "user@x",
        "[::1", "a?b", "d\u{f6}g", "[::1]x",
    ] {
        assert_eq!(status("/v1/rules", host), 400, "{host}");
        assert_eq!(status("/none", host), 400, "{host}");
    }
    assert_eq!(status("http://b/v1/rules", "a"), 200);
    for target in [
        "http://user@b/v1/rules",
        "http://b:x/v1/rules",
        "http://b:65536/v1/rules",
    ] {
        assert_eq!(status(target, "a"), 400, "{target}");
    }
    assert_eq!(status("http://b/v1/rules", "a b"), 400);
}

/// Paths that lead nowhere; ID stands for that of a game.
const STRANGE_PATHS: &str = "/%00 /v1/games/%00 /v1/games/%c0%af /v1/games/%e0%80%af \
    /v1/games/..%2f..%2f..%2fetc%2fpasswd /v1/games/../../../etc/passwd \
    /docs/../../../etc/passwd /docs/..%2f..%2fetc%2fpasswd /docs/%2e%2e/%2e%2e/dog.db \
    /docs/....//dog.db //v1/rules /v1/rules%20 /v1/rules% /v1/rules%zz /v1/rules;x=y /./v1/rules \
    /v1/games/import /v1/games/ID/ /v1/games/ID%00 /v1/games/ID/events/%2e%2e";

#[test]
fn strange_paths_lead_nowhere() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let upper = format!("/v1/games/{}", target.game.id.to_uppercase());
    for path in STRANGE_PATHS.split(' ').chain([&*upper]) {
        let responses = target.send(&get(&path.replace("ID", &target.game.id), ""));
        assert!(!responses.is_empty(), "{path}");
        for response in responses {
            assert_client_error(&response, path);
        }
    }
    for path in [
        "/v1/ru\0les",
        "/v1/ru\x01les",
        "/v1/ru les",
        "/v1/rules\t",
        "v1/rules",
        "",
    ] {
        target.refused(&get(path, ""));
    }
    target.refused(b"GET /v1/games/\xff\xfe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    target.is_unharmed();
}

/// Without a route that could answer, too, pages can read what is wrong.
#[test]
fn what_is_no_request_is_a_problem() {
    let server = TestServer::start();
    let no_requests = [
        "NONSENSE\r\n\r\n",
        "GET /v1/rules\r\n\r\n",
        "GET /v1/rules HTTP/1.1\r\n\r\n",
        "GET  /v1/rules HTTP/1.1\r\n\r\n",
        "GET /v1/ru\0les HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/rules HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET /v1/rules HTTP/9.9\r\n\r\n",
        "GET /v1/rules HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n",
        "POST /v1/games HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/games HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        &head("GET", &format!("/{}", "x".repeat(70_000)), ""),
    ];
    let large = [
        "x: 1\r\n".repeat(100),
        format!("x: {}\r\n", "x".repeat(200_000)),
    ];
    let large = large.map(|headers| head("GET", "/v1/rules", &headers));
    let no_requests = no_requests.map(|request| (request, "bad_request"));
    let large = large
        .iter()
        .map(|request| (&**request, "headers_too_large"));
    for (request, code) in no_requests.into_iter().chain(large) {
        let refused = raw(&server, request.as_bytes());
        assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
        assert_eq!(refused.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(refused.header("connection"), Some("close"));
        refused.refused(code);
    }
    let listed = TestServer::start_with(&[("DOG_CORS_ORIGINS", "https://a.example")]);
    let refused = raw(&listed, b"GET /v1/rules HTTP/1.1\r\n\r\n");
    assert_eq!(refused.header("access-control-allow-origin"), None);
    refused.refused("bad_request");
}

/// As people type them into an address, and programs send them.
#[test]
fn targets_are_read_as_if_they_were_escaped() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let ask = |target: &str, origin: &str| {
        let origin = format!("Origin: {origin}\r\nX-Request-Id: 1\r\n");
        let mut connection = Raw::connect(&server);
        // Wherever the reads cut it.
        let sent = head("GET", target, &origin).into_bytes();
        let (first, second) = sent.split_at(target.len() - 1);
        connection.send(first);
        connection.send(second);
        let first = connection.response().expect("a response");
        // The next request on the connection is read as it was sent.
        connection.send(&get("/v1/rules", ""));
        connection.response().expect("a response").expect(200);
        (first.status, first.body)
    };
    let advice = "/v1/analysis/suggest-move?rules=hausregeln&position=0f,9,g2/17/-/46&seat=0\
                  &level=fast&samples=9&seed=1&hand=7,";
    for (typed, escaped, status) in [
        (
            game.path("/board.svg?move=Q:17>29"),
            game.path("/board.svg?move=Q:17%3E29"),
            422,
        ),
        (
            format!("{advice}K\u{f6}nig,J"),
            format!("{advice}K%C3%B6nig,J"),
            200,
        ),
        (
            "/v1/<\u{e9}|\">`".to_owned(),
            "/v1/%3C%C3%A9%7C%22%3E%60".to_owned(),
            404,
        ),
        (
            format!("/v1/rules?{}", "\u{e9}".repeat(1_000)),
            format!("/v1/rules?{}", "%C3%A9".repeat(1_000)),
            422,
        ),
    ] {
        let answers = [&typed, &escaped].map(|target| ask(target, "https://a.example"));
        assert_eq!(answers[0].0, status, "{typed}");
        // Which path there is not, is named as it was sent.
        assert!(status == 404 || answers[0] == answers[1], "{typed}");
    }
    // Escaped, it is too long.
    let long = format!("/v1/rules?{}", "\u{e9}".repeat(3_000));
    assert_eq!(ask(&long, "null").0, 414);
    // Bytes that are no text are refused as if they were escaped.
    for (target, code) in [
        (&b"/v1/rules?\xff"[..], "invalid_request"),
        (b"/v1/rules?%ff", "invalid_request"),
        (b"/\xe9", "route_not_found"),
        (b"/v1/%e9", "route_not_found"),
    ] {
        let origin = b" HTTP/1.1\r\nHost: a\r\nOrigin: null\r\n\r\n";
        let refused = raw(&server, &[b"GET ", target, &origin[..]].concat());
        assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
        refused.refused(code);
    }
}

#[test]
fn other_protocols_are_refused() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    for request in [
        &b"GET /v1/rules HTTP/0.9\r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\0\0\0\0\0\0\0\0",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n",
    ] {
        target.refused(request);
    }
    let trace = head("TRACE", "/v1/rules", "X-Secret: 1\r\n");
    for response in target.send(trace.as_bytes()) {
        assert_client_error(&response, "TRACE");
        assert!(!response.text().contains("X-Secret"));
    }
    target.is_unharmed();
}

#[test]
fn other_forms_of_a_target_change_nothing() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let path = target.game.path("");
    for (line, allowed) in [
        (format!("GET http://example.org{path} HTTP/1.1"), 200),
        (format!("DELETE http://example.org{path} HTTP/1.1"), 401),
        (format!("\n\nGET {path} HTTP/1.1"), 200),
        ("OPTIONS * HTTP/1.1".to_owned(), 404),
        ("GET * HTTP/1.1".to_owned(), 404),
        (format!("GET {path}#fragment HTTP/1.1"), 200),
    ] {
        let head = format!("{line}\r\nHost: a\r\nConnection: close\r\n\r\n");
        for response in target.send(head.as_bytes()) {
            let status = response.status;
            let fine = status == allowed || (400..500).contains(&status);
            assert!(fine, "{line}: {status}");
        }
    }
    target.is_unharmed();
}

#[test]
fn an_upgrade_is_not_made_and_the_connection_goes_on() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let upgrades = [
        // As Java's HttpClient and curl ask for HTTP/2.
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
        "Connection: keep-alive,\tupgrade\r\nupgrade: TLS/1.0\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
        // Not even announced.
        "Upgrade: websocket\r\n",
    ];
    let mut connection = Raw::connect(&server);
    for upgrade in upgrades {
        let length = target.play("").1.len();
        let (head, body) = target.play(&format!("{upgrade}Content-Length: {length}\r\n"));
        // Wherever the reads cut the field.
        let (first, second) = head.split_at(head.find("pgrade").expect("it is there") + 3);
        connection.send(first.as_bytes());
        connection.send(second.as_bytes());
        connection.send(body.as_bytes());
        connection.send(self::head("GET", "/v1/rules", upgrade).as_bytes());
        for _ in 0..2 {
            let response = connection.response().expect("a response");
            assert_eq!(response.header("connection"), None, "{upgrade}");
            assert_eq!(response.header("upgrade"), None, "{upgrade}");
            response.expect(200);
        }
    }
    // A connection that is to end ends, and only then.
    let close = head("GET", "/v1/rules", "Connection: upgrade, close\r\n");
    connection.send(close.as_bytes());
    let response = connection.response().expect("a response");
    assert_eq!(response.header("connection"), Some("close"));
    assert!(connection.response().is_none());
}

#[test]
fn a_client_of_http_1_0_gets_no_chunks() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    for (rest, headers) in [
        ("/history", "Accept: application/x-ndjson\r\n"),
        (
            "/history",
            "Accept-Encoding: gzip\r\nConnection: keep-alive\r\n",
        ),
        ("/events?include=game", "Accept: application/x-ndjson\r\n"),
    ] {
        let path = target.game.path(rest);
        let mut connection = Raw::connect(&server);
        connection.send(format!("GET {path} HTTP/1.0\r\n{headers}\r\n").as_bytes());
        if rest.starts_with("/events") {
            // A stream ends with its game.
            connection.wait_for_bytes();
            target.game.remove();
        }
        let response = connection.response().expect("a response");
        assert_eq!(response.status, 200);
        for header in ["transfer-encoding", "content-length", "connection"] {
            assert_eq!(response.header(header), None, "{rest}");
        }
        match headers.contains("gzip") {
            true => assert_eq!(response.body[..2], [0x1f, 0x8b]),
            false => assert!(response.body.starts_with(b"{\""), "{rest}"),
        }
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let version = target.game.version();
    let length = target.play("").1.len();
    let (play, body) = target.play(&format!("Content-Length: {length}\r\n"));
    let read = |rest: &str, headers: &str| head("GET", &target.game.path(rest), headers);
    let requests = [
        read("", ""),
        read("/suggest-move", ""),
        play + &body,
        read("", ""),
        read("/nothing", ""),
        read("", "Connection: close\r\n"),
    ];
    let mut connection = Raw::connect(&server);
    connection.send(requests.concat().as_bytes());
    let responses = connection.responses();
    let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
    assert_eq!(statuses, [200, 401, 200, 200, 404, 200]);
    let versions = [0, 2, 3, 5].map(|number: usize| responses[number].json()["version"].as_u64());
    let expected = [version, version + 1, version + 1, version + 1];
    assert_eq!(versions, expected.map(Some));
    assert_eq!(target.game.version(), version + 1);
}

#[test]
fn a_smuggled_request_is_not_served() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let by_host = format!("Authorization: Bearer {}\r\n", target.game.host);
    let smuggled = head("DELETE", &target.game.path(""), &by_host);
    // A body, however it is framed, is never read as a request.
    let length = smuggled.len();
    for request in [
        format!("GET /v1/rules HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{smuggled}"),
        format!("POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{smuggled}"),
        format!(
            "POST /nothing HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
             {length:x}\r\n{smuggled}\r\n0\r\n\r\n"
        ),
        format!(
            "POST /v1/games/x/play HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\
             Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"
        ),
        format!(
            "POST /v1/games/x/play HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \tchunked\r\n\
             Content-Length: 5\r\n\r\n0\r\n\r\n{smuggled}"
        ),
    ] {
        for response in target.send(request.as_bytes()) {
            assert_ne!(response.status, 204, "{request}");
            assert!(response.status < 500, "{request}");
        }
        target.is_unharmed();
    }
}

#[test]
fn an_incomplete_request_changes_nothing() {
    let server = TestServer::start();
    let target = GameUnderTest::new(&server);
    let (head, body) = target.play("");
    let head = head.replacen("\r\n\r\n", "", 1);
    let whole = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let longer = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len() + 1);
    // Every proper prefix, with the connection half closed or closed.
    for length in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        target.refused(&whole.as_bytes()[..length]);
        let mut connection = Raw::connect(&server);
        connection.send(&whole.as_bytes()[..length]);
    }
    target.refused(longer.as_bytes());
    let mut connection = Raw::connect(&server);
    connection.send(longer.as_bytes());
    drop(connection);
    target.is_unharmed();
    // A client that only closes its sending side gets the response.
    let mut responses = target.send(whole.as_bytes());
    assert_eq!(responses.len(), 1);
    responses.remove(0).expect(200);
}

#[test]
fn a_client_that_leaves_before_the_response_does_no_harm() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let seat = Seat(game.turn());
    let wait = format!("?after_version={}", game.version());
    for rest in ["/events", "/suggest-move?budget_ms=300", &wait, "/history"] {
        for _ in 0..10 {
            drop(Raw::get(&game, seat, rest));
        }
    }
    game.play_on();
    let advice = game.get(Seat(game.turn()), "/suggest-move?level=greedy");
    advice.send().expect(200);
}
