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
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    thread,
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder, http::StatusCode, rt::time::sleep,
};
use parking_lot::Mutex;
use rand::RngExt;
use serde::Serialize;
use tokio::sync::oneshot;

use super::queues::{
    JobQueues, NextJob, PausedJob, PoolConfig, PoolTask, QueueKey, QueuedJob, SLICE, StartedJob,
};
use crate::{
    fair::Charge,
    http::{
        headers::{EncodedContent, TaggedContent, accepts_gzip, private_response},
        problem::{Code, Problem},
    },
    limits::ClientAddress,
    metrics::{GaugeGuard, PoolMetrics},
    runtime::{lower_priority, thread_time},
};

/// The expected cost of a short job, such as a list of moves.
pub const SHORT_JOB_COST: Duration = Duration::from_millis(1);

/// Entries of a game's log that are read and sent together.
pub const LOG_PAGE: u32 = 64;

/// The expected cost of reading that many entries and writing them as JSON.
pub const LOG_PAGE_COST: Duration = Duration::from_millis(2);

/// The most threads of a pool, nearly all of which have paused jobs. Beyond that, no job begins
/// before another one ends.
const MAX_THREADS: usize = 64;

/// A pool of threads with the jobs that wait for them.
pub struct WorkerPool(Arc<PoolInner>);

struct PoolInner {
    config: PoolConfig,
    metrics: PoolMetrics,
    jobs: Mutex<JobQueues>,
}

/// The job of a thread.
struct RunningJob {
    pool: Arc<PoolInner>,
    number: u64,
    key: QueueKey,
    /// What it is expected to need from here.
    left: Duration,
    /// When it began or last went on, and the charge for what it has done since. None if the pool
    /// was dropped.
    since: Instant,
    charge: Option<Charge<QueueKey>>,
    /// The processor time of the thread then.
    used_before: Duration,
    working: Option<GaugeGuard>,
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
        if self.since.elapsed() < SLICE {
            return self.charge.is_some();
        }
        let Some(charge) = self.charge.take() else {
            return false;
        };
        let (resume, resumed) = channel();
        let begun = Instant::now();
        let mut jobs = self.pool.jobs.lock();
        let used = thread_time().saturating_sub(self.used_before);
        self.left = jobs.end_slice(charge, self.left, self.since.elapsed(), used);
        let (number, left) = (self.number, self.left);
        let job = PausedJob {
            number,
            left,
            resume,
        };
        jobs.pause(self.key, job);
        let removed = self.pool.start_next(&mut jobs);
        drop(jobs);
        self.pool.refuse(removed);
        self.working = None;
        let waiting = self.pool.metrics.waiting();
        self.charge = resumed.recv().ok();
        drop(waiting);
        self.working = Some(self.pool.metrics.working());
        self.since = Instant::now();
        self.used_before = thread_time();
        self.paused += begun.elapsed();
        self.charge.is_some()
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
        metrics.threads(config.threads);
        let inner = Arc::new(PoolInner {
            config,
            metrics,
            jobs: Mutex::default(),
        });
        // Dropping it ends the threads, even if not all of them could be started.
        let pool = WorkerPool(inner);
        let mut jobs = pool.0.jobs.lock();
        jobs.free = config.threads;
        while jobs.threads <= config.threads {
            pool.0.add_thread(&mut jobs)?;
        }
        drop(jobs);
        Ok(pool)
    }

    /// Computes a response on one of the threads and writes it as JSON, which may be megabytes
    /// long. If the client accepts gzip, the response is compressed there too, because that takes
    /// longer than writing it.
    pub async fn answer<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        self.answer_with(request, cost, &mut json_response(), work)
            .await
    }

    /// The same with other headers, which this response has.
    pub async fn answer_with<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        response: &mut HttpResponseBuilder,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let gzip = accepts_gzip(request);
        let content = self.run(ClientAddress::from_extensions(request), cost, move || {
            EncodedContent::new(json(&work()?)?, gzip)
        });
        Ok(content.await?.respond(response))
    }

    /// The same with an `ETag`, a hash of the content. The response is 304 if the client has that
    /// content already.
    pub async fn answer_if_changed<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let (headers, gzip) = (request.headers().clone(), accepts_gzip(request));
        let content = self.run(ClientAddress::from_extensions(request), cost, move || {
            TaggedContent::new(&headers, json(&work()?)?, gzip)
        });
        Ok(content.await?.respond(&mut json_response()))
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

fn json(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(Problem::internal)
}

