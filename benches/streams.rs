//! Live streams: what they cost, and how soon readers receive a move. `cargo bench --bench
//! streams` prints a table.
//!
//! 5,000 readers wait for a game in which nothing happens, while 100 games are played by the
//! server's own bots as fast as it can, each watched by a few more readers. Readers and server
//! share the machine. A reader's delay is counted from the time that the move's log entry has,
//! which is taken before the move is written to the disk.

#[path = "support/readers.rs"]
mod readers;
#[path = "support/server.rs"]
mod support;

use std::{
    sync::{
        Arc,
        atomic::Ordering::Relaxed,
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use actix_web::rt::{self, time::sleep};
use readers::{StreamCounts, at, follow, memory};
use serde_json::{Value, json};
use support::{BenchClient, BenchServer};

const IDLE: usize = 5_000;
const GAMES: usize = 100;
const READERS: usize = 5;

/// How long games are played for.
const RUN_TIME: Duration = Duration::from_secs(20);

fn main() {
    let server = BenchServer::start("server", &[], |_| ());
    let quiet = create(&mut BenchClient::new(&server.address), json!({}));
    rt::System::new().block_on(async {
        let empty = memory(&server);
        let counts = Arc::new(StreamCounts::default());
        for _ in 0..IDLE {
            follow(&server, &quiet, None, &counts).await;
        }
        sleep(Duration::from_secs(2)).await;
        row("server without a reader", empty, "MB", "");
        row(
            "server with 5,000 idle readers",
            memory(&server),
            "MB",
            "< 300",
        );
        let seconds = busy(&server, &counts).await;
        let delays = counts.delays();
        let told = delays.len() as f64 / seconds;
        row("moves a second in 100 games", told / READERS as f64, "", "");
        row("readers told a second", told, "", "");
        row("delay of half of them at most", at(&delays, 0.5), "ms", "");
        row(
            "delay of 99 in 100 at most",
            at(&delays, 0.99),
            "ms",
            "< 50",
        );
        row("delay of all at most", at(&delays, 1.0), "ms", "");
        row("server with all of them", memory(&server), "MB", "");
    });
}

fn row(what: &str, value: f64, unit: &str, goal: &str) {
    println!("{what:<36} {value:>10.1} {unit:<3} {goal:>6}");
}

fn create(client: &mut BenchClient, wishes: Value) -> String {
    let created = client.send("POST", "/v1/games", None, Some(wishes));
    created["id"].as_str().expect("an id").to_owned()
}

/// Plays and follows the games for a while; returns for how many seconds.
async fn busy(server: &BenchServer, counts: &Arc<StreamCounts>) -> f64 {
    let (sender, created) = channel();
    let (address, theirs) = (server.address.clone(), Arc::clone(counts));
    let keeper = thread::spawn(move || keep_playing(&address, &theirs, &sender));
    let begun = Instant::now();
    while !keeper.is_finished() {
        for id in created.try_iter() {
            for _ in 0..READERS {
                follow(server, &id, None, counts).await;
            }
        }
        sleep(Duration::from_millis(2)).await;
    }
    begun.elapsed().as_secs_f64()
}

/// Keeps [`GAMES`] games going: a game that ends is replaced by another.
fn keep_playing(address: &str, counts: &StreamCounts, created: &Sender<String>) {
    let bot = json!({"kind": "bot", "level": "greedy"});
    let seats = [(); 4].map(|()| bot.clone());
    let mut client = BenchClient::new(address);
    let (begun, mut games) = (Instant::now(), 0);
    while begun.elapsed() < RUN_TIME {
        if games < GAMES + counts.ended.load(Relaxed) / READERS {
            let id = create(&mut client, json!({"seats": seats}));
            games += 1;
            created.send(id).expect("somebody who follows");
        } else {
            thread::sleep(Duration::from_millis(2));
        }
    }
}
