//! Writers. Each has a connection, and sends the writes that wait in one transaction without
//! waiting for the answer to each. Transactions share the syncs of the disk and the waits for the
//! standby.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{
    FutureExt,
    future::{join_all, join3, maybe_done},
};
use tokio::{
    sync::{Mutex, Notify, mpsc, oneshot},
    time::sleep,
};
use tokio_postgres::{Error, error::SqlState};

use super::{
    connection::{PgConnection, QueryError, Slot},
    error::is_outcome_unknown,
    statements::WriteStatements,
};
use crate::{CommitResult, StoreError, StoreMetrics};

/// The largest number of writes that wait; further ones are refused at once.
pub(super) const QUEUE_CAPACITY: usize = 1024;

/// How long a write waits for a connection before it is refused.
const CONNECTION_WAIT: Duration = Duration::from_millis(500);

/// How long to find out whether a write was made whose answer was lost.
const RESOLVE_TIME: Duration = Duration::from_secs(60);

/// How often a write is sent again after a deadlock with another, or because a lock was taken.
const MAX_CONFLICTS: u32 = 3;

/// A write that waits.
pub(super) struct QueuedWrite {
    pub statements: WriteStatements,
    pub reply_to: oneshot::Sender<Result<CommitResult, StoreError>>,
}

/// The receiving end of the queue, which all writers share.
pub(super) type Queue = Arc<Mutex<mpsc::Receiver<QueuedWrite>>>;

/// A writer.
pub(super) struct BatchWriter {
    pub queue: Queue,
    pub slot: Slot,
    pub max_batch: usize,
    /// Notified after a commit.
    pub committed: Arc<Notify>,
    pub metrics: StoreMetrics,
}

/// What is known about a batch after it was sent.
enum BatchOutcome {
    /// It was committed: whether each write changed anything.
    Committed(Vec<bool>),
    /// Nothing was changed.
    Refused,
    /// The connection was lost, and it may or may not have been committed.
    Unknown,
}

impl BatchWriter {
    /// Writes until the queue is closed and empty.
    pub async fn run(mut self) {
        let mut batch = Vec::new();
        loop {
            let received = {
                let mut queue = self.queue.lock().await;
                queue.recv_many(&mut batch, self.max_batch).await
            };
            if received == 0 {
                return;
            }
            self.metrics.dequeued(received);
            batch.retain(|job| !job.reply_to.is_closed());
            batch.sort_by_key(|job| job.statements.game);
            self.write(std::mem::take(&mut batch)).await;
        }
    }

    /// Commits these writes together, or each by itself if one of them fails, and replies.
    async fn write(&mut self, batch: Vec<QueuedWrite>) {
        if batch.is_empty() {
            return;
        }
        let Some(connection) = self.slot.wait(CONNECTION_WAIT).await else {
            for job in batch {
                let _ = job.reply_to.send(Err(QueryError::NotConnected.into()));
            }
            return;
        };
        let started = Instant::now();
        match send(&connection, &batch).await {
            BatchOutcome::Committed(changed) => {
                self.metrics.committed(batch.len(), started.elapsed());
                self.committed.notify_one();
                for (job, changed) in batch.into_iter().zip(changed) {
                    let result = if changed {
                        CommitResult::Done
                    } else {
                        CommitResult::Stale
                    };
                    let _ = job.reply_to.send(Ok(result));
                }
            }
            BatchOutcome::Refused => self.write_each(batch, false).await,
            BatchOutcome::Unknown => self.write_each(batch, true).await,
        }
    }

    /// Commits each write by itself. With `maybe_applied`, each may have been committed before.
    async fn write_each(&mut self, batch: Vec<QueuedWrite>, maybe_applied: bool) {
        if maybe_applied {
            crate::warn_rarely!(
                "a commit of {} writes was not answered; finding out what happened",
                batch.len()
            );
        }
        let give_up_at = Instant::now() + RESOLVE_TIME;
        let mut is_locked = false;
        for job in batch {
            if !maybe_applied && (is_locked || job.reply_to.is_closed()) {
                let _ = job.reply_to.send(Err(StoreError::Busy));
                continue;
            }
            let started = Instant::now();
            let result = self
                .write_one(&job.statements, maybe_applied, give_up_at)
                .await;
            if result.is_ok() {
                self.metrics.committed(1, started.elapsed());
                self.committed.notify_one();
            }
            // The others would wait as long, and so would all that are queued behind them.
            is_locked = matches!(result, Err(StoreError::Busy));
            let _ = job.reply_to.send(result);
        }
    }

