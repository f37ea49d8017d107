//! Live streams: what they cost, and how soon readers receive a move. `cargo bench --bench
//! streams` prints a table.
//!
//! 5,000 readers wait for a game in which nothing happens, while 100 games are played by the
//! server's own bots as fast as it can, each watched by a few more readers. Readers and server
//! share the machine. A reader's delay is counted from the time that the move's log entry has,
//! which is taken before the move is written to the disk.

#[path = "support/server.rs"]
mod support;

use std::{
    fs,
    io::{self, ErrorKind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use actix_web::rt::{self, net::TcpStream, time::sleep};
use jiff::Timestamp;
use serde_json::{Value, json};
use support::{BenchClient, BenchServer};

const IDLE: usize = 5_000;
const GAMES: usize = 100;
const READERS: usize = 5;

/// How long games are played for.
const RUN_TIME: Duration = Duration::from_secs(20);

/// What the readers have measured.
#[derive(Default)]
struct StreamCounts {
    /// Milliseconds from each move to each reader.
    delays: Mutex<Vec<f64>>,
    /// Streams that have ended.
    ended: AtomicUsize,
}

fn main() {
    let server = BenchServer::start("server", &[], |_| ());
    let quiet = create(&mut BenchClient::new(&server.address), json!({}));
    rt::System::new().block_on(async {
        let empty = memory(&server);
        let counts = Arc::new(StreamCounts::default());
        for _ in 0..IDLE {
            follow(&server, &quiet, &counts).await;
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
        let mut delays = std::mem::take(&mut *counts.delays.lock().expect("the delays"));
        delays.sort_by(f64::total_cmp);
        let told = delays.len() as f64 / seconds;
        let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize];
        row("moves a second in 100 games", told / READERS as f64, "", "");
        row("readers told a second", told, "", "");
        row("delay of half of them at most", at(0.5), "ms", "");
        row("delay of 99 in 100 at most", at(0.99), "ms", "< 50");
        row("delay of all at most", at(1.0), "ms", "");
        row("server with all of them", memory(&server), "MB", "");
    });
}

fn row(what: &str, value: f64, unit: &str, goal: &str) {
    println!("{what:<36} {value:>10.1} {unit:<3} {goal:>6}");
}

/// Megabytes of memory that the server's process holds.
fn memory(server: &BenchServer) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.id()));
    let status = status.expect("Linux says what a process holds");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    let kib: f64 = kib.and_then(|kib| kib.parse().ok()).expect("a number");
    kib * 1024.0 / 1e6
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
                follow(server, &id, counts).await;
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

/// Follows a game in the background, and measures the delay of each move.
async fn follow(server: &BenchServer, id: &str, counts: &Arc<StreamCounts>) {
    let stream = TcpStream::connect(&server.address)
        .await
        .expect("a connection");
    let request = format!(
        "GET /v1/games/{id}/events HTTP/1.1\r\nHost: bench\r\nAccept: application/x-ndjson\r\n\r\n"
    );
    stream.writable().await.expect("a connection");
    let written = stream.try_write(request.as_bytes()).expect("a request");
    assert_eq!(written, request.len());
    let counts = Arc::clone(counts);
    rt::spawn(async move {
        listen(stream, &counts).await;
        counts.ended.fetch_add(1, Relaxed);
    });
}

async fn listen(stream: TcpStream, counts: &StreamCounts) {
    let mut text = Vec::new();
    let mut block = [0; 4096];
    loop {
        let read = match read(&stream, &mut block).await {
            Ok(0) | Err(_) => return,
            Ok(read) => read,
        };
        let now = Timestamp::now();
        text.extend_from_slice(&block[..read]);
        while let Some(end) = text.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            if let Some(at) = event_time(&line) {
                let delay = now.duration_since(at).as_secs_f64() * 1_000.0;
                counts.delays.lock().expect("the delays").push(delay);
            }
            if line.starts_with(b"0\r") {
                // The last chunk: the stream has ended.
                return;
            }
        }
    }
}

/// The time of the log entry in a line of the stream, if it has one.
fn event_time(line: &[u8]) -> Option<Timestamp> {
    let change: Value = serde_json::from_slice(line).ok()?;
    change.get("events")?;
    change["at"].as_str()?.parse().ok()
}

async fn read(stream: &TcpStream, block: &mut [u8]) -> io::Result<usize> {
    loop {
        stream.readable().await?;
        match stream.try_read(block) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            read => return read,
        }
    }
}
