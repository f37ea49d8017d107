//! Whether the server is ready.

use std::time::{Duration, Instant};

use dog_store::{SpaceUsage, Store, StoreError};

use crate::http::problem::{Code, Problem};

/// How long a result of `/readyz` is reused, because each check costs a commit.
const READY_TTL: Duration = Duration::from_secs(1);

/// The last result and its time.
#[derive(Default)]
pub struct Readiness(tokio::sync::Mutex<Option<(Instant, Result<SpaceUsage, Problem>)>>);

impl Readiness {
    /// Checks that the store is writable, and that no newer program has changed its schema. Returns
    /// how full it is.
    pub async fn check(&self, store: &Store) -> Result<SpaceUsage, Problem> {
        // Requests that come during a check wait for its result.
        let mut last = self.0.lock().await;
        if let Some((at, answer)) = &*last
            && at.elapsed() < READY_TTL
        {
            return answer.clone();
        }
        let answer = store.ready().await.map_err(not_ready);
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

/// The problem that the client gets. A cause that may name a file is only logged.
fn not_ready(error: StoreError) -> Problem {
    use StoreError::{Busy, Full, Moved, Newer, Overloaded, Quota, ReadOnly};
    log::warn!("not ready: {error}");
    match error {
        Newer { .. } | Moved | ReadOnly | Full | Quota | Busy | Overloaded => {
            Problem::new(Code::Unavailable, error)
        }
        _ => Problem::new(Code::Unavailable, "the store cannot be written"),
    }
}
