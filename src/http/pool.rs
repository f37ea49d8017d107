//! Threads for work that is too long for an async worker, shared fairly among addresses.
//!
//! Every address has a queue of its own, and the queues are served by virtual time ([`Shares`]).
//! So a client that sends much work delays its own, and hardly that of others. Requests from this
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
use crate::fair::{Service, Shares};

/// The expected cost of short work, such as a list of moves.
pub const QUICK: Duration = Duration::from_millis(1);

/// Entries of a game's log that are read and sent together.
pub const LOG_PAGE: u32 = 64;

/// The expected cost of reading so many and writing them as JSON.
pub const LOG_PAGE_COST: Duration = Duration::from_millis(2);

/// Bytes of a response from which on it is compressed where it is made.
const LARGE: usize = 32 * 1024;

/// A number of threads and the jobs that wait for them.
pub struct WorkerPool(Arc<PoolInner>);

/// The settings of a pool.
#[derive(Clone, Copy)]
pub struct PoolConfig {
    pub name: &'static str,
    pub threads: usize,
    /// Jobs that may wait.
    pub length: usize,
    /// How long a job may wait.
    pub patience: Duration,
    /// By how much the threads give way to others, as `nice` counts it; on Linux only.
    pub niceness: i32,
}

struct PoolInner {
    make: PoolConfig,
    metrics: PoolMetrics,
    jobs: Mutex<Jobs>,
    /// Notified of each new job, and when the pool is dropped.
    added: Condvar,
}

/// Everything that waits or is being done.
#[derive(Default)]
struct Jobs {
    lines: HashMap<QueueKey, ClientQueue>,
    shares: Shares<QueueKey>,
    /// Jobs that wait, of all payers.
    waiting: usize,
    /// Jobs that were added so far.
    added: u64,
    closed: bool,
}

/// Who answers for a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum QueueKey {
    Address(Address),
    /// A single request, by its number.
    Request(u64),
}

/// The jobs of one payer. It exists as long as there is one.
#[derive(Default)]
struct ClientQueue {
    jobs: VecDeque<QueuedJob>,
    /// The expected cost of those jobs.
    waiting: Duration,
    /// Jobs that are being done, and their expected cost.
    running: usize,
    running_cost: Duration,
}

/// A job that waits.
struct QueuedJob {
    number: u64,
    cost: Duration,
    asked: Instant,
    work: Box<dyn PoolTask>,
    waiting: GaugeGuard,
}

/// What is to be done, and where its result goes.
trait PoolTask: Send {
    /// Whether nobody waits for the result any more.
    fn is_abandoned(&self) -> bool;
    fn run(self: Box<Self>);
    fn refuse(self: Box<Self>);
}

struct BlockingTask<T, F> {
    answer: oneshot::Sender<Result<T, Problem>>,
    work: F,
}

impl<T: Send, F: FnOnce() -> Result<T, Problem> + Send> PoolTask for BlockingTask<T, F> {
    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn run(self: Box<Self>) {
        let BlockingTask { answer, work } = *self;
        // A panic ends this job only; its caller sees that the answer is missing.
        if let Ok(result) = catch_unwind(AssertUnwindSafe(work)) {
            let _ = answer.send(result);
        }
    }

    fn refuse(self: Box<Self>) {
        let detail = "too many requests are waiting";
        let _ = self
            .answer
            .send(Err(Problem::new(Code::Unavailable, detail)));
    }
}

impl WorkerPool {
    /// Starts the threads of a pool.
    ///
    /// # Errors
    /// If the operating system starts no more threads.
    pub fn start(make: PoolConfig, metrics: PoolMetrics) -> std::io::Result<WorkerPool> {
        metrics.threads(make.threads);
        let inner = Arc::new(PoolInner {
            make,
            metrics,
            jobs: Mutex::default(),
            added: Condvar::new(),
        });
        // Its drop ends the threads, also if not all of them can be started.
        let pool = WorkerPool(inner);
        for number in 0..make.threads {
            let inner = Arc::clone(&pool.0);
            thread::Builder::new()
                .name(format!("{}-{number}", make.name))
                .spawn(move || {
                    give_way(make.niceness);
                    inner.work();
                })?;
        }
        Ok(pool)
    }

