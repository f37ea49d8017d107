//! The row of a game, which both stores read and write in the same columns.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};

use super::{
    AdminChanges, GameId, MatchTable, StoreError, StoredGame, Timing, row::Row, write::to_json,
};

/// A query of the columns of [`stored_game`], in their order.
macro_rules! select_games {
    ($rest:literal) => {
        concat!(
            "SELECT row_id, id, version, listed, created_at, updated_at, token_hashes, snapshot, \
             bot_pace_ms, turn_seconds, deadline, imported, phase, creator, \
             admin_changes, token_renewals, seating, reactions, skips_to_deal, data, \
             match_id, match_table, match_closed FROM games ",
            $rest
        )
    };
}
pub(super) use select_games;

/// The game in a row of [`select_games`]. The snapshot is not parsed if the game of this version is
/// `cached`.
///
/// # Errors
/// A column cannot be parsed, or contradicts another.
pub(super) fn stored_game(
    row: Row<'_>,
    cached: impl FnOnce(GameId) -> Option<StoredGame>,
) -> Result<StoredGame, StoreError> {
    let (id, version, updated_at) = (row.get(1)?, row.get::<u64>(2)?, row.get(5)?);
    let is_same =
        |cached: &StoredGame| cached.game.version() == version && cached.updated_at == updated_at;
    let game = match cached(id).filter(is_same) {
        Some(cached) => cached.game,
        None => Arc::new(parse(row.text(7)?.unwrap_or_default(), id)?),
    };
    let contradiction =
        |what: &str| StoreError::Damaged(format!("game {id} and its row differ in {what}"));
    if game.version() != version {
        return Err(contradiction("the version"));
    }
    if row.text(12)? != Some(game.phase().name().as_bytes()) {
        return Err(contradiction("the phase"));
    }
    // `due_at` is not compared: another version of the program may have computed it. Bots correct
    // it when they find the game due.
    Ok(StoredGame {
        id,
        listed: row.get(3)?,
        reactions: row.get(17)?,
        imported: row.get(11)?,
        created_at: row.get(4)?,
        updated_at,
        creator: row.get(13)?,
        tokens: row.get(6)?,
        seating: json(row.text(16)?, id)?,
        data: json(row.text(19)?, id)?,
        table: MatchTable::read(row, 20)?,
        timing: Timing {
            bot_pace_ms: row.get(8)?,
            turn_seconds: row.get(9)?,
        },
        skips_to_deal: row.get(18)?,
        admin_changes: AdminChanges {
            versions: row.get(14)?,
            renewals: row.get(15)?,
        },
        deadline: row.get(10)?,
        game,
    })
}

/// What the game `id` has in a column of JSON; without any, the default.
///
/// # Errors
/// It cannot be parsed.
pub(super) fn json<T: Default + DeserializeOwned>(
    column: Option<&[u8]>,
    id: GameId,
) -> Result<Arc<T>, StoreError> {
    match column {
        None => Ok(Arc::default()),
        Some(column) => Ok(Arc::new(parse(column, id)?)),
    }
}

/// A value as JSON; `None` for the default.
///
/// # Errors
/// Never in practice: what games have can be serialized.
pub(super) fn json_column<T: Default + PartialEq + Serialize>(
    value: &T,
) -> Result<Option<String>, StoreError> {
    let is_default = *value == T::default();
    (!is_default).then(|| to_json(value)).transpose()
}

/// A version as a stored integer. Larger values saturate: they occur in requests, but not in games.
pub(super) fn int(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

/// Parses a JSON column of the game `id`.
fn parse<T: DeserializeOwned>(column: &[u8], id: GameId) -> Result<T, StoreError> {
    serde_json::from_slice(column).map_err(|error| StoreError::unreadable(id, &error))
}
