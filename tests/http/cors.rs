//! Convention 8: a frontend on another domain.

use crate::support::{TestGame, TestResponse, TestServer, TestViewer::*, wait_until};

const ORIGIN: &str = "https://dog.example";

fn allows(header: Option<&str>) -> bool {
    header == Some("*") || header == Some(ORIGIN)
}

#[test]
fn responses_may_be_read_from_any_origin() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let exposed = "date etag location retry-after ratelimit ratelimit-policy";
    let requests = [
        game.get(Seat(1), ""),
        game.post(Host, "/deal"),
        server.post("/v1/games"),
        server.get("/openapi.json"),
        // Refusals too, so that a browser can show what went wrong.
        game.post(Host, "/deal"),
        game.get(Seat(1), "").token("x"),
        server.get("/v1/nothing"),
        server.request("PUT", "/v1/games"),
    ];
    for request in requests {
        let response = request.header("Origin", ORIGIN).send();
        let what = format!("{} {}", response.what, response.status);
        assert!(
            allows(response.header("access-control-allow-origin")),
            "{what}"
        );
        let credentials = response.header("access-control-allow-credentials");
        assert_eq!(credentials, None, "{what}");
        let list = response.list("access-control-expose-headers");
        for name in exposed.split(' ') {
            assert!(list.contains(&name.to_owned()), "{what}: {list:?}");
        }
    }
}

#[test]
fn a_preflight_allows_what_a_client_needs() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let cases = [
        ("GET", game.path("")),
        ("POST", game.path("/play")),
        ("PATCH", game.path("")),
        ("PUT", game.path("/seats/1")),
        ("DELETE", game.path("")),
        ("POST", "/v1/games".to_owned()),
        ("GET", game.path("/suggest-move")),
    ];
    let headers = "authorization, content-type, if-match, if-none-match, idempotency-key, \
                   last-event-id, cache-control, traceparent, tracestate, baggage, dog-token, dog-key";
    for (method, path) in cases {
        let request = server.request("OPTIONS", &path).header("Origin", ORIGIN);
        let request = request.header("Access-Control-Request-Method", method);
        let response = request
            .header("Access-Control-Request-Headers", headers)
            .send();
        assert!(
            [200, 204].contains(&response.status),
            "{path}: {}",
            response.status
        );
        assert!(
            allows(response.header("access-control-allow-origin")),
            "{path}"
        );
        let methods = response.list("access-control-allow-methods");
        assert!(
            methods.contains(&method.to_ascii_lowercase()),
            "{path}: {methods:?}"
        );
        let allowed = response.list("access-control-allow-headers");
        for name in headers.split(", ") {
            assert!(allowed.contains(&name.to_owned()), "{path}: {allowed:?}");
        }
    }
}

#[test]
fn an_operator_may_name_the_origins() {
    let server = TestServer::start_with(&[(
        "DOG_CORS_ORIGINS",
        "https://A.example,https://b.example:443",
    )]);
    let allowed = |origin: &str| {
        let response = server.get("/v1/rules").header("Origin", origin).send();
        let header = response.header("access-control-allow-origin");
        header.map(str::to_owned)
    };
    for origin in ["https://a.example", "https://b.example"] {
        assert_eq!(allowed(origin).as_deref(), Some(origin));
    }
    for origin in [ORIGIN, "http://a.example", "https://a.example.org", "null"] {
        assert_eq!(allowed(origin), None, "{origin}");
    }
}

/// Creates a game with these headers; unchecked, because the document lists none of them.
fn create(server: &TestServer, headers: &[(&str, &str)]) -> u16 {
    let request = server.post("/v1/games");
    let sent = headers.iter().fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    sent.run().status().as_u16()
}

