//! What can be changed in the store.

use std::{ops::Deref, sync::Arc};

use dog_rules::Phase;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    StoreError,
    archive::PackedLog,
    draft::{Draft, Recorded, Scope, expiry},
    id::GameId,
    metrics::Usage,
    migrations::{self, MIGRATIONS},
    reader::Reader,
    record::{LogEntry, Recent, Record, int, now, to_json, version},
    tokens::{TokenHash, Tokens},
};

/// Expired answers that are thrown away whenever one is added, so that they go faster than they
/// come and no write has to remove many.
const SWEPT: i64 = 8;

/// Changes that are remembered.
const REMEMBERED: i64 = 10_000;

/// Older ones that are forgotten at once.
const FORGOTTEN: i64 = 100;

/// Rows of a log that are removed at once at most, so that no other write waits long.
const SLICE: i64 = 1_000;

/// Bytes that are written to see whether a write is possible: more than most plays write. They are
/// random, since SQLite does not write what is there already.
const PROBE: i64 = 32 << 10;

/// Something to do once the changes are on the disk.
pub(super) type AfterCommit = Box<dyn FnOnce() + Send>;

/// Changes that happen together or not at all. Everything [`Reader`] answers can be asked here
/// too, and is the newest there is: nobody else changes the store in the meantime.
pub struct Transaction<'c> {
    reader: Reader<'c>,
    recent: &'c Arc<Recent>,
    max_bytes: Option<u64>,
    after_commit: Vec<AfterCommit>,
}

