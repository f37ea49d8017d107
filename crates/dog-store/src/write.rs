//! Writes, as values. They are computed on the callers' threads. The one writer thread only checks
//! that the game is still in the expected state, and writes the rows.

use std::{fmt, sync::Arc};

use dog_rules::{Action, ActionRefusal, Actor, Event, Phase, Seat};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use super::{
    GameId, MatchTable, NewMatch, PackedLog, StoreError,
    row::Row,
    seating::Seating,
    stored_game::{ExpectedState, LimitReached, StoredGame, Timing, now},
    tokens::{TokenHash, Tokens},
};

/// What a write is computed from.
#[derive(Clone, Debug)]
pub struct LoadedGame {
    /// The game, or `None` if it does not exist.
    pub game: Option<StoredGame>,
    /// The response saved for an earlier copy of the same request.
    pub saved_response: Option<SavedResponse>,
}

/// A change of the store, and the response that is saved with it in the same transaction.
pub struct Write {
    pub op: WriteOp,
    /// The response to save, for a request with an `Idempotency-Key`.
    pub save: Option<(Scope, SavedResponse)>,
}

/// The change that a write makes.
pub enum WriteOp {
    /// Adds games, all or none, and the match whose tables they are. Only one alone may have a unique
    /// key, or a packed log.
    Insert(Vec<NewGame>, Option<NewMatch>),
    /// Stores a game's next version.
    Update(Box<Draft>),
    /// Replaces a game's tokens without a new version.
    SetTokens(ExpectedState, Tokens, Arc<Seating>),
    /// Changes nothing but the saved response.
    SaveResponse,
    /// Adds a ticket for a stream of the game, and deletes expired tickets.
    AddTicket(ExpectedState, NewTicket),
    /// Sets when the server must act in a game. It does not make a version. It is stale if the game
    /// is so already.
    SetDue {
        expected: ExpectedState,
        /// Whether its bots act without their pace until the next deal.
        skips_to_deal: bool,
        due_at: Option<Timestamp>,
    },
    /// Removes a game and its log.
    Remove(ExpectedState),
    /// Ends a match, unless it was ended before: removes its tables that have not ended.
    EndMatch(GameId),
}

impl WriteOp {
    /// Has the bots of this game act without their pace until the next deal. What was computed
    /// from the game before it is stale, so that they begin at once.
    pub fn skip_to_deal(stored: &StoredGame) -> WriteOp {
        let skipping = StoredGame {
            skips_to_deal: true,
            ..stored.clone()
        };
        WriteOp::SetDue {
            expected: stored.expected_state(),
            skips_to_deal: true,
            due_at: skipping.due_at(skipping.updated_at),
        }
    }

    /// Sets when the server must act to what this version of the program computes.
    pub fn correct_due(stored: &StoredGame) -> WriteOp {
        WriteOp::SetDue {
            expected: stored.expected_state(),
            skips_to_deal: stored.skips_to_deal,
            due_at: stored.due_at(stored.updated_at),
        }
    }
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum CommitResult {
    /// It is on disk.
    Done,
    /// Nothing was changed: the game was changed or removed, its unique key exists, or a response
    /// is saved for the same request. The caller must load the game again and recompute the write.
    Stale,
}

/// How long a ticket can be used.
pub const TICKET_TTL: SignedDuration = SignedDuration::from_secs(30);

/// A ticket, which can be used once instead of a token, for [`TICKET_TTL`].
#[derive(Clone, Copy, Debug)]
pub struct NewTicket {
    pub hash: TokenHash,
    /// The token that it stands for.
    pub token: TokenHash,
}

/// A game to add, with its log.
pub struct NewGame {
    pub game: StoredGame,
    /// A key that no other game may have, such as one derived from the game before this one.
    pub unique_key: Option<String>,
    /// The finished game before this one, and its version: those who wait for it are told.
    pub follows: Option<(GameId, u64)>,
    pub(super) snapshot: String,
    pub(super) log: NewLog,
}

/// The log of a new game.
pub(super) enum NewLog {
    /// The entry of its creation.
    Created { at: Timestamp, events: String },
    /// The whole log of a finished game.
    Packed(PackedLog),
}

impl NewGame {
    /// A game whose creation is this event.
    ///
    /// # Errors
    /// The game is not at its first version.
    pub fn created(mut stored: StoredGame, event: &Event) -> Result<NewGame, StoreError> {
        if stored.game.version() != 1 {
            return Err(StoreError::Misuse(
                "a new game must be at its first version",
            ));
        }
        let at = stored.created_at;
        let events = std::slice::from_ref(event);
        stored.set_deadline(at, events, Phase::Seating);
        let events = to_json(&events)?;
        NewGame::new(stored, NewLog::Created { at, events })
    }

    /// A finished game with its whole log.
    ///
    /// # Errors
    /// The game is not finished, or the log does not end at its version.
    pub fn finished(stored: StoredGame, log: PackedLog) -> Result<NewGame, StoreError> {
        let game = &stored.game;
        if game.phase() != Phase::Finished || game.version() != log.versions {
            return Err(StoreError::Misuse("a finished game needs its whole log"));
        }
        NewGame::new(stored, NewLog::Packed(log))
    }

