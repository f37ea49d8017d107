use std::{
    collections::HashSet,
    pin::Pin,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

use actix_web::ResponseError;
use futures_util::FutureExt;

use super::*;
use crate::limits::Address;

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
        max_paused: 3,
        queue_capacity: 100,
        queue_timeout,
        nice: 0,
    }
}

fn address(number: u8) -> ClientAddress {
    ClientAddress(Address::from_peer(([192, 0, 2, number], 1).into()))
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
            gate.lock().recv().unwrap();
            done.lock().push(name.clone());
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
        self.done.lock().clone()
    }
}

/// Waits until this many jobs are running.
fn until_running(pool: &WorkerPool, jobs: usize) {
    let running = || {
        let jobs = pool.0.jobs.lock();
        let running = jobs.queues.values().map(|queue| queue.running);
        running.sum::<usize>()
    };
    while running() != jobs {
        thread::yield_now();
    }
}

fn is_refused(answer: &Result<String, Problem>) -> bool {
    matches!(answer, Err(problem) if problem.status_code() == 503)
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
        let mut waiting: Vec<PendingReply<'_>> = clients[..5].iter().copied().map(add).collect();
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
        assert!(pool.0.jobs.lock().queues.is_empty());
    }
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
    let one_too_many = gate.add(&pool, address(1), SHORT_JOB_COST, "one too many");
    assert!(is_refused(&one_too_many.await));
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
    assert!(pool.0.jobs.lock().queues.is_empty());
}

/// Adds a job that passes checkpoints until this returns true.
fn add_until<'p>(
    pool: &'p WorkerPool,
    client: ClientAddress,
    is_over: impl Fn() -> bool + Send + 'static,
) -> PendingReply<'p> {
    let mut answer = Box::pin(pool.run(client, LONG_JOB, move || {
        while !is_over() && checkpoint() {}
        Ok(format!("{}", paused() > Duration::ZERO))
    }));
    assert!(answer.as_mut().now_or_never().is_none());
    answer
}

#[actix_web::test]
async fn a_long_job_pauses_for_others() {
    let pool = start(config(1, Duration::from_secs(100)));
    let over = Arc::new(AtomicBool::new(false));
    let is_over = || {
        let over = Arc::clone(&over);
        move || over.load(Ordering::Relaxed)
    };
    // Each has a thread, and all but one of them wait.
    let add_long = |number| add_until(&pool, address(number), is_over());
    let long: Vec<PendingReply<'_>> = (1..=3).map(add_long).collect();
    let short = pool.run(address(4), SHORT_JOB, || Ok(7)).await;
    assert_eq!(short.unwrap(), 7);
    // Then no thread is left to begin another one.
    let last = add_long(5);
    while pool.0.jobs.lock().idle > 0 {
        thread::yield_now();
    }
    let mut late = Box::pin(pool.run(address(6), SHORT_JOB, || Ok(7)));
    assert!(late.as_mut().now_or_never().is_none());
    over.store(true, Ordering::Relaxed);
    for job in long {
        assert_eq!(job.await.unwrap(), "true");
    }
    assert!(last.await.is_ok());
    assert_eq!(late.await.unwrap(), 7);
    until_running(&pool, 0);
    assert!(pool.0.jobs.lock().queues.is_empty());
}

#[actix_web::test]
async fn a_small_job_has_room_where_a_long_one_has_none() {
    let pool = start(config(1, Duration::from_secs(10)));
    let gate = Gate::new();
    let add = |number, cost| gate.add(&pool, address(number), cost, "");
    let mut waiting: Vec<PendingReply<'_>> = (1..=5).map(|number| add(number, LONG_JOB)).collect();
    assert!(is_refused(&add(6, LONG_JOB).await));
    waiting.push(add(6, SHORT_JOB));
    gate.open(6);
    for job in waiting {
        assert!(job.await.is_ok());
    }
}

#[actix_web::test]
async fn jobs_end_with_their_pool() {
    let pool = start(config(1, Duration::from_secs(10)));
    let begun = Arc::new(Mutex::new(HashSet::new()));
    let jobs = [1, 2].map(|number| {
        let begun = Arc::clone(&begun);
        add_until(&pool, address(number), move || {
            begun.lock().insert(number);
            false
        })
    });
    // One of them pauses.
    while begun.lock().len() < jobs.len() {
        thread::yield_now();
    }
    drop(jobs);
    drop(pool);
    while Arc::strong_count(&begun) > 1 {
        thread::yield_now();
    }
}
