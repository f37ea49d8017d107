//! The processor time that servers and their database need for an operation, on a file and on a
//! PostgreSQL cluster of the bench's own. `cargo bench --bench nodes` prints a table.
//!
//! All shares one machine. Clients are not counted.

#[path = "support/pgbench.rs"]
mod pgbench;
#[path = "support/readers.rs"]
mod readers;
#[path = "support/script.rs"]
mod script;
#[path = "support/server.rs"]
mod support;

use std::{
    fs, iter,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use actix_web::rt::{System, time::sleep};
use dog_cluster::{Cluster, TestDatabase};
use pgbench::{durable_cluster, pgbench};
use readers::{StreamCounts, follow};
use script::{Script, script};
use serde_json::{Value, json};
use support::{BenchClient, BenchServer, request};

/// Games that are played at once, and connections that read or play.
const GAMES: usize = 64;
/// Games of bots that are played at once.
const BOT_GAMES: usize = 512;
/// Streams of a game.
const FOLLOWERS: usize = 4;
/// How long each operation is measured.
const ROUND: Duration = Duration::from_secs(8);
/// `USER_HZ` of Linux: the unit of times in `/proc`, per second.
const TICKS_PER_SECOND: f64 = 100.0;

fn main() {
    let Some(cluster) = durable_cluster() else {
        return;
    };
    let scripts: Vec<Script> = (0..GAMES as u8).map(script).collect();
    let (database, yardstick) = (cluster.database(), cluster.database());

    println!(
        "{:<44} {:>8} {:>8} {:>8} {:>9} {:>8}",
        "microseconds of processor time", "a second", "node", "another", "database", "kB WAL"
    );
    pgbench(&yardstick, &["-i", "-q", "-s", "10"]);
    let nothing = Processes {
        nodes: Vec::new(),
        database: Some(&cluster),
    };
    nothing.measure("pgbench -S", || pgbench_transactions(&yardstick, "-S"));
    nothing.measure("pgbench -N", || pgbench_transactions(&yardstick, "-N"));

    println!("on a file");
    let server = BenchServer::start("file", &[], |_| ());
    let processes = Processes {
        nodes: vec![server.process.id()],
        database: None,
    };
    measure_operations(&processes, &server, &server, &scripts);
    drop(server);

    println!("on PostgreSQL, streams on another node than plays");
    let nodes = ["one", "another"].map(|name| BenchServer::start_on(name, &database.url()));
    let processes = Processes {
        nodes: nodes.iter().map(|node| node.process.id()).collect(),
        database: Some(&cluster),
    };
    measure_operations(&processes, &nodes[0], &nodes[1], &scripts);
}

/// Measures each operation at `here`; streams are read from `there`.
fn measure_operations(
    processes: &Processes<'_>,
    here: &BenchServer,
    there: &BenchServer,
    scripts: &[Script],
) {
    let sit_down = || {
        let table = |script| ScriptedTable::create(here, script);
        scripts.iter().map(table).collect::<Vec<_>>()
    };
    let tables = sit_down();
    processes.measure("read: GET /v1/games/{id}", || read(here, &tables));
    processes.measure("play", || play(here, &tables));
    let tables = sit_down();
    follow_while(there, &tables, || {
        let name = format!("play, followed by {FOLLOWERS} streams");
        processes.measure(&name, || play(here, &tables));
    });
    let batch = json!({"games": vec![json!({}); 16]});
    let one = processes.measure("creation", || create(here, "/v1/games", &json!({})));
    let name = "16 creations in a batch";
    let many = processes.measure(name, || create(here, "/v1/games/batch", &batch));
    println!(
        "{:<44} {:>8.2} (goal: 2 at most)",
        "a batch takes as long as creations",
        one / many
    );
    for level in ["greedy", "fast"] {
        let mut bots = BotGames::create(here, level);
        processes.measure(&format!("change by a {level} bot"), || bots.wait());
        bots.remove();
    }
}

/// The processes whose time is measured.
struct Processes<'a> {
    nodes: Vec<u32>,
    database: Option<&'a Cluster>,
}

