//! Seeing that the store has changed.

use std::{
    path::Path,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{StoreError, connect};

/// How often another process's commits are looked for: a glance at shared memory.
const GLANCE: Duration = Duration::from_millis(10);

/// Counts this process's commits and wakes those who wait for one.
#[derive(Debug, Default)]
pub(super) struct Commits {
    count: Mutex<u64>,
    counted: Condvar,
}

impl Commits {
    /// There was a commit.
    pub(super) fn announce(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.counted.notify_all();
    }

    /// Waits until there have been others than `seen`, at most that long; says how many there were.
    fn wait(&self, seen: u64, patience: Duration) -> u64 {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .counted
            .wait_timeout_while(count, patience, |count| *count == seen);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Tells whether anybody, in this process or another, has committed anything to the store.
#[derive(Debug)]
pub struct Watch {
    connection: Connection,
    seen: i64,
    commits: Arc<Commits>,
    counted: u64,
}

impl Watch {
    pub(super) fn new(path: &Path, commits: Arc<Commits>) -> Result<Watch, StoreError> {
        let connection = connect::reader(path)?;
        let seen = data_version(&connection)?;
        Ok(Watch {
            connection,
            seen,
            commits,
            counted: 0,
        })
    }

    /// Whether there was a commit since this was last asked, or since the watch began: a glance,
    /// cheap enough for many a second.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn changed(&mut self) -> Result<bool, StoreError> {
        let before = self.seen;
        self.seen = data_version(&self.connection)?;
        Ok(self.seen != before)
    }

    /// Waits for a commit, at most that long; says whether there was one. This process's own are
    /// seen at once, another's within some milliseconds.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn wait(&mut self, patience: Duration) -> Result<bool, StoreError> {
        let begun = Instant::now();
        loop {
            if self.changed()? {
                return Ok(true);
            }
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            self.counted = self.commits.wait(self.counted, left.min(GLANCE));
        }
    }
}

/// A number that changes when another connection commits something.
fn data_version(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("PRAGMA data_version")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
