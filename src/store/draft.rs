//! What an action makes of a game, worked out before it is the writer's turn. The writer, for whom
//! everybody waits, has only to see that the game is still the one it was drafted from, and to put
//! the rows in their places. And the answers that are kept for an `Idempotency-Key`.

use std::{fmt, sync::Arc};

use dog_rules::{Action, ActionRefusal, Event, Phase};
use jiff::Timestamp;
use thiserror::Error;

use super::{
    StoreError,
    record::{Exhausted, Record, now, to_json},
    tokens::Tokens,
};

/// A game's next version, ready to be [kept](super::Transaction::keep). It is full of secrets, and
/// so cannot be printed.
pub struct Draft {
    /// The game as it was.
    pub(super) before: Before,
    /// The game as it will be.
    pub record: Record,
    /// What comes of the action, in full.
    pub events: Vec<Event>,
    /// The rows, as they will be written.
    pub(super) rows: Rows,
}

/// What must not have changed in the meantime.
pub(super) struct Before {
    pub version: u64,
    pub updated_at: Timestamp,
    pub tokens: Tokens,
    pub phase: Phase,
}

/// JSON for the columns of that name.
pub(super) struct Rows {
    pub snapshot: String,
    pub action: String,
    pub events: String,
}

/// Why an action changed nothing.
#[derive(Debug, Error)]
pub enum ActError {
    /// The game does not allow it.
    #[error(transparent)]
    Refused(#[from] ActionRefusal),
    /// The game takes no more changes of this kind.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Draft {
    /// Has the game carry out an action: the one way to change a stored game, for persons, bots
    /// and hosts alike.
    ///
    /// # Errors
    /// The game refuses the action, or takes no more of its kind.
    pub fn new(record: &Record, action: &Action) -> Result<Draft, ActError> {
        let before = Before {
            version: record.game.version(),
            updated_at: record.updated_at,
            tokens: record.tokens.clone(),
            phase: record.game.phase(),
        };
        let is_play = !matches!(
            action,
            Action::ReissueToken { .. } | Action::HandOver { .. }
        );
        if is_play {
            record.check_play()?;
        } else {
            record.check_table_change()?;
        }
        let mut record = record.clone();
        record.changes.versions += u32::from(!is_play);
        let events = Arc::make_mut(&mut record.game).apply(action)?;
        record.updated_at = now();
        record.set_deadline(record.updated_at, &events);
        let rows = Rows {
            snapshot: to_json(&record.game)?,
            action: to_json(action)?,
            events: to_json(&events)?,
        };
        Ok(Draft {
            before,
            record,
            events,
            rows,
        })
    }
}

/// Microseconds for which an answer is kept: 24 hours.
const KEPT: i64 = 24 * 60 * 60 * 1_000_000;

/// What an idempotency record belongs to: a hash of the caller's token, the method, the path and
/// the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(pub [u8; 32]);

/// An answer that was given before.
#[derive(Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The hash of the request's body.
    pub body_hash: [u8; 32],
    /// The answer, in whatever form the caller chose.
    pub answer: Vec<u8>,
}

/// Without the answer, which may be a secret.
impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").finish_non_exhaustive()
    }
}

/// What was remembered then or before has expired.
pub(super) fn expiry(now: Timestamp) -> i64 {
    now.as_microsecond().saturating_sub(KEPT)
}