#[test]
fn a_list_of_origins_refuses_writes_by_other_pages() {
    let server = TestServer::start_with(&[("DOG_CORS_ORIGINS", "https://a.example,null")]);
    let own = server.url();
    for headers in [
        &[][..],
        &[("Origin", "https://a.example")],
        &[("Origin", "null")],
        // Of the host that was asked, whatever its port.
        &[("Origin", &*own)],
        &[("Origin", "http://127.0.0.1:1")],
        &[
            ("Origin", "https://Dog.example"),
            ("Host", "dog.EXAMPLE:8080"),
        ],
        // A proxy has changed the host.
        &[
            ("Origin", "https://dog.example"),
            ("Sec-Fetch-Site", "same-origin"),
        ],
        &[("Sec-Fetch-Site", "cross-site")],
    ] {
        assert_eq!(create(&server, headers), 201, "{headers:?}");
    }
    for headers in [
        &[("Origin", ORIGIN)][..],
        &[("Origin", "http://a.example")],
        &[("Origin", "https://a.example:8443")],
        &[("Origin", "http://localhost:8080")],
        &[("Origin", "null, null")],
        &[("Origin", "127.0.0.1")],
        &[("Origin", "\u{e9}")],
        &[("Origin", ORIGIN), ("Sec-Fetch-Site", "same-site")],
        &[("Origin", ORIGIN), ("Sec-Fetch-Site", "none")],
    ] {
        assert_eq!(create(&server, headers), 403, "{headers:?}");
    }
    let game = TestGame::fixed(&server);
    let foreign = |method: &str, rest: &str| -> TestResponse {
        game.request(method, Host, rest)
            .header("Origin", ORIGIN)
            .send()
    };
    // What pages can send without a preflight, and what they cannot.
    let writes = "POST /deal,POST /seats/0/token,PUT /seats/0,PATCH ,DELETE ,POST /review";
    for write in writes.split(',') {
        let (method, rest) = write.split_once(' ').expect("a method");
        let refused = foreign(method, rest);
        assert_eq!(
            refused.header("access-control-allow-origin"),
            None,
            "{write}"
        );
        refused.refused("origin_not_allowed");
    }
    assert_eq!(game.version(), 1);
    let text = server
        .post("/v1/analysis/legal-moves")
        .text("text/plain", "{}");
    text.header("Origin", ORIGIN)
        .send()
        .refused("origin_not_allowed");
    // Reading is as ever: the browser keeps the response from the page.
    foreign("GET", "").expect(200);
}

#[test]
fn with_all_origins_other_pages_have_the_limits_of_an_address_on_this_machine() {
    let refuses = |server: &TestServer, headers: &[(&str, &str)]| {
        (0..20).any(|_| create(server, headers) == 429)
    };
    let limits = ("DOG_GAMES_PER_ADDRESS", "4");
    for headers in [
        &[("Origin", ORIGIN)][..],
        &[("Origin", "null")],
        &[("Origin", "http://localhost:8080")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Origin", ORIGIN), ("Sec-Fetch-Site", "cross-site")],
    ] {
        let server = TestServer::start_with(&[limits]);
        assert_eq!(create(&server, headers), 201, "{headers:?}");
        assert!(refuses(&server, headers), "{headers:?}");
        let own = server.url();
        for headers in [
            &[][..],
            &[("Origin", &*own)],
            &[
                ("Origin", "http://127.0.0.1:1"),
                ("Sec-Fetch-Site", "same-site"),
            ],
            &[("Origin", ORIGIN), ("Sec-Fetch-Site", "same-origin")],
            &[("Sec-Fetch-Site", "none")],
        ] {
            assert!(!refuses(&server, headers), "{headers:?}");
        }
    }
    // With a list, those in the list have none.
    let server = TestServer::start_with(&[limits, ("DOG_CORS_ORIGINS", ORIGIN)]);
    let listed = [("Origin", ORIGIN), ("Sec-Fetch-Site", "cross-site")];
    assert!(!refuses(&server, &listed));
    assert!(refuses(&server, &[("Sec-Fetch-Site", "cross-site")]));
    // Streams are limited as well.
    let server = TestServer::start_with(&[("DOG_STREAMS_PER_ADDRESS", "1")]);
    let game = TestGame::dealt(&server);
    let open = |origin: &str| game.get(Seat(0), "/events").header("Origin", origin).run();
    let _stream = open(ORIGIN);
    open(&server.url());
    wait_until("it counts", || open(ORIGIN).status() == 429);
}
