//! Threads for work that is too long for an async worker, shared fairly among addresses.
//!
//! Every address has its own queue, and the queues are served by virtual time ([`FairShares`]). So a
//! client that sends many jobs delays its own jobs, and hardly those of others. Requests from this
//! machine have no address; each of them counts as a client of its own.

use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
    rt::time::sleep,
};
use rand::RngExt;
use serde::Serialize;
use tokio::sync::oneshot;

use super::{
    headers,
    limits::{Address, ClientAddress},
    metrics::{GaugeGuard, PoolMetrics},
    problem::{Code, Problem},
};
use crate::fair::{Charge, FairShares};

/// The expected cost of a short job, such as a list of moves.
pub const SHORT_JOB_COST: Duration = Duration::from_millis(1);

/// Entries of a game's log that are read and sent together.
pub const LOG_PAGE: u32 = 64;

/// The expected cost of reading that many entries and writing them as JSON.
pub const LOG_PAGE_COST: Duration = Duration::from_millis(2);

/// From this size on, a response is compressed on the thread that makes it.
const MIN_COMPRESS_BYTES: usize = 32 * 1024;

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

/// The jobs that wait or run.
#[derive(Default)]
struct JobQueues {
    queues: HashMap<QueueKey, ClientQueue>,
    shares: FairShares<QueueKey>,
    /// Waiting jobs in all queues.
    waiting: usize,
    /// Jobs added so far.
    added: u64,
    closed: bool,
}

/// To whom a job is charged.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum QueueKey {
    Address(Address),
    /// A single request, by its number.
    Request(u64),
}

/// The jobs of one client. The queue exists as long as it has a job.
#[derive(Default)]
struct ClientQueue {
    jobs: VecDeque<QueuedJob>,
    /// The expected cost of the waiting jobs.
    waiting: Duration,
    /// The number of running jobs, and their expected cost.
    running: usize,
    running_cost: Duration,
}

/// A waiting job.
struct QueuedJob {
    number: u64,
    cost: Duration,
    queued_at: Instant,
    task: Box<dyn PoolTask>,
    waiting: GaugeGuard,
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
    /// If the client accepts gzip, a large response is compressed there too, because that takes
    /// longer than writing it.
    pub async fn answer<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let gzip = headers::accepts_gzip(request);
        let body = move || {
            let json = serde_json::to_vec(&work()?).map_err(Problem::internal)?;
            Ok(match json.len() {
                ..MIN_COMPRESS_BYTES => (json, None),
                _ if gzip => (headers::gzip(&json)?, Some("gzip")),
                // Another encoding would be applied on the async worker.
                _ => (json, Some("identity")),
            })
        };
        let (body, encoding) = self.run(ClientAddress::of(request), cost, body).await?;
        let mut response = headers::private_response(StatusCode::OK);
        response.content_type("application/json");
        if let Some(encoding) = encoding {
            response.insert_header((header::CONTENT_ENCODING, encoding));
        }
        Ok(response.body(body))
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

impl JobQueues {
    /// Whether one more job of this client would be served within the queue's timeout, by the
    /// expected cost of all jobs.
    fn has_room(&self, key: QueueKey, config: &PoolConfig) -> bool {
        let queue = self.queues.get(&key);
        let own = queue.map_or(Duration::ZERO, ClientQueue::cost);
        let waiting = queue.map_or(Duration::ZERO, |queue| queue.waiting);
        let tag = self.shares.tag(&key).saturating_add(waiting);
        let others = self.queues.iter().filter(|(other, _)| **other != key);
        let before: Duration = others
            .map(|(other, queue)| {
                queue.running_cost + queue.cost_before(self.shares.tag(other), tag)
            })
            .sum();
        own < config.capacity(config.max_threads_per_client())
            && own + before < config.capacity(config.threads)
    }

    fn push(&mut self, key: QueueKey, job: QueuedJob) {
        let queue = self.queues.entry(key).or_default();
        queue.waiting += job.cost;
        queue.jobs.push_back(job);
        self.waiting += 1;
    }

