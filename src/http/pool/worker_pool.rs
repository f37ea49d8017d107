//! Threads for work that is too long for an async worker, shared fairly among addresses.
//!
//! Every address has its own queue, and the queues are served by virtual time
//! ([`FairShares`](crate::fair::FairShares)). So a client that sends many jobs delays its own jobs,
//! and hardly those of others. Requests from this machine have no address; each of them counts as a
//! client of its own.

mod queues;
#[cfg(test)]
mod tests;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
    rt::time::sleep,
};
use rand::RngExt;
use serde::Serialize;
use tokio::sync::oneshot;

use self::queues::{JobQueues, QueueKey, QueuedJob};
use super::{
    headers::{self, check_if_match, content_etag, content_hash, is_not_modified},
    limits::ClientAddress,
    metrics::PoolMetrics,
    problem::{Code, Problem},
};
use crate::fair::Charge;

/// The expected cost of a short job, such as a list of moves.
pub const SHORT_JOB_COST: Duration = Duration::from_millis(1);

/// Entries of a game's log that are read and sent together.
pub const LOG_PAGE: u32 = 64;

/// The expected cost of reading that many entries and writing them as JSON.
pub const LOG_PAGE_COST: Duration = Duration::from_millis(2);

/// A pool of threads with the jobs that wait for them.
pub struct WorkerPool(Arc<PoolInner>);

/// The settings of a pool.
#[derive(Clone, Copy)]
pub struct PoolConfig {
    pub name: &'static str,
    pub threads: usize,
    /// Jobs that may wait.
    pub queue_capacity: usize,
    /// How long a job may wait.
    pub queue_timeout: Duration,
    /// The nice value of the threads; on Linux only.
    pub nice: i32,
}

struct PoolInner {
    config: PoolConfig,
    metrics: PoolMetrics,
    jobs: Mutex<JobQueues>,
    /// Notified of each new job, and when the pool is dropped.
    added: Condvar,
}

/// The work of a job, and where its result goes.
trait PoolTask: Send {
    /// Whether nobody waits for the result any longer.
    fn is_abandoned(&self) -> bool;
    fn run(self: Box<Self>);
    fn refuse(self: Box<Self>);
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
    pub fn start(config: PoolConfig, metrics: PoolMetrics) -> std::io::Result<WorkerPool> {
        metrics.threads(config.threads);
        let inner = Arc::new(PoolInner {
            config,
            metrics,
            jobs: Mutex::default(),
            added: Condvar::new(),
        });
        // Dropping it ends the threads, even if not all of them could be started.
        let pool = WorkerPool(inner);
        for number in 0..config.threads {
            let inner = Arc::clone(&pool.0);
            thread::Builder::new()
                .name(format!("{}-{number}", config.name))
                .spawn(move || {
                    set_nice(config.nice);
                    inner.run();
                })?;
        }
        Ok(pool)
    }

    /// Computes a response on one of the threads and writes it as JSON, which may be megabytes long.
    /// If the client accepts gzip, the response is compressed there too, because that takes longer
    /// than writing it.
    pub async fn answer<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let gzip = headers::accepts_gzip(request);
        let body = move || JsonBody::new(json(&work()?)?, gzip);
        let body = self.run(ClientAddress::of(request), cost, body).await?;
        Ok(body.respond(&mut headers::private_response(StatusCode::OK)))
    }

    /// The same with an `ETag`, a hash of the content. The response is 304 if the client has that
    /// content already.
    pub async fn answer_if_changed<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let gzip = headers::accepts_gzip(request);
        let conditions = request.headers().clone();
        let body = move || {
            let json = json(&work()?)?;
            let etag = content_etag(&content_hash(&json), gzip);
            check_if_match(&conditions, &[&etag])?;
            let changed = !is_not_modified(&conditions, &etag);
            let body = changed.then(|| JsonBody::new(json, gzip));
            Ok((etag, body.transpose()?))
        };
        let (etag, body) = self.run(ClientAddress::of(request), cost, body).await?;
        let status = match body {
            Some(_) => StatusCode::OK,
            None => StatusCode::NOT_MODIFIED,
        };
        let mut response = headers::private_response(status);
        response.insert_header((header::ETAG, etag));
        Ok(match body {
            Some(body) => body.respond(&mut response),
            None => response.finish(),
        })
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