    /// Computes a response on one of the threads, and its JSON, which may have megabytes. A large
    /// one is compressed there, too, if the client takes gzip: that takes longer than to write it.
    pub async fn answer<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let gzip = headers::takes_gzip(request);
        let body = move || {
            let json = serde_json::to_vec(&work()?).map_err(Problem::internal)?;
            Ok(match json.len() {
                ..LARGE => (json, None),
                _ if gzip => (headers::gzip(&json)?, Some("gzip")),
                // Not in any other encoding, which would be done elsewhere.
                _ => (json, Some("identity")),
            })
        };
        let (body, encoding) = self.run(ClientAddress::of(request), cost, body).await?;
        let mut response = headers::private(StatusCode::OK);
        response.content_type("application/json");
        if let Some(encoding) = encoding {
            response.insert_header((header::CONTENT_ENCODING, encoding));
        }
        Ok(response.body(body))
    }

    /// Does work on one of the threads. It is charged to the client: first the expected cost, then
    /// what it has really taken. If the future is dropped, work that has not begun is left out.
    ///
    /// # Errors
    /// `unavailable`, at once if the work before it takes longer than the patience, or after
    /// waiting for so long; `internal` if the work panicked; else what the work returns.
    pub async fn run<T: Send + 'static>(
        &self,
        client: ClientAddress,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        self.0
            .add(client, cost, Box::new(BlockingTask { answer, work }));
        answered
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
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        // No code that can panic runs while it is locked.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job to its payer's line, or refuses it.
    fn add(&self, client: ClientAddress, cost: Duration, work: Box<dyn PoolTask>) {
        let mut jobs = self.jobs();
        jobs.added += 1;
        let number = jobs.added;
        let payer = match client {
            ClientAddress(Some(address)) => QueueKey::Address(address),
            ClientAddress(None) => QueueKey::Request(number),
        };
        let mut left_out = Vec::new();
        let mut has_room = jobs.has_room(payer, &self.make);
        if !has_room {
            // Jobs whose clients have gone need no room.
            left_out = jobs.remove(|job| job.work.is_abandoned());
            has_room = jobs.has_room(payer, &self.make);
        }
        if has_room && jobs.waiting >= self.make.length {
            left_out.extend(jobs.make_place(payer));
            has_room = jobs.waiting < self.make.length;
        }
        if has_room {
            let job = QueuedJob {
                number,
                cost,
                asked: Instant::now(),
                work,
                waiting: self.metrics.waiting(),
            };
            jobs.push(payer, job);
            drop(jobs);
            self.added.notify_one();
        } else {
            drop(jobs);
            self.metrics.refused();
            work.refuse();
        }
        self.refuse(left_out);
    }

    /// What a thread does until the pool is dropped.
    fn work(&self) {
        while let Some((job, service)) = self.next() {
            drop(job.waiting);
            let (begun, working) = (Instant::now(), self.metrics.working());
            job.work.run();
            drop(working);
            self.jobs().end(service, job.cost, begun.elapsed());
        }
    }

    /// Waits for the next job; none if the pool was dropped.
    fn next(&self) -> Option<(QueuedJob, Service<QueueKey>)> {
        let mut jobs = self.jobs();
        loop {
            if jobs.closed {
                return None;
            }
            let left_out = jobs.remove_late(self.make.patience);
            let next = jobs.take(self.make.most_threads());
            if left_out.is_empty() && next.is_none() {
                let waited = self.added.wait(jobs);
                jobs = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // A job that goes may hold the last handle of the pool, whose drop takes the lock.
            drop(jobs);
            self.refuse(left_out);
            if next.is_some() {
                return next;
            }
            jobs = self.jobs();
        }
    }

    /// Refuses jobs that were removed.
    fn refuse(&self, left_out: Vec<QueuedJob>) {
        for job in left_out {
            if !job.work.is_abandoned() {
                self.metrics.refused();
                job.work.refuse();
            }
        }
    }
}

impl PoolConfig {
    /// The threads that one payer may occupy: never all, so that the long work of one does not
    /// keep the short work of another waiting.
    fn most_threads(&self) -> usize {
        self.threads.saturating_sub(1).max(1)
    }

    /// The work that so many threads do within the patience.
    fn capacity(&self, threads: usize) -> Duration {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        self.patience.saturating_mul(threads)
    }
}

impl Jobs {
    /// Whether a further job of this payer would be served within the patience, by what all jobs
    /// are expected to cost.
    fn has_room(&self, payer: QueueKey, make: &PoolConfig) -> bool {
        let line = self.lines.get(&payer);
        let own = line.map_or(Duration::ZERO, ClientQueue::cost);
        let waiting = line.map_or(Duration::ZERO, |line| line.waiting);
        let tag = self.shares.tag(&payer).saturating_add(waiting);
        let others = self.lines.iter().filter(|(other, _)| **other != payer);
        let before: Duration = others
            .map(|(other, line)| line.running_cost + line.cost_before(self.shares.tag(other), tag))
            .sum();
        own < make.capacity(make.most_threads()) && own + before < make.capacity(make.threads)
    }

