//! Whether the server is ready.

use std::{
    io,
    sync::Arc,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use dog_store::{GameId, SpaceUsage, Store, StoreError};
use prometheus_client::{metrics::gauge::Gauge, registry::Registry};
use tokio::time::timeout;

use crate::problem::{Code, Problem};
use crate::runtime::BackgroundThread;

/// How long a result of `/readyz` is reused, because each check costs a commit, unless a client's
/// commit fails meanwhile.
const READY_TTL: Duration = Duration::from_secs(1);

/// How long the server itself reuses a good one, to spare the disk while nobody plays.
const IDLE_TTL: Duration = Duration::from_secs(60);

/// How often it looks whether that is over, or a commit has failed.
const INTERVAL: Duration = Duration::from_secs(5);

/// A check of its own that takes longer has failed.
const MAX_CHECK: Duration = Duration::from_secs(10);

/// Whether the server is ready.
#[derive(Default)]
pub struct Readiness {
    last: tokio::sync::Mutex<Option<LastCheck>>,
    /// Whether the server is about to stop.
    draining: AtomicBool,
    writes_possible: Gauge,
    reads_only: Gauge,
}

struct LastCheck {
    at: Instant,
    failed_commits: u64,
    answer: Result<SpaceUsage, Problem>,
}

impl Readiness {
    /// From now on the server is not ready, so that load balancers send their requests elsewhere.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Checks that the server is not about to stop, that the store is writable, and that no newer
    /// program has changed its schema. Returns how full it is. Without `writes`, the store need only
    /// be readable.
    pub async fn check(&self, store: &Store, writes: bool) -> Result<SpaceUsage, Problem> {
        if self.draining.load(Ordering::Relaxed) {
            return Err(Problem::new(
                Code::Unavailable,
                "the server is about to stop",
            ));
        }
        if !writes {
            let read = async {
                store.version(&GameId::random()).await?;
                store.usage().await
            };
            return read.await.map_err(|error| not_ready(error, "read"));
        }
        self.check_writes(store, READY_TTL).await
    }

    /// Checks that the store is writable, or that it was so within this time.
    async fn check_writes(&self, store: &Store, ttl: Duration) -> Result<SpaceUsage, Problem> {
        // Requests that come during a check wait for its result.
        let mut last = self.last.lock().await;
        let failed_commits = store.failed_commits();
        if let Some(last) = &*last
            && last.at.elapsed() < last.answer.as_ref().map_or(READY_TTL, |_| ttl)
            && last.failed_commits == failed_commits
        {
            return last.answer.clone();
        }
        let answer = store.ready().await;
        let answer = answer.map_err(|error| not_ready(error, "written"));
        *last = Some(LastCheck {
            at: Instant::now(),
            failed_commits,
            answer: answer.clone(),
        });
        answer
    }

    /// Registers what the server's own checks find.
    pub fn register(&self, own: &mut Registry) {
        let help = "Whether the store can be written: 1 or 0";
        own.register("writes_possible", help, self.writes_possible.clone());
        let help = "Whether the store can be read but not written: 1 or 0";
        own.register("reads_only", help, self.reads_only.clone());
    }

    /// Checks the store for the metrics.
    async fn measure(&self, store: &Store) {
        let written = timeout(MAX_CHECK, self.check_writes(store, IDLE_TTL));
        let can_write = matches!(written.await, Ok(Ok(_)));
        let read = timeout(MAX_CHECK, self.check(store, false));
        let reads_only = !can_write && matches!(read.await, Ok(Ok(_)));
        if !self.draining.load(Ordering::Relaxed) {
            self.writes_possible.set(can_write.into());
            self.reads_only.set(reads_only.into());
        }
    }
}

/// Starts the thread that checks the store for the metrics, also if nobody asks `/readyz`.
///
/// # Errors
/// The operating system starts no more threads.
pub fn watch(readiness: &Arc<Readiness>, store: &Store) -> io::Result<BackgroundThread> {
    let (readiness, store) = (Arc::clone(readiness), store.clone());
    BackgroundThread::start("readiness", move |waiter| {
        loop {
            waiter.wait(readiness.measure(&store));
            if waiter.stops_within(INTERVAL) {
                return;
            }
        }
    })
}

/// The problem that the client gets. A cause that may name a file is only logged.
fn not_ready(error: StoreError, how: &str) -> Problem {
    use StoreError::{Busy, Full, Moved, Newer, Overloaded, Quota, ReadOnly};
    dog_store::warn_rarely!("not ready: {error}");
    match error {
        Newer { .. } | Moved | ReadOnly | Full | Quota | Busy | Overloaded => {
            Problem::new(Code::Unavailable, error)
        }
        _ => Problem::new(Code::Unavailable, format!("the store cannot be {how}")),
    }
}
