//! Tokens: the headers that have them, and `POST /v1/games/{id}/seats/{n}/token`.

use serde_json::{Value, json};

use crate::support::{
    Contract, Signal, TestGame, TestResponse, TestServer,
    TestViewer::{self, *},
    UNKNOWN_TOKEN, raw,
};

/// The game with a new token for a seat.
fn reissue<'a>(game: &TestGame<'a>, by: TestViewer, seat: usize) -> TestGame<'a> {
    let mut game = game.clone();
    assert_eq!(game.renew(by, seat)["seat"], seat);
    game
}

#[test]
fn only_the_first_renewal_by_a_seat_is_an_event() {
    let server = TestServer::shared();
    let first = TestGame::dealt(&server);
    assert_eq!(first.view(Host)["seats"][2]["joined"], false);
    let old = reissue(&first, Seat(2), 2);
    let event = json!({"type": "token_renewed", "seat": 2});
    let view = old.view(Spectator);
    assert_eq!(
        (&view["last_action"], &view["version"]),
        (&event, &json!(3))
    );
    assert_eq!(view["seats"][2]["joined"], true);
    let by_host = old.post(Host, "/seats/2/token").send();
    assert_eq!(by_host.refused("forbidden")["reason"], "seat_joined");
    let (public, hand) = (old.snapshot(), old.hand(2));
    let fresh = reissue(&old, Seat(2), 2);
    assert_ne!(fresh.tokens[2], old.tokens[2]);
    assert!(fresh.tokens[2].len() >= 22);
    assert_eq!(fresh.snapshot(), public);
    assert_eq!(fresh.hand(2), hand);
    old.get(Seat(2), "").send().refused("token_replaced");
    let body = json!({"card": hand[0]});
    let by_old = old.post_json(Seat(2), "/swap", &body);
    by_old.refused("token_replaced");
    let by_old = old.post(Seat(2), "/seats/2/token").send();
    by_old.refused("token_replaced");
    fresh.swap(2, &body);
    for viewer in [Seat(0), Seat(1), Seat(3), Host] {
        assert_eq!(old.get(viewer, "").send().status, 200);
    }
}

#[test]
fn a_renewal_by_the_host_is_a_public_event() {
    let server = TestServer::shared();
    let old = TestGame::dealt(&server);
    let response = old.post(Host, "/seats/1/token").send().expect(200);
    assert_eq!(response["version"], 3);
    let event = json!({"type": "token_reissued", "seat": 1});
    for viewer in [Seat(0), Seat(3), Host, Spectator] {
        let view = old.view(viewer);
        assert_eq!(view["version"], 3);
        assert_eq!(view["last_action"], event);
        let token = response["token"].as_str().expect("a token");
        assert!(!view.to_string().contains(token));
    }
    old.get(Seat(1), "").send().refused("token_replaced");
    // The game continues unchanged.
    let fresh = reissue(&old, Host, 1);
    fresh.exchange();
    fresh.play_on();
}

#[test]
fn new_tokens_survive_a_restart_and_old_ones_stay_revoked() {
    let server = TestServer::start();
    let old = TestGame::dealt(&server);
    let fresh = reissue(&reissue(&old, Seat(0), 0), Host, 3);
    server.restart(Signal::Kill);
    for seat in 0..4 {
        fresh.hand(seat);
    }
    for seat in [0, 3] {
        old.get(Seat(seat), "").send().refused("token_replaced");
    }
}

#[test]
fn there_are_as_many_seats_as_the_rules_say() {
    let server = TestServer::shared();
    let four = TestGame::fixed(&server);
    let rules = json!({"preset": "dogspiel-it", "seats": 6});
    let six = TestGame::create(&server, &json!({"rules": rules}));
    let ask = |game: &TestGame, seat: &str| {
        let path = format!("/seats/{seat}/token");
        game.post(Host, &path).send()
    };
    ask(&six, "5").expect(200);
    ask(&six, "6").refused("seat_not_found");
    for seat in "4 255 256 99999999999999999999 -1 00 01 x 1.0 %31%00 0x1".split(' ') {
        ask(&four, seat).refused("seat_not_found");
    }
    assert_eq!(four.version(), 1);
}

/// A key that is strong enough for responses with tokens.
const KEY: &str = "5f2b8c1d9e7a40364bd1c2e8f90a7b53";

/// The methods and paths below a game that take a token, by the document.
fn routes_with_a_token() -> Vec<(String, String)> {
    let mut routes = Vec::new();
    let paths = Contract::get().document["paths"].as_object();
    for (path, item) in paths.expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            let schemes: Vec<&Value> = operation["security"]
                .as_array()
                .into_iter()
                .flatten()
                .collect();
            let has = |name: &str| schemes.iter().any(|scheme| scheme.get(name).is_some());
            assert_eq!(has("token"), has("dog_token"), "{method} {path}");
            if has("token") {
                // A match has its own host.
                let Some(rest) = path.strip_prefix("/v1/games/{id}") else {
                    assert_eq!(path, "/v1/matches/{id}/end");
                    continue;
                };
                routes.push((method.to_uppercase(), rest.replace("{seat}", "0")));
            }
        }
    }
    routes
}

