//! Errors before a route is reached (convention 1), including those of the HTTP framework.

use serde_json::{Value, json};

use crate::support::{
    Contract, TestGame, TestRequest, TestResponse, TestServer, TestViewer::*, raw,
};

#[test]
fn unknown_routes_are_problems() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let inside = [
        "/hands",
        "/play/",
        "/seats",
        "/events/",
        "/seats/0/tokens",
        "//play",
    ];
    let inside = inside.map(|rest| game.path(rest));
    let outside = [
        "/v1",
        "/v1/",
        "/v1/game",
        "/v1/games/",
        "/v2/games",
        "/V1/games",
        "//v1/games",
        "/v1//games",
        "/v1/rules/",
        "/v1/analysis",
        "/v1/analysis/moves",
        "/index.html",
        "/favicon.ico",
        "/.env",
        "/%76%32/games",
        "/openapi.yaml",
        "/healthz/x",
    ];
    let paths = outside.map(str::to_owned).into_iter().chain(inside);
    for path in paths {
        for method in ["GET", "POST"] {
            let request = server.request(method, &path).json(&json!({}));
            let request = if method == "GET" {
                server.get(&path)
            } else {
                request
            };
            request.send().refused("route_not_found");
        }
    }
}

#[test]
fn other_methods_are_refused_with_those_allowed() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let paths = Contract::get().document["paths"]
        .as_object()
        .expect("paths");
    for (template, item) in paths {
        let path = template
            .replace("{id}", &game.id)
            .replace("{n}", "0")
            .replace("{seat}", "0");
        assert!(!path.contains('{'), "{template}");
        let documented = |method: &str| item.get(method.to_ascii_lowercase()).is_some();
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if documented(method) {
                continue;
            }
            let response = server.request(method, &path).token(&game.host).send();
            let allow = response.list("allow");
            response.refused("method_not_allowed");
            for allowed in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
                let listed = allow.contains(&allowed.to_ascii_lowercase());
                assert_eq!(
                    listed,
                    documented(allowed),
                    "{allowed} {template}: {allow:?}"
                );
            }
            let head = allow.contains(&"head".to_owned());
            assert!(!head || documented("GET"), "{template}: {allow:?}");
        }
    }
    assert_eq!(game.version(), 1);
}

#[test]
fn unknown_methods_are_refused_too() {
    let server = TestServer::shared();
    let address = server.address();
    for method in ["BREW", "TRACE", "get", "PROPFIND"] {
        let request =
            format!("{method} /v1/games HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        raw(&server, request.as_bytes()).refused("method_not_allowed");
    }
}

#[test]
fn head_is_get_without_a_body() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let view = game.path("");
    for path in ["/v1/rules", "/v1/games", &view, "/openapi.json", "/healthz"] {
        let (get, head) = (server.get(path).send(), server.request("HEAD", path).send());
        assert_eq!((get.status, head.status), (200, 200), "{path}");
        assert!(head.body.is_empty(), "{path}");
        for name in ["content-type", "etag", "vary", "cache-control"] {
            assert_eq!(get.header(name), head.header(name), "{path}: {name}");
        }
    }
    assert_eq!(server.request("HEAD", "/v1/nothing").send().status, 404);
}

