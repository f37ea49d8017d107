//! Quick joins with the same rules take their seats one after the other.

use std::{collections::HashMap, sync::Arc, time::Duration};

use actix_web::rt::time::timeout;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::problem::{Code, Problem};

/// Maximum number of quick joins with the same rules at one time.
const MAX_WAITING: usize = 1024;

/// How long one waits for those before it.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The quick joins that take a seat or wait for their turn, by the key of their rules.
#[derive(Default)]
pub struct QuickJoins(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl QuickJoins {
    /// Waits until no other quick join with these rules takes a seat.
    ///
    /// # Errors
    /// `unavailable`, if too many wait, or for too long.
    pub async fn turn(&self, rules: &str) -> Result<OwnedMutexGuard<()>, Problem> {
        let turns = {
            let mut waiting = self.0.lock();
            waiting.retain(|_, turns| Arc::strong_count(turns) > 1);
            Arc::clone(waiting.entry(rules.to_owned()).or_default())
        };
        let busy = |detail: &str| Problem::new(Code::Unavailable, detail);
        // The map has one, too.
        if Arc::strong_count(&turns) > MAX_WAITING + 1 {
            let detail = "too many others are sitting down at tables with these rules";
            return Err(busy(detail));
        }
        timeout(MAX_WAIT, turns.lock_owned())
            .await
            .map_err(|_| busy("those who sit down at tables with these rules wait for the store"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn quick_joins_wait_for_those_with_the_same_rules_only() {
        let joins = QuickJoins::default();
        let turn = joins.turn("one").await.expect("nobody is there");
        let other = joins.turn("other").await.expect("nobody is there");
        let waiting = timeout(Duration::from_millis(1), joins.turn("one")).await;
        assert!(waiting.is_err(), "it has not got a turn");
        drop(turn);
        drop(joins.turn("one").await.expect("the turn is over"));
        drop(other);
        drop(joins.turn("one").await.expect("nobody is there"));
        assert_eq!(joins.0.lock().len(), 1, "nothing is kept");
    }

    #[actix_web::test]
    async fn not_everybody_can_wait() {
        let joins = QuickJoins::default();
        let _turn = joins.turn("one").await.expect("nobody is there");
        let mut waiting: Vec<_> = (0..MAX_WAITING)
            .map(|_| Box::pin(joins.turn("one")))
            .collect();
        let mut refused = 0;
        for turn in &mut waiting {
            if let Ok(turn) = timeout(Duration::ZERO, turn).await {
                assert!(turn.is_err());
                refused += 1;
            }
        }
        assert_eq!(refused, 1);
        joins.turn("other").await.expect("others do not wait");
    }
}
