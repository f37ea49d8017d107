//! Tables that people join, beside the same tables made in the old way, with a token for each seat.
//! `cargo bench --bench tables` prints a table; `DOG_BENCH_TABLES=200` makes it a short run.
//!
//! At each of 2,000 tables four people sit down, by an invitation or with the tokens of the
//! creation. They let bots play for them, a change every two seconds, and follow the game, each by
//! a stream with the own token. At 200 of the tables bots play as fast as they can, to the end of
//! the game. Each way has a server of its own, one after the other.

#[path = "support/readers.rs"]
mod readers;
#[path = "support/server.rs"]
mod support;

use std::{
    env,
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::rt::{self, time::sleep};
use readers::{StreamCounts, at, follow, memory};
use serde_json::{Value, json};
use support::{BenchClient, BenchServer};

/// How long games are played for.
const RUN_TIME: Duration = Duration::from_secs(60);

/// Milliseconds between two changes at a slow table.
const PACE: u32 = 2_000;

/// One in so many tables is played to its end.
const FAST_EVERY: usize = 10;

/// What one way has measured.
struct Figures {
    tables_per_second: f64,
    changes_per_second: f64,
    delay: [f64; 2],
    finished: usize,
    megabytes: f64,
}

fn main() {
    let tables = env::var("DOG_BENCH_TABLES").map_or(2_000, |text| text.parse().expect("a number"));
    let [joined, old] = [true, false].map(|joins| rt::System::new().block_on(run(tables, joins)));
    println!(
        "{:<36} {:>10} {:>10} {:>7}",
        format!("{tables} tables"),
        "joined",
        "old",
        "ratio"
    );
    let row = |what: &str, figure: fn(&Figures) -> f64| {
        let (joined, old) = (figure(&joined), figure(&old));
        println!(
            "{what:<36} {joined:>10.1} {old:>10.1} {:>7.2}",
            joined / old
        );
    };
    row("tables set up a second", |of| of.tables_per_second);
    row("changes a second", |of| of.changes_per_second);
    row("delay of half at most, ms", |of| of.delay[0]);
    row("delay of 95 in 100 at most, ms", |of| of.delay[1]);
    row("games played to the end", |of| of.finished as f64);
    row("memory of the server, MB", |of| of.megabytes);
}

/// Plays at so many tables, which people join or not.
async fn run(tables: usize, joins: bool) -> Figures {
    let server = BenchServer::start("tables", &[], |_| ());
    let counts = Arc::new(StreamCounts::default());
    let mut client = BenchClient::new(&server.address);
    let started = Instant::now();
    let games: Vec<(String, Vec<String>)> = (0..tables)
        .map(|number| {
            let pace = if number % FAST_EVERY == 0 { 0 } else { PACE };
            sit_down(&mut client, joins, pace)
        })
        .collect();
    let tables_per_second = tables as f64 / started.elapsed().as_secs_f64();
    for (id, tokens) in &games {
        for token in tokens {
            follow(&server, id, Some(token), &counts).await;
        }
    }
    for (id, tokens) in &games {
        for (seat, token) in tokens.iter().enumerate() {
            let path = format!("/v1/games/{id}/seats/{seat}");
            let body = json!({"kind": "bot", "level": "greedy"});
            client.send("PUT", &path, Some(token), Some(body));
        }
        // The table is not to block the readers.
        sleep(Duration::ZERO).await;
    }
    counts.delays();
    let started = Instant::now();
    sleep(RUN_TIME).await;
    let delays = counts.delays();
    let seconds = started.elapsed().as_secs_f64();
    let mut finished = 0;
    for (id, _) in games.iter().step_by(FAST_EVERY) {
        let view = client.send("GET", &format!("/v1/games/{id}"), None, None);
        finished += usize::from(view["phase"] == "finished");
    }
    Figures {
        tables_per_second,
        changes_per_second: delays.len() as f64 / 4.0 / seconds,
        delay: [0.5, 0.95].map(|share| at(&delays, share)),
        finished,
        megabytes: memory(&server),
    }
}

/// A table with four people. Its id and their tokens.
fn sit_down(client: &mut BenchClient, joins: bool, pace: u32) -> (String, Vec<String>) {
    let kind = if joins { "open" } else { "human" };
    let seats = [(); 4].map(|()| json!({"kind": kind}));
    let wishes = json!({"seats": seats, "bot_pace_ms": pace, "listed": false});
    let created = client.send("POST", "/v1/games", None, Some(wishes));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let id = text(&created["id"]);
    if !joins {
        let tokens = created["seat_tokens"].as_array().expect("tokens");
        return (id, tokens.iter().map(text).collect());
    }
    let path = format!("/v1/games/{id}/join");
    let join = |seat: usize| {
        let body = json!({"invitation": created["invitation"], "seat": seat});
        text(&client.send("POST", &path, None, Some(body))["token"])
    };
    (id, (0..4).map(join).collect())
}
