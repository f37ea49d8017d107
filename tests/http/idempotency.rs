//! `Idempotency-Key` (convention 4)

use serde_json::{Value, json};

use crate::support::{
    Signal, TestGame, TestRequest, TestResponse, TestServer,
    TestViewer::{self, *},
    at_once, raw,
};

/// A key of 128 random bits.
fn key() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// A write that is legal now, in a game of its own, and adds one version.
struct PreparedWrite<'a> {
    game: TestGame<'a>,
    by: TestViewer,
    rest: &'static str,
    body: Value,
}

impl<'a> PreparedWrite<'a> {
    fn request(&self, key: &str) -> TestRequest<'a> {
        self.game.post(self.by, self.rest).json(&self.body).key(key)
    }

    /// Every kind of write in a game, save its removal.
    fn all(server: &'a TestServer) -> Vec<PreparedWrite<'a>> {
        let (dealt, playing) = (TestGame::dealt(server), TestGame::in_play(server));
        let house = TestGame::with_preset(server, "hausregeln");
        house.deal();
        let card = json!({"card": dealt.hand(0)[0]});
        let (seat, id) = playing.first_move();
        let writes = [
            (TestGame::fixed(server), Host, "/deal", json!({})),
            (dealt, Seat(0), "/swap", card),
            (house, Seat(3), "/swap", json!({"ask": true})),
            (playing, Seat(seat), "/play", json!({"move": id})),
            (TestGame::dealt(server), Host, "/seats/2/token", json!({})),
        ];
        let prepared = writes.map(|(game, by, rest, body)| PreparedWrite {
            game,
            by,
            rest,
            body,
        });
        prepared.into()
    }
}

fn create(server: &TestServer, key: &str, body: &Value) -> TestResponse {
    server.post("/v1/games").json(body).key(key).send()
}

/// Asserts that two responses are equal; returns the body.
#[track_caller]
fn same(first: TestResponse, again: TestResponse) -> Value {
    assert!(first.status < 300, "{}", first.text());
    again.assert_repeats(&first);
    first.json()
}

#[test]
fn a_creation_is_replayed_tokens_included() {
    let server = TestServer::start();
    for body in [
        json!({}),
        json!({"rules": {"preset": "hausregeln"}, "listed": false}),
    ] {
        let key = key();
        let first = create(&server, &key, &body);
        let created = same(first.clone(), create(&server, &key, &body));
        let game = TestGame::from_created(&server, &created);
        for seat in 0..4 {
            game.get(Seat(seat), "").send().expect(200);
        }
        // Even when the game has gone on, and from another process.
        game.deal();
        same(first.clone(), create(&server, &key, &body));
        server.restart(Signal::Kill);
        same(first.clone(), create(&server, &key, &body));
        create(&server, &key, &json!({"first_dealer": 1})).refused("idempotency_key_reused");
    }
    let list = server.get("/v1/games").send().expect(200);
    assert_eq!(list["games"].as_array().map(Vec::len), Some(1));
}

#[test]
fn replays_survive_a_restart() {
    let server = TestServer::start();
    let writes = PreparedWrite::all(&server);
    // After the first signal the first response is a replay, too.
    for signal in [Signal::Kill, Signal::Term] {
        let send = |write: &PreparedWrite<'_>| {
            let key = format!("{}-5f2b8c1d9e7a40364bd1c2e8f90a7b53", write.game.id);
            write.request(&key).send()
        };
        let firsts: Vec<TestResponse> = writes.iter().map(send).collect();
        server.restart(signal);
        for (write, first) in writes.iter().zip(firsts) {
            same(first, send(write));
        }
    }
}

#[test]
fn a_key_belongs_to_its_caller() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let key = key();
    for seat in 0..4 {
        let body = json!({"card": game.hand(seat)[0]});
        let swap = game.post(Seat(seat), "/swap").json(&body).key(&key);
        assert_eq!(swap.send().expect(200)["version"], seat + 3);
    }
    // A creator with a token and one without are different callers.
    let anonymous = create(&server, &key, &json!({})).expect(201);
    let by_token = |token: &str| {
        let request = server.post("/v1/games").json(&json!({})).key(&key);
        request.token(token).send().expect(201)
    };
    let (first, second) = (by_token(&game.host), by_token(&game.tokens[0]));
    assert_ne!(anonymous["id"], first["id"]);
    assert_ne!(first["id"], second["id"]);
    assert_eq!(by_token(&game.host)["id"], first["id"]);
}

#[test]
fn a_key_belongs_to_its_path() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let key = key();
    let write = |rest: &str| game.post(Host, rest).key(&key).send().expect(200);
    let dealt = write("/deal");
    let second = write("/seats/2/token");
    let third = write("/seats/3/token");
    assert_ne!(second["token"], third["token"]);
    assert_eq!(write("/deal"), dealt);
    assert_eq!(write("/seats/2/token"), second);
    assert_eq!(game.version(), 4);
    let removal = game.request("DELETE", Host, "").key(&key);
    removal.send().expect(204);
}

/// Sends a write eight times at once; all responses must be the same.
fn send_at_once(send: impl Fn() -> TestResponse + Sync) {
    let responses = at_once(8, |_| send());
    for response in &responses {
        same(responses[0].clone(), response.clone());
    }
}

#[test]
fn duplicates_at_the_same_moment_are_one() {
    let server = TestServer::shared();
    for write in PreparedWrite::all(&server) {
        let (key, before) = (key(), write.game.version());
        send_at_once(|| write.request(&key).send());
        assert_eq!(write.game.version(), before + 1);
    }
    let key = key();
    send_at_once(|| create(&server, &key, &json!({"listed": false})));
}

#[test]
fn refusals_are_not_saved() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let (key, other) = (key(), TestGame::dealt(&server));
    let card = other.hand(0)[0].clone();
    let swap = |body: &Value| game.post(Seat(0), "/swap").json(body).key(&key).send();
    swap(&json!({"card": card})).refused("wrong_phase");
    game.deal();
    swap(&json!({"decline": true})).refused("illegal_exchange");
    // The same seed, so the same card is there.
    swap(&json!({"card": card})).expect(200);
}

#[test]
fn for_responses_with_tokens_a_key_must_be_strong() {
    let server = TestServer::start();
    let game = TestGame::fixed(&server);
    let before = game.snapshot();
    for key in ["order-17", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
        create(&server, key, &json!({})).refused("weak_idempotency_key");
        for by in [Host, Seat(1)] {
            let request = game.post(by, "/seats/1/token").key(key);
            request.send().refused("weak_idempotency_key");
        }
    }
    assert_eq!(game.snapshot(), before);
    let list = server.get("/v1/games").send().expect(200);
    assert_eq!(list["games"].as_array().map(Vec::len), Some(1));
    // Elsewhere any key will do.
    game.post(Host, "/deal").key("1").send().expect(200);
    create(&server, "Zk3vQ9xT1bN7cR5wY8mLpA", &json!({})).expect(201);
}

#[test]
fn a_key_is_1_to_255_visible_characters() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let deal = |key: &str| game.post(Host, "/deal").key(key).send();
    for key in ["", "a b", "a\tb", &"k".repeat(256)] {
        deal(key).refused("invalid_idempotency_key");
    }
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\n\
         Idempotency-Key: caf\u{e9}\r\n\r\n",
        game.path("/deal"),
        game.host
    );
    raw(&server, request.as_bytes()).refused("invalid_idempotency_key");
    assert_eq!(game.version(), 1);
    deal(&"k".repeat(255)).expect(200);
}
