//! What a stranger waits for while others search as much as they can. `cargo bench --bench
//! strangers` prints a table.
//!
//! Twelve attackers, each with an address of its own, always have a question open: advice in a
//! position of six seats with 10,000 playouts. One stranger asks small questions, for legal moves
//! and for advice of the level `fast`, and now and then for a hint of `strong`. The pool has two
//! threads.

#[path = "support/server.rs"]
mod support;

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use support::{BenchClient, BenchServer};

const ATTACKERS: usize = 12;

const RUN_TIME: Duration = Duration::from_secs(60);

/// The time between two small questions, and how many of them come before a hint.
const PAUSE: Duration = Duration::from_millis(250);
const HINT_EVERY: usize = 40;

/// The budget of a hint in seconds.
const HINT_BUDGET: f64 = 0.2;

const OPTIONS: [&str; 4] = [
    "--advice-threads",
    "2",
    "--trusted-proxy-header",
    "X-Forwarded-For",
];

/// Who asks, and how the answers came.
struct Asker {
    client: BenchClient,
    address: String,
    /// Seconds of each answer.
    answered: Vec<f64>,
    refused: usize,
}

impl Asker {
    fn new(server: &BenchServer, number: usize) -> Asker {
        Asker {
            client: BenchClient::new(&server.address),
            address: format!("192.0.2.{number}"),
            answered: Vec::new(),
            refused: 0,
        }
    }

    fn ask(&mut self, what: &str, body: &Value) {
        let (body, address) = (body.to_string(), &self.address);
        let request = format!(
            "POST /v1/analysis/{what} HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: {address}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let started = Instant::now();
        let (status, answer) = self.client.exchange(request.as_bytes());
        match status {
            200 => self.answered.push(started.elapsed().as_secs_f64()),
            503 => self.refused += 1,
            _ => panic!("{status}: {}", String::from_utf8_lossy(&answer)),
        }
    }
}

fn main() {
    let server = BenchServer::start("strangers", &OPTIONS, |_| ());
    let open = json!({
        "rules": {"preset": "hausregeln", "seats": 6, "seven_partner": "always"},
        "position": "20 25 30 / 35 40 / 50 55 60 / 65 70 / 75 80 85 / 88 5",
        "seat": 0, "hand": ["7", "2", "3", "5", "9", "K"], "samples": 10_000,
    });
    let small = json!({"position": "20 33 / 40 / 10 / 50", "seat": 0, "hand": ["7", "9", "K"]});
    let [mut fast, mut hint] = [small.clone(), small.clone()];
    fast["level"] = json!("fast");
    hint["level"] = json!("strong");
    let (over, attacked, refused) = (
        AtomicBool::new(false),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    let [mut asks, mut hints] = [100, 101].map(|_| Asker::new(&server, 100));
    thread::scope(|scope| {
        for number in 0..ATTACKERS {
            let mut attacker = Asker::new(&server, number);
            let (over, open, attacked, refused) = (&over, &open, &attacked, &refused);
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    let before = attacker.refused;
                    attacker.ask("suggest-move", open);
                    if attacker.refused > before {
                        thread::sleep(PAUSE);
                    }
                }
                attacked.fetch_add(attacker.answered.len(), Relaxed);
                refused.fetch_add(attacker.refused, Relaxed);
            });
        }
        thread::sleep(2 * PAUSE);
        let started = Instant::now();
        for number in 0.. {
            match number {
                _ if started.elapsed() > RUN_TIME => break,
                _ if number % HINT_EVERY == HINT_EVERY / 2 => hints.ask("suggest-move", &hint),
                _ if number % 2 == 0 => asks.ask("legal-moves", &small),
                _ => asks.ask("suggest-move", &fast),
            }
            thread::sleep(PAUSE);
        }
        over.store(true, Relaxed);
    });
    println!(
        "{:<32} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "answers", "refused", "half, s", "95%, s", "most, s"
    );
    let row = |what: &str, asker: &mut Asker, budget: f64| {
        let times = &mut asker.answered;
        times.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (times.len() as f64 * share) as usize;
            times[place.min(times.len() - 1)] - budget
        };
        let (half, most, all) = (at(0.5), at(0.95), at(1.0));
        println!(
            "{what:<32} {:>8} {:>8} {half:>8.3} {most:>8.3} {all:>8.3}",
            times.len(),
            asker.refused
        );
    };
    row("small questions", &mut asks, 0.0);
    row("hints, beyond their budget", &mut hints, HINT_BUDGET);
    println!(
        "{:<32} {:>8} {:>8}",
        "attackers",
        attacked.into_inner(),
        refused.into_inner()
    );
}
