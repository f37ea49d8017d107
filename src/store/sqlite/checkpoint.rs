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
const WRITES: usize = 1_000;

/// Pages of the log from which on the writer itself sees to it that it begins anew: as long as
/// somebody writes, another's work always ends a little behind.
const LONG: i64 = 32 << 10;

/// What the writer tells the thread, and the thread the writer.
#[derive(Debug)]
pub(super) struct Checkpoints {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    long: Arc<AtomicBool>,
    /// Writes since the thread was last woken.
    writes: usize,
}

impl Checkpoints {
    /// Starts the thread.
    ///
    /// # Errors
    /// The file cannot be opened, or the operating system starts no more threads.
    pub(super) fn start(path: &Path) -> Result<Checkpoints, StoreError> {
        let connection = connect::checkpointer(path)?;
        let (wake, woken) = sync_channel(1);
        let long = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&long);
        let thread = thread::Builder::new()
            .name("store-checkpoints".into())
            .spawn(move || carry_over(&connection, &woken, &tell))
            .map_err(|error: io::Error| StoreError::Create(Arc::new(error)))?;
        Ok(Checkpoints {
            wake: Some(wake),
            thread: Some(thread),
            long,
            writes: 0,
        })
    }

    /// There were so many more writes, by this connection.
    pub(super) fn written(&mut self, writes: usize, writer: &Connection) {
        self.writes += writes;
        if self.writes >= WRITES {
            self.writes = 0;
            self.wake();
        }
        if self.long.swap(false, Relaxed) {
            // Nobody writes now, so this gets to the end, and the next write begins the log anew.
            note(checkpoint(writer));
        }
    }

    /// A write has failed, perhaps since the disk is full: once all of the log is in the database,
    /// its room is used again. It is tried now, and once more after the next write.
    pub(super) fn make_room(&mut self) {
        self.writes = WRITES;
        self.wake();
    }

    fn wake(&self) {
        if let Some(wake) = &self.wake {
            // If it has not come to the last call yet, that one does.
            wake.try_send(()).ok();
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread for checkpoints panicked");
        }
    }
}

/// What the thread does.
fn carry_over(connection: &Connection, woken: &Receiver<()>, long: &AtomicBool) {
    while woken.recv().is_ok() {
        if note(checkpoint(connection)) > LONG {
            long.store(true, Relaxed);
        }
    }
}

/// Carries over what no reader needs to find in the log any more, and waits for nobody; how many
/// pages the log has.
fn checkpoint(connection: &Connection) -> Result<i64, StoreError> {
    let pages = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))?;
    Ok(pages)
}

/// The log stays if this fails, so it is tried again after the next writes.
fn note(pages: Result<i64, StoreError>) -> i64 {
    pages.unwrap_or_else(|error| {
        log::warn!("the write-ahead log stays: {error}");
        0
    })
}
