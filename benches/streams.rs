//! Live streams: what they cost, and how soon readers receive a move. `cargo bench --bench
//! streams` prints a table.
//!
//! 5,000 readers wait for games in which nothing happens, while 100 games are played by the
//! server's own bots as fast as it can, each watched by a few more readers. The idle readers are
//! spectators of 1,250 tables or the people at them, in turn, so that the ratio is the cost of
//! knowing who is present; the figures are the means of three runs each. Readers and server share the machine. A reader's delay is counted from the time that the move's log entry has,
//! which is taken before the move is written to the disk.

#[path = "support/readers.rs"]
mod readers;
#[path = "support/server.rs"]
mod support;

use std::{
    fs,
    sync::{
        Arc,
        atomic::Ordering::Relaxed,
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use actix_web::rt::{self, time::sleep};
use futures_util::future::join;
use readers::{StreamCounts, at, follow, follow_many, memory};
use serde_json::{Value, json};
use support::{BenchClient, BenchServer};

const IDLE: usize = 5_000;

/// Quiet games that are followed by a stream each, and by one stream for 256.
const QUIET: usize = 4_096;

/// How long they are measured: four heartbeats.
const QUIET_TIME: Duration = Duration::from_secs(60);

/// How long the server is measured while nothing happens.
const IDLE_TIME: Duration = Duration::from_secs(10);

/// The number of runs of each kind.
const RUNS: f64 = 3.0;

const GAMES: usize = 100;
const READERS: usize = 5;

/// How long games are played for.
const RUN_TIME: Duration = Duration::from_secs(20);

/// What one kind of idle readers has measured.
#[derive(Default)]
struct StreamFigures {
    megabytes: f64,
    /// Processor time of the server while nothing happens, in percent of one core.
    idle_percent: f64,
    moves_per_second: f64,
    /// Milliseconds, for half, 99 in 100 and all.
    delay: [f64; 3],
}

impl StreamFigures {
    /// Adds the share of one run in the mean.
    fn add(&mut self, run: &StreamFigures) {
        self.megabytes += run.megabytes / RUNS;
        self.idle_percent += run.idle_percent / RUNS;
        self.moves_per_second += run.moves_per_second / RUNS;
        for (sum, delay) in self.delay.iter_mut().zip(run.delay) {
            *sum += delay / RUNS;
        }
    }
}

fn main() {
    let (mut alone, mut present) = (StreamFigures::default(), StreamFigures::default());
    for _ in 0..RUNS as usize {
        alone.add(&rt::System::new().block_on(run(false)));
        present.add(&rt::System::new().block_on(run(true)));
    }
    println!(
        "{:<40} {:>10} {:>10} {:>7}",
        "5,000 idle readers", "spectators", "people", "ratio"
    );
    let row = |what: &str, figure: fn(&StreamFigures) -> f64| {
        let (alone, present) = (figure(&alone), figure(&present));
        println!(
            "{what:<40} {alone:>10.1} {present:>10.1} {:>7.2}",
            present / alone
        );
    };
    row("memory of the server, MB (< 300)", |of| of.megabytes);
    row("processor time while idle, % of a core", |of| {
        of.idle_percent
    });
    row("moves a second in 100 games", |of| of.moves_per_second);
    row("delay of half of the readers, ms", |of| of.delay[0]);
    row("delay of 99 in 100, ms (< 50)", |of| of.delay[1]);
    row("delay of all, ms", |of| of.delay[2]);
    let [single, many] = [1, 256].map(|games| rt::System::new().block_on(quiet(games)));
    println!("\n{QUIET} quiet games: a stream each, and one for 256");
    for (what, index) in [
        ("memory, MB (ratio <= 0.25)", 0),
        ("processor time, s (<= 0.5)", 1),
    ] {
        let (single, many) = (single[index], many[index]);
        println!(
            "{what:<40} {single:>10.2} {many:>10.2} {:>7.2}",
            many / single
        );
    }
}

/// Megabytes that the server needs for readers of these quiet games, so many to a stream, and
/// seconds of processor time in [`QUIET_TIME`].
async fn quiet(games_per_stream: usize) -> [f64; 2] {
    let server = BenchServer::start("quiet streams", &[], |_| ());
    let mut client = BenchClient::new(&server.address);
    let mut games: Vec<String> = Vec::new();
    while games.len() < QUIET {
        let batch = json!({"games": vec![json!({}); 16]});
        let created = client.send("POST", "/v1/games/batch", None, Some(batch));
        let ids = created["games"].as_array().expect("games").iter();
        games.extend(ids.map(|game| game["id"].as_str().expect("an id").to_owned()));
    }
    let before = memory(&server);
    let counts = Arc::new(StreamCounts::default());
    for games in games.chunks(games_per_stream) {
        match games {
            [game] => drop(follow(&server, game, None, &counts).await),
            _ => drop(follow_many(&server, games, &counts).await),
        }
    }
    sleep(Duration::from_secs(3)).await;
    let (megabytes, used) = (memory(&server) - before, processor_time(&server));
    sleep(QUIET_TIME).await;
    assert_eq!(counts.ended.load(Relaxed), 0);
    [megabytes, processor_time(&server) - used]
}

/// Measures with idle readers that are spectators or the people of the tables.
async fn run(are_people: bool) -> StreamFigures {
    let server = BenchServer::start("streams", &[], |_| ());
    let counts = Arc::new(StreamCounts::default());
    let mut client = BenchClient::new(&server.address);
    for _ in 0..IDLE / 4 {
        let (id, tokens) = table(&mut client);
        for token in &tokens {
            let token = are_people.then_some(token.as_str());
            follow(&server, &id, token, &counts).await;
        }
    }
    sleep(Duration::from_secs(2)).await;
    let (megabytes, used) = (memory(&server), processor_time(&server));
    sleep(IDLE_TIME).await;
    let used = processor_time(&server) - used;
    let restless: Vec<_> = (0..100).map(|_| table(&mut client)).collect();
    let (seconds, ()) = join(
        busy(&server, &counts),
        come_and_go(&server, &restless, are_people),
    )
    .await;
    let delays = counts.delays();
    StreamFigures {
        megabytes,
        idle_percent: 100.0 * used / IDLE_TIME.as_secs_f64(),
        moves_per_second: delays.len() as f64 / seconds / READERS as f64,
        delay: [0.5, 0.99, 1.0].map(|share| at(&delays, share)),
    }
}

/// Seconds of processor time that the server's process has used.
fn processor_time(server: &BenchServer) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", server.process.id()));
    let stat = stat.expect("Linux says what a process has used");
    let (_, after_name) = stat.rsplit_once(')').expect("the name of the process");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / 100.0
}

/// A table with four people. Its id and their tokens.
fn table(client: &mut BenchClient) -> (String, Vec<String>) {
    let created = client.send("POST", "/v1/games", None, Some(json!({})));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let tokens = created["seat_tokens"].as_array().expect("tokens");
    (text(&created["id"]), tokens.iter().map(text).collect())
}

/// Has 20 readers a second come and go: people of these tables, or spectators. A person is back
/// only long after the seat is no longer present.
async fn come_and_go(server: &BenchServer, tables: &[(String, Vec<String>)], are_people: bool) {
    let counts = Arc::new(StreamCounts::default());
    for number in 0..RUN_TIME.as_millis() / 50 {
        let (id, tokens) = &tables[number as usize % tables.len()];
        let token = &tokens[number as usize / tables.len() % tokens.len()];
        let token = are_people.then_some(token.as_str());
        let reader = follow(server, id, token, &counts).await;
        sleep(Duration::from_millis(50)).await;
        reader.abort();
    }
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
    let started = Instant::now();
    while !keeper.is_finished() {
        for id in created.try_iter() {
            for _ in 0..READERS {
                follow(server, &id, None, counts).await;
            }
        }
        sleep(Duration::from_millis(2)).await;
    }
    started.elapsed().as_secs_f64()
}

/// Keeps [`GAMES`] games going: a game that ends is replaced by another.
fn keep_playing(address: &str, counts: &StreamCounts, created: &Sender<String>) {
    let bot = json!({"kind": "bot", "level": "greedy"});
    let seats = [(); 4].map(|()| bot.clone());
    let mut client = BenchClient::new(address);
    let (started, mut games) = (Instant::now(), 0);
    while started.elapsed() < RUN_TIME {
        if games < GAMES + counts.ended.load(Relaxed) / READERS {
            let id = create(&mut client, json!({"seats": seats}));
            games += 1;
            created.send(id).expect("somebody who follows");
        } else {
            thread::sleep(Duration::from_millis(2));
        }
    }
}