    fn new(stored: StoredGame, log: NewLog) -> Result<NewGame, StoreError> {
        Ok(NewGame {
            snapshot: to_json(&*stored.game)?,
            unique_key: None,
            follows: None,
            game: stored,
            log,
        })
    }
}

/// A game's next version. It contains secrets, so it does not implement `Debug`.
pub struct Draft {
    /// The game that the draft was computed from.
    pub(super) before: StoredGame,
    /// The game after the action.
    pub next: StoredGame,
    /// The events of the action, including what players may not see.
    pub events: Vec<Event>,
    /// The JSON columns to write.
    pub(super) rows: GameColumns,
}

/// JSON for the columns with these names.
pub(super) struct GameColumns {
    pub snapshot: String,
    pub action: String,
    pub events: String,
}

/// Why no draft could be made.
#[derive(Debug, Error)]
pub enum DraftError {
    /// The game refuses the action.
    #[error(transparent)]
    Refused(#[from] ActionRefusal),
    /// The game has reached its limit of changes of this kind.
    #[error(transparent)]
    LimitReached(#[from] LimitReached),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Draft {
    /// Applies an action to a game. All changes of stored games, by people, bots and hosts, are
    /// made this way.
    ///
    /// # Errors
    /// The game refuses the action, or has reached its limit of such changes.
    pub fn new(stored: &StoredGame, action: &Action, actor: Actor) -> Result<Draft, DraftError> {
        let mut next = stored.clone();
        next.count_change(action, actor)?;
        let events = Arc::make_mut(&mut next.game).apply_by(action, actor)?;
        if let Some(seat) = action.seat()
            && next.seating.seats[seat].absent_at_start
            && action.is_play()
        {
            let access = &mut Arc::make_mut(&mut next.seating).seats[seat];
            access.absent_at_start = actor == Actor::Clock;
            access.asked_in_vain = actor == Actor::Clock;
        }
        if next.tokens.host.is_none() && next.game.phase() == Phase::Seating {
            // A table at which nobody sits would only be in the way of others.
            next.listed = next.game.has_human();
        }
        let data = next.data.of_present_people(&next.game);
        if data != *next.data {
            next.data = data.into();
        }
        next.set_updated_at(stored.next_change_at(now()));
        if let Action::ChangeSettings { settings } = *action {
            next.listed = settings.listed;
            next.reactions = settings.reactions;
            next.timing = Timing {
                bot_pace_ms: settings.bot_pace_ms,
                turn_seconds: settings.turn_seconds,
            };
        }
        if let (Action::Deal { .. }, Some(table)) = (action, &mut next.table) {
            table.closed = true;
            next.listed = false;
        }
        // It ends with the deal, or if somebody has taken cards back from the server.
        next.skips_to_deal &= !matches!(action, Action::Deal { .. })
            && (next.game.phase() == Phase::Deal || next.game.is_left_to_server());
        next.set_deadline(next.updated_at, &events, stored.game.phase());
        let rows = GameColumns {
            snapshot: to_json(&*next.game)?,
            action: to_json(action)?,
            events: to_json(&events)?,
        };
        Ok(Draft {
            before: stored.clone(),
            next,
            events,
            rows,
        })
    }

    /// Notes that the people of these seats are not there when the first round is dealt.
    pub fn note_absent(&mut self, seats: impl IntoIterator<Item = Seat>) {
        let seating = Arc::make_mut(&mut self.next.seating);
        for seat in seats {
            seating.seats[seat].absent_at_start = true;
        }
    }

    /// The table of a match that ends with this draft, and its result.
    ///
    /// # Errors
    /// Never in practice: a result can be serialized.
    pub(super) fn table_end(&self) -> Result<Option<(MatchTable, String)>, StoreError> {
        let ends = self.next.is_closed() && !self.before.is_closed();
        let Some(table) = self.next.table.filter(|_| ends) else {
            return Ok(None);
        };
        Ok(Some((table, to_json(&self.next.table_result(table))?)))
    }

    /// Opens a seat after the action: see [`Seating::open`].
    pub fn open_seat(&mut self, seat: Seat, invitation: Option<TokenHash>) {
        let seating = Arc::make_mut(&mut self.next.seating);
        seating.open(&mut self.next.tokens, seat, invitation);
    }
}

impl From<NewGame> for WriteOp {
    fn from(new: NewGame) -> WriteOp {
        WriteOp::Insert(vec![new], None)
    }
}

impl From<Draft> for WriteOp {
    fn from(draft: Draft) -> WriteOp {
        WriteOp::Update(Box::new(draft))
    }
}

impl From<Draft> for Write {
    /// A write without a saved response.
    fn from(draft: Draft) -> Write {
        Write {
            op: draft.into(),
            save: None,
        }
    }
}

/// The key of a saved response: a hash of the caller's token, the method, the path and the
/// idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(pub [u8; 32]);

/// How long a response is saved.
pub(super) const RESPONSE_TTL: SignedDuration = SignedDuration::from_hours(24);

/// The response to a completed request, kept for 24 hours.
#[derive(Clone, PartialEq, Eq)]
pub struct SavedResponse {
    /// The hash of the request's body.
    pub body_hash: [u8; 32],
    /// The response, in a format chosen by the caller.
    pub response: Vec<u8>,
}

impl SavedResponse {
    /// That of a row of its hash and the response.
    ///
    /// # Errors
    /// The row is damaged.
    pub(super) fn read(row: Row<'_>) -> Result<SavedResponse, StoreError> {
        Ok(SavedResponse {
            body_hash: row.get(0)?,
            response: row.get(1)?,
        })
    }
}

/// Without the response, which may contain secrets.
impl fmt::Debug for SavedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedResponse").finish_non_exhaustive()
    }
}

/// Serializes a part of a game as JSON.
pub(super) fn to_json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|_| StoreError::Misuse("a part of a game cannot be serialized"))
}
