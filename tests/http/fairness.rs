//! A greedy client at one address must not slow down others.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::{Value, json};

use crate::{
    limits::from,
    support::{Exposition, Raw, TestGame, TestRequest, TestServer, TestViewer::*},
};

const GREEDY: &str = "198.51.100.1";
const OTHER: &str = "198.51.100.2";

/// A server that knows client addresses and has no rate limits.
fn server(environment: &[(&'static str, &str)]) -> TestServer {
    let unlimited = [
        ("DOG_TRUSTED_PROXY_HEADER", "X-Forwarded-For"),
        ("DOG_ADDRESS_RATE", "0"),
        ("DOG_TOKEN_RATE", "0"),
        ("DOG_ADVICE_PER_ADDRESS", "0"),
    ];
    TestServer::start_with(&[&unlimited, environment].concat())
}

/// Sends a request from the greedy address, the last one of its connection.
fn send(request: &TestRequest<'_>) -> Raw {
    let request = from(request.clone(), GREEDY);
    Raw::sent(&request.header("Connection", "close"))
}

/// Sends this request 64 times from the greedy address, and `meanwhile` others before all are
/// answered. The body that comes over each connection, which must be the same.
fn body_of_64(request: &TestRequest<'_>, meanwhile: impl FnOnce()) -> String {
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        let bodies: Vec<_> = (0..64)
            .map(|_| {
                let mut connection = send(request);
                let done = &done;
                scope.spawn(move || {
                    let response = connection.response().expect("a response");
                    assert_eq!(response.status, 200);
                    done.fetch_add(1, Ordering::Relaxed);
                    response.unchunked()
                })
            })
            .collect();
        meanwhile();
        let count = done.load(Ordering::Relaxed);
        assert!(count < 64, "others waited for all of them");
        let bodies = bodies.into_iter().map(|body| body.join());
        let mut bodies: Vec<Vec<u8>> = bodies.map(|body| body.expect("a body")).collect();
        bodies.dedup();
        assert_eq!(bodies.len(), 1, "all are the same");
        String::from_utf8(bodies.remove(0)).expect("a text")
    })
}

#[test]
fn advice_is_shared_among_addresses_by_its_time() {
    let server = server(&[("DOG_ADVICE_THREADS", "2")]);
    let game = TestGame::in_play(&server);
    let seat = game.turn();
    let advice = game.get(Seat(seat), "/suggest-move?budget_ms=2000");
    let greedy: Vec<Raw> = (0..100).map(|_| send(&advice)).collect();
    // Until each of them is queued or refused.
    Exposition::wait_for(&server, |told| {
        let pool = [("pool", "advice")];
        let values = ["threads_busy", "jobs_waiting", "jobs_refused_total"]
            .map(|name| told.value(&format!("dog_pool_{name}"), &pool));
        values.iter().sum::<f64>() >= 100.0
    });
    for _ in 0..60 {
        let ask = game.get(Seat(seat), "/suggest-move?budget_ms=5");
        from(ask, OTHER).send().expect(200);
    }
    drop(greedy);
}

#[test]
fn long_histories_do_not_block_plays() {
    let server = server(&[]);
    let long = TestGame::long(&server, 4_000);
    let game = TestGame::in_play(&server);
    let seat = game.turn();
    let moves = [("pool", "moves")];
    let jobs = || Exposition::scrape(&server).value("dog_pool_jobs_total", &moves);
    let before = jobs();
    let history = body_of_64(&long.get(Spectator, "/history"), || {
        for _ in 0..30 {
            let ask = game.get(Seat(seat), "/legal-moves");
            from(ask, OTHER).send().expect(200);
        }
    });
    assert_eq!(jobs() - before, 30.0);
    let history: Value = serde_json::from_str(&history).expect("JSON");
    let entries = history["entries"].as_array().expect("entries").iter();
    let versions = entries.map(|entry| entry["version"].as_u64());
    assert!(versions.eq((1..=4_000).map(Some)));
}

#[test]
fn streams_that_catch_up_delay_nobody() {
    const VERSIONS: u64 = 4_000;
    let server = server(&[]);
    let long = TestGame::long(&server, VERSIONS as usize);
    let game = TestGame::in_play(&server);
    let events = long.get(Spectator, "/events").header("Last-Event-ID", "0");
    let stream = body_of_64(&events, || {
        for _ in 0..10 {
            server.get("/healthz").send().expect(200);
            let (seat, id) = game.first_move();
            for request in [
                game.get(Spectator, ""),
                game.post(Seat(seat), "/play").json(&json!({"move": id})),
                game.get(Spectator, "/history"),
            ] {
                from(request, OTHER).send().expect(200);
            }
        }
    });
    let ids = stream.lines().filter_map(|line| line.strip_prefix("id: "));
    let ids = ids.map(|id| id.parse::<u64>().expect("a version"));
    assert!(ids.eq(1..=VERSIONS), "versions missing or doubled");
}

/// A game created from this address: five strong bots, and a human who never acts in time.
fn with_strong_bots<'a>(server: &'a TestServer, address: &str) -> TestGame<'a> {
    let mut seats = vec![json!({"kind": "bot", "level": "strong"}); 5];
    seats.push(json!({"kind": "human"}));
    let body = json!({
        "rules": {"preset": "hausregeln", "seats": 6},
        "seats": seats,
        "bot_pace_ms": 0,
        "turn_seconds": 1,
    });
    let create = from(server.post("/v1/games"), address).json(&body);
    TestGame::from_created(server, &create.send().expect(201))
}

#[test]
fn bots_of_one_address_leave_time_for_those_of_another() {
    const GAMES: u64 = 60;
    const VERSIONS: u64 = 16;
    let server = server(&[("DOG_GAMES_PER_ADDRESS", "0")]);
    let greedy: Vec<TestGame<'_>> = (0..GAMES)
        .map(|_| with_strong_bots(&server, GREEDY))
        .collect();
    let game = with_strong_bots(&server, OTHER);
    let before: u64 = greedy.iter().map(TestGame::version).sum();
    game.events_after(Spectator, 1).take(VERSIONS as usize);
    let after: u64 = greedy.iter().map(TestGame::version).sum();
    // If all games took turns, all would be at the same version.
    let decided = after - before;
    assert!(decided < VERSIONS * GAMES / 4, "{decided}");
    assert!(decided > 0, "they go on, too");
}
