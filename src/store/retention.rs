//! The retention of old games.

use jiff::Timestamp;

use super::{id::GameId, stored_game::Cursor};

/// How long games are kept after their last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Days that a finished game is kept; 0 keeps it forever.
    pub finished_days: u16,
    /// Days that an unfinished game is kept; 0 keeps it forever.
    pub idle_days: u16,
}

/// A game that has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiredGame {
    pub id: GameId,
    /// The version that has expired; a game with a later version is kept.
    pub version: u64,
}

/// The expired games of one scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiredBatch {
    pub old: Vec<ExpiredGame>,
    /// Where the next scan begins; `None` if there are no more expired games.
    pub next: Option<Cursor>,
}

impl RetentionPolicy {
    /// The time of last change, in microseconds since 1970, up to which games have expired; `None`
    /// if such games are kept forever.
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
