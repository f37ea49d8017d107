//! Clients that play, and others who watch games of bots; and what must be true afterwards, whatever
//! has happened to the nodes and the database meanwhile.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use crate::{
    ledger::{Ledger, bots},
    node::DogNodes,
    support::{Stream, TestGame, TestViewer::*, wait_until},
};

/// Games of bots, each with somebody who watches.
const WATCHED: usize = 3;

/// Milliseconds between two actions of their bots: the games outlast every test.
const WATCHED_PACE: u32 = 500;

/// How long somebody waits who cannot watch.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Nodes under load.
pub struct NodeLoad<'a> {
    pub nodes: &'a DogNodes,
    pub ledger: Ledger<'a>,
    /// Times that somebody had to open a stream again.
    pub resumed: AtomicU64,
    /// The version at which each watched game may be left.
    last_watched: [AtomicU64; WATCHED],
}

impl<'a> NodeLoad<'a> {
    pub fn new(nodes: &'a DogNodes, seed: u64) -> NodeLoad<'a> {
        NodeLoad {
            nodes,
            ledger: Ledger::new(&nodes.servers, seed),
            resumed: AtomicU64::new(0),
            last_watched: [const { AtomicU64::new(u64::MAX) }; WATCHED],
        }
    }

    /// Has clients play while `happens` goes on. Then everything that they were told is compared with
    /// what the database has. `psql` runs SQL on it.
    pub fn run(&self, happens: impl FnOnce(), psql: impl Fn(&str) -> String) {
        let watched = [0, 1, 2].map(|number| bots(self.nodes.at(number), WATCHED_PACE));
        thread::scope(|scope| {
            for (number, game) in watched.iter().enumerate() {
                scope.spawn(move || self.watch(number, game));
            }
            let clients = self.ledger.play_while(happens);
            for (game, last) in watched.iter().zip(&self.last_watched) {
                let view = self.ledger.send(0, &game.get(Spectator, "")).0.expect(200);
                // Bots go on, too.
                last.store(view["version"].as_u64().expect("a version") + 1, Relaxed);
            }
            self.ledger.compare(clients);
        });
        assert_logs_are_whole(psql);
    }

    /// Waits until this many more writes are answered.
    pub fn wait_for_answers(&self, more: u64) {
        let answered = || self.ledger.counts.answered.load(Relaxed);
        let enough = answered() + more;
        wait_until("clients are answered", || answered() >= enough);
    }

    /// Watches a game: every version comes once and in order, although the stream is opened again at
    /// another node whenever it is cut off.
    fn watch(&self, number: usize, game: &TestGame<'a>) {
        let target = &self.last_watched[number];
        let (mut version, mut opened) = (0, 0);
        while version < target.load(Relaxed) {
            let events = self
                .nodes
                .game(game, number + opened)
                .get(Spectator, "/events");
            let events = events.header("Last-Event-ID", &version.to_string());
            opened += 1;
            let Some(stream) = Stream::try_open(events) else {
                thread::sleep(RETRY_DELAY);
                continue;
            };
            self.resumed.fetch_add(u64::from(opened > 1), Relaxed);
            while version < target.load(Relaxed) {
                let Some(change) = stream.next() else { break };
                version += 1;
                assert_eq!(change.version(), version, "{}", game.id);
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