    fn push(&mut self, payer: QueueKey, job: QueuedJob) {
        let line = self.lines.entry(payer).or_default();
        line.waiting += job.cost;
        line.jobs.push_back(job);
        self.waiting += 1;
    }

    /// Takes the job that is next: the first of the payer with the smallest tag, of those that
    /// occupy fewer threads than they may.
    fn take(&mut self, most_threads: usize) -> Option<(QueuedJob, Service<QueueKey>)> {
        let ready = self.lines.iter().filter_map(|(payer, line)| {
            let first = line.jobs.front()?;
            let tag = self.shares.tag(payer);
            (line.running < most_threads).then_some((tag, first.number, *payer))
        });
        let (_, _, payer) = ready.min_by_key(|&(tag, number, _)| (tag, number))?;
        let line = self.lines.get_mut(&payer)?;
        let job = line.pop_first()?;
        line.running += 1;
        line.running_cost += job.cost;
        self.waiting -= 1;
        let service = self.shares.begin(payer, job.cost);
        Some((job, service))
    }

    /// A job is done that was expected to cost so much, and has taken so long.
    fn end(&mut self, service: Service<QueueKey>, cost: Duration, took: Duration) {
        let payer = service.payer;
        let waiting = self.lines.values().filter(|line| !line.jobs.is_empty());
        let waiting = waiting.count();
        self.shares.end(service, took, waiting);
        if let QueueKey::Request(_) = payer {
            self.shares.forget(&payer);
        }
        if let Some(line) = self.lines.get_mut(&payer) {
            line.running -= 1;
            line.running_cost -= cost;
        }
        self.forget_idle();
    }

    /// Removes the jobs that have waited for longer than this, and those before them whose clients
    /// have gone.
    fn remove_late(&mut self, patience: Duration) -> Vec<QueuedJob> {
        let mut removed = Vec::new();
        for line in self.lines.values_mut() {
            let is_late =
                |job: &QueuedJob| job.asked.elapsed() >= patience || job.work.is_abandoned();
            while line.jobs.front().is_some_and(is_late) {
                removed.extend(line.pop_first());
            }
        }
        self.removed(removed)
    }

    /// Removes all jobs of a kind.
    fn remove(&mut self, is_one: impl Fn(&QueuedJob) -> bool) -> Vec<QueuedJob> {
        let mut removed = Vec::new();
        for line in self.lines.values_mut() {
            let (gone, kept) = line.jobs.drain(..).partition(&is_one);
            line.jobs = kept;
            removed.extend::<VecDeque<QueuedJob>>(gone);
            line.waiting = line.jobs.iter().map(|job| job.cost).sum();
        }
        self.removed(removed)
    }

    /// Removes the last job of the longest line, unless this payer's own line is as long.
    fn make_place(&mut self, payer: QueueKey) -> Vec<QueuedJob> {
        let own = self.lines.get(&payer).map_or(0, |line| line.jobs.len());
        let longest = self.lines.values_mut().max_by_key(|line| line.jobs.len());
        let Some(longest) = longest.filter(|line| line.jobs.len() > own + 1) else {
            return Vec::new();
        };
        let last = longest.jobs.pop_back();
        longest.waiting -= last.as_ref().map_or(Duration::ZERO, |job| job.cost);
        self.removed(last.into_iter().collect())
    }

    fn removed(&mut self, removed: Vec<QueuedJob>) -> Vec<QueuedJob> {
        if !removed.is_empty() {
            self.waiting -= removed.len();
            self.forget_idle();
        }
        removed
    }

    fn forget_idle(&mut self) {
        self.lines
            .retain(|_, line| line.running > 0 || !line.jobs.is_empty());
        if self.lines.is_empty() {
            self.shares.clear();
        }
    }
}

impl ClientQueue {
    /// The expected cost of everything in it.
    fn cost(&self) -> Duration {
        self.waiting + self.running_cost
    }

