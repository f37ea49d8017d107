//! The threads of a pool, and the jobs that they run.
//!
//! Every address has its own queue, and the queues are served by virtual time
//! ([`FairShares`](crate::fair::FairShares)). So a client that sends many jobs delays its own jobs,
//! and hardly those of others. Whoever has used little time recently goes first. A long job passes
//! checkpoints, where it pauses if others are to go first; its thread waits, and another one works.
//! Requests from this machine have no address; each of them counts as a client of its own.

#[cfg(test)]
mod tests;

use std::{
    cell::RefCell,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc::channel},
    thread,
    time::{Duration, Instant},
};

use actix_web::rt::time::sleep;
use parking_lot::{Condvar, Mutex};
use rand::RngExt;
use tokio::sync::oneshot;

use super::queues::{JobQueues, PoolConfig, PoolTask, QueueKey, QueuedJob, SLICE};
use crate::{
    fair::Charge,
    limits::ClientAddress,
    metrics::{GaugeGuard, PoolMetrics},
    problem::{Code, Problem},
    runtime::{lower_priority, thread_time},
};

/// The expected cost of a short job, such as a list of moves.
pub const SHORT_JOB_COST: Duration = Duration::from_millis(1);

/// Entries of a game's log that are read and sent together.
pub const LOG_PAGE: u32 = 64;

/// The expected cost of reading that many entries and writing them as JSON.
pub const LOG_PAGE_COST: Duration = Duration::from_millis(2);

/// A pool of threads with the jobs that wait for them.
pub struct WorkerPool(Arc<PoolInner>);

struct PoolInner {
    metrics: PoolMetrics,
    jobs: Mutex<JobQueues>,
    /// Notified of each job that is to begin, and when the pool is dropped.
    added: Condvar,
}

/// The job of a thread.
struct RunningJob {
    pool: Arc<PoolInner>,
    /// When it began or last went on, and the processor time of the thread then.
    since: Instant,
    used_before: Duration,
    /// The charge for what it has done since; none if the pool was dropped.
    charge: Option<Charge<QueueKey>>,
    /// Counts it as working or waiting.
    counted: GaugeGuard,
    /// How long it has paused.
    paused: Duration,
}

thread_local! {
    static JOB: RefCell<Option<RunningJob>> = const { RefCell::new(None) };
}

/// For a job of a pool, to be called about every millisecond: if it has worked for some time, those
/// that are to go before it do so. Returns whether it is to go on: not if the pool was dropped.
pub fn checkpoint() -> bool {
    JOB.with_borrow_mut(|job| job.as_mut().is_none_or(RunningJob::checkpoint))
}

/// How long the job of this thread has paused.
pub fn paused() -> Duration {
    JOB.with_borrow(|job| job.as_ref().map_or(Duration::ZERO, |job| job.paused))
}

impl RunningJob {
    fn checkpoint(&mut self) -> bool {
        if self.since.elapsed() >= SLICE
            && let Some(charge) = self.charge.take()
        {
            self.pause(charge);
        }
        self.charge.is_some()
    }

    fn pause(&mut self, charge: Charge<QueueKey>) {
        let begun = Instant::now();
        let (resume, resumed) = channel();
        let mut jobs = self.pool.jobs.lock();
        let removed = jobs.remove_stale();
        let key = jobs.end_slice(charge, self.since.elapsed(), self.used());
        jobs.pause(key, resume);
        if jobs.resume().is_some() {
            self.pool.added.notify_one();
        }
        drop(jobs);
        self.pool.refuse(removed);
        self.counted = GaugeGuard::new(&self.pool.metrics.waiting);
        self.charge = resumed.recv().ok();
        self.counted = GaugeGuard::new(&self.pool.metrics.busy);
        self.since = Instant::now();
        self.used_before = thread_time();
        self.paused += begun.elapsed();
    }

    /// The processor time since it began or last went on.
    fn used(&self) -> Duration {
        thread_time().saturating_sub(self.used_before)
    }
}

struct BlockingTask<T, F> {
    reply: oneshot::Sender<Result<T, Problem>>,
    work: F,
}

impl<T: Send, F: FnOnce() -> Result<T, Problem> + Send> PoolTask for BlockingTask<T, F> {
    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn run(self: Box<Self>) {
        let BlockingTask { reply, work } = *self;
        // A panic ends this job only. Its caller sees that the reply is missing.
        if let Ok(result) = catch_unwind(AssertUnwindSafe(work)) {
            let _ = reply.send(result);
        }
    }

