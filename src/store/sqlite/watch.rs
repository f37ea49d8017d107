//! Seeing that the store has changed, by this process or another.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::watch;

use super::{connect, game_cache::LastChange};
use crate::store::{Feed, StoreError};

/// How often another process's commits are looked for: a glance at shared memory.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How often they are looked for when the database cannot be read.
const ERROR_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The number of the last change, for all who wait for the next.
#[derive(Debug)]
pub(super) struct ChangeSignal(watch::Sender<i64>);

impl ChangeSignal {
    pub fn new() -> ChangeSignal {
        ChangeSignal(watch::Sender::new(0))
    }

    /// This process has committed changes up to this one.
    pub fn announce(&self, last: i64) {
        self.0.send_if_modified(|known| {
            let is_new = last > *known;
            *known = last.max(*known);
            is_new
        });
    }

    /// Somebody who waits for changes.
    pub fn feed(&self) -> Feed {
        Feed(self.0.subscribe())
    }

    /// Looks whether others have committed changes.
    fn poll(&self, connection: &Connection) -> Result<(), StoreError> {
        let known = *self.0.borrow();
        let last = LastChange::read(connection)?.number;
        if last < known {
            // The file was put back to an earlier state.
            self.0.send_replace(last);
        } else {
            self.announce(last);
        }
        Ok(())
    }
}

/// The thread that looks for the commits of others. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Watcher {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Starts the thread.
    ///
    /// # Errors
    /// The database cannot be read, or the operating system starts no more threads.
    pub fn start(path: &Path, changes: &Arc<ChangeSignal>) -> Result<Watcher, StoreError> {
        let connection = connect::reader(path)?;
        changes.poll(&connection)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, changes) = (Arc::clone(&stop), Arc::clone(changes));
        let thread = thread::Builder::new()
            .name("store-watcher".into())
            .spawn(move || watch(&connection, &changes, &stopped))
            .map_err(|error| StoreError::Create(Arc::new(error)))?;
        Ok(Watcher {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            log::error!("the store's watcher panicked");
        }
    }
}

/// What the thread does until it is to stop.
fn watch(connection: &Connection, changes: &ChangeSignal, stop: &AtomicBool) {
    let mut last_version = None;
    while !stop.load(Ordering::Relaxed) {
        let polled = data_version(connection).and_then(|version| {
            if last_version != Some(version) {
                changes.poll(connection)?;
                last_version = Some(version);
            }
            Ok(())
        });
        // Whoever reads meanwhile sees for itself that the database cannot be read.
        thread::sleep(if polled.is_ok() {
            POLL_INTERVAL
        } else {
            ERROR_POLL_INTERVAL
        });
    }
}

/// A number that changes when another connection commits something.
fn data_version(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("PRAGMA data_version")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
