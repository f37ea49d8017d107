//! How large a database may become. What was removed does not count: its pages are used again.

use rusqlite::Connection;

use super::StoreError;

/// Per cent of the limit from which on an operator is warned.
const WARN: u64 = 80;

/// Per cent of the limit from which on there are no new games, so that those that are there can go
/// on.
const NO_NEW_GAMES: u64 = 90;

/// Bytes that a write needs room for.
const WRITE: u64 = 32 << 10;

/// How much of a database is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of pages that hold something.
    pub used: u64,
    /// The most that may be used; none without a limit.
    pub max: Option<u64>,
}

impl Usage {
    /// What a connection sees.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn of(connection: &Connection, max: Option<u64>) -> Result<Usage, StoreError> {
        let sql = "SELECT (page_count - freelist_count) * page_size \
                   FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        let mut statement = connection.prepare_cached(sql)?;
        let used: i64 = statement.query_row([], |row| row.get(0))?;
        let used = used.unsigned_abs();
        Ok(Usage { used, max })
    }

    /// Whether it is time to make room.
    pub fn is_nearly_full(self) -> bool {
        self.max.is_some_and(|max| self.used >= percent(max, WARN))
    }

    /// Makes sure that there is room for a new game, and for those that are there to go on.
    ///
    /// # Errors
    /// [`StoreError::Quota`].
    pub(super) fn check_new_game(self) -> Result<(), StoreError> {
        match self.max {
            Some(max) if self.used >= percent(max, NO_NEW_GAMES) => Err(StoreError::Quota),
            _ => Ok(()),
        }
    }

    /// Makes sure that a game can go on.
    ///
    /// # Errors
    /// [`StoreError::Quota`].
    pub(super) fn check_write(self) -> Result<(), StoreError> {
        match self.max {
            Some(max) if self.used + WRITE > max => Err(StoreError::Quota),
            _ => Ok(()),
        }
    }
}

fn percent(of: u64, percent: u64) -> u64 {
    (u128::from(of) * u128::from(percent) / 100) as u64
}

/// Has SQLite refuse to let the file grow beyond that. One that is larger stays as large as it is.
///
/// # Errors
/// The database cannot be read.
pub(super) fn limit(connection: &Connection, max: Option<u64>) -> Result<(), StoreError> {
    let Some(max) = max else { return Ok(()) };
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = (max / page.unsigned_abs()).clamp(1, u32::MAX.into());
    // It answers with the limit that is in force.
    Ok(connection.pragma_update_and_check(None, "max_page_count", pages as i64, |_| Ok(()))?)
}