    /// The expected cost of its jobs that are served before another payer's with this tag, if its
    /// own tag is that.
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

/// Waits about a second before another try of what failed.
pub async fn pause() {
    // At random, so that not all come back together.
    sleep(Duration::from_millis(rand::rng().random_range(500..1_500))).await;
}

/// Lets threads that answer others go first where there are too few cores for all.
fn give_way(niceness: i32) {
    #[cfg(target_os = "linux")]
    if niceness > 0
        && let Err(error) = rustix::process::nice(niceness)
    {
        log::debug!("a pool runs like everybody: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}

#[cfg(test)]
mod tests {
    use std::{pin::Pin, sync::mpsc};

    use actix_web::ResponseError;
    use futures_util::FutureExt;

    use super::*;

    const LONG: Duration = Duration::from_secs(2);
    const SHORT: Duration = Duration::from_millis(5);
    const HERE: ClientAddress = ClientAddress(None);

    fn start(make: PoolConfig) -> WorkerPool {
        WorkerPool::start(make, PoolMetrics::default()).unwrap()
    }

    fn make(threads: usize, patience: Duration) -> PoolConfig {
        PoolConfig {
            name: "test",
            threads,
            length: 100,
            patience,
            niceness: 0,
        }
    }

    fn address(number: u8) -> ClientAddress {
        ClientAddress(Address::of_peer(([192, 0, 2, number], 1).into()))
    }

    type Answer<'p> = Pin<Box<dyn Future<Output = Result<String, Problem>> + 'p>>;

    /// Jobs that wait until the test lets them go, and note when they are done.
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
        ) -> Answer<'p> {
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

    /// Waits until so many jobs are running.
    fn until_running(pool: &WorkerPool, jobs: usize) {
        let running = || {
            pool.0
                .jobs()
                .lines
                .values()
                .map(|line| line.running)
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
    async fn what_has_waited_too_long_is_not_done() {
        let patience = Duration::from_millis(50);
        let pool = start(make(1, patience));
        let gate = Gate::new();
        let first = gate.add(&pool, HERE, QUICK, "first");
        until_running(&pool, 1);
        let second = gate.add(&pool, HERE, QUICK, "second");
        thread::sleep(patience);
        gate.open(1);
        assert_eq!(first.await.unwrap(), "first");
        assert!(is_refused(&second.await));
        gate.open(1);
        let third = gate.add(&pool, HERE, QUICK, "third");
        assert_eq!(third.await.unwrap(), "third");
    }

    #[actix_web::test]
    async fn no_more_is_let_in_than_can_be_served_in_time() {
        for clients in [[HERE; 6], [address(1); 6]] {
            let pool = start(make(1, Duration::from_secs(10)));
            let gate = Gate::new();
            let add = |client| gate.add(&pool, client, LONG, "");
            let mut waiting: Vec<Answer<'_>> = clients[..5].iter().copied().map(add).collect();
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
            assert!(pool.0.jobs().lines.is_empty());
        }
    }

    #[actix_web::test]
    async fn a_newcomer_is_served_next_however_much_another_has_waiting() {
        let pool = start(make(1, Duration::from_secs(10)));
        let gate = Gate::new();
        let all = (0..100).map(|_| gate.add(&pool, address(1), LONG, "long"));
        let all: Vec<Answer<'_>> = all.collect();
        until_running(&pool, 1);
        let short = gate.add(&pool, address(2), SHORT, "short");
        gate.open(2);
        assert_eq!(short.await.unwrap(), "short");
        assert_eq!(gate.done(), ["long", "short"]);
        drop(all);
        gate.open(10);
    }

    #[actix_web::test]
    async fn one_address_does_not_occupy_all_threads() {
        let pool = start(make(2, Duration::from_secs(10)));
        let gate = Gate::new();
        let long: Vec<Answer<'_>> = (0..4)
            .map(|_| gate.add(&pool, address(1), LONG, "long"))
            .collect();
        until_running(&pool, 1);
        for client in [address(2), HERE] {
            assert_eq!(pool.run(client, SHORT, || Ok(7)).await.unwrap(), 7);
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
            length: 4,
            ..make(1, Duration::from_secs(10))
        });
        let gate = Gate::new();
        let first = gate.add(&pool, address(1), QUICK, "first");
        until_running(&pool, 1);
        let mut waiting: Vec<Answer<'_>> = (0..4)
            .map(|number| gate.add(&pool, address(1), QUICK, &number.to_string()))
            .collect();
        assert!(is_refused(
            &gate.add(&pool, address(1), QUICK, "one too many").await
        ));
        let newcomer = gate.add(&pool, address(2), QUICK, "newcomer");
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
        let pool = start(make(1, Duration::from_secs(10)));
        let panics = pool.run(HERE, QUICK, || -> Result<u8, Problem> {
            panic!("on purpose")
        });
        assert_eq!(panics.await.unwrap_err().status_code(), 500);
        assert_eq!(pool.run(HERE, QUICK, || Ok(7)).await.unwrap(), 7);
        until_running(&pool, 0);
        assert!(pool.0.jobs().lines.is_empty());
    }
}
