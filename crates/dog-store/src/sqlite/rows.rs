//! Conversions of rows into games and log entries.

use rusqlite::{Row, types::ValueRef};

use super::game_cache::GameCache;
pub(super) use crate::game_row::select_games;
use crate::{
    StoreError, StoredGame,
    game_log::LogRow,
    game_row::{GameRow, time, version},
};

/// The game that a row of [`select_games`] has. The snapshot is parsed only if the cache does not
/// have this version of the game.
///
/// # Errors
/// The snapshot cannot be parsed, or contradicts other columns.
pub(super) fn stored_game(
    row: &Row<'_>,
    cache: Option<&GameCache>,
) -> Result<StoredGame, StoreError> {
    let row = GameRow {
        id: row.get(1)?,
        version: row.get(2)?,
        listed: row.get(3)?,
        created_at: row.get(4)?,
        updated_at: row.get(5)?,
        tokens: row.get(6)?,
        snapshot: text(row.get_ref(7)?)?,
        bot_pace_ms: row.get(8)?,
        turn_seconds: row.get(9)?,
        deadline: row.get(10)?,
        imported: row.get(11)?,
        phase: text(row.get_ref(12)?)?,
        creator: row.get(13)?,
        admin_changes: row.get(14)?,
        token_renewals: row.get(15)?,
        seating: optional_text(row.get_ref(16)?)?,
        reactions: row.get(17)?,
        skips_to_deal: row.get(18)?,
    };
    let cached = cache.and_then(|cache| cache.get(row.id));
    let known = cached.filter(|cached| row.is_of(cached));
    row.stored_game(known.map(|known| known.game))
}

/// The text in a column, without a check of its encoding.
pub(super) fn text(column: ValueRef<'_>) -> Result<&[u8], StoreError> {
    Ok(column.as_bytes().map_err(rusqlite::Error::from)?)
}

/// The same; `None` for NULL.
pub(super) fn optional_text(column: ValueRef<'_>) -> Result<Option<&[u8]>, StoreError> {
    match column {
        ValueRef::Null => Ok(None),
        column => text(column).map(Some),
    }
}

/// The log entry that a row with the columns version, at, action and events has.
pub(super) fn log_row(row: &Row<'_>) -> Result<LogRow, StoreError> {
    Ok(LogRow {
        version: version(row.get(0)?)?,
        at: time(row.get(1)?)?,
        action: row.get(2)?,
        events: row.get(3)?,
    })
}
