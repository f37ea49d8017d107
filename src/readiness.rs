//! Whether the server is ready.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use dog_store::{GameId, SpaceUsage, Store, StoreError};

use crate::problem::{Code, Problem};

/// How long a result of `/readyz` is reused, because each check costs a commit, unless a client's
/// commit fails meanwhile.
const READY_TTL: Duration = Duration::from_secs(1);

/// Whether the server is ready.
#[derive(Default)]
pub struct Readiness {
    last: tokio::sync::Mutex<Option<LastCheck>>,
    /// Whether the server is about to stop.
    draining: AtomicBool,
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
        // Requests that come during a check wait for its result.
        let mut last = self.last.lock().await;
        let failed_commits = store.failed_commits();
        if let Some(last) = &*last
            && last.at.elapsed() < READY_TTL
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
