//! How fast the server is, as ratios within one run: prints a table. `cargo bench --bench server`.
//!
//! The clients run on the same machine as the server, so the figures of one run compare only with
//! each other.

#[path = "support/bare.rs"]
mod bare;
#[path = "support/game.rs"]
mod game;
#[path = "support/server.rs"]
mod support;

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use game::BenchGame;
use serde_json::json;
use support::{BenchClient, BenchServer, request};

const CLIENTS: usize = 8;
const VIEWERS: usize = 64;
const ROUNDS: usize = 7;
const BOT_GAMES: usize = 1_000;
const ROUND: Duration = Duration::from_millis(700);

fn main() {
    let server = BenchServer::start("server", &[], |_| ());
    let game = BenchClient::new(&server.address).send("POST", "/v1/games", None, Some(json!({})));
    let id = game["id"].as_str().expect("an id").to_owned();
    let host = game["host_token"].as_str().expect("a token").to_owned();
    let seat = game["seat_tokens"][0].as_str().expect("a token").to_owned();
    BenchClient::new(&server.address).send(
        "POST",
        &format!("/v1/games/{id}/deal"),
        Some(&host),
        None,
    );
    let view = format!("/v1/games/{id}");

    // They take turns, so that a disturbance of the machine affects all of them.
    let text = BenchClient::new(&server.address).send("GET", &view, Some(&seat), None);
    let bare = bare::start(text.to_string());
    let dog = server.address.as_str();
    let responses = [
        ("constant: a bare handler", bare.as_str(), "/constant", None),
        ("row: a bare handler that reads SQLite", &bare, "/row", None),
        ("GET /healthz", dog, "/healthz", None),
        ("GET /v1/games/{id}", dog, &view, Some(seat.as_str())),
    ];
    let mut rates = [(); 4].map(|()| Vec::new());
    for _ in 0..ROUNDS {
        for (rates, (_, address, path, token)) in rates.iter_mut().zip(responses) {
            rates.push(requests_a_second(address, path, token));
        }
    }
    println!(
        "{:<44} {:>12} {:>10} {:>10}",
        format!("{VIEWERS} connections"),
        "a second",
        "to row",
        "goal"
    );
    let row = median(rates[1].clone());
    for (rates, (label, ..)) in rates.into_iter().zip(responses) {
        let rate = median(rates);
        let goal = if label.contains("games") { "≥ 1" } else { "" };
        println!("{label:<44} {rate:>12.0} {:>10.2} {goal:>10}", rate / row);
    }

    // So do the commits: a disk's speed changes within seconds.
    let clients = [1, CLIENTS, 4 * CLIENTS];
    let mut bare = Vec::new();
    let mut plays = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        bare.push(bare_commits());
        for (rates, clients) in plays.iter_mut().zip(clients) {
            rates.push(plays_a_second(&server, clients));
        }
    }
    let bare = median(bare);
    println!(
        "{:<44} {bare:>12.0} {:>10}",
        "bare loop: one such commit after another", "1"
    );
    for (rates, clients) in plays.into_iter().zip(clients) {
        let rate = median(rates);
        let label = format!("POST play, {clients} at once");
        println!("{label:<44} {rate:>12.0} {:>10.2}", rate / bare);
    }

    // A review has the lowest priority.
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(plays_a_second(&server, CLIENTS));
        let review = RunningReview::start(&server);
        beside.push(plays_a_second(&server, CLIENTS));
        review.end();
    }
    let rate = median(beside);
    let label = format!("POST play, {CLIENTS} at once, to without a review");
    println!(
        "{label:<44} {rate:>12.0} {:>10.2} {:>10}",
        rate / median(alone),
        "≥ 0.95"
    );

    // A person's play, without and with a thousand games that bots play all the time.
    let alone = play_times(&server);
    let bot = json!({"kind": "bot", "level": "greedy"});
    let mut client = BenchClient::new(&server.address);
    for _ in 0..BOT_GAMES {
        let seats = [(); 4].map(|()| &bot);
        client.send("POST", "/v1/games", None, Some(json!({"seats": seats})));
    }
    let beside = play_times(&server);
    println!(
        "{:<44} {:>12} {:>10}",
        "one play, of a person", "half, ms", "p99, ms"
    );
    for (label, times) in [("alone", alone), ("beside 1,000 games of bots", beside)] {
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!("{label:<44} {:>12.2} {:>10.2}", at(0.5), at(0.99));
    }
}

/// A review that is going on.
struct RunningReview {
    client: BenchClient,
    game: String,
    token: String,
}

