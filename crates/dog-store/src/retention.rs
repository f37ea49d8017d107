//! The retention of old games.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{id::GameId, stored_game::Cursor};

/// The largest number of log rows deleted in one write, so that other writes do not wait long.
pub(super) const LOG_DELETE_BATCH: i64 = 1_000;

/// How long games are kept after their last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Days that a finished game is kept; 0 keeps it forever.
    pub finished_days: u16,
    /// Days that an unfinished game is kept; 0 keeps it forever.
    pub idle_days: u16,
}

/// How far the clock may jump between two looks at it. A longer jump is not believed at once.
const MAX_JUMP: Duration = Duration::from_secs(24 * 60 * 60);

/// How many times faster than the clock the retention's time catches up after a longer jump.
const CATCH_UP: u32 = 24;

/// The time by which games and responses are old. It is kept in the store, and is that of the clock
/// unless the clock has jumped, or no server has run, for more than a day. Then it follows the
/// clock by one day in each hour that a server runs, so that a wrong clock removes nothing for a
/// while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionTime {
    pub at: Timestamp,
    /// How far it is behind the clock.
    pub behind: SignedDuration,
}

impl RetentionTime {
    /// The time that follows on `last`, to which some server moved it at `moved_at`. The server
    /// that moves it now has run for `passed` since it did so itself.
    pub(super) fn after(
        last: Timestamp,
        moved_at: Timestamp,
        passed: Duration,
        now: Timestamp,
    ) -> RetentionTime {
        // Others may have moved it meanwhile.
        let passed = Duration::try_from(now.duration_since(moved_at))
            .unwrap_or_default()
            .min(passed);
        let at = if now.duration_since(last) <= signed(MAX_JUMP + passed) {
            now
        } else {
            now.min(last + signed(passed * CATCH_UP))
        };
        RetentionTime {
            at,
            behind: now.duration_since(at),
        }
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
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
    /// The times of last change, in microseconds since 1970, up to which finished and unfinished
    /// games have expired; the least number if such games are kept forever.
    pub(super) fn cutoffs(self, now: Timestamp) -> [i64; 2] {
        [self.finished_days, self.idle_days].map(|days| match days {
            0 => i64::MIN,
            _ => now.as_microsecond() - i64::from(days) * 24 * 60 * 60 * 1_000_000,
        })
    }
}
