//! `Idempotency-Key` (convention 4)

use std::thread;

use serde_json::{Value, json};

use crate::support::{
    Answer, Game, Request, Server, Signal,
    Viewer::{self, *},
    raw,
};

/// A key of 128 random bits.
fn key() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// A write in a game of its own that is ready for it.
struct Write<'a> {
    game: Game<'a>,
    by: Viewer,
    rest: &'static str,
    body: Value,
    /// A body that the key is not for.
    other: Value,
    /// How many versions it makes.
    versions: u64,
}

impl<'a> Write<'a> {
    fn request(&self, key: &str) -> Request<'a> {
        self.game.post(self.by, self.rest).json(&self.body).key(key)
    }

    /// Every kind of write in a game, save its removal.
    fn all(server: &'a Server) -> Vec<Write<'a>> {
        let (dealt, playing) = (Game::dealt(server), Game::in_play(server));
        let hand = dealt.hand(0);
        let (seat, id) = playing.first_move();
        let house = Game::of_preset(server, "hausregeln");
        house.deal();
        vec![
            Write {
                game: Game::fixed(server),
                by: Host,
                rest: "/deal",
                body: json!({}),
                other: json!({"version": 1}),
                versions: 1,
            },
            Write {
                game: dealt,
                by: Seat(0),
                rest: "/swap",
                body: json!({"card": hand[0]}),
                other: json!({"card": hand[5]}),
                versions: 1,
            },
            Write {
                game: house,
                by: Seat(3),
                rest: "/swap",
                body: json!({"ask": true}),
                other: json!({"decline": true}),
                versions: 1,
            },
            Write {
                game: playing,
                by: Seat(seat),
                rest: "/play",
                body: json!({"move": id}),
                other: json!({"move": "J:none"}),
                versions: 1,
            },
            Write {
                game: Game::dealt(server),
                by: Host,
                rest: "/seats/2/token",
                body: json!({}),
                other: json!({"version": 3}),
                versions: 1,
            },
        ]
    }
}

fn create(server: &Server, key: &str, body: &Value) -> Answer {
    server.post("/v1/games").json(body).key(key).send()
}

/// Asserts that two answers are one; its body.
#[track_caller]
fn same(first: Answer, again: Answer) -> Value {
    assert!(first.status < 300, "{}", first.text());
    assert_eq!(first.status, again.status, "{}", again.text());
    assert_eq!(first.text(), again.text());
    for name in ["content-type", "location", "etag"] {
        assert_eq!(first.header(name), again.header(name), "{name}");
    }
    first.json()
}

#[test]
fn every_write_is_replayed() {
    let server = Server::shared();
    for write in Write::all(&server) {
        let (key, before) = (key(), write.game.version());
        let first = write.request(&key).send();
        for _ in 0..3 {
            same(first.clone(), write.request(&key).send());
        }
        let after = write.game.version();
        assert_eq!(after, before + write.versions, "{}", first.what);
    }
}

#[test]
fn another_body_under_the_same_key_is_refused() {
    let server = Server::shared();
    for write in Write::all(&server) {
        let key = key();
        let first = write.request(&key).send();
        let before = write.game.view(Spectator);
        let other = write.game.post(write.by, write.rest).json(&write.other);
        other.key(&key).send().refused("idempotency_key_reused");
        assert_eq!(write.game.view(Spectator), before);
        same(first, write.request(&key).send());
    }
}

