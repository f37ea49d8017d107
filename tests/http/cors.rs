//! Convention 8: a frontend on another domain.

use crate::support::{TestGame, TestServer, TestViewer::*};

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