#[test]
fn bodies_that_are_not_json_are_refused() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let before = game.snapshot();
    let play = game.path("/play");
    let deep = |text: &str| text.repeat(10_000);
    let bodies: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"}".to_vec(),
        b"{]".to_vec(),
        b"{\"move\":}".to_vec(),
        b"{'move': 'fold'}".to_vec(),
        b"{\"move\": \"fold\",}".to_vec(),
        b"{\"move\": \"fold\"} x".to_vec(),
        b"{\"move\": NaN}".to_vec(),
        b"{\"move\": Infinity}".to_vec(),
        b"{\"move\": -}".to_vec(),
        b"{\"move\": 01}".to_vec(),
        b"{\"move\": \"\xff\xfe\"}".to_vec(),
        b"{\"move\": \"\xc3\x28\"}".to_vec(),
        b"{\"move\": \"\\ud800\"}".to_vec(),
        b"{\"move\": \"\\x41\"}".to_vec(),
        b"{\"move\": \"a\nb\"}".to_vec(),
        b"\xef\xbb\xbf{\"move\": \"fold\"}".to_vec(),
        b"move=fold".to_vec(),
        b"\0".to_vec(),
        "{\"move\": \"fold\"}"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect(),
    ];
    let nested: Vec<Vec<u8>> = vec![
        deep("[").into_bytes(),
        deep("{\"a\":").into_bytes(),
        format!("{{\"move\": {}{}}}", deep("["), deep("]")).into_bytes(),
    ];
    for path in [
        &*play,
        "/v1/games",
        "/v1/analysis/legal-moves",
        "/v1/analysis/legal-moves/seven",
        "/v1/analysis/suggest-move",
    ] {
        for body in bodies.iter().chain(&nested) {
            let request = server.post(path).token(&game.tokens[1]);
            let response = request.bytes("application/json", body).send();
            let problem = response.refused("malformed_json");
            let detail = problem["detail"].as_str().unwrap_or_default();
            let is_nested = nested.contains(body);
            assert_eq!(detail.contains("nested too deeply"), is_nested, "{detail}");
        }
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn numbers_that_are_not_whole_or_too_large_are_refused() {
    let server = TestServer::shared();
    for number in [
        "1e400",
        "-1e400",
        "1e-400",
        "99999999999999999999999999999999",
        "1e19",
        "-1",
        "0.5",
        "\"0\"",
    ] {
        let body = format!("{{\"first_dealer\": {number}}}");
        let request = server.post("/v1/games").text("application/json", &body);
        request.send().refused("invalid_request");
    }
    // A large number excuses nothing that follows.
    for rest in ["x", "01", "1e", "\"\n\"", "[1e400"] {
        let body = format!("{{\"first_dealer\": 1e400, \"seats\": {rest}}}");
        let request = server.post("/v1/games").text("application/json", &body);
        request.send().refused("malformed_json");
    }
}

#[test]
fn a_number_out_of_range_is_told_the_range_of_the_document() {
    let server = TestServer::shared();
    let position = json!({"board": [{}, {}, {}, {}], "seat": 0, "hand": ["2"]});
    let (nothing, rules) = (json!({}), json!({"rules": {}}));
    let game = TestGame::fixed(&server);
    let settings = game.path("");
    let advice = "/v1/analysis/suggest-move";
    for (method, path, schema, base, inside) in [
        ("POST", "/v1/games", "CreateGame", &nothing, ""),
        ("POST", "/v1/games", "RulesRequest", &rules, "/rules"),
        ("PATCH", &settings, "SettingsRequest", &nothing, ""),
        ("POST", advice, "AdviceAnalysis", &position, ""),
    ] {
        let pointer = format!("/components/schemas/{schema}/properties");
        let members = Contract::get().document.pointer(&pointer);
        let members = members.and_then(Value::as_object).expect("members");
        let mut tried = 0;
        for (name, member) in members {
            let bounds = ["minimum", "maximum"].map(|bound| member[bound].as_u64());
            let [Some(min), Some(max)] = bounds else {
                continue;
            };
            tried += 1;
            let refused = |number: &str| {
                // JSON values have no room for such numbers.
                let mut body = base.clone();
                let object = body.pointer_mut(inside).expect("an object");
                object[name] = json!("number");
                let body = body.to_string().replace("\"number\"", number);
                let request = server.request(method, path).token(&game.host);
                let request = request.text("application/json", &body);
                let codes = ["invalid_request", "invalid_rules"];
                request.send().refused_one_of(&codes)["detail"].take()
            };
            let place = format!("{inside}/{name}");
            let must = format!("must be a whole number from {min} to {max}");
            let too_large = format!("{place} is too large: it {must}");
            for number in ["1e400", "99999999999999999999999"] {
                assert_eq!(refused(number), too_large);
            }
            for number in ["-1", "0.5"] {
                assert_eq!(refused(number), format!("{place} {must}"));
            }
            // A seat or a version is refused in other words.
            if (17..1 << 31).contains(&max) {
                assert_eq!(refused(&(max + 1).to_string()), too_large);
                if min > 0 {
                    assert_eq!(refused("0"), format!("{place} {must}"));
                }
            }
        }
        assert!(tried >= 2, "{schema}");
    }
    for limit in ["101", "99999999999999999999999"] {
        let problem = server.get(&format!("/v1/games?limit={limit}")).send();
        let detail = problem.refused("invalid_request")["detail"].take();
        let expected = "/limit is too large: it must be a whole number from 1 to 100";
        assert_eq!(detail, expected);
    }
}

#[test]
fn whole_numbers_may_have_a_fraction_or_an_exponent() {
    let server = TestServer::shared();
    let body = r#"{"first_dealer": -0, "turn_seconds": 60.0, "bot_pace_ms": 6e1,
        "rules": {"preset": "hausregeln", "jokers": 6.0}, "listed": null}"#;
    let created = server.post("/v1/games").text("application/json", body);
    let view = &created.send().expect(201)["game"];
    let numbers = ["dealer", "turn_seconds", "bot_pace_ms"].map(|name| view[name].as_u64());
    assert_eq!(numbers, [0, 60, 60].map(Some));
    let game = TestGame::fixed(&server);
    let deal = |body: &str| {
        game.post(Host, "/deal")
            .text("application/json", body)
            .send()
    };
    deal(r#"{"version": 2.0}"#).refused("stale_version");
    // The guard counts before the rest of the body.
    deal(r#"{"version": 2.0, "x": 1}"#).refused("stale_version");
    deal(r#"{"version": 1.0}"#).expect(200);
}

#[test]
fn a_token_is_sent_once_and_as_a_bearer_token() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let (path, token) = (game.path(""), &game.tokens[0]);
    let get = |authorization: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        raw(&server, format!("{head}{authorization}\r\n").as_bytes())
    };
    let bearer = format!("Authorization: Bearer {token}\r\n");
    get(&bearer).expect(200);
    get(&bearer.repeat(2)).refused("bad_request");
    get(&format!("{bearer}authorization: x\r\n")).refused("bad_request");
    for value in [
        token.as_str(),
        "",
        "Bearer",
        "Basic eDp5",
        &format!("Token {token}"),
    ] {
        let problem = get(&format!("Authorization: {value}\r\n")).refused("unauthorized");
        assert_eq!(problem["reason"], "no_token", "{value}");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(
            detail.contains("Authorization: Bearer"),
            "{value}: {detail}"
        );
    }
}

#[test]
fn null_is_no_body() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    // The OpenAPI document does not advertise it.
    let null = |request: TestRequest<'_>| {
        let response = request.text("application/json", " null\n").run();
        response.status().as_u16()
    };
    assert_eq!(null(server.post("/v1/games")), 201);
    assert_eq!(null(game.post(Host, "/deal")), 200);
    assert_eq!(null(game.post(Seat(0), "/events/ticket")), 200);
    // As without a body, something is missing.
    assert_eq!(null(game.post(Seat(1), "/swap")), 422);
    assert_eq!(null(game.request("DELETE", Host, "")), 204);
}

