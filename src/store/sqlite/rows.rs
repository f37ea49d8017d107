//! Conversions of rows into games and log entries.

use std::sync::Arc;

use dog_rules::Game;
use jiff::Timestamp;
use rusqlite::{Row, types::ValueRef};
use serde::de::DeserializeOwned;

use super::game_cache::GameCache;
use crate::store::{
    GameId, Seating, StoreError,
    game_log::LogRow,
    stored_game::{AdminChanges, StoredGame, Timing},
};

/// A query of the columns that [`stored_game`] reads, in its order.
macro_rules! select_games {
    ($rest:literal) => {
        concat!(
            "SELECT row_id, id, version, listed, created_at, updated_at, token_hashes, snapshot, \
             bot_pace_ms, turn_seconds, deadline, imported, phase, due_at, creator, \
             admin_changes, token_renewals, seating FROM games ",
            $rest
        )
    };
}
pub(super) use select_games;

/// The game in a row of [`select_games`]. The snapshot is parsed only if the cache does not have
/// this version of the game.
///
/// # Errors
/// The snapshot cannot be parsed, or contradicts other columns.
pub(super) fn stored_game(
    row: &Row<'_>,
    cache: Option<&GameCache>,
) -> Result<StoredGame, StoreError> {
    let id: GameId = row.get(1)?;
    let (version, updated_at): (i64, _) = (row.get(2)?, time(row.get(5)?)?);
    let cached = cache
        .and_then(|cache| cache.get(id))
        .filter(|cached| int(cached.game.version()) == version && cached.updated_at == updated_at);
    let game: Arc<Game> = match cached {
        Some(cached) => cached.game,
        None => Arc::new(json(row.get_ref(7)?, id)?),
    };
    let contradiction =
        |what: &str| StoreError::Damaged(format!("game {id} and its row differ in {what}"));
    if int(game.version()) != version {
        return Err(contradiction("the version"));
    }
    let phase = row.get_ref(12)?.as_bytes().map_err(rusqlite::Error::from)?;
    if phase != game.phase().name().as_bytes() {
        return Err(contradiction("the phase"));
    }
    let stored = StoredGame {
        id,
        listed: row.get(3)?,
        imported: row.get(11)?,
        created_at: time(row.get(4)?)?,
        updated_at,
        creator: row.get(14)?,
        tokens: row.get(6)?,
        seating: seating(row.get_ref(17)?, id)?,
        timing: Timing {
            bot_pace_ms: row.get(8)?,
            turn_seconds: row.get(9)?,
        },
        admin_changes: AdminChanges {
            versions: row.get(15)?,
            renewals: row.get(16)?,
        },
        deadline: row.get::<_, Option<i64>>(10)?.map(time).transpose()?,
        game,
    };
    // With a wrong due time the server would find the game due again and again, or never.
    let due_at = stored.due_at(stored.updated_at);
    if row.get::<_, Option<i64>>(13)? != due_at.map(Timestamp::as_microsecond) {
        return Err(contradiction("when the server is to act"));
    }
    Ok(stored)
}

/// The seating of the game `id` in a column.
pub(super) fn seating(column: ValueRef<'_>, id: GameId) -> Result<Arc<Seating>, StoreError> {
    match column {
        ValueRef::Null => Ok(Arc::default()),
        column => Ok(Arc::new(json(column, id)?)),
    }
}

/// The log entry in a row of the columns version, at, action and events.
pub(super) fn log_row(row: &Row<'_>) -> Result<LogRow, StoreError> {
    Ok(LogRow {
        version: version(row.get(0)?)?,
        at: time(row.get(1)?)?,
        action: row.get(2)?,
        events: row.get(3)?,
    })
}

/// A version as an SQLite integer. Larger values saturate: they occur in requests, but not in
/// games.
pub(super) fn int(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

/// The version in an integer column.
pub(super) fn version(column: i64) -> Result<u64, StoreError> {
    u64::try_from(column).map_err(|_| StoreError::Damaged("a version is negative".into()))
}

/// The time in a column, in microseconds since 1970.
pub(super) fn time(column: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(column)
        .map_err(|_| StoreError::Damaged("a time is out of range".into()))
}

/// Parses a JSON column of the game `id`.
fn json<T: DeserializeOwned>(column: ValueRef<'_>, id: GameId) -> Result<T, StoreError> {
    let text = column.as_bytes().map_err(rusqlite::Error::from)?;
    serde_json::from_slice(text).map_err(|error| StoreError::unreadable(id, &error))
}