    /// Takes the next job: the first of the client with the smallest tag among those that may occupy
    /// another thread.
    fn take(&mut self, max_threads_per_client: usize) -> Option<(QueuedJob, Charge<QueueKey>)> {
        let ready = self.queues.iter().filter_map(|(key, queue)| {
            let first = queue.jobs.front()?;
            let tag = self.shares.tag(key);
            (queue.running < max_threads_per_client).then_some((tag, first.number, *key))
        });
        let (_, _, key) = ready.min_by_key(|&(tag, number, _)| (tag, number))?;
        let queue = self.queues.get_mut(&key)?;
        let job = queue.pop_first()?;
        queue.running += 1;
        queue.running_cost += job.cost;
        self.waiting -= 1;
        let charge = self.shares.begin(key, job.cost);
        Some((job, charge))
    }

    /// Ends a job that was expected to cost `cost` and took `took`.
    fn end(&mut self, charge: Charge<QueueKey>, cost: Duration, took: Duration) {
        let key = charge.payer;
        let waiting = self.queues.values().filter(|queue| !queue.jobs.is_empty());
        let waiting = waiting.count();
        self.shares.end(charge, took, waiting);
        if let QueueKey::Request(_) = key {
            self.shares.forget(&key);
        }
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.running -= 1;
            queue.running_cost -= cost;
        }
        self.forget_idle();
    }

    /// Removes the jobs that have waited longer than this, and those before them whose clients have
    /// disconnected.
    fn remove_expired(&mut self, queue_timeout: Duration) -> Vec<QueuedJob> {
        let mut removed = Vec::new();
        for queue in self.queues.values_mut() {
            let is_expired = |job: &QueuedJob| {
                job.queued_at.elapsed() >= queue_timeout || job.task.is_abandoned()
            };
            while queue.jobs.front().is_some_and(is_expired) {
                removed.extend(queue.pop_first());
            }
        }
        self.note_removed(removed)
    }

    /// Removes all jobs for which the test holds.
    fn remove(&mut self, is_one: impl Fn(&QueuedJob) -> bool) -> Vec<QueuedJob> {
        let mut removed = Vec::new();
        for queue in self.queues.values_mut() {
            let (gone, kept) = queue.jobs.drain(..).partition(&is_one);
            queue.jobs = kept;
            removed.extend::<VecDeque<QueuedJob>>(gone);
            queue.waiting = queue.jobs.iter().map(|job| job.cost).sum();
        }
        self.note_removed(removed)
    }

    /// Removes the last job of the longest queue, unless this client's queue is about as long.
    fn evict_for(&mut self, key: QueueKey) -> Vec<QueuedJob> {
        let own = self.queues.get(&key).map_or(0, |queue| queue.jobs.len());
        let longest = self
            .queues
            .values_mut()
            .max_by_key(|queue| queue.jobs.len());
        let Some(longest) = longest.filter(|queue| queue.jobs.len() > own + 1) else {
            return Vec::new();
        };
        let last = longest.jobs.pop_back();
        longest.waiting -= last.as_ref().map_or(Duration::ZERO, |job| job.cost);
        self.note_removed(last.into_iter().collect())
    }

    fn note_removed(&mut self, removed: Vec<QueuedJob>) -> Vec<QueuedJob> {
        if !removed.is_empty() {
            self.waiting -= removed.len();
            self.forget_idle();
        }
        removed
    }

    fn forget_idle(&mut self) {
        self.queues
            .retain(|_, queue| queue.running > 0 || !queue.jobs.is_empty());
        if self.queues.is_empty() {
            self.shares.clear();
        }
    }
}

impl ClientQueue {
    /// The expected cost of its waiting and running jobs.
    fn cost(&self) -> Duration {
        self.waiting + self.running_cost
    }