impl Processes<'_> {
    /// Prints the time that each process needs for one of the operations, and how much the database
    /// logs for it. `operate` returns the number of operations. Returns how many there are a second.
    fn measure(&self, name: &str, operate: impl FnOnce() -> usize) -> f64 {
        let (before, logged, started) = (self.seconds(), self.logged(), Instant::now());
        let count = operate() as f64;
        let (rate, after) = (count / started.elapsed().as_secs_f64(), self.seconds());
        let kilobytes = (self.logged() - logged) / 1e3 / count;
        let micros = |number: usize| match (before[number], after[number]) {
            (Some(before), Some(after)) => format!("{:.1}", (after - before) * 1e6 / count),
            _ => "-".to_owned(),
        };
        let [node, another, database] = [0, 1, 2].map(micros);
        println!("{name:<44} {rate:>8.0} {node:>8} {another:>8} {database:>9} {kilobytes:>8.2}");
        rate
    }

    /// Seconds that each process has needed so far: two nodes and the database.
    fn seconds(&self) -> [Option<f64>; 3] {
        let node = |number: usize| self.nodes.get(number).map(|&id| own_seconds(id));
        let database = self.database.map(postmaster).map(family_seconds);
        [node(0), node(1), database]
    }

    /// Bytes that the cluster has written to its write-ahead log.
    fn logged(&self) -> f64 {
        let sql = "SELECT pg_current_wal_insert_lsn() - '0/0'";
        let bytes = |cluster: &Cluster| cluster.psql("postgres", sql).trim().parse();
        self.database
            .map_or(0.0, |cluster| bytes(cluster).expect("a number"))
    }
}

/// What `/proc` says of a process after its name, from the state on.
fn stat(process: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

/// The sum of these fields, in seconds.
fn seconds(stat: &[String], fields: &[usize]) -> f64 {
    let ticks = fields.iter().map(|&field| stat[field].parse::<f64>());
    ticks.map(|ticks| ticks.expect("a number")).sum::<f64>() / TICKS_PER_SECOND
}

/// User and system time of a process.
fn own_seconds(process: u32) -> f64 {
    seconds(&stat(process).expect("it runs"), &[11, 12])
}

/// The same for a process and its children, ended ones too. All processes of a cluster are
/// children of its main one.
fn family_seconds(parent: u32) -> f64 {
    let ids = fs::read_dir("/proc").expect("Linux shows processes");
    let ids = ids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let parent_field = parent.to_string();
    let children = ids
        .filter_map(stat)
        .filter(|stat| stat[1] == parent_field)
        .map(|stat| seconds(&stat, &[11, 12]));
    let ended = seconds(&stat(parent).expect("it runs"), &[11, 12, 13, 14]);
    ended + children.sum::<f64>()
}

/// The main process of a cluster.
fn postmaster(cluster: &Cluster) -> u32 {
    let file = cluster.folder().join("data/postmaster.pid");
    let text = fs::read_to_string(file).expect("it runs");
    let line = text.lines().next().expect("a line");
    line.trim().parse().expect("a number")
}

/// A game of people with all requests that play it.
struct ScriptedTable {
    path: String,
    token: String,
    requests: Vec<String>,
}

impl ScriptedTable {
    fn create(server: &BenchServer, script: &Script) -> ScriptedTable {
        let mut client = BenchClient::new(&server.address);
        let game = client.send("POST", "/v1/games", None, Some(script.creation()));
        ScriptedTable {
            path: format!("/v1/games/{}", text(&game["id"])),
            token: text(&game["seat_tokens"][0]),
            requests: script.requests(&game).collect(),
        }
    }

    fn id(&self) -> &str {
        self.path.rsplit('/').next().expect("an id")
    }
}

/// Reads games for a while; how many times.
/// Sends this request over and over, on one connection.
fn create(server: &BenchServer, path: &str, body: &Value) -> usize {
    let mut client = BenchClient::new(&server.address);
    let (started, mut count) = (Instant::now(), 0);
    while started.elapsed() < ROUND {
        client.send("POST", path, None, Some(body.clone()));
        count += 1;
    }
    count
}

fn read(server: &BenchServer, tables: &[ScriptedTable]) -> usize {
    let request = |table: &ScriptedTable| request("GET", &table.path, Some(&table.token), None);
    send_all(server, tables, |table| iter::repeat(request(table)))
}

/// Plays games to their end or for a while; how many actions that took.
fn play(server: &BenchServer, tables: &[ScriptedTable]) -> usize {
    send_all(server, tables, |table| table.requests.iter().cloned())
}

/// Sends the requests of each table by a connection of its own, for a while; how many of them.
fn send_all<'a, I: Iterator<Item = String>>(
    server: &BenchServer,
    tables: &'a [ScriptedTable],
    requests: impl Fn(&'a ScriptedTable) -> I + Sync,
) -> usize {
    let end = Instant::now() + ROUND;
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for table in tables {
            let (count, requests) = (&count, &requests);
            scope.spawn(move || {
                let mut client = BenchClient::new(&server.address);
                for request in requests(table).take_while(|_| Instant::now() < end) {
                    assert_eq!(client.exchange(request.as_bytes()).0, 200);
                    count.fetch_add(1, Relaxed);
                }
            });
        }
    });
    count.into_inner()
}