/// A response's body and its encoding.
struct JsonBody {
    bytes: Vec<u8>,
    encoding: &'static str,
}

impl JsonBody {
    /// The body with this JSON, compressed if the client accepts `gzip`.
    fn new(json: Vec<u8>, gzip: bool) -> Result<JsonBody, Problem> {
        let (bytes, encoding) = match gzip {
            true => (headers::gzip(&json)?, "gzip"),
            // Another encoding would be applied on the async worker.
            false => (json, "identity"),
        };
        Ok(JsonBody { bytes, encoding })
    }

    fn respond(self, response: &mut HttpResponseBuilder) -> HttpResponse {
        response
            .content_type("application/json")
            .insert_header((header::CONTENT_ENCODING, self.encoding))
            .body(self.bytes)
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.0.jobs().closed = true;
        self.0.added.notify_all();
    }
}

impl PoolInner {
    fn jobs(&self) -> MutexGuard<'_, JobQueues> {
        // No code that can panic runs while it is locked.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job to its client's queue, or refuses it.
    fn add(&self, client: ClientAddress, cost: Duration, task: Box<dyn PoolTask>) {
        let mut jobs = self.jobs();
        jobs.added += 1;
        let number = jobs.added;
        let key = match client {
            ClientAddress(Some(address)) => QueueKey::Address(address),
            ClientAddress(None) => QueueKey::Request(number),
        };
        let mut removed = Vec::new();
        let mut has_room = jobs.has_room(key, &self.config);
        if !has_room {
            // Jobs whose clients have disconnected are dropped.
            removed = jobs.remove(|job| job.task.is_abandoned());
            has_room = jobs.has_room(key, &self.config);
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
            drop(jobs);
            self.added.notify_one();
        } else {
            drop(jobs);
            self.metrics.refused();
            task.refuse();
        }
        self.refuse(removed);
    }

    /// Runs jobs until the pool is dropped.
    fn run(&self) {
        while let Some((job, charge)) = self.next() {
            drop(job.waiting);
            let (begun, working) = (Instant::now(), self.metrics.working());
            job.task.run();
            drop(working);
            self.jobs().end(charge, job.cost, begun.elapsed());
        }
    }

    /// Waits for the next job; none if the pool was dropped.
    fn next(&self) -> Option<(QueuedJob, Charge<QueueKey>)> {
        let mut jobs = self.jobs();
        loop {
            if jobs.closed {
                return None;
            }
            let removed = jobs.remove_expired(self.config.queue_timeout);
            let next = jobs.take(self.config.max_threads_per_client());
            if removed.is_empty() && next.is_none() {
                let waited = self.added.wait(jobs);
                jobs = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // A removed job may hold the last handle of the pool, whose drop takes the lock.
            drop(jobs);
            self.refuse(removed);
            if next.is_some() {
                return next;
            }
            jobs = self.jobs();
        }
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

impl PoolConfig {
    /// The threads that one client may occupy: not all, so that its long jobs do not block the short
    /// jobs of others.
    fn max_threads_per_client(&self) -> usize {
        self.threads.saturating_sub(1).max(1)
    }

    /// The work that this many threads can do within the queue's timeout.
    fn capacity(&self, threads: usize) -> Duration {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        self.queue_timeout.saturating_mul(threads)
    }
}

/// Waits about a second before a retry.
pub async fn wait_before_retry() {
    // A random time, so that not all clients retry at once.
    sleep(Duration::from_millis(rand::rng().random_range(500..1_500))).await;
}

/// Lowers the priority of this thread where the nice value says so.
fn set_nice(nice: i32) {
    #[cfg(target_os = "linux")]
    if nice > 0
        && let Err(error) = rustix::process::nice(nice)
    {
        log::debug!("cannot lower the priority of a pool: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}
