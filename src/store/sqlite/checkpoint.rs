//! The thread that carries the write-ahead log into the database, so that no commit has to.
//!
//! SQLite would do it inside whichever commit makes the log too long, and all that wait for that
//! commit would wait for it too.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

use super::connect;
use crate::store::StoreError;

/// Writes after which the log is carried over.
const CHECKPOINT_WRITES: usize = 1_000;

/// Pages of the log from which on the writer itself sees to it that it begins anew: as long as
/// somebody writes, another's work always ends a little behind.
const MAX_LOG_PAGES: i64 = 32 << 10;

/// What the writer tells the thread, and the thread the writer.
#[derive(Debug)]
pub(super) struct CheckpointThread {
    requests: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    log_is_long: Arc<AtomicBool>,
    /// Writes since the thread was last woken.
    writes: usize,
}

impl CheckpointThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The file cannot be opened, or the operating system starts no more threads.
    pub(super) fn start(path: &Path) -> Result<CheckpointThread, StoreError> {
        let connection = connect::checkpointer(path)?;
        let (requests, receiver) = sync_channel(1);
        let log_is_long = Arc::new(AtomicBool::new(false));
        let set_log_is_long = Arc::clone(&log_is_long);
        let thread = thread::Builder::new()
            .name("store-checkpoints".into())
            .spawn(move || run(&connection, &receiver, &set_log_is_long))
            .map_err(|error: io::Error| StoreError::Create(Arc::new(error)))?;
        Ok(CheckpointThread {
            requests: Some(requests),
            thread: Some(thread),
            log_is_long,
            writes: 0,
        })
    }

    /// There were so many more writes, by this connection.
    pub(super) fn count_writes(&mut self, writes: usize, writer: &Connection) {
        self.writes += writes;
        if self.writes >= CHECKPOINT_WRITES {
            self.writes = 0;
            self.request();
        }
        if self.log_is_long.swap(false, Relaxed) {
            // Nobody writes now, so this gets to the end, and the next write begins the log anew.
            log_pages_or_warn(checkpoint_passive(writer));
        }
    }

    /// A write has failed, perhaps since the disk is full: once all of the log is in the database,
    /// its room is used again. It is tried now, and once more after the next write.
    pub(super) fn retry(&mut self) {
        self.writes = CHECKPOINT_WRITES;
        self.request();
    }

    fn request(&self) {
        if let Some(requests) = &self.requests {
            // If it has not come to the last call yet, that one does.
            requests.try_send(()).ok();
        }
    }
}

impl Drop for CheckpointThread {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread for checkpoints panicked");
        }
    }
}

/// What the thread does.
fn run(connection: &Connection, receiver: &Receiver<()>, log_is_long: &AtomicBool) {
    while receiver.recv().is_ok() {
        if log_pages_or_warn(checkpoint_passive(connection)) > MAX_LOG_PAGES {
            log_is_long.store(true, Relaxed);
        }
    }
}

/// Carries over what no reader needs to find in the log any more, and waits for nobody; how many
/// pages the log has.
fn checkpoint_passive(connection: &Connection) -> Result<i64, StoreError> {
    let pages = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))?;
    Ok(pages)
}

/// The log stays if this fails, so it is tried again after the next writes.
fn log_pages_or_warn(pages: Result<i64, StoreError>) -> i64 {
    pages.unwrap_or_else(|error| {
        log::warn!("the write-ahead log stays: {error}");
        0
    })
}