    /// The expected cost of its jobs that are served before a job with the tag `other`, if its own
    /// tag is `own`.
    fn cost_before(&self, own: Duration, other: Duration) -> Duration {
        match self.jobs.front() {
            Some(first) if own <= other => self.waiting.min(other - own + first.cost),
            _ => Duration::ZERO,
        }
    }

    fn pop_first(&mut self) -> Option<QueuedJob> {
        let job = self.jobs.pop_front()?;
        self.waiting -= job.cost;
        Some(job)
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

#[cfg(test)]
mod tests {
    use std::{pin::Pin, sync::mpsc};

    use actix_web::ResponseError;
    use futures_util::FutureExt;

    use super::*;

    const LONG_JOB: Duration = Duration::from_secs(2);
    const SHORT_JOB: Duration = Duration::from_millis(5);
    const LOCAL: ClientAddress = ClientAddress(None);

    fn start(config: PoolConfig) -> WorkerPool {
        WorkerPool::start(config, PoolMetrics::default()).unwrap()
    }

    fn config(threads: usize, queue_timeout: Duration) -> PoolConfig {
        PoolConfig {
            name: "test",
            threads,
            queue_capacity: 100,
            queue_timeout,
            nice: 0,
        }
    }

    fn address(number: u8) -> ClientAddress {
        ClientAddress(Address::of_peer(([192, 0, 2, number], 1).into()))
    }

    type PendingReply<'p> = Pin<Box<dyn Future<Output = Result<String, Problem>> + 'p>>;

    /// Jobs that wait until the test releases them, and record that they are done.
    struct Gate {
        go: mpsc::Sender<()>,
        gate: Arc<Mutex<mpsc::Receiver<()>>>,
        done: Arc<Mutex<Vec<String>>>,
    }

    impl Gate {
        fn new() -> Gate {
            let (go, gate) = mpsc::channel();
            let gate = Arc::new(Mutex::new(gate));
            let done = Arc::default();
            Gate { go, gate, done }
        }

        /// Adds a job to the pool's queue.
        fn add<'p>(
            &self,
            pool: &'p WorkerPool,
            client: ClientAddress,
            cost: Duration,
            name: &str,
        ) -> PendingReply<'p> {
            let (gate, done) = (Arc::clone(&self.gate), Arc::clone(&self.done));
            let name = name.to_owned();
            let mut answer = Box::pin(pool.run(client, cost, move || {
                gate.lock().unwrap().recv().unwrap();
                done.lock().unwrap().push(name.clone());
                Ok(name)
            }));
            match answer.as_mut().now_or_never() {
                Some(refused) => Box::pin(async { refused }),
                None => answer,
            }
        }

        fn open(&self, jobs: usize) {
            for _ in 0..jobs {
                self.go.send(()).unwrap();
            }
        }

        fn done(&self) -> Vec<String> {
            self.done.lock().unwrap().clone()
        }
    }

    /// Waits until this many jobs are running.
    fn until_running(pool: &WorkerPool, jobs: usize) {
        let running = || {
            pool.0
                .jobs()
                .queues
                .values()
                .map(|queue| queue.running)
                .sum::<usize>()
        };
        while running() != jobs {
            thread::yield_now();
        }
    }

    fn is_refused(answer: &Result<String, Problem>) -> bool {
        answer
            .as_ref()
            .is_err_and(|problem| problem.status_code() == 503)
    }

    #[actix_web::test]
    async fn a_job_that_waited_too_long_is_refused() {
        let queue_timeout = Duration::from_millis(50);
        let pool = start(config(1, queue_timeout));
        let gate = Gate::new();
        let first = gate.add(&pool, LOCAL, SHORT_JOB_COST, "first");
        until_running(&pool, 1);
        let second = gate.add(&pool, LOCAL, SHORT_JOB_COST, "second");
        thread::sleep(queue_timeout);
        gate.open(1);
        assert_eq!(first.await.unwrap(), "first");
        assert!(is_refused(&second.await));
        gate.open(1);
        let third = gate.add(&pool, LOCAL, SHORT_JOB_COST, "third");
        assert_eq!(third.await.unwrap(), "third");
    }

