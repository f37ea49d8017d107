//! The thread that checkpoints: it copies the write-ahead log into the database.
//!
//! SQLite's automatic checkpoints run inside a commit, and all writes of that commit would have to
//! wait for them.
//!
//! The log is kept small. A checkpoint by another connection hardly ever reaches the end of the log
//! while writes go on, and only then can the log begin anew. So when the thread has copied a long
//! log, the writer copies what was written meanwhile.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering::Relaxed},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use rusqlite::{Connection, hooks::Wal};

use super::connect;
use crate::{JoinedThread, StoreError};

/// The number of pages in the log from which it is checkpointed: 12 MB. Checkpoints of a shorter
/// log would write the same pages more often.
const CHECKPOINT_PAGES: i32 = 3_000;

/// After how many more pages it is checkpointed again, if it has not begun anew.
const MORE_PAGES: i32 = 1_000;

/// How long the writer waits for readers of the log, for each [`CHECKPOINT_PAGES`] in it; and at
/// most.
const COMPLETION_WAIT: Duration = Duration::from_millis(20);
const MAX_COMPLETION_WAIT: Duration = Duration::from_millis(200);

/// The writer's handle to the checkpoint thread. Dropping it stops the thread.
#[derive(Debug)]
pub(super) struct CheckpointThread {
    requests: SyncSender<()>,
    _thread: JoinedThread,
    /// The number of pages in the log after the last commit.
    log_pages: Arc<AtomicI32>,
    /// Their number after the commit before.
    last_pages: i32,
    /// The number from which the next checkpoint is requested.
    request_at: i32,
    /// Whether the thread has just copied a long log.
    log_was_long: Arc<AtomicBool>,
}

impl CheckpointThread {
    /// Starts the thread for a writer.
    ///
    /// # Errors
    /// The file cannot be opened, or the operating system starts no more threads.
    pub(super) fn start(
        path: &Path,
        writer: &mut Connection,
    ) -> Result<CheckpointThread, StoreError> {
        let connection = connect::open_existing(path)?;
        let (requests, receiver) = sync_channel(1);
        let log_was_long = Arc::new(AtomicBool::new(false));
        let was_long = Arc::clone(&log_was_long);
        let work = move || run(&connection, &receiver, &was_long);
        let _thread = JoinedThread::start("store-checkpoints", work).map_err(StoreError::create)?;
        let log_pages = Arc::new(AtomicI32::new(0));
        let pages_now = Arc::clone(&log_pages);
        writer.wal_hook(Some(move |_: &mut Wal, pages| {
            pages_now.store(pages, Relaxed);
            Ok(())
        }))?;
        Ok(CheckpointThread {
            requests,
            _thread,
            log_pages,
            last_pages: 0,
            request_at: CHECKPOINT_PAGES,
            log_was_long,
        })
    }

    /// Requests or completes a checkpoint after a commit, if it is time.
    pub(super) fn committed(&mut self, writer: &Connection) {
        let pages = self.log_pages.load(Relaxed);
        if pages < self.last_pages {
            // The log has begun anew.
            self.request_at = self.request_at.min(CHECKPOINT_PAGES);
            self.log_was_long.store(false, Relaxed);
        }
        self.last_pages = pages;
        if pages >= self.request_at {
            self.request_at = pages + MORE_PAGES;
            self.request();
        }
        if self.log_was_long.swap(false, Relaxed) {
            let wait = COMPLETION_WAIT * (pages / CHECKPOINT_PAGES).unsigned_abs();
            if complete(writer, wait.min(MAX_COMPLETION_WAIT)) < 0 {
                // The thread, or another program, checkpoints now: after the next commit, then.
                self.log_was_long.store(true, Relaxed);
            }
        }
    }

    /// Requests a checkpoint after a failed write, and another after the next write. If the disk is
    /// full, a complete checkpoint frees the space in the log.
    pub(super) fn after_failure(&mut self) {
        self.request_at = 0;
        self.request();
    }

    fn request(&self) {
        // The channel is full if a request is waiting already.
        self.requests.try_send(()).ok();
    }
}

/// The loop of the thread. It copies as much of the log as possible without waiting for anybody.
fn run(connection: &Connection, receiver: &Receiver<()>, log_was_long: &AtomicBool) {
    while receiver.recv().is_ok() {
        if checkpoint(connection, "PASSIVE") < CHECKPOINT_PAGES {
            continue;
        }
        // Once more, so that hardly anything is left to the writer.
        checkpoint(connection, "PASSIVE");
        log_was_long.store(true, Relaxed);
    }
}

/// Copies all of the log while nobody writes, and waits until nobody reads it, so that the next
/// write can begin it anew. Returns as [`checkpoint`].
fn complete(writer: &Connection, wait: Duration) -> i32 {
    connect::with_short_waits(writer, wait, |writer| checkpoint(writer, "RESTART")).unwrap_or(0)
}

/// Checkpoints in this mode. Returns the number of pages in the log; 0 after an error, which is
/// logged, and -1 if another connection checkpoints now. It is repeated after the next writes.
fn checkpoint(connection: &Connection, mode: &str) -> i32 {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let pages = connection.query_row(&sql, [], |row| row.get(1));
    pages.unwrap_or_else(|error| {
        let error = StoreError::from(error);
        crate::warn_rarely!("the write-ahead log cannot be copied into the database: {error}");
        0
    })
}
