//! Clients that play at the same time and remember every answer; and what must be true afterwards,
//! whatever has happened to the nodes and the database meanwhile.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use rand::{RngExt, SeedableRng, rngs::ChaCha20Rng};
use serde_json::{Value, json};

use crate::support::{Call, DogNodes, LIMIT, NodeAnswer, NodeStream, NodeTable, Who};

/// Clients, each of which plays several games in turns.
const CLIENTS: u64 = 4;

/// Unfinished games of a client.
const TABLES: usize = 3;

/// Games of bots, each with somebody who watches.
const WATCHED: usize = 3;

/// Milliseconds between two actions of their bots: the games outlast every test.
const WATCHED_PACE: u32 = 500;

/// How long a client waits when the store is unavailable.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Counts of what happened.
#[derive(Debug, Default)]
pub struct LoadCounts {
    pub games: AtomicU64,
    /// Writes that were done, by their answer.
    pub answered: AtomicU64,
    /// Those among them that were sent more than once.
    pub retried: AtomicU64,
    /// Writes without a key that were not answered, or with 503.
    pub given_up: AtomicU64,
    /// Connections that were lost before an answer.
    pub cut_off: AtomicU64,
    /// Answers of 503.
    pub unavailable: AtomicU64,
    /// Times that somebody had to open a stream again.
    pub resumed: AtomicU64,
    /// The longest time that a request took, in milliseconds.
    pub slowest_ms: AtomicU64,
}

/// Times without an answered write of any client.
#[derive(Debug, Default)]
struct AnswerGaps {
    last: Option<Instant>,
    longest: Duration,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// Nodes under load.
pub struct NodeLoad<'a> {
    pub nodes: &'a DogNodes,
    pub counts: LoadCounts,
    over: AtomicBool,
    /// The version at which each watched game may be left.
    last_watched: [AtomicU64; WATCHED],
    gaps: Mutex<AnswerGaps>,
    seed: u64,
}

