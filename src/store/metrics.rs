//! What the store does, holds and may hold, in numbers. Nothing of any game is in them.

use std::time::Duration;

use dog_rules::Phase;
use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::StoreError;

/// Upper bounds of a commit's time, in seconds.
const COMMIT_SECONDS_BUCKETS: [f64; 11] = [
    0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
];

/// Upper bounds of how many writes share a commit.
const COMMIT_WRITES_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// What the store has done since it was opened; a clone counts together with it.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    writes_waiting: Gauge,
    commits: Counter,
    commit_seconds: Histogram,
    commit_writes: Histogram,
}

impl StoreMetrics {
    pub(super) fn new() -> StoreMetrics {
        StoreMetrics {
            writes_waiting: Gauge::default(),
            commits: Counter::default(),
            commit_seconds: Histogram::new(COMMIT_SECONDS_BUCKETS),
            commit_writes: Histogram::new(COMMIT_WRITES_BUCKETS),
        }
    }

    /// Shows the numbers in a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Writes that wait for their turn";
        registry.register("store_writes_waiting", help, self.writes_waiting.clone());
        let help = "Commits to the database";
        registry.register("store_commits", help, self.commits.clone());
        let help = "Time that a commit took, from its first statement to the disk";
        let seconds = self.commit_seconds.clone();
        registry.register_with_unit("store_commit", help, Unit::Seconds, seconds);
        let help = "Writes that were committed together";
        registry.register("store_commit_writes", help, self.commit_writes.clone());
    }

    /// A write waits for its turn.
    pub(super) fn queued(&self) {
        self.writes_waiting.inc();
    }

    /// So many writes wait no longer.
    pub(super) fn dequeued(&self, writes: usize) {
        self.writes_waiting.dec_by(writes as i64);
    }

    /// So many writes were committed together, in that time.
    pub(super) fn committed(&self, writes: usize, time: Duration) {
        self.commits.inc();
        self.commit_writes.observe(writes as f64);
        self.commit_seconds.observe(time.as_secs_f64());
    }
}

/// How many games there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameCounts {
    /// By phase.
    pub games: [(Phase, u64); Phase::ALL.len()],
    /// Those in which the server is to act by now.
    pub due: u64,
    /// The version of the file's schema.
    pub schema_version: u32,
}

/// Bytes of the files; 0 for one that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The database.
    pub database: u64,
    /// Its write-ahead log.
    pub log: u64,
}

/// Per cent of the limit from which on an operator is warned.
const WARN_PERCENT: u64 = 80;

/// Per cent of the limit from which on there are no new games, so that those that are there can go
/// on.
const NO_NEW_GAMES_PERCENT: u64 = 90;

/// Bytes that a write needs room for.
const WRITE_BYTES: u64 = 32 << 10;

/// How much of a database is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of pages that hold something.
    pub used: u64,
    /// The most that may be used; none without a limit.
    pub max: Option<u64>,
}

impl Usage {
    /// Whether it is time to make room.
    pub fn is_nearly_full(self) -> bool {
        self.max
            .is_some_and(|max| self.used >= percent(max, WARN_PERCENT))
    }

    /// Makes sure that there is room for a new game, and for those that are there to go on.
    ///
    /// # Errors
    /// [`StoreError::Quota`].
    pub(super) fn check_new_game(self) -> Result<(), StoreError> {
        match self.max {
            Some(max) if self.used >= percent(max, NO_NEW_GAMES_PERCENT) => Err(StoreError::Quota),
            _ => Ok(()),
        }
    }

    /// Makes sure that a game can go on.
    ///
    /// # Errors
    /// [`StoreError::Quota`].
    pub(super) fn check_write(self) -> Result<(), StoreError> {
        match self.max {
            Some(max) if self.used + WRITE_BYTES > max => Err(StoreError::Quota),
            _ => Ok(()),
        }
    }
}

fn percent(of: u64, percent: u64) -> u64 {
    (u128::from(of) * u128::from(percent) / 100) as u64
}
