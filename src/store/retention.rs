//! What need not be kept any longer.

use jiff::Timestamp;

use super::{id::GameId, stored_game::Cursor};

/// How long games are kept after their last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Days that a finished game is kept; 0 for ever.
    pub finished_days: u16,
    /// Days that another one is kept; 0 for ever.
    pub idle_days: u16,
}

/// A game that was kept for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiredGame {
    pub id: GameId,
    /// The version that was found to be old: a later one is not.
    pub version: u64,
}

/// What a look at some games has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiredBatch {
    pub old: Vec<ExpiredGame>,
    /// After which game the next look begins; none if there is nothing more to be found.
    pub next: Option<Cursor>,
}

impl RetentionPolicy {
    /// Whatever changed in that phase by then is old now, in microseconds; none if it is kept.
    pub(super) fn cutoff(self, finished: bool, now: Timestamp) -> Option<i64> {
        let days = if finished {
            self.finished_days
        } else {
            self.idle_days
        };
        let kept = i64::from(days) * 24 * 60 * 60 * 1_000_000;
        (days > 0).then(|| now.as_microsecond().saturating_sub(kept))
    }
}