impl<'a> NodeLoad<'a> {
    pub fn new(nodes: &'a DogNodes, seed: u64) -> NodeLoad<'a> {
        NodeLoad {
            nodes,
            counts: LoadCounts::default(),
            over: AtomicBool::new(false),
            last_watched: [const { AtomicU64::new(u64::MAX) }; WATCHED],
            gaps: Mutex::default(),
            seed,
        }
    }

    /// Has clients play while `happens` goes on. Then everything that they were told is compared with
    /// what the database has. `psql` runs SQL on it.
    pub fn run(&self, happens: impl FnOnce(&NodeLoad<'a>), psql: impl Fn(&str) -> String) {
        let watched: Vec<NodeTable> = (0..WATCHED)
            .map(|number| NodeTable::with_bots(&self.nodes.url(number), WATCHED_PACE))
            .collect();
        let clients = thread::scope(|scope| {
            let watch = |(number, game)| scope.spawn(move || self.watch(number, game));
            let watchers: Vec<_> = watched.iter().enumerate().map(watch).collect();
            let play = |number| scope.spawn(move || NodeClient::new(self, number).play());
            let clients: Vec<ScopedJoinHandle<'_, NodeClient<'_, 'a>>> =
                (0..CLIENTS).map(play).collect();
            happens(self);
            self.over.store(true, Relaxed);
            let clients = clients.into_iter();
            let clients: Vec<_> = clients
                .map(|client| client.join().expect("a client"))
                .collect();
            for (game, last) in watched.iter().zip(&self.last_watched) {
                let view = self.read(0, &game.get(Who::Spectator, ""));
                // Bots go on, too.
                last.store(view["version"].as_u64().expect("a version") + 1, Relaxed);
            }
            for watcher in watchers {
                watcher.join().expect("a watcher");
            }
            clients
        });
        let mut listed = self.listed();
        for client in clients {
            client.settle(&mut listed);
        }
        listed.remove("bot");
        assert!(listed.is_empty(), "nobody created {listed:?}");
        assert_logs_are_whole(psql);
    }

    /// Waits until this many more writes are answered.
    pub fn wait_for_answers(&self, more: u64) {
        let answered = || self.counts.answered.load(Relaxed);
        let enough = answered() + more;
        let started = Instant::now();
        while answered() < enough {
            assert!(started.elapsed() < LIMIT, "clients are not answered");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The longest time without an answered write since this was last asked.
    pub fn take_gap(&self) -> Duration {
        std::mem::take(&mut self.gaps.lock().expect("the gaps").longest)
    }

    fn count_answer(&self) {
        count(&self.counts.answered);
        let mut gaps = self.gaps.lock().expect("the gaps");
        let gap = gaps.last.replace(Instant::now()).map(|last| last.elapsed());
        gaps.longest = gaps.longest.max(gap.unwrap_or_default());
    }

    /// Watches a game: every version comes once and in order, although the stream is opened again at
    /// another node whenever it is cut off.
    fn watch(&self, number: usize, game: &NodeTable) {
        let events = game.get(Who::Spectator, "/events");
        let target = &self.last_watched[number];
        let (mut version, mut opened) = (0, 0);
        while version < target.load(Relaxed) {
            let url = self.nodes.url(number + opened);
            opened += 1;
            let Some(mut stream) = NodeStream::open(&url, &events, version) else {
                thread::sleep(RETRY_DELAY);
                continue;
            };
            if opened > 1 {
                count(&self.counts.resumed);
            }
            while version < target.load(Relaxed) {
                let Some(change) = stream.next() else { break };
                if change.is_object() {
                    version += 1;
                    assert_eq!(change["version"], version, "{}", game.id);
                }
            }
        }
    }

    /// The answer to a request; `None` if the node was lost or the store is unavailable.
    fn try_send(&self, node: usize, call: &Call) -> Option<NodeAnswer> {
        let started = Instant::now();
        let answer = call.try_send(&self.nodes.url(node));
        let took = started.elapsed().as_millis() as u64;
        self.counts.slowest_ms.fetch_max(took, Relaxed);
        match answer {
            None => {
                count(&self.counts.cut_off);
                None
            }
            Some(answer) if answer.is_unavailable() => {
                count(&self.counts.unavailable);
                thread::sleep(RETRY_DELAY);
                None
            }
            answer => answer,
        }
    }

    /// The answer to a request that may be repeated, and how often it was sent.
    fn send(&self, node: usize, call: &Call) -> (NodeAnswer, usize) {
        let started = Instant::now();
        let answers = (0..).map(|tries| (self.try_send(node + tries, call), tries));
        let mut answers = answers.take_while(|_| started.elapsed() < LIMIT);
        let found = answers.find_map(|(answer, tries)| Some((answer?, tries + 1)));
        found.unwrap_or_else(|| panic!("{call:?} is never answered"))
    }

    fn read(&self, node: usize, call: &Call) -> Value {
        self.send(node, call).0.expect(200)
    }

    /// How often the public list has each name of a first seat.
    fn listed(&self) -> HashMap<String, usize> {
        let mut names = HashMap::new();
        let mut cursor = String::new();
        loop {
            let page = self.read(0, &Call::get(&format!("/v1/games?limit=100{cursor}")));
            for game in page["games"].as_array().expect("games") {
                let name = game["names"][0].as_str().expect("a name");
                *names.entry(name.to_owned()).or_default() += 1;
            }
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return names,
            }
        }
    }
}

/// Asserts that the log of each game has each version once.
pub fn assert_logs_are_whole(psql: impl Fn(&str) -> String) {
    let broken = psql(
        "SELECT id FROM games LEFT JOIN log ON game = row_id WHERE NOT packed GROUP BY row_id \
         HAVING games.version <> count(log.version) OR games.version <> max(log.version)",
    );
    assert_eq!(broken, "", "games whose log is not whole");
}

/// A client, which sends each request to a random node.
struct NodeClient<'l, 'a> {
    load: &'l NodeLoad<'a>,
    dice: ChaCha20Rng,
    number: u64,
    /// Names of games whose creation was not answered.
    unconfirmed: Vec<String>,
    games: Vec<NodeGame>,
}

/// A game, and all that its client was told.
struct NodeGame {
    table: NodeTable,
    name: String,
    /// Whether its writes carry keys.
    keyed: bool,
    state: NodeGameState,
    /// The writes in the order of the versions that they made, with who sent them.
    log: Vec<(Who, Call, NodeAnswer)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeGameState {
    Playing,
    Finished,
    /// The last write has no key and was not answered: it may be done or not.
    GivenUp,
}

impl<'l, 'a> NodeClient<'l, 'a> {
    fn new(load: &'l NodeLoad<'a>, number: u64) -> NodeClient<'l, 'a> {
        NodeClient {
            load,
            dice: ChaCha20Rng::seed_from_u64(load.seed + number),
            number,
            unconfirmed: Vec::new(),
            games: Vec::new(),
        }
    }

    fn node(&mut self) -> usize {
        self.dice.random_range(0..self.load.nodes.count())
    }

    /// A random key.
    fn key(&mut self) -> String {
        format!("{:032x}", self.dice.random::<u128>())
    }

    /// Plays until the test is over.
    fn play(mut self) -> NodeClient<'l, 'a> {
        while !self.load.over.load(Relaxed) {
            let games = self.games.iter().enumerate();
            let playing = games.filter(|(_, game)| game.state == NodeGameState::Playing);
            let playing: Vec<usize> = playing.map(|(index, _)| index).collect();
            if playing.len() < TABLES {
                self.create();
            } else {
                let index = playing[self.dice.random_range(0..TABLES)];
                self.act(index);
            }
        }
        self
    }

    /// Sends a write, one with a key until it is answered; `None` if its outcome is not known.
    fn write(&mut self, call: &Call) -> Option<NodeAnswer> {
        let (load, node) = (self.load, self.node());
        let (answer, tries) = match call.key {
            Some(_) => load.send(node, call),
            None => (load.try_send(node, call)?, 1),
        };
        load.count_answer();
        if tries > 1 {
            count(&load.counts.retried);
        }
        Some(answer)
    }

    /// Creates a game, one of three without a key.
    fn create(&mut self) {
        let created = self.games.len() + self.unconfirmed.len();
        let name = format!("{}/{created}", self.number);
        let keyed = self.dice.random_range(0..3) > 0;
        let body = json!({"seats": [{"name": name}, {}, {}, {}]});
        let mut call = Call::post("/v1/games", body);
        call.key = keyed.then(|| self.key());
        let Some(answer) = self.write(&call) else {
            count(&self.load.counts.given_up);
            self.unconfirmed.push(name);
            return;
        };
        count(&self.load.counts.games);
        self.games.push(NodeGame {
            table: NodeTable::from_created(&answer.expect(201)),
            name,
            keyed,
            state: NodeGameState::Playing,
            log: vec![(Who::Spectator, call, answer)],
        });
    }

    /// Does the next action of a game.
    fn act(&mut self, index: usize) {
        let (load, node) = (self.load, self.node());
        let game = &self.games[index];
        let (version, keyed) = (game.log.len() as u64 + 1, game.keyed);
        let next = game.table.next_action(|call| load.read(node, call));
        let Some((who, mut call)) = next else {
            self.games[index].state = NodeGameState::Finished;
            return;
        };
        call.key = keyed.then(|| self.key());
        let answer = self.write(&call);
        let game = &mut self.games[index];
        match answer {
            Some(answer) => {
                assert_eq!(answer.expect(200)["version"], version, "{call:?}");
                game.log.push((who, call, answer));
            }
            None => {
                count(&load.counts.given_up);
                game.state = NodeGameState::GivenUp;
            }
        }
    }

    /// Compares every answer with what the nodes have, and takes this client's games off the list.
    fn settle(mut self, listed: &mut HashMap<String, usize>) {
        for name in &self.unconfirmed {
            let times = listed.remove(name).unwrap_or_default();
            assert!(times <= 1, "{name} was created {times} times");
        }
        for game in std::mem::take(&mut self.games) {
            assert_eq!(listed.remove(&game.name), Some(1), "{}", game.name);
            self.compare(&game);
        }
    }

    fn compare(&mut self, game: &NodeGame) {
        let (load, node) = (self.load, self.node());
        let answered = game.log.len();
        for who in (0..4).map(Who::Seat).chain([Who::Host]) {
            let history = load.read(node, &game.table.get(who, "/history"));
            let entries = history["entries"].as_array().expect("entries");
            let unknown = entries.len().checked_sub(answered);
            let may_be_more = game.state == NodeGameState::GivenUp;
            assert!(
                unknown == Some(0) || unknown == Some(1) && may_be_more,
                "{} of {answered} answered writes: {}",
                entries.len(),
                game.table.id
            );
            for (index, entry) in entries.iter().enumerate() {
                assert_eq!(entry["version"], index + 1, "{}", game.table.id);
            }
            for ((by, call, answer), entry) in game.log.iter().zip(entries).skip(1) {
                let told: Value = serde_json::from_slice(&answer.body).expect("JSON");
                if *by == who {
                    let agrees = agree(&told["events"], &entry["events"]);
                    assert!(agrees, "{call:?}: {told} {entry}");
                }
            }
        }
        for (_, call, answer) in &game.log {
            if call.key.is_some() {
                let again = load.send(self.node(), call).0;
                assert_eq!(again.repeated_parts(), answer.repeated_parts(), "{call:?}");
            }
        }
    }
}

/// Whether an entry of a history says what was told before. What was hidden then, and was null, may
/// be known now.
fn agree(told: &Value, there: &Value) -> bool {
    match (told, there) {
        (Value::Null, _) => true,
        (Value::Array(told), Value::Array(there)) => {
            told.len() == there.len() && told.iter().zip(there).all(|(a, b)| agree(a, b))
        }
        (Value::Object(told), Value::Object(there)) => told
            .iter()
            .all(|(name, told)| there.get(name).is_some_and(|there| agree(told, there))),
        _ => told == there,
    }
}
