//! The writer thread. Writes that arrive while it is busy are committed together and share one disk
//! sync (group commit). A write that fails does not affect the others: either it runs in a
//! savepoint, or it makes all its checks before its first change.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    time::Instant,
};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::{
    checkpoint::CheckpointThread,
    connect::FileIdentity,
    game_cache::GameCache,
    lock::DatabaseLock,
    reader::Reader,
    size_limit::{SizeLimit, limit_size},
    transaction::{BatchChanges, Transaction},
};
use crate::{ChangesSince, JoinedThread, StoreError, StoreMetrics, feed::ChangeList};

/// The largest number of queued writes; further ones are refused at once.
pub(super) const QUEUE_CAPACITY: usize = 1024;

/// By how many bytes the limit of the size changes until SQLite is told of it.
const LIMIT_CHANGE: u64 = 1 << 20;

/// What happens when a write fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnFailure {
    /// Its changes are rolled back to a savepoint.
    Undo,
    /// It has made no changes, so it needs no savepoint, for which SQLite copies every page before
    /// its first change. If it has made changes nevertheless, its whole batch is rolled back.
    NoChanges,
}

/// A queued write. Its caller gets the reply only after the commit of its batch.
struct WriteJob {
    on_failure: OnFailure,
    /// Makes the changes, and keeps what the caller gets if they are committed; taken when it runs.
    work: Option<Box<Work>>,
    /// Whether it has failed.
    result: Result<(), StoreError>,
    reply_to: oneshot::Sender<Result<(), StoreError>>,
}

type Work = dyn FnOnce(&mut Transaction<'_>) -> Result<(), StoreError> + Send;

impl WriteJob {
    /// Makes the changes.
    ///
    /// # Errors
    /// Why they are not kept.
    fn run(&mut self, mut transaction: Transaction<'_>) -> Result<(), StoreError> {
        let Some(work) = self.work.take() else {
            return Err(StoreError::Misuse("a write runs once"));
        };
        // The changes of a closure that panics are rolled back.
        catch_unwind(AssertUnwindSafe(|| work(&mut transaction)))
            .unwrap_or(Err(StoreError::Panicked))
    }
}

/// A handle to the writer thread. Dropping it waits until all queued writes are committed.
#[derive(Debug)]
pub(super) struct Writer {
    queue: SyncSender<WriteJob>,
    metrics: StoreMetrics,
    _thread: JoinedThread,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(thread: WriterThread) -> io::Result<Writer> {
        let (queue, jobs) = sync_channel(QUEUE_CAPACITY);
        let metrics = thread.metrics.clone();
        Ok(Writer {
            queue,
            metrics,
            _thread: JoinedThread::start("store-writer", move || thread.run(jobs))?,
        })
    }

    /// Queues a write and waits for its result. It is cancelled if the future is dropped before its
    /// batch starts.
    ///
    /// # Errors
    /// Those of `work`; or the queue is full, or the commit failed.
    pub(super) async fn submit<T: Send + 'static>(
        &self,
        on_failure: OnFailure,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply_to, committed) = oneshot::channel();
        let (keep, kept) = oneshot::channel();
        let work = move |transaction: &mut Transaction<'_>| {
            // The caller may have dropped its future after the batch started.
            keep.send(work(transaction)?).ok();
            Ok(())
        };
        let job = WriteJob {
            on_failure,
            work: Some(Box::new(work)),
            result: Ok(()),
            reply_to,
        };
        // Counted first, because the thread may take it before `try_send` returns.
        self.metrics.queued();
        self.queue.try_send(job).map_err(|error| {
            self.metrics.dequeued(1);
            match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Disconnected(_) => StoreError::Closed,
            }
        })?;
        committed.await.unwrap_or(Err(StoreError::Closed))?;
        kept.await.map_err(|_| StoreError::Closed)
    }
}

/// The state of the writer thread.
pub(super) struct WriterThread {
    pub connection: Connection,
    pub file_identity: FileIdentity,
    pub checkpoints: CheckpointThread,
    /// The largest number of writes in one commit.
    pub max_batch: usize,
    pub limit: SizeLimit,
    /// The limit that SQLite knows, in bytes; `None` without a limit.
    pub max_bytes: Option<u64>,
    pub cache: Arc<GameCache>,
    pub changes: Arc<ChangeList>,
    pub metrics: StoreMetrics,
    // Dropped last: until then nobody else may open the file.
    pub _lock: DatabaseLock,
}

