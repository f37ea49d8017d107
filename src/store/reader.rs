//! What can be asked of the store.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    StoreError, archive,
    draft::{Recorded, Scope, expiry},
    id::{Creator, GameId},
    record::{
        Change, Changes, Cursor, ListQuery, LogEntry, Page, Recent, Record, int, log_entry, record,
        select_games, time, version,
    },
    tokens::{TokenHash, Tokens},
};

/// Something to read from: one state of the database, which stays the same while this lives.
#[derive(Debug)]
pub struct Reader<'c> {
    pub(super) connection: &'c Connection,
    /// Games that need not be taken from their JSON, if all there is to see here is on the disk.
    pub(super) recent: Option<&'c Recent>,
}

/// Games that are due, and the creator after which there may be more.
pub type DueByCreator = (Vec<(GameId, Option<Creator>)>, Option<Creator>);

/// What the row of a game says besides the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub version: u64,
    pub tokens: Tokens,
    /// See [`Record::creator`].
    pub creator: Option<Creator>,
}

impl Reader<'_> {
    /// A game, if it is there.
    ///
    /// # Errors
    /// The database cannot be read, or the game cannot be understood.
    pub fn game(&self, id: &GameId) -> Result<Option<Record>, StoreError> {
        let sql = select_games!("WHERE id = ?1");
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        rows.next()?.map(|row| record(row, self.recent)).transpose()
    }

    /// A game's version, if it is there: a glance to see whether anything is new.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn version(&self, id: &GameId) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT version FROM games WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let column = statement.query_row([id], |row| row.get(0)).optional()?;
        column.map(version).transpose()
    }

    /// What is known of a game without reading the game itself, if it is there.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn standing(&self, id: &GameId) -> Result<Option<Standing>, StoreError> {
        let sql = "SELECT version, tokens, creator FROM games WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        Ok(Some(Standing {
            version: version(row.get(0)?)?,
            tokens: row.get(1)?,
            creator: row.get(2)?,
        }))
    }

    /// Whose token a ticket for this game stands for, if there is such a one and it has not expired.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<TokenHash>, StoreError> {
        let sql = "SELECT token FROM tickets WHERE hash = ?2 AND expires_at > ?3 \
                   AND game = (SELECT key FROM games WHERE id = ?1)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row(params![id, ticket.0, now.as_microsecond()], |row| {
            row.get(0).map(TokenHash)
        });
        Ok(found.optional()?)
    }

    /// The answer remembered for this scope, if it is not older than 24 hours.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn replay(&self, scope: &Scope, now: Timestamp) -> Result<Option<Recorded>, StoreError> {
        let sql = "SELECT body_hash, answer FROM idempotency WHERE scope = ?1 AND created_at > ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row(params![scope.0, expiry(now)], |row| {
            Ok(Recorded {
                body_hash: row.get(0)?,
                answer: row.get(1)?,
            })
        });
        Ok(found.optional()?)
    }

    /// A part of the public list of games, newest first. A game that cannot be understood is left
    /// out, with an error in the server's log, so that it does not take the others with it.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn games(&self, query: &ListQuery) -> Result<Page, StoreError> {
        let limit = i64::from(query.limit.max(1));
        let before = query.after.map_or(i64::MAX, |Cursor(key)| key);
        let mut statement;
        let mut rows = match query.phase {
            None => {
                let sql = select_games!("WHERE listed = 1 AND key < ?1 ORDER BY key DESC LIMIT ?2");
                statement = self.connection.prepare_cached(sql)?;
                statement.query(params![before, limit + 1])?
            }
            Some(phase) => {
                let sql = select_games!(
                    "WHERE listed = 1 AND key < ?1 AND phase = ?3 ORDER BY key DESC LIMIT ?2"
                );
                statement = self.connection.prepare_cached(sql)?;
                statement.query(params![before, limit + 1, phase.name()])?
            }
        };
        let (mut games, mut left_out) = (Vec::new(), Vec::new());
        let mut last = None;
        while games.len() + left_out.len() < limit as usize
            && let Some(row) = rows.next()?
        {
            last = Some(Cursor(row.get(0)?));
            match record(row, self.recent) {
                Ok(record) => games.push(record),
                Err(error) => left_out.push(error),
            }
        }
        if let Some(first) = left_out.first() {
            let many = left_out.len();
            log::error!("games left out of the list: {many}, the first because {first}");
        }
        let next = last.filter(|_| matches!(rows.next(), Ok(Some(_))));
        Ok(Page { games, next })
    }

    /// The entries of a game's log after this version, so many at most, oldest first; none if
    /// there is no such game. It unpacks one page of a packed log more than that at most.
    ///
    /// # Errors
    /// The database cannot be read, or an entry cannot be understood.
    pub fn log(&self, id: &GameId, after: u64, limit: u32) -> Result<Vec<LogEntry>, StoreError> {
        let sql = "SELECT key FROM games WHERE id = ?1 AND version > ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let key = statement.query_row(params![id, int(after)], |row| row.get(0));
        let Some(key) = key.optional()? else {
            return Ok(Vec::new());
        };
        let limit = limit as usize;
        let mut entries = Vec::new();
        let mut last = after;
        while entries.len() < limit {
            let page = self.archived(key, *id, last)?;
            let Some(end) = page.last().map(|entry| entry.version) else {
                break;
            };
            let new = page.into_iter().filter(|entry| entry.version > last);
            entries.extend(new.take(limit - entries.len()));
            last = end;
        }
        if entries.len() < limit {
            self.unpacked(key, *id, last, limit, &mut entries)?;
        }
        Ok(entries)
    }

    /// Adds the entries after this version to others, until there are so many in all.
    fn unpacked(
        &self,
        key: i64,
        id: GameId,
        after: u64,
        limit: usize,
        entries: &mut Vec<LogEntry>,
    ) -> Result<(), StoreError> {
        let sql = "SELECT version, at, action, events FROM log WHERE game = ?1 AND version > ?2 \
                   ORDER BY version LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let left = limit - entries.len();
        let mut rows = statement.query(params![key, int(after), int(left as u64)])?;
        while let Some(row) = rows.next()? {
            entries.push(log_entry(row, id)?);
        }
        Ok(())
    }

    /// The page of a packed log that has the entry after this version; none if there is no such
    /// page.
    fn archived(&self, key: i64, id: GameId, after: u64) -> Result<Vec<LogEntry>, StoreError> {
        let sql = "SELECT entries FROM archive WHERE game = ?1 AND first <= ?2 \
                   ORDER BY first DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![key, int(after.saturating_add(1))])?;
        let mut page = match rows.next()? {
            Some(row) => {
                let packed = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
                archive::unpack(packed, id)?
            }
            None => Vec::new(),
        };
        if page.last().is_some_and(|entry| entry.version <= after) {
            page.clear();
        }
        Ok(page)
    }

    /// Finished games whose logs are not packed yet, so many at most, in the order of their
    /// creation after that one; and whether the log is packed nevertheless, as that of an import.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn to_archive(
        &self,
        by: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<(Cursor, GameId, bool)>, StoreError> {
        let sql = "SELECT key, id, NOT EXISTS (SELECT 1 FROM log WHERE game = key) \
                   AND (SELECT count(*) FROM archive WHERE game = key) = (version + ?4 - 1) / ?4 \
                   FROM games WHERE phase = 'finished' AND archived = 0 \
                   AND key > ?1 AND updated_at <= ?2 ORDER BY key LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let after = after.map_or(0, |Cursor(key)| key);
        let page = archive::PAGE as i64;
        let rows = statement
            .query_map(params![after, by.as_microsecond(), limit, page], |row| {
                Ok((Cursor(row.get(0)?), row.get(1)?, row.get(2)?))
            })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Games in which the server is to act by now, with their creators, the longest due first:
    /// those with humans, or those without. A game whose id cannot be read is none, so that it does
    /// not keep the server from the others.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn due(
        &self,
        attended: bool,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        let sql = "SELECT id, creator FROM games WHERE due_at IS NOT NULL AND attended = ?1 \
                   AND due_at <= ?2 ORDER BY due_at LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![attended, now.as_microsecond(), limit])?;
        let mut games = Vec::new();
        while let Some(row) = rows.next()? {
            if let Ok(id) = row.get(0) {
                games.push((id, row.get(1).unwrap_or(None)));
            }
        }
        Ok(games)
    }

    /// The longest due of each creator's games in which the server is to act by now: of so many
    /// creators at most, in the order of their hashes after that one. As many of the games without
    /// a creator come with them. Says which creator was the last, if there may be more.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn due_by_creator(
        &self,
        attended: bool,
        now: Timestamp,
        after: Option<Creator>,
        limit: u32,
    ) -> Result<DueByCreator, StoreError> {
        let now = now.as_microsecond();
        let nobodys = "SELECT id FROM games WHERE due_at IS NOT NULL AND attended = ?1 \
                       AND creator IS NULL AND due_at <= ?2 ORDER BY due_at LIMIT ?3";
        let mut statement = self.connection.prepare_cached(nobodys)?;
        let mut rows = statement.query(params![attended, now, limit])?;
        let mut games = Vec::new();
        while let Some(row) = rows.next()? {
            games.extend(row.get(0).map(|id| (id, None)));
        }
        // Two steps in an index for each creator, however many games it has.
        let next = "SELECT min(creator) FROM games WHERE due_at IS NOT NULL AND attended = ?1 \
                    AND creator > ?2";
        let mut next = self.connection.prepare_cached(next)?;
        let first = "SELECT id FROM games WHERE due_at IS NOT NULL AND attended = ?1 \
                     AND creator = ?2 AND due_at <= ?3 ORDER BY due_at LIMIT 1";
        let mut first = self.connection.prepare_cached(first)?;
        let mut last = after;
        for _ in 0..limit {
            let after: &[u8] = last.as_ref().map_or(&[], |creator| &creator.0);
            let creator: Option<Creator> =
                next.query_row(params![attended, after], |row| row.get(0))?;
            let Some(creator) = creator else {
                return Ok((games, None));
            };
            let due = first.query_row(params![attended, creator, now], |row| row.get(0));
            if let Ok(Some(id)) = due.optional() {
                games.push((id, Some(creator)));
            }
            last = Some(creator);
        }
        Ok((games, last))
    }

    /// When the server is to act next after that time, in whatever game; not before the end of time
    /// if that is what a row says.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT min(due_at) FROM games WHERE due_at IS NOT NULL AND attended = ?1 \
                   AND due_at > ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut next: Option<i64> = None;
        for attended in [true, false] {
            let due: Option<i64> =
                statement.query_row(params![attended, after.as_microsecond()], |row| row.get(0))?;
            next = [next, due].into_iter().flatten().min();
        }
        Ok(next.and_then(|next| time(next).ok()))
    }

    /// The number of the last change; 0 if there was none.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn last_change(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(number), 0) FROM changes";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// What has changed since the change of that number, in its order. What cannot be read is
    /// left out, so that it does not keep anybody from the rest.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn changes(&self, since: i64) -> Result<Changes, StoreError> {
        let known = |column: Option<i64>| column.map(version).transpose();
        let sql = "SELECT number, game, version FROM changes WHERE number > ?1 ORDER BY number";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([since])?;
        let (mut changes, mut first) = (Vec::new(), true);
        while let Some(row) = rows.next()? {
            if first && row.get::<_, i64>(0)? != since + 1 {
                return Ok(Changes::Any);
            }
            first = false;
            if let (Ok(id), Ok(Ok(version))) = (row.get(1), row.get(2).map(known)) {
                changes.push(Change { id, version });
            }
        }
        Ok(Changes::Of(changes))
    }
}
