//! Memory use of the server under full load of every kind: prints a line a minute.
//! `cargo bench --bench soak -- --minutes 60`.
//!
//! Clients play whole games, watch bots play, ask for advice, lists, histories and pictures, wait,
//! disconnect early, and send malformed requests. Every game is removed in the end, so growth is
//! not due to stored games. The last figure is the memory at the end divided by that
//! after five minutes, or after a third of the time if that is sooner.

#[path = "support/game.rs"]
mod game;
#[path = "support/server.rs"]
mod support;

use std::{
    env,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use game::{BenchGame, SendRequest};
use serde_json::{Value, json};
use support::{BenchClient, BenchServer, request};

/// Threads of each kind.
const PLAYERS: usize = 12;
const WATCHERS: usize = 6;
const ADVICE_CLIENTS: usize = 3;
const READERS: usize = 3;
const BAD_CLIENTS: usize = 3;

/// Turns after which a game is abandoned: games of poor players may never end.
const MAX_TURNS: u64 = 600;

/// Minutes after which the memory is measured that later figures are compared with.
const WARM_UP_MINUTES: u32 = 5;

/// One round of a client, which it repeats.
type ClientLoop = fn(&Load, u64);

/// The state that all clients share.
struct Load {
    address: String,
    over: AtomicBool,
    requests: AtomicU64,
    games: AtomicU64,
    /// Responses that said that the server is overloaded.
    refused: AtomicU64,
    /// Responses that report a failure of the server.
    failed: AtomicU64,
}

fn main() {
    let minutes = minutes();
    let server = BenchServer::start("soak", &[], |_| {});
    let load = Load {
        address: server.address.clone(),
        over: AtomicBool::new(false),
        requests: AtomicU64::new(0),
        games: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        failed: AtomicU64::new(0),
    };
    thread::scope(|scope| {
        let kinds: [(usize, ClientLoop); 5] = [
            (PLAYERS, plays),
            (WATCHERS, watches_bots),
            (ADVICE_CLIENTS, asks),
            (READERS, reads),
            (BAD_CLIENTS, disturbs),
        ];
        for (count, client) in kinds {
            for number in 0..count as u64 {
                let load = &load;
                scope.spawn(move || {
                    let mut round = number;
                    while !load.over.load(Relaxed) {
                        client(load, round);
                        round += count as u64;
                    }
                });
            }
        }
        observe(&server, &load, minutes);
        load.over.store(true, Relaxed);
    });
}

/// `--minutes N`; ten by default.
fn minutes() -> u32 {
    let mut arguments = env::args().skip_while(|argument| argument != "--minutes");
    let number = arguments.nth(1).map(|number| number.parse());
    number.unwrap_or(Ok(10)).expect("--minutes N")
}

/// Prints a line a minute, and in the end how much the memory has grown.
fn observe(server: &BenchServer, load: &Load, minutes: u32) {
    println!(
        "{:>6} {:>9} {:>8} {:>9} {:>10} {:>8} {:>8} {:>7} {:>9} {:>7}",
        "minute",
        "memory MB",
        "threads",
        "database",
        "requests",
        "games",
        "refused",
        "failed",
        "streams",
        "files"
    );
    let settled = WARM_UP_MINUTES.min(minutes.div_ceil(3));
    let (started, mut first, mut last) = (Instant::now(), 0.0, 0.0);
    for minute in 1..=minutes {
        let next = started + Duration::from_secs(60) * minute;
        thread::sleep(next.saturating_duration_since(Instant::now()));
        let told = metrics(load);
        let value = |name: &str| {
            told.iter()
                .find(|(of, _)| of == name)
                .map_or(0.0, |&(_, v)| v)
        };
        last = value("process_resident_memory_bytes") / 1e6;
        if minute == settled {
            first = last;
        }
        println!(
            "{minute:>6} {last:>9.1} {:>8} {:>6.1} MB {:>10} {:>8} {:>8} {:>7} {:>9} {:>7}",
            value("process_threads"),
            (value("dog_database_bytes") + value("dog_database_wal_bytes")) / 1e6,
            load.requests.load(Relaxed),
            load.games.load(Relaxed),
            load.refused.load(Relaxed),
            load.failed.load(Relaxed),
            value("dog_streams_open"),
            value("process_open_fds"),
        );
    }
    let label = format!("memory after {minutes} minutes by that after {settled}");
    println!("{label:<48} {:>8.3} {:>10}", last / first, "<= 1.10");
    // The server still works.
    BenchClient::new(&server.address).send("GET", "/readyz", None, None);
}

/// The server's metrics that have no labels.
fn metrics(load: &Load) -> Vec<(String, f64)> {
    let mut client = BenchClient::new(&load.address);
    let (_, body) = client.exchange(request("GET", "/metrics", None, None).as_bytes());
    let text = String::from_utf8(body).expect("a text");
    let pair = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// One client's connection, which counts requests and responses.
struct LoadClient<'l> {
    load: &'l Load,
    client: BenchClient,
}

impl<'l> LoadClient<'l> {
    fn new(load: &'l Load) -> LoadClient<'l> {
        LoadClient {
            load,
            client: BenchClient::new(&load.address),
        }
    }

    /// Sends a request. Returns the status and the body, or null if it is not JSON.
    fn ask(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<Value>,
    ) -> (u16, Value) {
        let request = request(method, path, token, body);
        loop {
            let (status, body) = self.client.exchange(request.as_bytes());
            self.load.requests.fetch_add(1, Relaxed);
            match status {
                429 | 503 => {
                    self.load.refused.fetch_add(1, Relaxed);
                    if !self.load.over.load(Relaxed) {
                        thread::sleep(Duration::from_secs(1));
                        continue;
                    }
                }
                500.. => drop(self.load.failed.fetch_add(1, Relaxed)),
                _ => {}
            }
            return (status, serde_json::from_slice(&body).unwrap_or_default());
        }
    }

    /// The same as a closure, for a game that this client plays.
    fn asking(&mut self) -> impl SendRequest {
        |method: &str, path: &str, token: Option<&str>, body| self.ask(method, path, token, body).1
    }

    fn get(&mut self, path: &str, token: Option<&str>) -> Value {
        self.ask("GET", path, token, None).1
    }

    fn post(&mut self, path: &str, token: Option<&str>, body: Value) -> Value {
        self.ask("POST", path, token, Some(body)).1
    }
}

/// Creates a game; `None` if it was refused.
fn create(client: &mut LoadClient<'_>, body: Value) -> Option<BenchGame> {
    BenchGame::create(&mut client.asking(), body)
}

fn remove(game: &BenchGame, client: &mut LoadClient<'_>) {
    client.load.games.fetch_add(1, Relaxed);
    client.ask("DELETE", &game.path, Some(&game.host), None);
}

/// Plays a whole game, reads its history and board, and removes it.
fn plays(load: &Load, round: u64) {
    let mut client = LoadClient::new(load);
    let rules = ["familienlager", "dogspiel-it", "hausregeln"][round as usize % 3];
    let wishes = json!({"rules": {"preset": rules}, "listed": round.is_multiple_of(2)});
    let Some(game) = create(&mut client, wishes) else {
        return;
    };
    let mut view = client.get(&game.path, None);
    for _ in 0..MAX_TURNS {
        if view["phase"] == "finished" || load.over.load(Relaxed) {
            break;
        }
        view = game.step(&mut client.asking(), &view);
    }
    client.get(&format!("{}/history", game.path), Some(&game.host));
    client.get(&format!("{}/board.svg", game.path), None);
    remove(&game, &mut client);
}

/// Watches bots play a game over a stream: to the end, or half-way in every third game.
fn watches_bots(load: &Load, round: u64) {
    let mut client = LoadClient::new(load);
    let level = ["greedy", "random", "fast"][round as usize % 3];
    let bot = json!({"kind": "bot", "level": level});
    let wishes = json!({"seats": [bot, bot, bot, bot]});
    let Some(game) = create(&mut client, wishes) else {
        return;
    };
    let mut stream = TcpStream::connect(&load.address).expect("a connection");
    let patience = Some(Duration::from_secs(1));
    stream.set_read_timeout(patience).expect("a timeout");
    write!(
        stream,
        "GET {}/events HTTP/1.1\r\nHost: bench\r\n\r\n",
        game.path
    )
    .expect("sent");
    let (mut reader, mut line, mut lines) = (BufReader::new(stream), String::new(), 0);
    while !load.over.load(Relaxed) {
        match reader.read_line(&mut line) {
            // A second without data is not the end.
            Err(_) => continue,
            Ok(0) => break,
            Ok(_) if line == "0\r\n" || round.is_multiple_of(3) && lines > 400 => break,
            Ok(_) => lines += 1,
        }
        line.clear();
    }
    load.requests.fetch_add(1, Relaxed);
    // The other connection may have timed out.
    remove(&game, &mut LoadClient::new(load));
}

/// Asks for advice and analyses, and waits for a change that does not happen.
fn asks(load: &Load, round: u64) {
    let mut client = LoadClient::new(load);
    let Some(game) = create(&mut client, json!({})) else {
        return;
    };
    let mut view = client.get(&game.path, None);
    for _ in 0..20 {
        view = game.step(&mut client.asking(), &view);
        let Some(seat) = view["turn"].as_u64() else {
            continue;
        };
        let token = Some(game.tokens[seat as usize].as_str());
        for query in ["level=fast", "level=strong&budget_ms=50", "level=greedy"] {
            client.get(&format!("{}/suggest-move?{query}", game.path), token);
        }
        let own = client.get(&game.path, token);
        let position = json!({"rules": own["rules"], "board": own["board"], "seat": seat,
            "hand": own["seats"][seat as usize]["hand"]});
        client.post("/v1/analysis/legal-moves", None, position);
    }
    if round.is_multiple_of(5) {
        let path = format!("{}?after_version={}", game.path, view["version"]);
        client.get(&path, None);
    }
    remove(&game, &mut client);
}

/// Reads what needs no token.
fn reads(load: &Load, _: u64) {
    let mut client = LoadClient::new(load);
    for phase in ["", "?phase=play", "?phase=finished&limit=100", "?limit=1"] {
        let list = client.get(&format!("/v1/games{phase}"), None);
        for game in list["games"].as_array().into_iter().flatten().take(5) {
            let path = format!("/v1/games/{}", game["id"].as_str().unwrap_or_default());
            client.get(&path, None);
            client.get(&format!("{path}/history"), None);
            client.get(&format!("{path}/board.svg"), None);
        }
    }
    for path in [
        "/v1/rules",
        "/openapi.json",
        "/metrics",
        "/healthz",
        "/readyz",
        "/docs/",
    ] {
        client.get(path, None);
    }
}

/// Sends malformed requests, and disconnects before the response.
fn disturbs(load: &Load, round: u64) {
    let mut client = LoadClient::new(load);
    client.get(&format!("/{round:x}"), None);
    client.get(&format!("/v1/games/{round:026x}"), Some("no token"));
    client.ask(&format!("M{round}"), "/v1/games", None, None);
    client.post("/v1/games", None, json!({"seats": round}));
    client.post(
        "/v1/analysis/suggest-move",
        None,
        json!({"board": "x".repeat(60_000)}),
    );
    let heads = [
        "GET /v1/games HTTP/1.1\r\nHost: bench\r\n\r\n",
        "POST /v1/games HTTP/1.1\r\nHost: bench\r\nContent-Length: 1000\r\n\r\n{",
        "GET /v1/ga",
        "\x16\x03\x01nonsense\r\n\r\n",
    ];
    for head in heads {
        let mut stream = TcpStream::connect(&load.address).expect("a connection");
        stream.write_all(head.as_bytes()).expect("sent");
    }
    thread::sleep(Duration::from_millis(20));
}
