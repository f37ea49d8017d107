//! The one thread that writes. Writes that come while it is busy are committed together, and all
//! share one wait for the disk. One that fails takes none with it: either it is in a savepoint of
//! its own, or it is checked before it changes anything.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::{
    checkpoint::CheckpointThread,
    connect::FileIdentity,
    game_cache::{GameCache, LastChange},
    reader::Reader,
    transaction::{ChangedGame, Transaction},
    watch::ChangeSignal,
};
use crate::store::{StoreError, StoreMetrics};

/// Writes that may wait; one more is refused at once.
pub(super) const QUEUE_CAPACITY: usize = 1024;

/// What is done about a write that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnFailure {
    /// What it has changed is undone.
    Undo,
    /// It has changed nothing. That spares a savepoint, for which SQLite copies every page before
    /// its first change. Should it have changed something nevertheless, nothing is kept of all
    /// that was to be committed with it.
    NoChanges,
}

/// Somebody's write, in two steps so that others can be committed with it.
trait WriteJob: Send {
    fn on_failure(&self) -> OnFailure;

    /// Whether nobody waits for the answer any more.
    fn is_cancelled(&self) -> bool;

    /// Makes the changes; says whether they are to be kept.
    fn run(&mut self, transaction: Transaction<'_>) -> bool;

    /// Tells whoever asked what came of it, once the changes are on the disk or gone.
    fn reply(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A job that runs a closure.
struct ClosureJob<F, T> {
    on_failure: OnFailure,
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply_to: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> WriteJob for ClosureJob<F, T>
where
    F: FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    fn is_cancelled(&self) -> bool {
        self.reply_to.is_closed()
    }

    fn run(&mut self, mut transaction: Transaction<'_>) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        // What the closure leaves half done is rolled back, so nobody sees it.
        let result = catch_unwind(AssertUnwindSafe(|| work(&mut transaction)))
            .unwrap_or_else(|_| Err(StoreError::Panicked));
        let succeeded = result.is_ok();
        self.result = Some(result);
        succeeded
    }

    fn reply(self: Box<Self>, committed: Result<(), StoreError>) {
        let result = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => return,
            // A refusal may rest on changes by others that are gone now, so it goes too.
            (Err(error), _) => Err(error),
        };
        // The caller may have gone away; the write is done all the same.
        self.reply_to.send(result).ok();
    }
}

/// What a commit has changed: the last change before it and after it, and the games.
type BatchChanges = ((LastChange, LastChange), Vec<ChangedGame>);

/// The way to the thread that writes. Dropping it lets the writes that wait finish.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<SyncSender<Box<dyn WriteJob>>>,
    thread: Option<JoinHandle<()>>,
    metrics: StoreMetrics,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(thread: WriterThread) -> io::Result<Writer> {
        let (queue, jobs) = sync_channel(QUEUE_CAPACITY);
        let metrics = thread.metrics.clone();
        let thread = thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || thread.run(jobs))?;
        Ok(Writer {
            queue: Some(queue),
            thread: Some(thread),
            metrics,
        })
    }

    /// Queues a write, and waits for what comes of it. A write whose future is dropped before its
    /// turn is taken back.
    ///
    /// # Errors
    /// What `work` returns; or too many are waiting, or nothing could be committed.
    pub(super) async fn submit<T: Send + 'static>(
        &self,
        on_failure: OnFailure,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply_to, outcome) = oneshot::channel();
        let job = ClosureJob {
            on_failure,
            work: Some(work),
            result: None,
            reply_to,
        };
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        // It is counted first, or the thread might take it before.
        self.metrics.queued();
        queue.try_send(Box::new(job)).map_err(|error| {
            self.metrics.dequeued(1);
            match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Disconnected(_) => StoreError::Closed,
            }
        })?;
        outcome.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            // A write may own the last handle of the store; the thread cannot wait for itself.
            && thread.thread().id() != thread::current().id()
            && thread.join().is_err()
        {
            log::error!("the store's writer panicked");
        }
    }
}