#[test]
fn a_body_is_at_most_64_kib() {
    let server = TestServer::shared();
    let create = |length: usize| {
        let body = format!("{{}}{}", " ".repeat(length - 2));
        server
            .post("/v1/games")
            .text("application/json", &body)
            .send()
    };
    create(65_536).expect(201);
    for length in [65_537, 100_000, 3_000_000] {
        create(length).refused("body_too_large");
    }
    let game = TestGame::fixed(&server);
    let large = " ".repeat(70_000);
    for rest in ["/deal", "/swap", "/play", "/seats/0/token"] {
        let request = game.post(Seat(0), rest).text("application/json", &large);
        request.send().refused("body_too_large");
    }
    for route in [
        "/v1/analysis/legal-moves",
        "/v1/analysis/legal-moves/seven",
        "/v1/analysis/suggest-move",
    ] {
        let request = server.post(route).text("application/json", &large);
        request.send().refused("body_too_large");
    }
    // The same in chunks, without a `Content-Length`.
    let mut chunked = format!(
        "POST /v1/games HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n",
        server.address()
    );
    for _ in 0..9 {
        chunked.push_str(&format!("2000\r\n{}\r\n", " ".repeat(0x2000)));
    }
    chunked.push_str("0\r\n\r\n");
    raw(&server, chunked.as_bytes()).refused("body_too_large");
}

#[test]
fn only_json_is_taken() {
    let server = TestServer::shared();
    let send = |content_type: &str| server.post("/v1/games").text(content_type, "{}").send();
    for good in [
        "application/json",
        "application/json;charset=utf-8",
        "Application/JSON",
    ] {
        send(good).expect(201);
    }
    for bad in [
        "text/plain",
        "text/json",
        "application/xml",
        "multipart/form-data; boundary=x",
        "json",
        "*/*",
    ] {
        send(bad).refused("unsupported_media_type");
    }
    let encoded = server
        .post("/v1/games")
        .json(&json!({}))
        .header("Content-Encoding", "gzip");
    encoded.send().refused("unsupported_media_type");
    // A body without a content type.
    let untyped = format!(
        "POST /v1/games HTTP/1.1\r\nHost: {}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}",
        server.address()
    );
    raw(&server, untyped.as_bytes()).refused("unsupported_media_type");
}

