//! The change feed: the last changes, which streams and bots wait for.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{Change, ChangesSince};

/// The number of changes kept.
const MAX_CHANGES: usize = 10_000;

/// A receiver that is woken when a game has changed.
#[derive(Clone, Debug)]
pub struct Feed(watch::Receiver<i64>);

impl Feed {
    /// Waits for a change after the last one returned, and returns the number of the latest.
    /// Changes by this process arrive at once, those by another node within some milliseconds.
    /// Never returns once the store is closed.
    pub async fn changed(&mut self) -> i64 {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.last()
    }

    /// The number of the last change.
    pub fn last(&mut self) -> i64 {
        *self.0.borrow_and_update()
    }
}

/// The last changes. They are numbered in the order in which this process has learnt of them.
#[derive(Debug, Default)]
pub(super) struct ChangeList {
    changes: Mutex<VecDeque<Change>>,
    last: watch::Sender<i64>,
}

impl ChangeList {
    /// A new receiver.
    pub fn feed(&self) -> Feed {
        Feed(self.last.subscribe())
    }

    /// The changes after change number `since`, in order, and the number of the last change.
    pub fn since(&self, since: i64) -> (ChangesSince, i64) {
        let changes = self.changes.lock();
        let last = *self.last.borrow();
        let first = last - changes.len() as i64;
        if since < first || since > last {
            return (ChangesSince::Any, last);
        }
        let new = changes.iter().skip((since - first) as usize);
        (ChangesSince::Only(new.copied().collect()), last)
    }

    pub fn add(&self, new: ChangesSince) {
        let mut changes = self.changes.lock();
        let added = match new {
            ChangesSince::Only(new) if new.is_empty() => return,
            ChangesSince::Only(new) => {
                let added = new.len() as i64;
                changes.extend(new);
                let excess = changes.len().saturating_sub(MAX_CHANGES);
                changes.drain(..excess);
                added
            }
            // A gap in the numbers.
            ChangesSince::Any => {
                changes.clear();
                1
            }
        };
        self.last.send_modify(|last| *last += added);
    }
}