    #[actix_web::test]
    async fn jobs_that_cannot_be_served_in_time_are_refused() {
        for clients in [[LOCAL; 6], [address(1); 6]] {
            let pool = start(config(1, Duration::from_secs(10)));
            let gate = Gate::new();
            let add = |client| gate.add(&pool, client, LONG_JOB, "");
            let mut waiting: Vec<PendingReply<'_>> =
                clients[..5].iter().copied().map(add).collect();
            assert!(is_refused(&add(clients[5]).await));
            // A client that goes away makes room.
            until_running(&pool, 1);
            waiting.pop();
            waiting.push(add(clients[5]));
            gate.open(5);
            for job in waiting {
                assert!(job.await.is_ok());
            }
            until_running(&pool, 0);
            assert!(pool.0.jobs().queues.is_empty());
        }
    }

    #[actix_web::test]
    async fn a_newcomer_is_served_next_however_much_another_has_waiting() {
        let pool = start(config(1, Duration::from_secs(10)));
        let gate = Gate::new();
        let all = (0..100).map(|_| gate.add(&pool, address(1), LONG_JOB, "long"));
        let all: Vec<PendingReply<'_>> = all.collect();
        until_running(&pool, 1);
        let short = gate.add(&pool, address(2), SHORT_JOB, "short");
        gate.open(2);
        assert_eq!(short.await.unwrap(), "short");
        assert_eq!(gate.done(), ["long", "short"]);
        drop(all);
        gate.open(10);
    }

    #[actix_web::test]
    async fn one_address_does_not_occupy_all_threads() {
        let pool = start(config(2, Duration::from_secs(10)));
        let gate = Gate::new();
        let long: Vec<PendingReply<'_>> = (0..4)
            .map(|_| gate.add(&pool, address(1), LONG_JOB, "long"))
            .collect();
        until_running(&pool, 1);
        for client in [address(2), LOCAL] {
            assert_eq!(pool.run(client, SHORT_JOB, || Ok(7)).await.unwrap(), 7);
        }
        assert!(gate.done().is_empty());
        gate.open(4);
        for job in long {
            assert!(job.await.is_ok());
        }
    }

    #[actix_web::test]
    async fn a_full_queue_has_a_place_for_a_newcomer() {
        let pool = start(PoolConfig {
            queue_capacity: 4,
            ..config(1, Duration::from_secs(10))
        });
        let gate = Gate::new();
        let first = gate.add(&pool, address(1), SHORT_JOB_COST, "first");
        until_running(&pool, 1);
        let mut waiting: Vec<PendingReply<'_>> = (0..4)
            .map(|number| gate.add(&pool, address(1), SHORT_JOB_COST, &number.to_string()))
            .collect();
        assert!(is_refused(
            &gate
                .add(&pool, address(1), SHORT_JOB_COST, "one too many")
                .await
        ));
        let newcomer = gate.add(&pool, address(2), SHORT_JOB_COST, "newcomer");
        let last = waiting.pop().unwrap();
        assert!(is_refused(&last.await));
        gate.open(5);
        assert!(first.await.is_ok() && newcomer.await.is_ok());
        for job in waiting {
            assert!(job.await.is_ok());
        }
        assert_eq!(gate.done(), ["first", "newcomer", "0", "1", "2"]);
    }

    #[actix_web::test]
    async fn a_panic_ends_its_job_only() {
        let pool = start(config(1, Duration::from_secs(10)));
        let panics = pool.run(LOCAL, SHORT_JOB_COST, || -> Result<u8, Problem> {
            panic!("on purpose")
        });
        assert_eq!(panics.await.unwrap_err().status_code(), 500);
        assert_eq!(pool.run(LOCAL, SHORT_JOB_COST, || Ok(7)).await.unwrap(), 7);
        until_running(&pool, 0);
        assert!(pool.0.jobs().queues.is_empty());
    }
}