impl<'c> Deref for Transaction<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl<'c> Transaction<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        recent: &'c Arc<Recent>,
        max_bytes: Option<u64>,
    ) -> Transaction<'c> {
        // What is read here may never come to the disk.
        let reader = Reader {
            connection,
            recent: None,
        };
        Transaction {
            reader,
            recent,
            max_bytes,
            after_commit: Vec::new(),
        }
    }

    pub(super) fn into_after_commit(self) -> Vec<AfterCommit> {
        self.after_commit
    }

    /// Has something done after the commit and before the answer, such as waking those who wait
    /// for a change. It runs on the writer's thread, so it must be quick and never wait; it runs
    /// even if nobody waits for the answer any more, and not at all if nothing was committed.
    pub fn after_commit(&mut self, what: impl FnOnce() + Send + 'static) {
        self.after_commit.push(Box::new(what));
    }

    /// Adds a game with its log so far: one entry a version, the last being the game's.
    ///
    /// # Errors
    /// The log does not fit, the id is taken, there is no room for new games, or the database
    /// cannot be written.
    pub fn insert(&mut self, record: &mut Record, log: &[LogEntry]) -> Result<(), StoreError> {
        let version = record.game.version();
        if !log.iter().map(|entry| entry.version).eq(1..=version) {
            return Err(StoreError::Misuse("a log must have one entry a version"));
        }
        if let Some(last) = log.last() {
            record.set_deadline(last.at, &last.events);
        }
        let key = self.insert_row(record)?;
        log.iter().try_for_each(|entry| {
            let action = entry.action.as_ref().map(to_json).transpose()?;
            let events = to_json(&entry.events)?;
            self.append(key, entry.version, entry.at, action.as_deref(), &events)
        })
    }

    /// Adds a game without its log; its key.
    fn insert_row(&self, record: &Record) -> Result<i64, StoreError> {
        let (version, phase) = (record.game.version(), record.game.phase());
        self.usage()?.check_new_game()?;
        let connection = self.open()?;
        connection
            .prepare_cached(
                "INSERT INTO games \
                 (id, version, phase, listed, created_at, updated_at, tokens, snapshot, \
                 bot_pace_ms, turn_seconds, deadline, attended, due_at, imported, creator) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                record.id,
                int(version),
                phase.name(),
                record.listed,
                record.created_at.as_microsecond(),
                record.updated_at.as_microsecond(),
                record.tokens,
                to_json(&record.game)?,
                record.tempo.bot_pace_ms,
                record.tempo.turn_seconds,
                record.deadline.map(Timestamp::as_microsecond),
                record.game.attended(),
                record
                    .due_at(record.updated_at)
                    .map(Timestamp::as_microsecond),
                record.imported,
                record.creator,
            ])?;
        let key = connection.last_insert_rowid();
        self.note_change(&record.id, Some(version))?;
        Ok(key)
    }

    /// Puts a draft in the place of the game it was drafted from, with its tokens, and adds to the
    /// log how that came to be.
    ///
    /// # Errors
    /// [`StoreError::Stale`] if the stored game is gone, or another by now, or has other tokens: a
    /// new draft must be made; nothing has changed. Or the database cannot be written.
    pub fn keep(&mut self, draft: &Draft) -> Result<(), StoreError> {
        let Draft {
            before,
            record,
            rows,
            ..
        } = draft;
        let (version, at) = (record.game.version(), record.updated_at);
        let connection = self.open()?;
        // Nothing is changed before this. An UPDATE that returns the key would be a statement less,
        // but SQLite makes ready to undo such a one, which takes longer.
        let key: Option<i64> = connection
            .prepare_cached(
                "SELECT key FROM games \
                 WHERE id = ?1 AND version = ?2 AND updated_at = ?3 AND tokens = ?4",
            )?
            .query_row(
                params![
                    record.id,
                    int(before.version),
                    before.updated_at.as_microsecond(),
                    before.tokens,
                ],
                |row| row.get(0),
            )
            .optional()?;
        let key = key.ok_or(StoreError::Stale(before.version))?;
        connection
            .prepare_cached(
                "UPDATE games SET version = ?2, updated_at = ?3, tokens = ?4, snapshot = ?5, \
                 deadline = ?6, attended = ?7, due_at = ?8, table_changes = ?9 WHERE key = ?1",
            )?
            .execute(params![
                key,
                int(version),
                at.as_microsecond(),
                record.tokens,
                rows.snapshot,
                record.deadline.map(Timestamp::as_microsecond),
                record.game.attended(),
                record.due_at(at).map(Timestamp::as_microsecond),
                record.changes.versions,
            ])?;
        let phase = record.game.phase();
        // It seldom changes, and stands in an index.
        if phase != before.phase {
            connection
                .prepare_cached("UPDATE games SET phase = ?2 WHERE key = ?1")?
                .execute(params![key, phase.name()])?;
        }
        self.append(key, version, at, Some(&rows.action), &rows.events)?;
        self.note_change(&record.id, Some(version))?;
        let (recent, seen) = (Arc::clone(self.recent), record.clone());
        self.after_commit(move || recent.put(seen));
        Ok(())
    }

    /// Adds to the list of changes that a game has come to this version, or is gone.
    fn note_change(&self, id: &GameId, version: Option<u64>) -> Result<(), StoreError> {
        let connection = self.open()?;
        connection
            .prepare_cached("INSERT INTO changes (game, version) VALUES (?1, ?2)")?
            .execute(params![id, version.map(int)])?;
        let number = connection.last_insert_rowid();
        if number % FORGOTTEN == 0 {
            connection
                .prepare_cached("DELETE FROM changes WHERE number <= ?1")?
                .execute([number - REMEMBERED])?;
        }
        Ok(())
    }

    /// Adds an entry to a game's log, with its action and events as JSON.
    fn append(
        &self,
        key: i64,
        version: u64,
        at: Timestamp,
        action: Option<&str>,
        events: &str,
    ) -> Result<(), StoreError> {
        self.open()?
            .prepare_cached(
                "INSERT INTO log (game, version, at, action, events) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                key,
                int(version),
                at.as_microsecond(),
                action,
                events,
            ])?;
        Ok(())
    }

    /// Replaces a game's tokens without a new version; says whether there is such a game.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_tokens(&mut self, id: &GameId, tokens: &Tokens) -> Result<bool, StoreError> {
        let sql = "UPDATE games SET tokens = ?2, renewals = renewals + 1 WHERE id = ?1 \
                   RETURNING version";
        let mut statement = self.open()?.prepare_cached(sql)?;
        let found = statement.query_row(params![id, tokens], |row| row.get(0));
        let Some(column) = found.optional()? else {
            return Ok(false);
        };
        self.note_change(id, Some(version(column)?))?;
        Ok(true)
    }

    /// Removes a game and its log; says whether there was such a game. Of a long log only a part
    /// goes at once, and the game with it; the rest is for [`Transaction::delete_rest`].
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn delete(&mut self, id: &GameId) -> Result<bool, StoreError> {
        let connection = self.open()?;
        let key = connection
            .prepare_cached("SELECT key FROM games WHERE id = ?1")?
            .query_row([id], |row| row.get(0));
        let Some(key) = key.optional()? else {
            return Ok(false);
        };
        if self.delete_log(key)? {
            connection
                .prepare_cached(
                    "UPDATE games SET id = 'removed ' || key, phase = 'removed', listed = 0, \
                     due_at = NULL, creator = NULL, tokens = x'', snapshot = '' WHERE key = ?1",
                )?
                .execute([key])?;
            connection
                .prepare_cached("DELETE FROM tickets WHERE game = ?1")?
                .execute([key])?;
        } else {
            self.delete_row(key)?;
        }
        self.note_change(id, None)?;
        Ok(true)
    }

    /// Removes a part of what is left of removed games; says whether there may be more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn delete_rest(&mut self) -> Result<bool, StoreError> {
        // Through the index of the public list.
        let sql = "SELECT key FROM games WHERE listed = 0 AND phase = 'removed' LIMIT 1";
        let mut statement = self.open()?.prepare_cached(sql)?;
        let key = statement.query_row([], |row| row.get(0));
        let Some(key) = key.optional()? else {
            return Ok(false);
        };
        if !self.delete_log(key)? {
            self.delete_row(key)?;
        }
        Ok(true)
    }

    /// Removes a game's row, and with it all that refers to it.
    fn delete_row(&self, key: i64) -> Result<(), StoreError> {
        self.open()?
            .prepare_cached("DELETE FROM games WHERE key = ?1")?
            .execute([key])?;
        Ok(())
    }

    /// Adds a finished game with its packed log.
    ///
    /// # Errors
    /// The log does not fit, the id is taken, there is no room for new games, or the database
    /// cannot be written.
    pub fn insert_packed(&mut self, record: &Record, log: &PackedLog) -> Result<(), StoreError> {
        let game = &record.game;
        if game.phase() != Phase::Finished || game.version() != log.versions {
            return Err(StoreError::Misuse("only a whole log can be packed"));
        }
        let key = self.insert_row(record)?;
        self.insert_pages(key, log)
    }

    fn insert_pages(&self, key: i64, log: &PackedLog) -> Result<(), StoreError> {
        let mut insert = self
            .open()?
            .prepare_cached("INSERT INTO archive (game, first, entries) VALUES (?1, ?2, ?3)")?;
        for page in &log.pages {
            insert.execute(params![key, int(page.first), page.entries])?;
        }
        Ok(())
    }

    /// Puts a packed log, if there is one, in the place of a finished game's, and forgets who
    /// created the game. Of a long log only a part is removed at once; says whether there is more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub(super) fn archive(
        &mut self,
        id: &GameId,
        packed: Option<&PackedLog>,
    ) -> Result<bool, StoreError> {
        let connection = self.open()?;
        let key = connection
            .prepare_cached(
                "SELECT key FROM games WHERE id = ?1 AND phase = 'finished' AND archived = 0",
            )?
            .query_row([id], |row| row.get(0));
        let Some(key) = key.optional()? else {
            return Ok(false);
        };
        // First, as a full database may have no other room for the pages.
        let more = self.delete_log(key)?;
        if let Some(packed) = packed {
            // There may be one that is the whole log.
            connection
                .prepare_cached("DELETE FROM archive WHERE game = ?1")?
                .execute([key])?;
            self.insert_pages(key, packed)?;
        }
        if !more {
            connection
                .prepare_cached("UPDATE games SET archived = 1, creator = NULL WHERE key = ?1")?
                .execute([key])?;
        }
        Ok(more)
    }

    /// Removes the first entries of a log; says whether there may be more.
    fn delete_log(&self, key: i64) -> Result<bool, StoreError> {
        let removed = self
            .open()?
            .prepare_cached(
                "DELETE FROM log WHERE game = ?1 \
                 AND version < ?2 + (SELECT min(version) FROM log WHERE game = ?1)",
            )?
            .execute([key, SLICE])?;
        Ok(removed as i64 >= SLICE)
    }

    /// Keeps a ticket for whoever sent this token, and forgets those that have expired.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn add_ticket(
        &mut self,
        id: &GameId,
        ticket: &TokenHash,
        token: &TokenHash,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let connection = self.open()?;
        connection
            .prepare_cached("DELETE FROM tickets WHERE expires_at <= ?1")?
            .execute([now().as_microsecond()])?;
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO tickets (hash, game, token, expires_at) \
                 SELECT ?2, key, ?3, ?4 FROM games WHERE id = ?1",
            )?
            .execute(params![id, ticket.0, token.0, expires_at.as_microsecond()])?;
        Ok(())
    }

    /// Takes a [`ticket`](Reader::ticket), which is then gone; none if it is not there any more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn take_ticket(
        &mut self,
        id: &GameId,
        ticket: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<TokenHash>, StoreError> {
        let taken = self
            .open()?
            .prepare_cached(
                "DELETE FROM tickets WHERE hash = ?2 AND expires_at > ?3 \
                 AND game = (SELECT key FROM games WHERE id = ?1) RETURNING token",
            )?
            .query_row(params![id, ticket.0, now.as_microsecond()], |row| {
                row.get(0).map(TokenHash)
            })
            .optional()?;
        Ok(taken)
    }

    /// Remembers the answer to a request for 24 hours, and forgets some older ones.
    ///
    /// # Errors
    /// There is one already: the caller must ask for a [`replay`](Reader::replay) first. Or
    /// the database cannot be written.
    pub fn remember(
        &mut self,
        scope: &Scope,
        recorded: &Recorded,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let connection = self.open()?;
        connection
            .prepare_cached(
                "DELETE FROM idempotency WHERE created_at <= ?1 AND (scope = ?2 OR key IN \
                 (SELECT key FROM idempotency WHERE created_at <= ?1 \
                 ORDER BY created_at LIMIT ?3))",
            )?
            .execute(params![expiry(now), scope.0, SWEPT])?;
        let added = connection
            .prepare_cached(
                "INSERT INTO idempotency (scope, body_hash, answer, created_at) \
                 VALUES (?1, ?2, ?3, ?4) ON CONFLICT (scope) DO NOTHING",
            )?
            .execute(params![
                scope.0,
                recorded.body_hash,
                recorded.answer,
                now.as_microsecond(),
            ])?;
        match added {
            0 => Err(StoreError::Misuse("this request was answered before")),
            _ => Ok(()),
        }
    }

    /// Makes sure that the store can be written, by writing as much as a play does.
    pub(super) fn probe(&mut self) -> Result<Usage, StoreError> {
        let connection = self.open()?;
        migrations::check_version(connection, MIGRATIONS)?;
        let usage = self.usage()?;
        usage.check_write()?;
        connection
            .prepare_cached("UPDATE probe SET filler = randomblob(?1)")?
            .execute([PROBE])?;
        Ok(usage)
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        Usage::of(self.open()?, self.max_bytes)
    }

    /// The connection to write to, as long as the transaction lasts: SQLite ends one by itself
    /// when the disk is full, and would take what comes after it for changes of their own.
    pub(super) fn open(&self) -> Result<&'c Connection, StoreError> {
        if self.connection.is_autocommit() {
            return Err(StoreError::RolledBack);
        }
        Ok(self.connection)
    }
}