/// The status, and the code of a refusal.
fn outcome(response: &TestResponse) -> (u16, Value) {
    let problem = serde_json::from_slice::<Value>(&response.body).unwrap_or_default();
    (response.status, problem["code"].clone())
}

#[test]
fn each_route_takes_a_token_in_either_header() {
    let server = TestServer::start();
    let routes = routes_with_a_token();
    assert!(routes.len() > 15, "{routes:?}");
    for (method, rest) in routes {
        for viewer in [Host, Seat(0)] {
            let game = TestGame::in_play(&server);
            let what = format!("{method} {rest} by {viewer}");
            let token = game.token(viewer).expect("a token");
            // A stream has no end.
            let method = if rest == "/events" { "HEAD" } else { &*method };
            let send = |headers: &[(&str, &str)]| {
                let mut request = game.request(method, Spectator, &rest);
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                // A write that is repeated gets the first answer.
                request = match method {
                    "GET" | "HEAD" => request,
                    "DELETE" => request.key(KEY),
                    _ => request.key(KEY).json(&json!({})),
                };
                let response = request.send();
                if headers.iter().any(|(name, _)| *name == "Dog-Token") {
                    assert!(
                        response.list("vary").contains(&"dog-token".to_owned()),
                        "{what}"
                    );
                }
                outcome(&response)
            };
            let bearer = |token: &str| format!("Bearer {token}");
            let (right, wrong) = (bearer(token), bearer(UNKNOWN_TOKEN));
            for headers in [
                &[("Authorization", &*wrong)][..],
                &[("Dog-Token", UNKNOWN_TOKEN)],
                &[("Authorization", &right), ("Dog-Token", UNKNOWN_TOKEN)],
                &[
                    ("Authorization", "Basic eA=="),
                    ("Dog-Token", UNKNOWN_TOKEN),
                ],
            ] {
                assert_eq!(send(headers).0, 401, "{what}: {headers:?}");
            }
            let none = send(&[]);
            for headers in [
                &[("Authorization", "Basic eA==")][..],
                &[("Authorization", "bASIC")],
                &[("Authorization", "Negotiate eA==")],
                &[("Authorization", "digest username=\"x\"")],
            ] {
                assert_eq!(send(headers), none, "{what}: {headers:?}");
            }
            let first = send(&[("Authorization", &right)]);
            assert_ne!(first.0, 401, "{what}");
            for headers in [
                &[("Dog-Token", token)][..],
                &[("Dog-Token", token), ("Authorization", "Basic eA==")],
                &[("Dog-Token", token), ("Authorization", &wrong)],
                &[("Dog-Token", token), ("Authorization", "Token x")],
            ] {
                assert_eq!(send(headers), first, "{what}: {headers:?}");
            }
        }
    }
}

#[test]
fn an_empty_token_is_none() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let send = |headers: &str| {
        let path = game.path("");
        let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
        raw(&server, head.as_bytes())
    };
    let seat = format!("Authorization: Bearer {}\r\n", game.tokens[2]);
    for (headers, tag) in [
        (seat.clone(), "\"2-2\""),
        (format!("{seat}Dog-Token:\r\n"), "\"2-spectator\""),
        ("Dog-Token: \r\n".to_owned(), "\"2-spectator\""),
    ] {
        let view = send(&headers);
        assert_eq!(
            (view.status, view.header("etag")),
            (200, Some(tag)),
            "{headers}"
        );
        let vary = view.list("vary");
        assert!(
            vary.contains(&"dog-token".to_owned()),
            "{headers}: {vary:?}"
        );
    }
    for name in ["Dog-Token", "Authorization"] {
        send(&format!("{name}: x\r\n{name}: x\r\n")).refused("bad_request");
    }
}

/// By this the page knows a server that reads it.
#[test]
fn every_answer_to_a_token_of_that_header_depends_on_it() {
    let server = TestServer::shared();
    for path in [
        "/v1/games",
        "/v1/rules",
        "/v1/nothing",
        "/v1/games/none",
        "/healthz",
        "/",
    ] {
        let varies =
            |response: TestResponse, name: &str| response.list("vary").contains(&name.to_owned());
        let sent = server.get(path).header("Dog-Token", UNKNOWN_TOKEN).send();
        assert!(varies(sent, "dog-token"), "{path}");
        let [own, common] =
            ["dog-token", "authorization"].map(|name| varies(server.get(path).send(), name));
        assert_eq!(own, common, "{path}");
    }
}