impl RunningReview {
    fn start(server: &BenchServer) -> RunningReview {
        let mut client = BenchClient::new(&server.address);
        let record = json!({"record": include_str!("../tests/records/four.dog")});
        let made = client.send("POST", "/v1/games/import", None, Some(record));
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        let game = format!("/v1/games/{}", text("id"));
        let path = format!("{game}/review");
        while client.send("POST", &path, None, None)["status"] != "running" {
            thread::sleep(Duration::from_millis(50));
        }
        let token = text("host_token");
        RunningReview {
            client,
            game,
            token,
        }
    }

    /// Removes the game, which the server finds out when it saves.
    fn end(mut self) {
        let delete = request("DELETE", &self.game, Some(&self.token), None);
        assert_eq!(self.client.exchange(delete.as_bytes()).0, 204);
        thread::sleep(Duration::from_secs(6));
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn requests_a_second(address: &str, path: &str, token: Option<&str>) -> f64 {
    let request = request("GET", path, token, None);
    let started = Instant::now();
    let client = || {
        let mut client = BenchClient::new(address);
        let mut requests = 0;
        while started.elapsed() < ROUND {
            assert_eq!(client.exchange(request.as_bytes()).0, 200);
            requests += 1;
        }
        requests
    };
    let requests: u32 = thread::scope(|scope| {
        let clients: Vec<_> = (0..VIEWERS).map(|_| scope.spawn(client)).collect();
        clients
            .into_iter()
            .map(|client| client.join().expect("a client"))
            .sum()
    });
    f64::from(requests) / started.elapsed().as_secs_f64()
}

/// Plays games, one per client, until the time is up. Returns the plays per second.
fn plays_a_second(server: &BenchServer, clients: usize) -> f64 {
    let client = || {
        let times = play_for(server, 2 * ROUND);
        let playing: Duration = times.iter().sum();
        times.len() as f64 / playing.as_secs_f64()
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        clients
            .into_iter()
            .map(|client| client.join().expect("a client"))
            .sum()
    })
}

/// How long each play of a single client takes, in milliseconds, sorted.
fn play_times(server: &BenchServer) -> Vec<f64> {
    let times = play_for(server, 8 * ROUND).into_iter();
    let mut times: Vec<f64> = times.map(|time| time.as_secs_f64() * 1_000.0).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Plays games until the time is up; returns how long each play took.
fn play_for(server: &BenchServer, time: Duration) -> Vec<Duration> {
    let started = Instant::now();
    let mut client = BenchClient::new(&server.address);
    let mut times = Vec::new();
    let mut ask = |method: &str, path: &str, token: Option<&str>, body| {
        let sent = Instant::now();
        let response = client.send(method, path, token, body);
        if path.ends_with("/play") {
            times.push(sent.elapsed());
        }
        response
    };
    while started.elapsed() < time {
        let game = BenchGame::create(&mut ask, json!({})).expect("a game");
        let mut view = json!({"phase": "deal"});
        while view["phase"] != "finished" && started.elapsed() < time {
            view = game.step(&mut ask, &view);
        }
    }
    times
}

/// What the disk allows: the rows of one play, written and committed one after another.
fn bare_commits() -> f64 {
    let file = std::env::temp_dir().join(format!("dog-bench-bare-{}.db", std::process::id()));
    let _ = fs::remove_file(&file);
    let database = rusqlite::Connection::open(&file).expect("a database");
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE games (key INTEGER PRIMARY KEY, version INTEGER, snapshot TEXT);
             CREATE TABLE log (game INTEGER, version INTEGER, events TEXT, PRIMARY KEY (game, version)) WITHOUT ROWID;
             INSERT INTO games VALUES (1, 0, '');",
        )
        .expect("tables");
    let (snapshot, events) = ("s".repeat(1500), "e".repeat(600));
    let started = Instant::now();
    let mut commits = 0;
    while started.elapsed() < ROUND {
        commits += 1;
        let transaction = database.unchecked_transaction().expect("a transaction");
        transaction
            .prepare_cached("UPDATE games SET version = ?1, snapshot = ?2 WHERE key = 1")
            .and_then(|mut update| update.execute((commits, &snapshot)))
            .expect("updated");
        transaction
            .prepare_cached("INSERT INTO log VALUES (1, ?1, ?2)")
            .and_then(|mut insert| insert.execute((commits, &events)))
            .expect("inserted");
        transaction.commit().expect("committed");
    }
    let rate = commits as f64 / started.elapsed().as_secs_f64();
    drop(database);
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", file.display()));
    }
    rate
}
