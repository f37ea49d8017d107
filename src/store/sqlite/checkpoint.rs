//! The thread that checkpoints: it copies the write-ahead log into the database.
//!
//! SQLite's automatic checkpoints run inside a commit, and all writes of that commit would have to
//! wait for them.

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

/// The number of writes between two checkpoints.
const CHECKPOINT_WRITES: usize = 1_000;

/// The number of pages in the log from which the writer checkpoints too. While writes go on, a
/// checkpoint by another connection never reaches the end of the log, so the log cannot be reset.
const MAX_LOG_PAGES: i64 = 32 << 10;

/// The writer's handle to the checkpoint thread. Dropping it stops the thread.
#[derive(Debug)]
pub(super) struct CheckpointThread {
    requests: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    log_is_long: Arc<AtomicBool>,
    /// Writes since the last request.
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
        let flag = Arc::clone(&log_is_long);
        let thread = thread::Builder::new()
            .name("store-checkpoints".into())
            .spawn(move || run(&connection, &receiver, &flag))
            .map_err(|error: io::Error| StoreError::Create(Arc::new(error)))?;
        Ok(CheckpointThread {
            requests: Some(requests),
            thread: Some(thread),
            log_is_long,
            writes: 0,
        })
    }

    /// Counts writes by the connection `writer`, and requests a checkpoint if it is time.
    pub(super) fn count_writes(&mut self, writes: usize, writer: &Connection) {
        self.writes += writes;
        if self.writes >= CHECKPOINT_WRITES {
            self.writes = 0;
            self.request();
        }
        if self.log_is_long.swap(false, Relaxed) {
            // Nobody writes now, so this reaches the end of the log, and the next write resets it.
            pages_or_warn(checkpoint_passive(writer));
        }
    }

    /// Requests a checkpoint after a failed write, and another after the next write. If the disk is
    /// full, a complete checkpoint frees the space in the log.
    pub(super) fn after_failure(&mut self) {
        self.writes = CHECKPOINT_WRITES;
        self.request();
    }

    fn request(&self) {
        if let Some(requests) = &self.requests {
            // The channel is full if a request is waiting already.
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
            log::error!("the checkpoint thread panicked");
        }
    }
}

/// The loop of the thread.
fn run(connection: &Connection, receiver: &Receiver<()>, log_is_long: &AtomicBool) {
    while receiver.recv().is_ok() {
        if pages_or_warn(checkpoint_passive(connection)) > MAX_LOG_PAGES {
            log_is_long.store(true, Relaxed);
        }
    }
}

/// Copies as much of the log as possible without waiting for readers. Returns the number of pages
/// in the log.
fn checkpoint_passive(connection: &Connection) -> Result<i64, StoreError> {
    let pages = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))?;
    Ok(pages)
}

/// The number of pages, or 0 and a warning. A failed checkpoint is repeated after the next writes.
fn pages_or_warn(pages: Result<i64, StoreError>) -> i64 {
    pages.unwrap_or_else(|error| {
        log::warn!("the write-ahead log cannot be copied into the database: {error}");
        0
    })
}
