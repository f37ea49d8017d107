//! Removes expired games, saved responses and tickets, and packs the logs of games that are over.
//!
//! Every process does so from time to time; it does not matter which one removes what. Of several
//! on a PostgreSQL database one does at a time. It reads and writes in small batches with pauses
//! between them, so that clients do not wait for it.

use std::{
    io,
    time::{Duration, Instant},
};

use dog_store::{RetentionPolicy, RetentionTime, Store, StoreError, now};
use jiff::SignedDuration;

use crate::runtime::{BackgroundThread, Waiter};

/// Games read by one query.
const SCAN_BATCH: u32 = 500;

/// Games removed in one write.
const DELETE_BATCH: usize = 10;

/// Saved responses and tickets removed in one write.
const EXPIRE_BATCH: u32 = 200;

/// Logs packed at once.
const PACK_BATCH: u32 = 10;

/// How long a game has been over before its log is packed. Its streams have read the log by then.
const PACK_DELAY: SignedDuration = SignedDuration::from_secs(60);

/// The longest delay after the first pass, which removes nothing.
const FIRST_PAUSE: Duration = Duration::from_secs(60);

/// Delay while another process holds the claim.
const CLAIM_DELAY: Duration = Duration::from_secs(5);

/// Delay after each read or write.
const BATCH_DELAY: Duration = Duration::from_millis(50);

/// What the thread works with.
struct RetentionWorker {
    store: Store,
    waiter: Waiter,
    policy: RetentionPolicy,
    /// When the retention time was last advanced.
    moved: Option<Instant>,
    /// Whether it was behind the clock then.
    was_behind: bool,
}

/// Why a pass ended early.
enum PassEnd {
    /// The server stops.
    Shutdown,
    Failed(StoreError),
}

impl From<StoreError> for PassEnd {
    fn from(error: StoreError) -> PassEnd {
        PassEnd::Failed(error)
    }
}

/// Starts the thread that removes and packs; at its end it finishes its current write. It makes a
/// pass at once, and then one per interval. The first one removes no games, so that a server that
/// starts with a wrong clock can be stopped.
///
/// # Errors
/// If the operating system starts no more threads.
pub fn start(
    store: &Store,
    policy: RetentionPolicy,
    every: Duration,
) -> io::Result<BackgroundThread> {
    let store = store.clone();
    BackgroundThread::start("retention", move |waiter| {
        let worker = RetentionWorker {
            store,
            waiter,
            policy,
            moved: None,
            was_behind: false,
        };
        worker.run(every);
    })
}

impl RetentionWorker {
    fn run(mut self, every: Duration) {
        loop {
            let is_first = self.moved.is_none();
            match self.pass() {
                Ok(0) => {}
                Ok(games) => log::info!("removed {games} expired games"),
                Err(PassEnd::Shutdown) => return,
                Err(PassEnd::Failed(error)) => {
                    log::warn!("cannot remove expired games: {error}")
                }
            }
            let pause = if is_first {
                every.min(FIRST_PAUSE)
            } else {
                every
            };
            if self.pause(pause).is_err() {
                return;
            }
        }
    }

    /// Makes a pass when no other process makes one. Returns the number of removed games.
    fn pass(&mut self) -> Result<usize, PassEnd> {
        while !self.waiter.wait(self.store.claim_retention())? {
            self.pause(CLAIM_DELAY)?;
        }
        let removed = self.remove_and_pack();
        self.waiter.wait(self.store.release_retention())?;
        removed
    }

    /// Removes all that has expired and packs finished games. Returns the number of removed games.
    fn remove_and_pack(&mut self) -> Result<usize, PassEnd> {
        let is_first = self.moved.is_none();
        let time = self.move_time()?;
        while self
            .waiter
            .wait(self.store.delete_expired(time.at, EXPIRE_BATCH))?
        {
            self.pause(BATCH_DELAY)?;
        }
        let removed = if is_first {
            0
        } else {
            self.remove_expired(time)?
        };
        while self.waiter.wait(self.store.purge_removed_logs())? {
            self.pause(BATCH_DELAY)?;
        }
        self.pack()?;
        Ok(removed)
    }

    /// Advances the time by which the age of games is measured.
    fn move_time(&mut self) -> Result<RetentionTime, PassEnd> {
        let passed = self.moved.map_or(Duration::ZERO, |moved| moved.elapsed());
        let time = self.waiter.wait(self.store.move_retention_time(passed))?;
        self.moved = Some(Instant::now());
        let is_behind = time.behind.is_positive();
        if is_behind && !self.was_behind {
            log::warn!(
                "the clock is {} hours ahead of the last look at old games; if it is right, they are \
                 removed later",
                time.behind.as_hours()
            );
        }
        self.was_behind = is_behind;
        Ok(time)
    }

    /// Removes the games that have expired by then. Returns their number.
    fn remove_expired(&self, time: RetentionTime) -> Result<usize, PassEnd> {
        let mut removed = 0;
        let mut after = None;
        loop {
            let store = &self.store;
            let expired = store.expired_games(self.policy, time.at, after, SCAN_BATCH);
            let batch = self.waiter.wait(expired)?;
            for games in batch.old.chunks(DELETE_BATCH) {
                removed += self
                    .waiter
                    .wait(self.store.remove_expired(games.to_vec()))?;
                self.pause(BATCH_DELAY)?;
            }
            match batch.next {
                Some(next) => after = Some(next),
                None => break,
            }
            self.pause(BATCH_DELAY)?;
        }
        Ok(removed)
    }

    /// Packs the logs of games that are over.
    fn pack(&self) -> Result<(), PassEnd> {
        let ended_before = now() - PACK_DELAY;
        let mut after = None;
        loop {
            after = self
                .waiter
                .wait(self.store.pack_logs(ended_before, after, PACK_BATCH))?;
            if after.is_none() {
                return Ok(());
            }
            self.pause(BATCH_DELAY)?;
        }
    }

    /// Pauses for that long; fails at once if the server stops.
    fn pause(&self, time: Duration) -> Result<(), PassEnd> {
        if self.waiter.stops_within(time) {
            return Err(PassEnd::Shutdown);
        }
        Ok(())
    }
}
