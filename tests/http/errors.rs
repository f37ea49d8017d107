//! Errors before a route is reached (convention 1), including those of the HTTP framework.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Contract, TestGame, TestRequest, TestServer, TestViewer::*, raw};

#[test]
fn unknown_routes_are_problems() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let inside = "/hands /play/ /seats /events/ /seats/0/tokens //play /board.png";
    let outside = "/v1 /v1/ /v1/game /v1/games/ /v2/games /V1/games //v1/games /v1//games \
        /v1/rules/ \
        /v1/analysis /v1/analysis/moves /index.html /favicon.ico /.env /%76%32/games /openapi.yaml \
        /healthz/x";
    let inside = inside.split(' ').map(|rest| game.path(rest));
    for path in outside.split(' ').map(str::to_owned).chain(inside) {
        server.get(&path).send().refused("route_not_found");
        let request = server.post(&path).json(&json!({}));
        request.send().refused("route_not_found");
    }
}

#[test]
fn other_methods_are_refused_with_those_allowed() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let methods = ["get", "post", "put", "patch", "delete"];
    let paths = Contract::get().document["paths"].as_object();
    for (template, item) in paths.expect("paths") {
        let path = template.replace("{id}", &game.id);
        let path = path.replace("{seat}", "0").replace("{number}", "1");
        assert!(!path.contains('{'), "{template}");
        let is_documented = |method: &&str| item.get(*method).is_some();
        let documented: BTreeSet<&str> = methods.into_iter().filter(is_documented).collect();
        for method in methods.into_iter().filter(|method| !is_documented(method)) {
            let method = method.to_ascii_uppercase();
            let response = server.request(&method, &path).token(&game.host).send();
            let allow = response.list("allow");
            response.refused("method_not_allowed");
            let mut allowed: BTreeSet<&str> = allow.iter().map(String::as_str).collect();
            allowed.remove("options");
            if allowed.remove("head") {
                assert!(allowed.contains("get"), "{template}: {allow:?}");
            }
            assert_eq!(allowed, documented, "{template}");
        }
    }
    assert_eq!(game.version(), 1);
}

#[test]
fn head_is_get_without_a_body() {
    // Nobody else changes the list of games.
    let server = TestServer::start();
    let game = TestGame::fixed(&server);
    let view = game.path("");
    let guide = "/docs/guide/rules";
    for path in [
        "/v1/rules",
        "/v1/games",
        &view,
        "/openapi.json",
        "/healthz",
        guide,
    ] {
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
    let deep = ["[", "{\"a\":"].map(|text| text.repeat(10_000));
    let nested = format!("{{\"move\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let bodies: [&[u8]; 14] = [
        b"{",
        b"{]",
        b"{\"move\":}",
        b"{\"move\": \"fold\",}",
        b"{\"move\": \"fold\"} x",
        b"{\"move\": NaN}",
        b"{\"move\": 01}",
        b"{\"move\": \"\xff\xfe\"}",
        b"{\"move\": \"\\ud800\"}",
        b"{\"move\": \"a\nb\"}",
        b"\xef\xbb\xbf{\"move\": \"fold\"}",
        b"{\0\"\0m\0o\0v\0e\0\"\0:\0\"\0f\0o\0l\0d\0\"\0}\0",
        b"move=fold",
        b"\0",
    ];
    let nested = [deep[0].as_bytes(), deep[1].as_bytes(), nested.as_bytes()];
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
    let create = |body: String| {
        let request = server.post("/v1/games");
        request.text("application/json", &body).send()
    };
    for number in "1e400 -1e400 1e-400 9999999999999999999999 1e19 0.5 \"0\"".split(' ') {
        create(format!("{{\"first_dealer\": {number}}}")).refused("invalid_request");
    }
    // A large number excuses nothing that follows.
    for rest in ["x", "01", "1e", "\"\n\"", "[1e400"] {
        let body = format!("{{\"first_dealer\": 1e400, \"seats\": {rest}}}");
        create(body).refused("malformed_json");
    }
}

#[test]
fn a_number_out_of_range_is_refused_with_the_documented_range() {
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
        "rules": {"preset": "hausregeln", "jokers": 6.0}, "listed": null,
        "seats": [{"name": "Anna"}, {}, {}, {}]}"#;
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
    for value in [token.as_str(), "", "Bearer", &format!("Token {token}")] {
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
fn null_means_no_body() {
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
    let post = |path: &str, length: usize| {
        let body = format!("{{}}{}", " ".repeat(length - 2));
        server.post(path).text("application/json", &body).send()
    };
    post("/v1/games", 65_536).expect(201);
    for length in [65_537, 3_000_000] {
        post("/v1/games", length).refused("body_too_large");
    }
    for route in ["legal-moves", "legal-moves/seven", "suggest-move"] {
        post(&format!("/v1/analysis/{route}"), 70_000).refused("body_too_large");
    }
    // The same in chunks, without a `Content-Length`.
    let chunk = format!("2000\r\n{}\r\n", " ".repeat(0x2000));
    let chunked = format!(
        "POST /v1/games HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunk.repeat(9)
    );
    raw(&server, chunked.as_bytes()).refused("body_too_large");
}

#[test]
fn only_json_is_taken() {
    let server = TestServer::shared();
    let send = |content_type: &str| server.post("/v1/games").text(content_type, "{}").send();
    for good in ["application/json;charset=utf-8", "Application/JSON"] {
        send(good).expect(201);
    }
    let bad = "text/plain text/json application/xml application/jsonp \
        application/x-www-form-urlencoded multipart/form-data;boundary=x json */*";
    for bad in bad.split(' ').chain([""]) {
        send(bad).refused("unsupported_media_type");
    }
    let encoded = server.post("/v1/games").json(&json!({}));
    let encoded = encoded.header("Content-Encoding", "gzip");
    encoded.send().refused("unsupported_media_type");
    let untyped =
        b"POST /v1/games HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    raw(&server, untyped).refused("unsupported_media_type");
}

#[test]
fn malformed_ids_are_not_found() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let (id, long) = (&game.id, "a".repeat(5000));
    let ids = format!(
        "x 0 -1 null %00 %ff %c3%28 %E2%82%AC %20 %2e%2e %2F a%2Fb '%20OR%20'1'='1 \
         %27%3B%20DROP%20TABLE%20games%3B-- -id- * ..; ~ {} {id}0 {id}%00 %20{id} {long}",
        &id[1..]
    );
    let codes = ["game_not_found", "route_not_found", "bad_request"];
    for id in ids.split(' ') {
        for (method, rest) in [
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/deal"),
            ("POST", "/play"),
            ("POST", "/swap"),
            ("POST", "/seats/0/token"),
            ("GET", "/legal-moves"),
            ("GET", "/legal-moves/seven?begun=7:"),
            ("GET", "/suggest-move"),
        ] {
            let request = server.request(method, &format!("/v1/games/{id}{rest}"));
            request.token(&game.host).send().refused_one_of(&codes);
        }
    }
    assert_eq!(game.version(), 1);
}

#[test]
fn an_unavailable_encoding_is_a_problem() {
    let server = TestServer::shared();
    let request = server
        .get("/v1/rules")
        .header("Accept-Encoding", "compress, identity;q=0");
    request.send().refused("not_acceptable");
}