    /// Commits a write. With `maybe_applied`, it may have been committed before.
    async fn write_one(
        &mut self,
        statements: &WriteStatements,
        mut maybe_applied: bool,
        give_up_at: Instant,
    ) -> Result<CommitResult, StoreError> {
        let (mut conflicts, mut evicted) = (0, false);
        loop {
            let wait = if maybe_applied {
                give_up_at.saturating_duration_since(Instant::now())
            } else {
                CONNECTION_WAIT
            };
            let connection = self.slot.wait(wait).await;
            let connection = connection.ok_or(QueryError::NotConnected)?;
            match try_write(&connection, statements, maybe_applied).await {
                Ok(true) => return Ok(CommitResult::Done),
                Ok(false) => return Ok(CommitResult::Stale),
                Err(QueryError::Failed(error))
                    if error.code() == Some(&SqlState::UNIQUE_VIOLATION) =>
                {
                    // Another request has saved its response, or an expired one is in the way.
                    let Some(evict) = statements.evict_expired.as_ref().filter(|_| !evicted) else {
                        return Ok(CommitResult::Stale);
                    };
                    evicted = true;
                    connection.query(evict.sql, &evict.params).await?;
                }
                Err(QueryError::Failed(error)) if !is_outcome_unknown(&error) => {
                    let error = StoreError::from(error);
                    conflicts += 1;
                    // The lost transaction may still wait for a standby, and hold its locks.
                    let may_end = maybe_applied && Instant::now() < give_up_at;
                    let may_retry = conflicts < MAX_CONFLICTS || may_end;
                    if !matches!(error, StoreError::Busy) || !may_retry {
                        return Err(error);
                    }
                }
                Err(lost) => {
                    if Instant::now() >= give_up_at {
                        return Err(lost.into());
                    }
                    maybe_applied = true;
                    // The slot may not have noticed yet that its connection has ended.
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

/// Sends one write, and returns whether it was made. If it is `maybe_applied` and changes nothing
/// now, that is found out.
async fn try_write(
    connection: &PgConnection,
    statements: &WriteStatements,
    maybe_applied: bool,
) -> Result<bool, QueryError> {
    let write = &statements.write;
    if !connection.query(write.sql, &write.params).await?.is_empty() {
        return Ok(true);
    }
    if !maybe_applied {
        return Ok(false);
    }
    let verify = &statements.verify_applied;
    let applied = connection.query(verify.sql, &verify.params).await?;
    Ok(!applied.is_empty())
}

/// Sends a batch as one transaction in one go.
async fn send(connection: &PgConnection, batch: &[QueuedWrite]) -> BatchOutcome {
    let sent = connection.within_deadline(transaction(connection, batch));
    match sent.await {
        Ok(changed) => BatchOutcome::Committed(changed),
        Err(QueryError::Failed(error)) if !is_outcome_unknown(&error) => BatchOutcome::Refused,
        Err(_) => BatchOutcome::Unknown,
    }
}

async fn transaction(connection: &PgConnection, batch: &[QueuedWrite]) -> Result<Vec<bool>, Error> {
    for job in batch {
        connection.prepare(job.statements.write.sql).await?;
    }
    let mut begin = Box::pin(maybe_done(connection.client.batch_execute("BEGIN")));
    let writes = batch.iter().map(|job| {
        let write = &job.statements.write;
        Box::pin(maybe_done(
            connection.query_prepared(write.sql, &write.params),
        ))
    });
    let mut writes: Vec<_> = writes.collect();
    let mut commit = Box::pin(maybe_done(connection.client.batch_execute("COMMIT")));
    // The first poll of each sends it, so they are sent in this order.
    let _ = (&mut begin).now_or_never();
    for write in &mut writes {
        let _ = write.now_or_never();
    }
    join3(&mut begin, join_all(&mut writes), &mut commit).await;
    // The first error is the cause of those after it.
    begin.as_mut().take_output().expect("it was awaited")?;
    let mut changed = Vec::with_capacity(batch.len());
    for write in &mut writes {
        let rows = write.as_mut().take_output().expect("it was awaited")?;
        changed.push(!rows.is_empty());
    }
    commit.as_mut().take_output().expect("it was awaited")?;
    Ok(changed)
}