fn json_response() -> HttpResponseBuilder {
    let mut response = private_response(StatusCode::OK);
    response.content_type("application/json");
    response
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.0.jobs.lock().close();
    }
}

impl PoolInner {
    /// Adds a job to its client's queue, or refuses it.
    fn add(self: &Arc<Self>, client: ClientAddress, cost: Duration, task: Box<dyn PoolTask>) {
        let mut jobs = self.jobs.lock();
        jobs.added += 1;
        let number = jobs.added;
        let key = match client {
            ClientAddress(Some(address)) => QueueKey::Address(address),
            ClientAddress(None) => QueueKey::Request(number),
        };
        let mut removed = Vec::new();
        let mut has_room = jobs.has_room(key, cost, &self.config);
        if !has_room {
            // Jobs whose clients have disconnected are dropped.
            removed = jobs.remove(|job| job.task.is_abandoned());
            has_room = jobs.has_room(key, cost, &self.config);
        }
        if has_room && jobs.waiting >= self.config.queue_capacity {
            removed.extend(jobs.evict_for(key));
            has_room = jobs.waiting < self.config.queue_capacity;
        }
        if has_room {
            let job = QueuedJob {
                number,
                cost,
                queued_at: Instant::now(),
                task,
                waiting: self.metrics.waiting(),
            };
            jobs.push(key, job);
            removed.extend(self.start_next(&mut jobs));
            drop(jobs);
        } else {
            drop(jobs);
            self.metrics.refused();
            task.refuse();
        }
        self.refuse(removed);
    }

    /// Starts a thread, which is idle at first.
    fn add_thread(self: &Arc<Self>, jobs: &mut JobQueues) -> io::Result<()> {
        let (sender, receiver) = channel();
        let (name, nice) = (self.config.name, self.config.nice);
        let pool = Arc::clone(self);
        thread::Builder::new()
            .name(format!("{name}-{}", jobs.threads))
            .spawn(move || {
                lower_priority(nice);
                pool.run(receiver);
            })?;
        jobs.threads += 1;
        jobs.idle.push(sender);
        Ok(())
    }

    /// Runs jobs until the pool is dropped, or enough other threads are idle.
    fn run(self: Arc<Self>, mut received: Receiver<StartedJob>) {
        while let Ok(StartedJob { job, charge }) = received.recv() {
            drop(job.waiting);
            self.metrics.begun();
            JOB.set(Some(RunningJob {
                pool: Arc::clone(&self),
                number: job.number,
                key: charge.payer,
                left: job.cost,
                since: Instant::now(),
                charge: Some(charge),
                used_before: thread_time(),
                working: Some(self.metrics.working()),
                paused: Duration::ZERO,
            }));
            job.task.run();
            let Some(job) = JOB.take() else { break };
            drop(job.working);
            let Some(charge) = job.charge else { break };
            let (sender, receiver) = channel();
            let mut jobs = self.jobs.lock();
            let used = thread_time().saturating_sub(job.used_before);
            let left = jobs.end_slice(charge, job.left, job.since.elapsed(), used);
            jobs.end(job.key, left);
            let is_needed = jobs.idle.len() <= self.config.threads && !jobs.closed;
            if is_needed {
                jobs.idle.push(sender);
            }
            let removed = self.start_next(&mut jobs);
            drop(jobs);
            self.refuse(removed);
            received = receiver;
        }
        self.jobs.lock().threads -= 1;
    }

    /// Has as many jobs go on or begin as may run, and keeps a thread idle if possible. Returns the
    /// jobs that have waited too long. They may hold the last handle of the pool, whose drop takes
    /// the lock.
    #[must_use]
    fn start_next(self: &Arc<Self>, jobs: &mut JobQueues) -> Vec<QueuedJob> {
        let removed = jobs.remove_expired(self.config.queue_timeout);
        while jobs.free > 0 && !jobs.closed {
            let Some(next) = jobs.take(self.config.max_threads_per_client()) else {
                break;
            };
            match next {
                NextJob::Resume(job, charge) => drop(job.resume.send(charge)),
                NextJob::Start(job, thread) => drop(thread.send(job)),
            }
            if jobs.idle.is_empty()
                && jobs.threads < MAX_THREADS
                && let Err(error) = self.add_thread(jobs)
            {
                log::warn!("no other thread for {}: {error}", self.config.name);
            }
        }
        removed
    }

    /// Refuses jobs that were removed.
    fn refuse(&self, removed: Vec<QueuedJob>) {
        for job in removed {
            if !job.task.is_abandoned() {
                self.metrics.refused();
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