/// Does something while the games are followed.
fn follow_while(server: &BenchServer, tables: &[ScriptedTable], work: impl FnOnce()) {
    let (followed, done) = (Barrier::new(2), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            System::new().block_on(async {
                let counts = Arc::new(StreamCounts::default());
                for table in tables
                    .iter()
                    .flat_map(|table| iter::repeat_n(table, FOLLOWERS))
                {
                    follow(server, table.id(), None, &counts).await;
                }
                sleep(Duration::from_millis(500)).await;
                followed.wait();
                while !done.load(Relaxed) {
                    sleep(Duration::from_millis(50)).await;
                }
                assert!(!counts.delays().is_empty(), "no change was received");
            });
        });
        followed.wait();
        work();
        done.store(true, Relaxed);
    });
}

/// Games that bots play as fast as they can.
struct BotGames {
    client: BenchClient,
    /// Path and host's token.
    games: Vec<[String; 2]>,
}

impl BotGames {
    fn create(server: &BenchServer, level: &str) -> BotGames {
        let mut client = BenchClient::new(&server.address);
        let seats = [(); 4].map(|()| json!({"kind": "bot", "level": level}));
        let wish = json!({"seats": seats, "listed": false});
        let games = iter::repeat_with(|| {
            let game = client.send("POST", "/v1/games", None, Some(wish.clone()));
            let path = format!("/v1/games/{}", text(&game["id"]));
            [path, text(&game["host_token"])]
        });
        let games = games.take(BOT_GAMES).collect();
        BotGames { client, games }
    }

    /// Waits for a while; how many changes the bots make meanwhile.
    fn wait(&mut self) -> usize {
        let before = self.changes();
        thread::sleep(ROUND);
        self.changes() - before
    }

    /// The sum of all versions.
    fn changes(&mut self) -> usize {
        let version = |[path, _]: &[String; 2]| {
            let game = self.client.send("GET", path, None, None);
            game["version"].as_u64().expect("a number") as usize
        };
        self.games.iter().map(version).sum()
    }

    fn remove(mut self) {
        for [path, host] in &self.games {
            let request = request("DELETE", path, Some(host), None);
            assert_eq!(self.client.exchange(request.as_bytes()).0, 204);
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Runs pgbench with 64 clients for a while; the number of transactions.
fn pgbench_transactions(database: &TestDatabase, script: &str) -> usize {
    let seconds = ROUND.as_secs().to_string();
    let load = [
        "-n", "-c", "64", "-j", "2", "-M", "prepared", "-T", &seconds,
    ];
    let printed = pgbench(database, &[&[script][..], &load].concat());
    let prefix = "number of transactions actually processed: ";
    let count = printed.lines().find_map(|line| line.strip_prefix(prefix));
    count.and_then(|count| count.parse().ok()).expect("a count")
}