#[test]
fn malformed_ids_are_not_found() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let reversed: String = game.id.chars().rev().collect();
    let ids = [
        "x",
        "0",
        "-1",
        "null",
        "%00",
        "%ff",
        "%c3%28",
        "%E2%82%AC",
        "%20",
        "%2e%2e",
        "%2F",
        "a%2Fb",
        "'%20OR%20'1'='1",
        "%27%3B%20DROP%20TABLE%20games%3B--",
        "{id}",
        "*",
        "..;",
        "~",
        &reversed,
        &game.id[1..],
        &format!("{}0", game.id),
        &format!("{}%00", game.id),
        &format!("%20{}", game.id),
        &"a".repeat(5000),
    ]
    .map(str::to_owned);
    for id in ids {
        let path = format!("/v1/games/{}", id.replace(['{', '}'], "-"));
        let codes = ["game_not_found", "route_not_found", "bad_request"];
        server.get(&path).send().refused_one_of(&codes);
        server
            .delete(&path)
            .token(&game.host)
            .send()
            .refused_one_of(&codes);
        for rest in ["/deal", "/play", "/swap", "/seats/0/token"] {
            let request = server.post(&format!("{path}{rest}")).token(&game.host);
            request.send().refused_one_of(&codes);
        }
        for rest in [
            "/legal-moves",
            "/legal-moves/seven?begun=7:",
            "/suggest-move",
        ] {
            let request = server.get(&format!("{path}{rest}")).token(&game.host);
            request.send().refused_one_of(&codes);
        }
    }
    assert_eq!(game.version(), 1);
}

#[test]
fn queries_on_routes_without_parameters_are_refused() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    for query in ["?x=1", "?phase=deal", "?=", "?%ff=1"] {
        server
            .get(&format!("/v1/rules{query}"))
            .send()
            .refused("invalid_request");
        server
            .post(&format!("/v1/games{query}"))
            .send()
            .refused("invalid_request");
        let deal = game.post(Host, &format!("/deal{query}"));
        deal.send().refused("invalid_request");
        let removal = game.request("DELETE", Host, query);
        removal.send().refused("invalid_request");
    }
    assert_eq!(game.version(), 1);
}

/// The response to a malformed request: a 4xx, or none and a closed connection.
fn assert_client_error_or_end(response: &TestResponse) {
    assert!(
        (400..500).contains(&response.status),
        "{}: {}",
        response.what,
        response.status
    );
}

#[test]
fn bytes_that_are_not_http_are_refused() {
    let server = TestServer::shared();
    let requests: [&[u8]; 7] = [
        b"NONSENSE\r\n\r\n",
        b"GET /v1/rules\r\n\r\n",
        b"GET  /v1/rules HTTP/1.1\r\n\r\n",
        b"GET /v1/rules HTTP/9.9\r\n\r\n",
        b"GET /v1/rules HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n",
        b"POST /v1/games HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        b"POST /v1/games HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    ];
    for request in requests {
        assert_client_error_or_end(&raw(&server, request));
    }
    let mut large = b"GET /v1/rules HTTP/1.1\r\nHost: a\r\nX-Large: ".to_vec();
    large.extend(std::iter::repeat_n(b'x', 400_000));
    large.extend_from_slice(b"\r\n\r\n");
    assert_client_error_or_end(&raw(&server, &large));
    // Other requests are not affected.
    server.get("/v1/rules").send().expect(200);
}

#[test]
fn an_unavailable_encoding_is_a_problem() {
    let server = TestServer::shared();
    let request = server
        .get("/v1/rules")
        .header("Accept-Encoding", "compress, identity;q=0");
    request.send().refused("not_acceptable");
}

#[test]
fn refusals_show_no_internals() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let body = json!({"move": "K:out"});
    for seat in [0, 2, 3] {
        let problem = game
            .post(Seat(seat), "/play")
            .json(&body)
            .send()
            .refused("not_your_turn");
        let fields = problem.as_object().expect("an object").keys();
        let fields: Vec<&str> = fields.map(String::as_str).collect();
        assert!(fields.iter().all(|name| {
            [
                "type", "title", "status", "detail", "code", "reason", "seat",
            ]
            .contains(name)
        }));
        assert_eq!(problem["status"], Value::from(409));
    }
}