    fn refuse(self: Box<Self>) {
        let detail = "too many requests are waiting";
        let _ = self
            .reply
            .send(Err(Problem::new(Code::Unavailable, detail)));
    }
}

impl WorkerPool {
    /// Starts the threads of a pool.
    ///
    /// # Errors
    /// If the operating system starts no more threads.
    pub fn start(config: PoolConfig, metrics: PoolMetrics) -> io::Result<WorkerPool> {
        metrics.threads.set(config.threads as i64);
        // Dropping it ends the threads, even if not all of them could be started.
        let pool = WorkerPool(Arc::new(PoolInner {
            metrics,
            jobs: Mutex::new(JobQueues::new(config)),
            added: Condvar::new(),
        }));
        for number in 0..config.threads + config.max_paused {
            let inner = Arc::clone(&pool.0);
            let thread = thread::Builder::new().name(format!("{}-{number}", config.name));
            thread.spawn(move || {
                lower_priority(config.nice);
                inner.run();
            })?;
        }
        Ok(pool)
    }

    /// Does work on one of the threads. It is charged to the client: at first the expected cost, in
    /// the end the actual cost. If the future is dropped, work that has not begun is not done.
    ///
    /// # Errors
    /// `unavailable`, at once if the jobs before it are expected to take longer than the queue's
    /// timeout, or after the timeout; `internal` if the work panicked; else what the work returns.
    pub async fn run<T: Send + 'static>(
        &self,
        client: ClientAddress,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (reply, received) = oneshot::channel();
        self.0
            .add(client, cost, Box::new(BlockingTask { reply, work }));
        received
            .await
            .unwrap_or_else(|_| Err(Problem::internal("a job panicked")))
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.0.jobs.lock().close();
        self.0.added.notify_all();
    }
}

impl PoolInner {
    /// Adds a job to its client's queue, or refuses it.
    fn add(&self, client: ClientAddress, cost: Duration, task: Box<dyn PoolTask>) {
        let mut jobs = self.jobs.lock();
        jobs.added += 1;
        let job = QueuedJob {
            number: jobs.added,
            cost,
            queued_at: Instant::now(),
            task,
            waiting: GaugeGuard::new(&self.metrics.waiting),
        };
        let key = match client {
            ClientAddress(Some(address)) => QueueKey::Address(address),
            ClientAddress(None) => QueueKey::Request(job.number),
        };
        let mut refused = jobs.remove_stale();
        if jobs.has_room(key, cost) {
            refused.extend(jobs.push(key, job));
        } else {
            refused.push(job);
        }
        drop(jobs);
        self.added.notify_one();
        self.refuse(refused);
    }

    /// Runs jobs until the pool is dropped.
    fn run(self: Arc<Self>) {
        while let Some((job, charge)) = self.next() {
            drop(job.waiting);
            self.metrics.jobs.inc();
            JOB.set(Some(RunningJob {
                pool: Arc::clone(&self),
                since: Instant::now(),
                used_before: thread_time(),
                charge: Some(charge),
                counted: GaugeGuard::new(&self.metrics.busy),
                paused: Duration::ZERO,
            }));
            job.task.run();
            let Some(mut running) = JOB.take() else { break };
            let Some(charge) = running.charge.take() else {
                break;
            };
            let mut jobs = self.jobs.lock();
            let key = jobs.end_slice(charge, running.since.elapsed(), running.used());
            jobs.end(key, job.cost);
        }
    }

    /// Waits for the next job; none if the pool was dropped.
    fn next(&self) -> Option<(QueuedJob, Charge<QueueKey>)> {
        let mut jobs = self.jobs.lock();
        jobs.idle += 1;
        while !jobs.closed {
            let stale = jobs.remove_stale();
            let next = jobs.begin();
            if stale.is_empty() && next.is_none() {
                self.added.wait(&mut jobs);
                continue;
            }
            // A removed job may hold the last handle of the pool, whose drop takes the lock.
            drop(jobs);
            self.refuse(stale);
            if next.is_some() {
                return next;
            }
            jobs = self.jobs.lock();
        }
        None
    }

    /// Refuses jobs that were removed.
    fn refuse(&self, removed: Vec<QueuedJob>) {
        for job in removed {
            if !job.task.is_abandoned() {
                self.metrics.refused.inc();
                job.task.refuse();
            }
        }
    }
}

/// Waits about a second before a retry.
pub async fn wait_before_retry() {
    // A random time, so that not all clients retry at once.
    sleep(Duration::from_millis(rand::rng().random_range(500..1_500))).await;
}
