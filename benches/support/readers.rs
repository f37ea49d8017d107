//! Readers of live streams, which measure how late they receive a change.

#![allow(dead_code, reason = "not every bench uses all of it")]

use std::{
    fs,
    io::{self, ErrorKind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use actix_web::rt::{self, net::TcpStream, task::JoinHandle};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::{BenchServer, request};

/// What the readers have measured.
#[derive(Default)]
pub struct StreamCounts {
    /// Milliseconds from each change to each reader.
    pub delays: Mutex<Vec<f64>>,
    /// Streams that have ended.
    pub ended: AtomicUsize,
}

impl StreamCounts {
    /// All delays so far, sorted.
    pub fn delays(&self) -> Vec<f64> {
        let mut delays = std::mem::take(&mut *self.delays.lock().expect("the delays"));
        delays.sort_by(f64::total_cmp);
        delays
    }
}

/// The delay that this share of them does not exceed.
pub fn at(delays: &[f64], share: f64) -> f64 {
    delays[((delays.len() - 1) as f64 * share) as usize]
}

/// Megabytes of memory that the server's process holds.
pub fn memory(server: &BenchServer) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.id()));
    let status = status.expect("Linux says what a process holds");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    let kib: f64 = kib.and_then(|kib| kib.parse().ok()).expect("a number");
    kib * 1024.0 / 1e6
}

/// Follows a game in the background, with a token of a seat or as a spectator, and measures the
/// delay of each change. Aborting the task ends the stream.
pub async fn follow(
    server: &BenchServer,
    id: &str,
    token: Option<&str>,
    counts: &Arc<StreamCounts>,
) -> JoinHandle<()> {
    let request = request("GET", &format!("/v1/games/{id}/events"), token, None);
    let request = request.replacen("\r\n", "\r\nAccept: application/x-ndjson\r\n", 1);
    read_stream(server, &request, counts).await
}

/// Follows these games as a spectator, in one stream.
pub async fn follow_many(
    server: &BenchServer,
    games: &[String],
    counts: &Arc<StreamCounts>,
) -> JoinHandle<()> {
    let games: Vec<Value> = games.iter().map(|id| json!({ "id": id })).collect();
    let body = json!({ "games": games });
    let request = request("POST", "/v1/events", None, Some(body));
    read_stream(server, &request, counts).await
}

async fn read_stream(
    server: &BenchServer,
    request: &str,
    counts: &Arc<StreamCounts>,
) -> JoinHandle<()> {
    let stream = TcpStream::connect(&server.address)
        .await
        .expect("a connection");
    stream.writable().await.expect("a connection");
    let written = stream.try_write(request.as_bytes()).expect("a request");
    assert_eq!(written, request.len());
    let counts = Arc::clone(counts);
    rt::spawn(async move {
        listen(stream, &counts).await;
        counts.ended.fetch_add(1, Relaxed);
    })
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
