//! The store's metrics, sizes and size limit. They contain no data of any game.

use std::time::Duration;

use dog_rules::Phase;
use jiff::SignedDuration;
use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::StoreError;

/// The buckets for the duration of a commit, in seconds.
const COMMIT_SECONDS_BUCKETS: [f64; 11] = [
    0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
];

/// The buckets for the number of writes in a commit.
const COMMIT_WRITES_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Counters since the store was opened. Clones share the counters.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    writes_waiting: Gauge,
    commits: Counter,
    commit_seconds: Histogram,
    commit_writes: Histogram,
    retention_behind: Gauge,
}

impl StoreMetrics {
    pub(super) fn new() -> StoreMetrics {
        StoreMetrics {
            writes_waiting: Gauge::default(),
            commits: Counter::default(),
            commit_seconds: Histogram::new(COMMIT_SECONDS_BUCKETS),
            commit_writes: Histogram::new(COMMIT_WRITES_BUCKETS),
            retention_behind: Gauge::default(),
        }
    }

    /// Registers the metrics.
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
        let help = "How far the time by which old games are removed is behind the clock";
        let behind = self.retention_behind.clone();
        registry.register_with_unit("retention_behind", help, Unit::Seconds, behind);
    }

    /// Sets how far the retention's time is behind the clock.
    pub(super) fn retention_is_behind(&self, behind: SignedDuration) {
        self.retention_behind.set(behind.as_secs());
    }

    /// Counts a write that was queued.
    pub(super) fn queued(&self) {
        self.writes_waiting.inc();
    }

    /// Counts writes that were taken from the queue.
    pub(super) fn dequeued(&self, writes: usize) {
        self.writes_waiting.dec_by(writes as i64);
    }

    /// Counts a commit of this many writes, which took this long.
    pub(super) fn committed(&self, writes: usize, time: Duration) {
        self.commits.inc();
        self.commit_writes.observe(writes as f64);
        self.commit_seconds.observe(time.as_secs_f64());
    }
}

/// The number of games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameCounts {
    /// By phase.
    pub games: [(Phase, u64); Phase::ALL.len()],
    /// Games that are due.
    pub due: u64,
    /// For how many seconds the first of them has been due; 0 if none is.
    pub oldest_due: u64,
    /// Reviews that nobody has begun, or whose turn is over.
    pub reviews_waiting: u64,
    /// The schema version of the file.
    pub schema_version: u32,
}

impl GameCounts {
    /// `games` has their numbers by the names of phases; `others` those of due games, of microseconds
    /// since the first was due, and of reviews; `version` is that of the schema.
    pub(super) fn new(games: &[(String, i64)], others: [i64; 3], version: u32) -> GameCounts {
        let [due, oldest_due, reviews_waiting] = others.map(i64::unsigned_abs);
        let of = |phase: Phase| {
            let games = games.iter().find(|(name, _)| name == phase.name());
            games.map_or(0, |(_, games)| games.unsigned_abs())
        };
        GameCounts {
            games: Phase::ALL.map(|phase| (phase, of(phase))),
            due,
            oldest_due: oldest_due / 1_000_000,
            reviews_waiting,
            schema_version: version,
        }
    }
}

/// The sizes of the files in bytes, 0 for a missing file; and what else their folder shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The database.
    pub database: u64,
    /// Its write-ahead log.
    pub log: u64,
    /// The free space of the disk with the file, if it is known.
    pub disk_free: Option<u64>,
    /// The time since the last backup of the file; `None` if there was none.
    pub backup_age: Option<Duration>,
}

/// The percentage of the limit from which the operator is warned.
const WARN_PERCENT: u64 = 80;

/// The percentage of the limit from which new games are refused, so that existing games can go on.
const NO_NEW_GAMES_PERCENT: u64 = 90;

/// The free space that a write needs, in bytes.
const WRITE_BYTES: u64 = 32 << 10;

/// The used space of a database and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceUsage {
    /// The bytes in use: of a file all pages but the free ones, of a PostgreSQL database the live
    /// rows.
    pub used: u64,
    /// The limit in bytes; `None` without a limit.
    pub max: Option<u64>,
}

impl SpaceUsage {
    /// Whether the operator must be warned.
    pub fn is_nearly_full(self) -> bool {
        self.max
            .is_some_and(|max| self.used >= percent(max, WARN_PERCENT))
    }

    /// Checks that there is space for a new game.
    ///
    /// # Errors
    /// [`StoreError::Quota`].
    pub fn check_new_game(self) -> Result<(), StoreError> {
        match self.max {
            Some(max) if self.used >= percent(max, NO_NEW_GAMES_PERCENT) => Err(StoreError::Quota),
            _ => Ok(()),
        }
    }

    /// Checks that there is space for a write to an existing game.
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

fn percent(whole: u64, percent: u64) -> u64 {
    (u128::from(whole) * u128::from(percent) / 100) as u64
}
