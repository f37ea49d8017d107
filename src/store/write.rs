//! Writes, as values: worked out before it is the writer's turn. The writer, for whom everybody
//! waits, has only to see that the game is still the one that was looked at, and to put the rows in
//! their places.

use std::{fmt, sync::Arc};

use dog_rules::{Action, ActionRefusal, Event, Phase};
use jiff::Timestamp;
use thiserror::Error;

use super::{
    PackedLog, StoreError,
    stored_game::{ExpectedState, LimitReached, StoredGame, now},
    tokens::{TokenHash, Tokens},
};

/// A change of the store, and the response that is saved with it. Both happen or neither does.
pub struct Write {
    pub op: WriteOp,
    /// For a request with an `Idempotency-Key`: where its response is saved, and the response.
    pub save: Option<(Scope, SavedResponse)>,
}

/// What a write changes.
pub enum WriteOp {
    /// Adds a game.
    Insert(Box<NewGame>),
    /// Takes a game to its next version.
    Update(Box<Draft>),
    /// Replaces a game's tokens without a new version.
    SetTokens(ExpectedState, Tokens),
    /// Keeps a ticket for a stream of the game, and forgets those that have expired.
    AddTicket(ExpectedState, NewTicket),
    /// Removes a game and its log.
    Remove(ExpectedState),
}

/// What came of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum CommitResult {
    /// It is on the disk.
    Done,
    /// Nothing has changed: the game is gone or another by now, its unique key is taken, or a
    /// response has been saved for the same request. Load the game again and work it out anew.
    Stale,
}

/// A ticket, good once in place of a token.
#[derive(Clone, Copy, Debug)]
pub struct NewTicket {
    pub hash: TokenHash,
    /// The token that it stands for.
    pub token: TokenHash,
    pub expires_at: Timestamp,
}

/// A game to add, with its log so far.
pub struct NewGame {
    pub game: StoredGame,
    /// A name that no other game has, such as that of the next game after another.
    pub unique_key: Option<String>,
    pub(super) snapshot: String,
    pub(super) log: NewLog,
}

/// The log of a new game.
pub(super) enum NewLog {
    /// Its creation.
    Created { at: Timestamp, events: String },
    /// That of a finished game.
    Packed(PackedLog),
}

impl NewGame {
    /// A game that begins with this event.
    ///
    /// # Errors
    /// The game is not at its first version.
    pub fn created(mut stored: StoredGame, event: &Event) -> Result<NewGame, StoreError> {
        if stored.game.version() != 1 {
            return Err(StoreError::Misuse("a game is created at its first version"));
        }
        let at = stored.created_at;
        let events = std::slice::from_ref(event);
        stored.set_deadline(at, events);
        let events = to_json(&events)?;
        NewGame::new(stored, NewLog::Created { at, events })
    }

    /// A finished game with its whole log.
    ///
    /// # Errors
    /// The log does not fit.
    pub fn finished(stored: StoredGame, log: PackedLog) -> Result<NewGame, StoreError> {
        let game = &stored.game;
        if game.phase() != Phase::Finished || game.version() != log.versions {
            return Err(StoreError::Misuse("only a whole log can be packed"));
        }
        NewGame::new(stored, NewLog::Packed(log))
    }

    fn new(stored: StoredGame, log: NewLog) -> Result<NewGame, StoreError> {
        Ok(NewGame {
            snapshot: to_json(&stored.game)?,
            unique_key: None,
            game: stored,
            log,
        })
    }
}

/// A game's next version. It is full of secrets, and so cannot be printed.
pub struct Draft {
    /// The game as it was.
    pub(super) expected: ExpectedState,
    /// The phase that it was in.
    pub(super) phase: Phase,
    /// The game as it will be.
    pub next: StoredGame,
    /// What comes of the action, in full.
    pub events: Vec<Event>,
    /// The rows, as they will be written.
    pub(super) rows: GameColumns,
}

/// JSON for the columns of that name.
pub(super) struct GameColumns {
    pub snapshot: String,
    pub action: String,
    pub events: String,
}

/// Why an action changed nothing.
#[derive(Debug, Error)]
pub enum DraftError {
    /// The game does not allow it.
    #[error(transparent)]
    Refused(#[from] ActionRefusal),
    /// The game takes no more changes of this kind.
    #[error(transparent)]
    LimitReached(#[from] LimitReached),
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
    pub fn new(stored: &StoredGame, action: &Action) -> Result<Draft, DraftError> {
        let is_play = !matches!(
            action,
            Action::ReissueToken { .. } | Action::HandOver { .. }
        );
        if is_play {
            stored.check_play()?;
        } else {
            stored.check_admin_change()?;
        }
        let (expected, phase) = (stored.expected_state(), stored.game.phase());
        let mut next = stored.clone();
        next.admin_changes.versions += u32::from(!is_play);
        let events = Arc::make_mut(&mut next.game).apply(action)?;
        next.updated_at = now();
        next.set_deadline(next.updated_at, &events);
        let rows = GameColumns {
            snapshot: to_json(&next.game)?,
            action: to_json(action)?,
            events: to_json(&events)?,
        };
        Ok(Draft {
            expected,
            phase,
            next,
            events,
            rows,
        })
    }
}

impl From<Draft> for Write {
    /// The write of a draft that no client has asked for.
    fn from(draft: Draft) -> Write {
        Write {
            op: WriteOp::Update(Box::new(draft)),
            save: None,
        }
    }
}

/// What a saved response belongs to: a hash of the caller's token, the method, the path and the
/// key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(pub [u8; 32]);

/// The response to a request that was carried out, saved for 24 hours.
#[derive(Clone, PartialEq, Eq)]
pub struct SavedResponse {
    /// The hash of the request's body.
    pub body_hash: [u8; 32],
    /// The response, in whatever form the caller chose.
    pub response: Vec<u8>,
}

/// Without the response, which may be a secret.
impl fmt::Debug for SavedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedResponse").finish_non_exhaustive()
    }
}

/// A part of a game as JSON.
pub(super) fn to_json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|_| StoreError::Misuse("a part of a game has no JSON form"))
}
