//! Queries.

use dog_rules::Phase;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::{
    game_cache::GameCache,
    migrations,
    rows::{log_row, optional_text, select_games, stored_game},
};
use crate::{
    Cursor, ExpiredBatch, ExpiredGame, GameCounts, GameHead, GameId, ListQuery, LogPage,
    RetentionPolicy, ReviewStatus, SavedResponse, Scope, SpaceUsage, StoreError, StoredGame,
    StoredReview,
    game_log::LogForm,
    game_row::{end_of, int, seating, version},
    list::ListedRow,
    now,
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

impl Reader<'_> {
    /// What `read` makes of the first row of a query, if there is one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row(params, read).optional()?)
    }

    fn one_game(&self, sql: &str, params: impl Params) -> Result<Option<StoredGame>, StoreError> {
        let stored = self.first(sql, params, |row| Ok(stored_game(row, None)))?;
        stored.transpose()
    }

    /// A game, or `None` if it does not exist.
    ///
    /// # Errors
    /// The database cannot be read, or the game cannot be parsed.
    pub fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        let commits = self.cache.map(GameCache::commits);
        let stored = self.one_game(select_games!("WHERE id = ?1"), [id])?;
        if let (Some(cache), Some(commits), Some(stored)) = (self.cache, commits, &stored) {
            cache.insert_read(stored, commits);
        }
        Ok(stored)
    }

    /// The game that was added with this unique key, or `None`.
    ///
    /// # Errors
    /// As [`Reader::game`].
    pub fn game_by_unique_key(&self, unique_key: &str) -> Result<Option<StoredGame>, StoreError> {
        self.one_game(select_games!("WHERE unique_key = ?1"), [unique_key])
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
                status: ReviewStatus::from_row(row.get_ref(0)?.as_str()?, is_claimed),
                packed: row.get(1)?,
            })
        })
    }

    /// See [`Store::oldest_in_seating`](crate::Store::oldest_in_seating).
    ///
    /// # Errors
    /// As [`Reader::game`].
    pub fn oldest_in_seating(
        &self,
        prefix: &str,
        max_changes: u32,
    ) -> Result<(Option<StoredGame>, Option<String>), StoreError> {
        let sql = select_games!(
            "WHERE phase = 'seating' AND unique_key >= ?1 AND unique_key < ?2 \
             AND admin_changes + token_renewals < ?3 ORDER BY unique_key LIMIT 1"
        );
        let end = end_of(prefix);
        let oldest = self.one_game(sql, params![prefix, end, max_changes])?;
        let sql = "SELECT max(unique_key) FROM games WHERE unique_key >= ?1 AND unique_key < ?2";
        let last = self.first(sql, [prefix, &end], |row| row.get(0))?;
        Ok((oldest, last.flatten()))
    }

    /// A game's version, or `None` if there is no such game.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn version(&self, id: &GameId) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT version FROM games WHERE id = ?1";
        let column = self.first(sql, [id], |row| row.get(0))?;
        column.map(version).transpose()
    }

    /// A game's version, tokens and creator, without the game itself.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn head(&self, id: &GameId) -> Result<Option<GameHead>, StoreError> {
        let sql = "SELECT version, token_hashes, creator, seating FROM games WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        Ok(Some(GameHead {
            version: version(row.get(0)?)?,
            tokens: row.get(1)?,
            creator: row.get(2)?,
            seating: seating(optional_text(row.get_ref(3)?)?, *id)?,
        }))
    }

    /// The response saved for this scope in the last 24 hours.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn saved_response(&self, scope: &Scope) -> Result<Option<SavedResponse>, StoreError> {
        let sql =
            "SELECT body_hash, response FROM idempotency WHERE scope = ?1 AND created_at > ?2";
        self.first(sql, params![scope.0, expiry(now())], |row| {
            Ok(SavedResponse {
                body_hash: row.get(0)?,
                response: row.get(1)?,
            })
        })
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
        let mut statement = self.connection.prepare_cached(&sql)?;
        let phase = query.phase.map(Phase::name);
        let rows = statement.query_map(
            params![now().as_microsecond(), before, limit, phase],
            |row| Ok((row.get(0)?, row.get(1).unwrap_or(None))),
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
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
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut games = Vec::new();
        for row_id in row_ids {
            let mut rows = statement.query([row_id])?;
            games.extend(rows.next()?.map(|row| stored_game(row, self.cache)));
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
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![row_id, int(after), limit])?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next()? {
            entries.push(log_row(row)?);
        }
        Ok(LogForm::Rows(entries))
    }

    /// At most `limit` games that were closed by `by` and are not marked as packed, in order of
    /// creation after `after`. The flag says whether the log is packed already, as that of an
    /// imported game is.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn games_to_pack(
        &self,
        by: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<(Cursor, GameId, bool)>, StoreError> {
        let sql = "SELECT row_id, id, EXISTS (SELECT 1 FROM packed_log WHERE game = row_id) \
                   FROM games INDEXED BY games_to_pack \
                   WHERE (phase = 'finished' OR at_limit = 1) AND packed = 0 \
                   AND row_id > ?1 AND updated_at <= ?2 ORDER BY row_id LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let after = after.map_or(0, |Cursor(row_id)| row_id);
        let rows = statement.query_map(params![after, by.as_microsecond(), limit], |row| {
            Ok((Cursor(row.get(0)?), row.get(1)?, row.get(2)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The expired games among the first `limit` games after `after`, in order of creation.
    ///
    /// A batch in which every game is too young to have expired ends the search, because all later
    /// games are younger still, unless the clock was put back since.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn expired_games(
        &self,
        policy: RetentionPolicy,
        now: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<ExpiredBatch, StoreError> {
        let sql = "SELECT row_id, id, version, \
                   updated_at <= iif(phase = 'finished', ?3, ?4), \
                   created_at <= max(?3, ?4) OR created_at > ?5 FROM games \
                   WHERE row_id > ?1 AND phase <> 'removed' ORDER BY row_id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let first = after.map_or(0, |Cursor(row_id)| row_id);
        let [finished, idle] = policy.cutoffs(now);
        let now = now.as_microsecond();
        let mut rows = statement.query([first, limit.into(), finished, idle, now])?;
        let (mut old, mut seen, mut last, mut more) = (Vec::new(), 0, after, false);
        while let Some(row) = rows.next()? {
            seen += 1;
            last = Some(Cursor(row.get(0)?));
            more |= row.get::<_, bool>(4)?;
            if row.get(3)? {
                old.push(ExpiredGame {
                    id: row.get(1)?,
                    version: version(row.get(2)?)?,
                });
            }
        }
        let next = last.filter(|_| more && seen == limit);
        Ok(ExpiredBatch { old, next })
    }

    /// The number of games by phase.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn game_counts(&self) -> Result<GameCounts, StoreError> {
        // SQLite reads an index for this, not the table.
        let sql = "SELECT phase, count(*) FROM games GROUP BY phase";
        let mut statement = self.connection.prepare_cached(sql)?;
        let games = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let games = games.collect::<Result<_, _>>()?;
        let sql = "SELECT count(*) FROM games WHERE due_at IS NOT NULL AND is_for_people IN (0, 1) \
                   AND due_at <= ?1";
        let due = self.first(sql, [now().as_microsecond()], |row| row.get(0))?;
        let schema_version = migrations::version(self.connection)?;
        Ok(GameCounts::new(&games, due.unwrap_or(0), schema_version))
    }

    /// The used space of the database, whose limit is `max` bytes.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn usage(&self, max: Option<u64>) -> Result<SpaceUsage, StoreError> {
        let sql = "SELECT (page_count - freelist_count) * page_size \
                   FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        let used: Option<i64> = self.first(sql, [], |row| row.get(0))?;
        let used = used.unwrap_or(0).unsigned_abs();
        Ok(SpaceUsage { used, max })
    }
}