/// What the thread works with.
pub(super) struct WriterThread {
    pub connection: Connection,
    pub file_identity: FileIdentity,
    pub checkpoints: CheckpointThread,
    /// Writes that are committed together at most.
    pub max_batch: usize,
    /// Bytes that the database may hold.
    pub max_bytes: Option<u64>,
    pub cache: Arc<GameCache>,
    pub changes: Arc<ChangeSignal>,
    pub metrics: StoreMetrics,
}

impl WriterThread {
    /// What the thread does, from the first write to the last.
    fn run(mut self, queue: Receiver<Box<dyn WriteJob>>) {
        while let Ok(first) = queue.recv() {
            let mut batch = vec![first];
            batch.extend(queue.try_iter().take(self.max_batch - 1));
            self.metrics.dequeued(batch.len());
            batch.retain(|job| !job.is_cancelled());
            self.write(batch);
        }
        drop(self.checkpoints);
        // The log is emptied into the database; if a reader is in the way, whoever opens it next can.
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        if let Err(error) = self.connection.query_row(sql, [], |_| Ok(())) {
            log::warn!("the write-ahead log stays: {error}");
        }
    }

    /// Commits these jobs together and tells what came of each.
    fn write(&mut self, mut batch: Vec<Box<dyn WriteJob>>) {
        if batch.is_empty() {
            return;
        }
        let (writes, started) = (batch.len(), Instant::now());
        let committed = self
            .commit(&mut batch)
            .map_err(|error| self.quota_or_disk_full(error));
        // What was committed to a file that is gone by now is lost, so nobody is told it was done.
        let committed = committed.and_then(|changes| self.file_identity.check().map(|()| changes));
        let committed = committed.map(|(changes, changed)| {
            self.metrics.committed(writes, started.elapsed());
            let last = changes.1.number;
            self.cache.committed(&self.connection, changes, changed);
            self.changes.announce(last);
        });
        for job in batch {
            job.reply(committed.clone());
        }
        match committed {
            Ok(()) => self.checkpoints.count_writes(writes, &self.connection),
            // The log is not carried into a file that was emptied or replaced.
            Err(_) if self.file_identity.check().is_err() => {}
            Err(_) => self.checkpoints.retry(),
        }
    }

    /// Tells a full database from a full disk.
    fn quota_or_disk_full(&self, error: StoreError) -> StoreError {
        let may_be_quota = matches!(error, StoreError::Full | StoreError::RolledBack);
        let reader = Reader {
            connection: &self.connection,
            cache: None,
        };
        if may_be_quota && let Ok(usage) = reader.usage(self.max_bytes) {
            return usage.check_write().err().unwrap_or(error);
        }
        error
    }

    /// Runs these jobs in one transaction; the last change before and after it, and what has
    /// changed.
    ///
    /// # Errors
    /// Nothing of any of them was kept.
    fn commit(&mut self, batch: &mut [Box<dyn WriteJob>]) -> Result<BatchChanges, StoreError> {
        if !self.connection.is_autocommit() {
            // A failed rollback left the last transaction open.
            self.connection.execute_batch("ROLLBACK")?;
        }
        // The lock comes before the first look, so that nothing changes between the two.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before = LastChange::read(&transaction)?;
        let mut changed = Vec::with_capacity(batch.len());
        for job in batch {
            let undo = job.on_failure() == OnFailure::Undo;
            let savepoint = |sql| {
                if undo {
                    transaction.prepare_cached(sql)?.execute([])?;
                }
                Ok::<_, StoreError>(())
            };
            savepoint("SAVEPOINT job")?;
            let (changes_before, changed_before) = (transaction.total_changes(), changed.len());
            let succeeded = job.run(Transaction::new(&transaction, self.max_bytes, &mut changed));
            if transaction.is_autocommit() {
                return Err(StoreError::RolledBack);
            }
            if !succeeded {
                if !undo && transaction.total_changes() != changes_before {
                    log::error!(
                        "a write failed after it had changed something; its batch is rolled back"
                    );
                    return Err(StoreError::RolledBack);
                }
                savepoint("ROLLBACK TO job")?;
                changed.truncate(changed_before);
            }
            savepoint("RELEASE job")?;
        }
        self.file_identity.check()?;
        let after = LastChange::read(&transaction)?;
        transaction.commit()?;
        Ok(((before, after), changed))
    }
}
