//! Notification of changes by this process and by others.

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
use crate::{Feed, StoreError};

/// The interval of the check for commits of other processes, which only reads shared memory.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The interval of the check while the database cannot be read.
const ERROR_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The number of the last change, as a watch channel.
#[derive(Debug)]
pub(super) struct ChangeSignal(watch::Sender<i64>);

impl ChangeSignal {
    pub fn new() -> ChangeSignal {
        ChangeSignal(watch::Sender::new(0))
    }

    /// Publishes the number of the last change committed by this process.
    pub fn announce(&self, last: i64) {
        self.0.send_if_modified(|known| {
            let is_new = last > *known;
            *known = last.max(*known);
            is_new
        });
    }

    /// A new receiver.
    pub fn feed(&self) -> Feed {
        Feed(self.0.subscribe())
    }

    /// Publishes the number of the last change in the database.
    fn poll(&self, connection: &Connection) -> Result<(), StoreError> {
        let known = *self.0.borrow();
        let last = LastChange::read(connection)?.number;
        if last < known {
            // The file was restored to an earlier state.
            self.0.send_replace(last);
        } else {
            self.announce(last);
        }
        Ok(())
    }
}

/// The thread that checks for commits of other processes. Dropping it stops the thread.
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
            .map_err(StoreError::create)?;
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
            log::error!("the store watcher thread panicked");
        }
    }
}

/// The loop of the thread.
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
        // An error is not logged here: every reader of the database gets it too.
        thread::sleep(if polled.is_ok() {
            POLL_INTERVAL
        } else {
            ERROR_POLL_INTERVAL
        });
    }
}

/// A number that changes when another connection commits.
fn data_version(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("PRAGMA data_version")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