impl WriterThread {
    /// The loop of the thread. It ends when the queue is closed and empty.
    fn run(mut self, queue: Receiver<WriteJob>) {
        while let Ok(first) = queue.recv() {
            let mut batch = vec![first];
            batch.extend(queue.try_iter().take(self.max_batch - 1));
            self.metrics.dequeued(batch.len());
            // Their callers have dropped their futures.
            batch.retain(|job| !job.reply_to.is_closed());
            self.write(batch);
        }
        drop(self.checkpoints);
        // If a reader prevents this checkpoint, it is done after the next start.
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        if let Err(error) = self.connection.query_row(sql, [], |_| Ok(())) {
            crate::warn_rarely!("the write-ahead log cannot be copied into the database: {error}");
        }
    }

    /// Commits these jobs together and replies to each.
    fn write(&mut self, mut batch: Vec<WriteJob>) {
        if batch.is_empty() {
            return;
        }
        let (writes, started) = (batch.len(), Instant::now());
        let mut changes = BatchChanges::default();
        let committed = self
            .commit(&mut batch, &mut changes)
            .map_err(|error| self.quota_or(error))
            // A commit to a file that was removed or replaced is lost, so it is reported as failed.
            .and_then(|()| self.file_identity.check());
        match committed {
            Ok(()) => self.metrics.committed(writes, started.elapsed()),
            Err(_) => changes.undo((0, 0)),
        }
        self.cache.end_commit(changes.games);
        self.changes.add(ChangesSince::Only(changes.feed));
        for job in batch {
            // A job's own result may depend on changes of the batch that were rolled back.
            job.reply_to.send(committed.clone().and(job.result)).ok();
        }
        match committed {
            Ok(()) => self.checkpoints.committed(&self.connection),
            // No checkpoint into a file that was emptied or replaced.
            Err(_) if self.file_identity.check().is_err() => {}
            Err(_) => self.checkpoints.after_failure(),
        }
    }

    /// The error of a failed commit: [`StoreError::Quota`] if the database has reached its limit,
    /// else `error`.
    fn quota_or(&self, error: StoreError) -> StoreError {
        let may_be_quota = matches!(error, StoreError::Full | StoreError::RolledBack);
        let usage = || Reader::new(&self.connection).usage(self.limit.bytes());
        if may_be_quota && let Ok(usage) = usage() {
            return usage.check_write().err().unwrap_or(error);
        }
        error
    }

    /// The largest size of the database in bytes, at present. SQLite is told if it has changed
    /// much.
    fn limit(&mut self) -> Result<Option<u64>, StoreError> {
        let now = self.limit.bytes();
        let is_near = match (now, self.max_bytes) {
            (Some(now), Some(known)) => now.abs_diff(known) < LIMIT_CHANGE,
            (now, known) => now == known,
        };
        if !is_near {
            limit_size(&self.connection, now)?;
            self.max_bytes = now;
        }
        Ok(now)
    }

    /// Runs these jobs in one transaction and commits it. Adds its changes.
    ///
    /// # Errors
    /// The transaction was rolled back; no job has changed anything.
    fn commit(
        &mut self,
        batch: &mut [WriteJob],
        changes: &mut BatchChanges,
    ) -> Result<(), StoreError> {
        if !self.connection.is_autocommit() {
            // A failed rollback left the last transaction open.
            self.connection.execute_batch("ROLLBACK")?;
        }
        let max_bytes = self.limit()?;
        // The lock is taken before the first read, so that nobody can write in between.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for job in batch {
            let on_failure = job.on_failure;
            savepoint(&transaction, on_failure, "SAVEPOINT job")?;
            let (rows_before, before) = (transaction.total_changes(), changes.position());
            job.result = job.run(Transaction::new(&transaction, max_bytes, changes));
            if transaction.is_autocommit() {
                // SQLite has ended it, because the disk is full or has failed.
                let cause = job.result.clone().err().filter(StoreError::is_temporary);
                return Err(cause.unwrap_or(StoreError::RolledBack));
            }
            if job.result.is_err() {
                if on_failure == OnFailure::NoChanges && transaction.total_changes() != rows_before
                {
                    log::error!("a write failed after its first change; its batch is rolled back");
                    return Err(StoreError::RolledBack);
                }
                savepoint(&transaction, on_failure, "ROLLBACK TO job")?;
                changes.undo(before);
            }
            savepoint(&transaction, on_failure, "RELEASE job")?;
        }
        self.file_identity.check()?;
        self.cache.begin_commit(&changes.games);
        Ok(transaction.commit()?)
    }
}

/// Executes a statement about a job's savepoint, if the job has one.
fn savepoint(connection: &Connection, on_failure: OnFailure, sql: &str) -> Result<(), StoreError> {
    if on_failure == OnFailure::Undo {
        connection.prepare_cached(sql)?.execute([])?;
    }
    Ok(())
}