#[test]
fn a_creation_is_replayed_tokens_included() {
    let server = Server::start();
    for body in [
        json!({}),
        json!({"rules": {"preset": "hausregeln"}, "listed": false}),
    ] {
        let key = key();
        let first = create(&server, &key, &body);
        let created = same(first.clone(), create(&server, &key, &body));
        let game = Game::of(&server, &created);
        for seat in 0..4 {
            game.get(Seat(seat), "").send().expect(200);
        }
        // Also when the game has gone on, and with another process.
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
    let server = Server::start();
    let writes = Write::all(&server);
    for signal in [Signal::Kill, Signal::Term] {
        let firsts: Vec<(String, Answer)> = writes
            .iter()
            .map(|write| {
                // The same for both signals: after the first it is a replay already.
                let key = format!("{}-5f2b8c1d9e7a40364bd1c2e8f90a7b53", write.game.id);
                let answer = write.request(&key).send();
                (key, answer)
            })
            .collect();
        server.restart(signal);
        for (write, (key, first)) in writes.iter().zip(firsts) {
            same(first, write.request(&key).send());
        }
    }
}

#[test]
fn a_key_belongs_to_its_caller() {
    let server = Server::shared();
    let game = Game::dealt(&server);
    let key = key();
    let swap = |seat: usize| {
        let body = json!({"card": game.hand(seat)[0]});
        game.post(Seat(seat), "/swap")
            .json(&body)
            .key(&key)
            .send()
            .expect(200)
    };
    for seat in 0..4 {
        assert_eq!(swap(seat)["version"], seat + 3);
    }
    // Somebody with a token is another creator than somebody without.
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
    let server = Server::shared();
    let game = Game::fixed(&server);
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

#[test]
fn duplicates_at_the_same_moment_are_one() {
    let server = Server::shared();
    for write in Write::all(&server) {
        let (key, before) = (key(), write.game.version());
        let answers: Vec<Answer> = thread::scope(|scope| {
            let send = || write.request(&key).send();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
            let join =
                |thread: thread::ScopedJoinHandle<'_, Answer>| thread.join().expect("an answer");
            threads.into_iter().map(join).collect()
        });
        for answer in &answers {
            same(answers[0].clone(), answer.clone());
        }
        assert_eq!(write.game.version(), before + write.versions);
    }
    let key = key();
    let answers: Vec<Answer> = thread::scope(|scope| {
        let send = || create(&server, &key, &json!({"listed": false}));
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    });
    for answer in &answers {
        same(answers[0].clone(), answer.clone());
    }
}

#[test]
fn a_replay_comes_before_version_and_phase() {
    let server = Server::shared();
    let game = Game::fixed(&server);
    let keys = [key(), key(), key()];
    let deal = || {
        let request = game.post(Host, "/deal").json(&json!({"version": 1}));
        request.if_match("\"1\"").key(&keys[0]).send()
    };
    let dealt = deal();
    same(dealt.clone(), deal());
    let card = game.hand(0)[0].clone();
    let swap = || {
        let request = game.post(Seat(0), "/swap").json(&json!({"card": card}));
        request.if_match("\"2-0\"").key(&keys[1]).send()
    };
    let swapped = swap();
    for seat in 1..4 {
        game.swap(seat, &json!({"card": game.hand(seat)[0]}));
    }
    let (seat, id) = game.first_move();
    let play = || {
        let request = game.post(Seat(seat), "/play").json(&json!({"move": id}));
        request.key(&keys[2]).send()
    };
    let played = play();
    let (next, id) = game.first_move();
    game.play(next, &id);
    let before = game.snapshot();
    same(dealt, deal());
    same(swapped, swap());
    same(played, play());
    assert_eq!(game.snapshot(), before);
}

/// What a seat was answered it is answered again although a bot plays the seat by now.
#[test]
fn a_replay_comes_before_the_bot_that_plays_the_seat() {
    let server = Server::shared();
    for write in Write::all(&server) {
        let by = match (write.rest, write.by) {
            ("/deal", _) => Seat(0),
            (_, by @ Seat(_)) => by,
            _ => continue,
        };
        let Seat(seat) = by else {
            unreachable!("a seat writes")
        };
        let game = &write.game;
        let (key, other) = (key(), self::key());
        let send = |key: &str| {
            let request = game.post(by, write.rest).json(&write.body).key(key);
            request.send()
        };
        let first = send(&key);
        let path = format!("/seats/{seat}");
        let hand_over = |kind: &str| {
            let request = game.request("PUT", Host, &path);
            request.json(&json!({"kind": kind})).send().expect(200);
        };
        hand_over("bot");
        same(first.clone(), send(&key));
        send(&other).refused("forbidden");
        let changed = game.post(by, write.rest).json(&write.other);
        changed.key(&key).send().refused("idempotency_key_reused");
        let stranger = game.post(Spectator, write.rest).json(&write.body).key(&key);
        stranger.send().refused("unauthorized");
        hand_over("human");
        same(first, send(&key));
    }
}

#[test]
fn authorisation_and_existence_come_before_a_replay() {
    let server = Server::shared();
    let game = Game::dealt(&server);
    let (key, body) = (key(), json!({"card": game.hand(0)[0]}));
    let swap = |game: &Game| game.post(Seat(0), "/swap").json(&body).key(&key).send();
    let first = swap(&game);
    // The token dies: what was answered to it is answered to nobody.
    let fresh = game.post(Seat(0), "/seats/0/token").send().expect(200);
    swap(&game).refused("unauthorized");
    let mut renewed = game.clone();
    renewed.tokens[0] = fresh["token"].as_str().expect("a token").to_owned();
    swap(&renewed).refused("not_your_turn");
    assert_eq!(first.status, 200);
    game.request("DELETE", Host, "").send().expect(204);
    swap(&game).refused("game_not_found");
}

/// Else a seat whose answer was lost would have no token that is alive.
#[test]
fn a_seats_own_fresh_token_is_replayed_to_the_token_it_killed() {
    let server = Server::shared();
    let game = Game::dealt(&server);
    let key = key();
    let reissue = |key: &str| game.post(Seat(1), "/seats/1/token").key(key).send();
    let told = same(reissue(&key), reissue(&key));
    let token = told["token"].as_str().expect("a token");
    server.get(&game.path("")).token(token).send().expect(200);
    reissue(&self::key()).refused("unauthorized");
    game.post(Seat(1), "/seats/1/token")
        .send()
        .refused("unauthorized");
    // Neither elsewhere nor to somebody else.
    for seat in [0, 2, 3] {
        let other = game.post(Seat(1), &format!("/seats/{seat}/token"));
        other.key(&key).send().refused("unauthorized");
        let other = game.post(Seat(seat), "/seats/1/token");
        other.key(&key).send().refused("forbidden");
    }
}

#[test]
fn a_removal_is_replayed_though_the_game_is_gone() {
    let server = Server::start();
    let game = Game::fixed(&server);
    let key = key();
    let remove = |key: &str| game.request("DELETE", Host, "").key(key).send();
    for _ in 0..3 {
        let answer = remove(&key);
        assert_eq!((answer.status, answer.body.len()), (204, 0));
    }
    server.restart(Signal::Kill);
    remove(&key).expect(204);
    remove(&self::key()).refused("game_not_found");
    let stranger = game.request("DELETE", Seat(0), "").key(&key);
    stranger.send().refused("game_not_found");
}

#[test]
fn refusals_are_not_kept() {
    let server = Server::shared();
    let game = Game::fixed(&server);
    let (key, other) = (key(), Game::dealt(&server));
    let card = other.hand(0)[0].clone();
    let swap = |body: &Value| game.post(Seat(0), "/swap").json(body).key(&key).send();
    swap(&json!({"card": card})).refused("wrong_phase");
    game.deal();
    swap(&json!({"decline": true})).refused("illegal_exchange");
    // The same seed, so the same card is there.
    swap(&json!({"card": card})).expect(200);
}

#[test]
fn where_tokens_are_answered_a_key_must_be_strong() {
    let server = Server::start();
    let game = Game::fixed(&server);
    let weak = [
        "1",
        "order-17",
        "5f2b8c1d9e7a40364bd1c2e8f90a7b5",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "0101010101010101010101010101010101010101",
        "12345678901234567890123456789012345678",
        "--------------------------------------------",
    ];
    let before = game.snapshot();
    for key in weak {
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
    for key in ["5f2b8c1d9e7a40364bd1c2e8f90a7b53", "Zk3vQ9xT1bN7cR5wY8mLpA"] {
        create(&server, key, &json!({})).expect(201);
    }
}

#[test]
fn a_key_is_1_to_255_visible_characters() {
    let server = Server::shared();
    let game = Game::fixed(&server);
    let deal = |key: &str| game.post(Host, "/deal").key(key).send();
    for key in ["", "a b", "a\tb", &"k".repeat(256)] {
        deal(key).refused("invalid_idempotency_key");
    }
    let (path, address) = (game.path("/deal"), server.address());
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\n\
         Idempotency-Key: caf",
        game.host
    )
    .into_bytes();
    request.extend_from_slice(b"\xc3\xa9\r\n\r\n");
    raw(&server, &request).refused("invalid_idempotency_key");
    assert_eq!(game.version(), 1);
    deal(&"k".repeat(255)).expect(200);
}
