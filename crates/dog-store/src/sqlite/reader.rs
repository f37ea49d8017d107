//! Queries.

use dog_rules::Phase;
use jiff::Timestamp;
use rusqlite::{Connection, Params, params};

use super::{game_cache::GameCache, migrations};
use crate::{
    GameCounts, GameId, ListQuery, LogPage, ReviewStatus, SavedResponse, Scope, SpaceUsage,
    StoreError, StoredGame, StoredReview,
    game_log::{LogForm, LogRow},
    game_row::{int, select_games, stored_game},
    list::ListedRow,
    now,
    row::Row,
    write::RESPONSE_TTL,
};

/// A connection to read from.
#[derive(Debug)]
pub struct Reader<'c> {
    pub(super) connection: &'c Connection,
    /// The cache, if the connection sees committed data only and is not in a transaction.
    pub(super) cache: Option<&'c GameCache>,
}

/// The time up to which saved responses have expired, in microseconds since 1970.
pub(super) fn expiry(now: Timestamp) -> i64 {
    (now - RESPONSE_TTL).as_microsecond()
}

impl<'c> Reader<'c> {
    /// A reader without a cache, as of what may be rolled back.
    pub fn new(connection: &'c Connection) -> Reader<'c> {
        Reader {
            connection,
            cache: None,
        }
    }

    /// What `read` makes of the first row of a query, if there is one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(|row| read(Row::Sqlite(row))).transpose()
    }

    /// What `read` makes of the first row of a query that always has one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(Row<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let first = self.first(sql, params, read)?;
        first.ok_or(StoreError::Misuse("a statement returned no row"))
    }

    /// What `read` makes of the rows of a query.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(Row::Sqlite(row))?);
        }
        Ok(all)
    }

    /// A game, or `None` if it does not exist.
    ///
    /// # Errors
    /// The database cannot be read, or the game cannot be parsed.
    pub fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        let commits = self.cache.map(GameCache::commits);
        let sql = select_games!("WHERE id = ?1");
        let stored = self.first(sql, [id], |row| stored_game(row, |_| None))?;
        if let (Some(cache), Some(commits), Some(stored)) = (self.cache, commits, &stored) {
            cache.insert_read(stored, commits);
        }
        Ok(stored)
    }

    /// See [`Store::review`](crate::Store::review).
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn review(
        &self,
        id: &GameId,
        is_claimed: bool,
    ) -> Result<Option<StoredReview>, StoreError> {
        let sql = "SELECT status, content FROM reviews JOIN games ON game = row_id \
                   WHERE id = ?1 AND phase = 'finished'";
        self.first(sql, [id], |row| {
            Ok(StoredReview {
                status: ReviewStatus::from_row(row.get(0)?, is_claimed),
                packed: row.get(1)?,
            })
        })
    }

    /// The response saved for this scope in the last 24 hours.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn saved_response(&self, scope: &Scope) -> Result<Option<SavedResponse>, StoreError> {
        let sql =
            "SELECT body_hash, response FROM idempotency WHERE scope = ?1 AND created_at > ?2";
        let params = params![scope.0, expiry(now())];
        self.first(sql, params, SavedResponse::read)
    }

    /// The newest `limit` games that the list has before this row.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn listed_rows(
        &self,
        query: &ListQuery,
        before: i64,
        limit: i64,
    ) -> Result<Vec<ListedRow>, StoreError> {
        // Each has an index that holds its games in order, so no other row is read.
        let (index, joinable) = match query.open {
            false => ("games_listed", ""),
            true => ("games_joinable", "anyone_may_join = 1 AND"),
        };
        let (suffix, of_phase) = match query.phase {
            None => ("", "?4 IS NULL"),
            Some(_) => ("_phase", "phase = ?4"),
        };
        let sql = format!(
            "SELECT row_id, creator FROM games INDEXED BY {index}{suffix} \
             WHERE {joinable} listed = 1 AND listed_until > ?1 AND row_id < ?2 AND {of_phase} \
             ORDER BY row_id DESC LIMIT ?3"
        );
        let phase = query.phase.map(Phase::name);
        let params = params![now().as_microsecond(), before, limit, phase];
        self.all(&sql, params, |row| {
            Ok((row.get(0)?, row.get(1).unwrap_or(None)))
        })
    }

    /// The games in these rows, in this order, without those that were removed meanwhile.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn games_of_rows(
        &self,
        row_ids: &[i64],
    ) -> Result<Vec<Result<StoredGame, StoreError>>, StoreError> {
        let sql = select_games!("WHERE row_id = ?1 AND phase <> 'removed'");
        let mut games = Vec::new();
        for row_id in row_ids {
            let cached = |id| self.cache?.get(id);
            games.extend(self.first(sql, [row_id], |row| Ok(stored_game(row, cached)))?);
        }
        Ok(games)
    }

    /// The first entries of a game's log after the version `after`, at most `limit`. Of a packed
    /// log only the entries of one page are returned. Empty if there is no such game.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn log_page(&self, id: &GameId, after: u64, limit: u32) -> Result<LogPage, StoreError> {
        Ok(LogPage {
            game: *id,
            after,
            limit: limit as usize,
            form: self.log_form(id, after, limit)?,
        })
    }

    fn log_form(&self, id: &GameId, after: u64, limit: u32) -> Result<LogForm, StoreError> {
        let sql = "SELECT row_id FROM games WHERE id = ?1 AND version > ?2";
        let row_id: Option<i64> = self.first(sql, params![id, int(after)], |row| row.get(0))?;
        let Some(row_id) = row_id else {
            return Ok(LogForm::Rows(Vec::new()));
        };
        let sql = "SELECT entries FROM packed_log WHERE game = ?1 AND first_version <= ?2 \
                   ORDER BY first_version DESC LIMIT 1";
        let first = [row_id, int(after.saturating_add(1))];
        if let Some(packed) = self.first(sql, first, |row| row.get(0))? {
            return Ok(LogForm::Packed(packed));
        }
        let sql = "SELECT version, at, action, events FROM log WHERE game = ?1 AND version > ?2 \
                   ORDER BY version LIMIT ?3";
        let params = params![row_id, int(after), limit];
        let entries = self.all(sql, params, |row| LogRow::read(row, 0))?;
        Ok(LogForm::Rows(entries))
    }

    /// The number of games by phase.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn game_counts(&self) -> Result<GameCounts, StoreError> {
        // SQLite reads an index for this, not the table.
        let sql = "SELECT phase, count(*) FROM games GROUP BY phase";
        let games = self.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sql = "SELECT count(*), coalesce(?1 - min(due_at), 0), \
                   (SELECT count(*) FROM reviews WHERE status <> 'done' AND status = 'waiting') \
                   FROM games WHERE due_at IS NOT NULL AND is_for_people IN (0, 1) \
                   AND due_at <= ?1";
        let others = self.one(sql, [now().as_microsecond()], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?])
        })?;
        let schema_version = migrations::version(self.connection)?;
        Ok(GameCounts::new(&games, others, schema_version))
    }

    /// The used space of the database, whose limit is `max` bytes.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn usage(&self, max: Option<u64>) -> Result<SpaceUsage, StoreError> {
        let sql = "SELECT (page_count - freelist_count) * page_size \
                   FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        let used = self.one(sql, [], |row| row.get::<i64>(0))?.unsigned_abs();
        Ok(SpaceUsage { used, max })
    }
}
