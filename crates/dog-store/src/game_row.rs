//! The row of a game, which both stores read and write in the same columns.

use std::sync::Arc;

use dog_rules::Game;
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::{
    AdminChanges, Creator, GameId, Seating, StoreError, StoredGame, Timing, Tokens, write::to_json,
};

/// A query of the columns that the stores read as a [`GameRow`], in their order.
macro_rules! select_games {
    ($rest:literal) => {
        concat!(
            "SELECT row_id, id, version, listed, created_at, updated_at, token_hashes, snapshot, \
             bot_pace_ms, turn_seconds, deadline, imported, phase, creator, \
             admin_changes, token_renewals, seating, reactions, skips_to_deal FROM games ",
            $rest
        )
    };
}
pub(super) use select_games;

/// The columns of a game, as they are stored.
pub(super) struct GameRow<'r> {
    pub id: GameId,
    pub version: i64,
    pub phase: &'r [u8],
    pub listed: bool,
    pub reactions: bool,
    pub imported: bool,
    pub created_at: i64,
    pub updated_at: i64,
    pub creator: Option<Creator>,
    pub tokens: Tokens,
    /// JSON; see [`seating`].
    pub seating: Option<&'r [u8]>,
    pub bot_pace_ms: u32,
    pub turn_seconds: Option<u32>,
    pub skips_to_deal: bool,
    pub admin_changes: u32,
    pub token_renewals: u32,
    pub deadline: Option<i64>,
    /// The game as JSON.
    pub snapshot: &'r [u8],
}

impl GameRow<'_> {
    /// Whether a game is of the version of this row, so that its snapshot need not be parsed.
    pub fn is_of(&self, stored: &StoredGame) -> bool {
        int(stored.game.version()) == self.version
            && stored.updated_at.as_microsecond() == self.updated_at
    }

    /// The game. The snapshot is not parsed if the game of this version is `known`.
    ///
    /// # Errors
    /// A column cannot be parsed, or contradicts another.
    pub fn stored_game(self, known: Option<Arc<Game>>) -> Result<StoredGame, StoreError> {
        let id = self.id;
        let game = match known {
            Some(game) => game,
            None => Arc::new(parse(self.snapshot, id)?),
        };
        let contradiction =
            |what: &str| StoreError::Damaged(format!("game {id} and its row differ in {what}"));
        if int(game.version()) != self.version {
            return Err(contradiction("the version"));
        }
        if self.phase != game.phase().name().as_bytes() {
            return Err(contradiction("the phase"));
        }
        // `due_at` is not compared: another version of the program may have computed it. Bots
        // correct it when they find the game due.
        Ok(StoredGame {
            id,
            listed: self.listed,
            reactions: self.reactions,
            imported: self.imported,
            created_at: time(self.created_at)?,
            updated_at: time(self.updated_at)?,
            creator: self.creator,
            tokens: self.tokens,
            seating: seating(self.seating, id)?,
            timing: Timing {
                bot_pace_ms: self.bot_pace_ms,
                turn_seconds: self.turn_seconds,
            },
            skips_to_deal: self.skips_to_deal,
            admin_changes: AdminChanges {
                versions: self.admin_changes,
                renewals: self.token_renewals,
            },
            deadline: self.deadline.map(time).transpose()?,
            game,
        })
    }
}

/// The text after all those with this prefix, which is ASCII.
pub(super) fn end_of(prefix: &str) -> String {
    format!("{prefix}\u{7f}")
}

/// The seating of the game `id` in a column of JSON; without any, the default.
///
/// # Errors
/// It cannot be parsed.
pub(super) fn seating(column: Option<&[u8]>, id: GameId) -> Result<Arc<Seating>, StoreError> {
    match column {
        None => Ok(Arc::default()),
        Some(column) => Ok(Arc::new(parse(column, id)?)),
    }
}

/// The seating as JSON; `None` for the default.
///
/// # Errors
/// Never in practice: a seating can be serialized.
pub(super) fn seating_column(seating: &Seating) -> Result<Option<String>, StoreError> {
    let is_default = *seating == Seating::default();
    (!is_default).then(|| to_json(seating)).transpose()
}

/// A version as a stored integer. Larger values saturate: they occur in requests, but not in games.
pub(super) fn int(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

/// The version in an integer column.
///
/// # Errors
/// It is negative.
pub(super) fn version(column: i64) -> Result<u64, StoreError> {
    u64::try_from(column).map_err(|_| StoreError::Damaged("a version is negative".into()))
}

/// The time in a column, in microseconds since 1970.
///
/// # Errors
/// It is out of range.
pub(super) fn time(column: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(column)
        .map_err(|_| StoreError::Damaged("a time is out of range".into()))
}

/// Parses a JSON column of the game `id`.
fn parse<T: DeserializeOwned>(column: &[u8], id: GameId) -> Result<T, StoreError> {
    serde_json::from_slice(column).map_err(|error| StoreError::unreadable(id, &error))
}
