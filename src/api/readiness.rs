//! Whether the server can do its work, asked at most once a second however many want to know.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::problem::{Code, Problem};
use crate::store::{Store, StoreError, Usage};

/// How long an answer is good: each new one costs a commit.
const LIFE: Duration = Duration::from_secs(1);

/// The last answer, and when it was found.
#[derive(Default)]
pub struct Readiness(Mutex<Option<(Instant, Result<Usage, Problem>)>>);

impl Readiness {
    /// Makes sure that the store can be written, and that no newer program has brought it to a
    /// version that this one does not know. Says how full the store is. The nets were loaded before the server was started.
    ///
    /// # Errors
    /// `unavailable`, saying what is wrong.
    pub async fn check(&self, store: &Store) -> Result<Usage, Problem> {
        // Those who come while somebody asks wait for that answer.
        let mut last = self.0.lock().await;
        if let Some((at, answer)) = &*last
            && at.elapsed() < LIFE
        {
            return answer.clone();
        }
        let answer = store.ready().await.map_err(not_ready);
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

/// What is told of the reason. Where it may name a file, the log alone has it.
fn not_ready(error: StoreError) -> Problem {
    use StoreError::{Busy, Full, Newer, Overloaded, Quota, ReadOnly};
    log::warn!("not ready: {error}");
    match error {
        Newer { .. } | ReadOnly | Full | Quota | Busy | Overloaded => {
            Problem::new(Code::Unavailable, error)
        }
        _ => Problem::new(Code::Unavailable, "the store cannot be written"),
    }
}
