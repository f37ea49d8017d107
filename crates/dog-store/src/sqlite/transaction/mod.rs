//! Changes of the database.

use std::{ops::Deref, sync::Arc};

use jiff::Timestamp;
use rusqlite::{Connection, Params, params};

use super::{
    game_cache::ChangedGame,
    migrations::{SCHEMA, version},
    reader::Reader,
};
use crate::{
    Change, CommitResult, Draft, ExpectedState, GameId, NewGame, NewMatch, SavedResponse, Scope,
    Seating, SpaceUsage, StoreError, StoredGame, Tokens, Write, WriteOp,
    game_row::{int, json_column},
    list::{LIST_BATCH, LISTED_SLACK, LISTED_TIME},
    stored_game::now,
    write::NewLog,
};

mod matches;
mod retention;
mod reviews;

/// The number of bytes written to check that writes are possible; most plays write less. They are
/// random, because SQLite does not write unchanged pages.
const PROBE_BYTES: i64 = 32 << 10;

/// What a batch of writes changes.
#[derive(Default)]
pub struct BatchChanges {
    /// The games that are in the cache no longer, or in a new state.
    pub games: Vec<ChangedGame>,
    /// What the change feed tells.
    pub feed: Vec<Change>,
}

impl BatchChanges {
    /// How much there is, for [`BatchChanges::undo`].
    pub fn position(&self) -> (usize, usize) {
        (self.games.len(), self.feed.len())
    }

    /// Undoes what came after this position. The cache forgets those games: another program may
    /// have changed the file.
    pub fn undo(&mut self, (games, feed): (usize, usize)) {
        for (_, stored) in &mut self.games[games..] {
            *stored = None;
        }
        self.feed.truncate(feed);
    }
}

/// A write transaction. All queries of [`Reader`] are available and see the latest state, because
/// nobody else can write in the meantime.
pub struct Transaction<'c> {
    reader: Reader<'c>,
    max_bytes: Option<u64>,
    /// The changes of this batch so far.
    changes: &'c mut BatchChanges,
}

impl<'c> Deref for Transaction<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl<'c> Transaction<'c> {
    pub fn new(
        connection: &'c Connection,
        max_bytes: Option<u64>,
        changes: &'c mut BatchChanges,
    ) -> Transaction<'c> {
        Transaction {
            reader: Reader::new(connection),
            max_bytes,
            changes,
        }
    }

    /// Makes the changes of a write. Changes nothing if it is [stale](CommitResult::Stale) or the
    /// database is full.
    ///
    /// # Errors
    /// The database is full, or cannot be written.
    pub fn write(&mut self, write: &Write) -> Result<CommitResult, StoreError> {
        if let Some((scope, _)) = &write.save
            && self.saved_response(scope)?.is_some()
        {
            return Ok(CommitResult::Stale);
        }
        let committed = match &write.op {
            WriteOp::Insert(games, new_match) => self.insert(games, new_match.as_ref())?,
            WriteOp::Update(draft) => self.update(draft)?,
            WriteOp::SetTokens(expected, tokens, seating) => {
                self.set_tokens(expected, tokens, seating)?
            }
            WriteOp::SaveResponse => CommitResult::Done,
            // The ticket itself is kept in memory.
            WriteOp::AddTicket(expected, _) => match self.row_id_if_unchanged(expected)? {
                Some(_) => CommitResult::Done,
                None => CommitResult::Stale,
            },
            WriteOp::SetDue {
                expected,
                skips_to_deal,
                due_at,
            } => self.set_due(expected, *skips_to_deal, *due_at)?,
            WriteOp::Remove(expected) => match self.row_id_if_unchanged(expected)? {
                Some(row_id) => {
                    self.remove(row_id, &expected.id)?;
                    CommitResult::Done
                }
                None => CommitResult::Stale,
            },
            WriteOp::EndMatch(id) => self.end_match(id)?,
        };
        if let (CommitResult::Done, Some((scope, saved))) = (committed, &write.save) {
            self.save_response(scope, saved)?;
        }
        Ok(committed)
    }

    /// The row id of a game, if it is in the expected state.
    fn row_id_if_unchanged(&mut self, expected: &ExpectedState) -> Result<Option<i64>, StoreError> {
        // UPDATE … RETURNING would save a statement, but SQLite opens a statement journal for it,
        // which takes longer.
        let sql = "SELECT row_id FROM games \
                   WHERE id = ?1 AND version = ?2 AND updated_at = ?3 AND token_hashes = ?4 \
                   AND skips_to_deal = ?5 AND match_closed = ?6";
        let params = params![
            expected.id,
            int(expected.version),
            expected.updated_at.as_microsecond(),
            expected.tokens,
            expected.skips_to_deal,
            expected.closed,
        ];
        // The expected state may come from the cache. If the write is refused, the row is read next.
        self.changes.games.push((expected.id, None));
        self.first(sql, params, |row| row.get(0))
    }

    /// Adds games with their logs, and the match whose tables they are.
    fn insert(
        &mut self,
        games: &[NewGame],
        new_match: Option<&NewMatch>,
    ) -> Result<CommitResult, StoreError> {
        // These checks come before the first change.
        let sql = "SELECT 1 FROM games WHERE unique_key = ?1";
        for new in games {
            if self.first(sql, [&new.unique_key], |_| Ok(()))?.is_some() {
                return Ok(CommitResult::Stale);
            }
        }
        self.usage()?.check_new_game()?;
        for new in games {
            self.insert_game(new)?;
        }
        if let Some(new) = new_match {
            self.insert_match(new, games)?;
        }
        Ok(CommitResult::Done)
    }

    fn insert_game(&mut self, new: &NewGame) -> Result<(), StoreError> {
        let NewGame {
            game: stored,
            unique_key,
            follows,
            snapshot,
            log,
        } = new;
        let (version, due_at) = (stored.game.version(), stored.due_at(stored.updated_at));
        let sql = "INSERT INTO games \
                   (id, version, phase, listed, created_at, updated_at, token_hashes, snapshot, \
                   bot_pace_ms, turn_seconds, deadline, is_for_people, due_at, imported, creator, \
                   unique_key, seating, anyone_may_join, reactions, listed_until, data, match_id, \
                   match_table) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
                   ?17, ?18, ?19, ?20, ?21, ?22, ?23)";
        let params = params![
            stored.id,
            int(version),
            stored.game.phase().name(),
            stored.listed,
            stored.created_at.as_microsecond(),
            stored.updated_at.as_microsecond(),
            stored.tokens,
            snapshot,
            stored.timing.bot_pace_ms,
            stored.timing.turn_seconds,
            stored.deadline.map(Timestamp::as_microsecond),
            stored.is_for_people(),
            due_at.map(Timestamp::as_microsecond),
            stored.imported,
            stored.creator,
            unique_key,
            json_column(&*stored.seating)?,
            stored.anyone_may_join(),
            stored.reactions,
            stored.first_listed_until(),
            json_column(&*stored.data)?,
            stored.table.map(|table| table.match_id),
            stored.table.map(|table| table.number),
        ];
        self.execute(sql, params)?;
        let row_id = self.connection.last_insert_rowid();
        self.note_change(&stored.id, Some(version), Some(stored));
        if let Some((id, version)) = follows {
            self.note_change(id, Some(*version), None);
        }
        match log {
            NewLog::Created { at, events } => self.append(row_id, version, *at, None, events),
            NewLog::Packed(log) => self.insert_pages(row_id, log),
        }
    }

    /// Stores a draft as the game's new state, and adds its log entry.
    fn update(&mut self, draft: &Draft) -> Result<CommitResult, StoreError> {
        // This check comes before the first change.
        let Draft {
            before, next, rows, ..
        } = draft;
        let Some(row_id) = self.row_id_if_unchanged(&before.expected_state())? else {
            return Ok(CommitResult::Stale);
        };
        let (version, at) = (next.game.version(), next.updated_at);
        let sql = "UPDATE games SET version = ?2, updated_at = ?3, token_hashes = ?4, \
                   snapshot = ?5, deadline = ?6, is_for_people = ?7, due_at = ?8, \
                   admin_changes = ?9, skips_to_deal = ?10, match_closed = ?11 WHERE row_id = ?1";
        let params = params![
            row_id,
            int(version),
            at.as_microsecond(),
            next.tokens,
            rows.snapshot,
            next.deadline.map(Timestamp::as_microsecond),
            next.is_for_people(),
            next.due_at(at).map(Timestamp::as_microsecond),
            next.admin_changes.versions,
            next.skips_to_deal,
            next.is_match_closed(),
        ];
        self.execute(sql, params)?;
        let (phase, anyone_may_join) = (next.game.phase(), next.anyone_may_join());
        let at_limit = next.is_at_limit();
        // They are indexed and seldom change, so they are written only if they do.
        if (phase, anyone_may_join) != (before.game.phase(), before.anyone_may_join()) || at_limit {
            let sql = "UPDATE games SET phase = ?2, anyone_may_join = ?3, at_limit = ?4 \
                       WHERE row_id = ?1";
            let params = params![row_id, phase.name(), anyone_may_join, at_limit];
            self.execute(sql, params)?;
        }
        if let Some(until) = next.listed_by_itself() {
            let sql = "UPDATE games SET listed_until = ?2 + ?3 \
                       WHERE row_id = ?1 AND (listed_until IS NULL OR listed_until < ?2)";
            self.execute(sql, [row_id, until, LISTED_SLACK.as_micros() as i64])?;
        }
        if !Arc::ptr_eq(&next.seating, &before.seating) {
            self.set_seating(row_id, &next.seating)?;
        }
        if !Arc::ptr_eq(&next.data, &before.data) {
            let sql = "UPDATE games SET data = ?2 WHERE row_id = ?1";
            self.execute(sql, params![row_id, json_column(&*next.data)?])?;
        }
        let settings = |game: &StoredGame| (game.listed, game.timing, game.reactions);
        if settings(next) != settings(before) {
            let sql = "UPDATE games SET listed = ?2, bot_pace_ms = ?3, turn_seconds = ?4, \
                       reactions = ?5 WHERE row_id = ?1";
            let (pace, turn) = (next.timing.bot_pace_ms, next.timing.turn_seconds);
            self.execute(
                sql,
                params![row_id, next.listed, pace, turn, next.reactions],
            )?;
        }
        self.append(row_id, version, at, Some(&rows.action), &rows.events)?;
        self.note_change(&next.id, Some(version), Some(next));
        if let Some((table, result)) = draft.table_end()? {
            self.end_table(table, &result)?;
        }
        Ok(CommitResult::Done)
    }

    /// Adds a change of a game: its new version, or `None` if it was removed. `stored` is its new
    /// state, if it is known in full.
    fn note_change(&mut self, id: &GameId, version: Option<u64>, stored: Option<&StoredGame>) {
        self.changes.games.push((*id, stored.cloned()));
        self.changes.feed.push(Change::Game { id: *id, version });
    }

    /// Sets when the server must act in a game.
    fn set_due(
        &mut self,
        expected: &ExpectedState,
        skips_to_deal: bool,
        due_at: Option<Timestamp>,
    ) -> Result<CommitResult, StoreError> {
        let Some(row_id) = self.row_id_if_unchanged(expected)? else {
            return Ok(CommitResult::Stale);
        };
        let sql = "UPDATE games SET skips_to_deal = ?2, due_at = ?3 \
                   WHERE row_id = ?1 AND (skips_to_deal <> ?2 OR due_at IS NOT ?3)";
        let due_at = due_at.map(Timestamp::as_microsecond);
        if self.execute(sql, params![row_id, skips_to_deal, due_at])? == 0 {
            return Ok(CommitResult::Stale);
        }
        self.note_change(&expected.id, Some(expected.version), None);
        Ok(CommitResult::Done)
    }

    /// Adds an entry to a game's log, with its action and events as JSON.
    fn append(
        &self,
        row_id: i64,
        version: u64,
        at: Timestamp,
        action: Option<&str>,
        events: &str,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO log (game, version, at, action, events) VALUES (?1, ?2, ?3, ?4, ?5)";
        let (version, at) = (int(version), at.as_microsecond());
        self.execute(sql, params![row_id, version, at, action, events])?;
        Ok(())
    }

    /// Replaces a game's tokens without a new version.
    fn set_tokens(
        &mut self,
        expected: &ExpectedState,
        tokens: &Tokens,
        seating: &Seating,
    ) -> Result<CommitResult, StoreError> {
        let Some(row_id) = self.row_id_if_unchanged(expected)? else {
            return Ok(CommitResult::Stale);
        };
        let sql = "UPDATE games SET token_hashes = ?2, token_renewals = token_renewals + 1 \
                   WHERE row_id = ?1";
        self.execute(sql, params![row_id, tokens])?;
        self.set_seating(row_id, seating)?;
        self.note_change(&expected.id, Some(expected.version), None);
        Ok(CommitResult::Done)
    }

    fn set_seating(&self, row_id: i64, seating: &Seating) -> Result<(), StoreError> {
        let sql = "UPDATE games SET seating = ?2 WHERE row_id = ?1";
        self.execute(sql, params![row_id, json_column(seating)?])?;
        Ok(())
    }

    /// Saves the response to a request, in place of an expired one.
    fn save_response(&self, scope: &Scope, saved: &SavedResponse) -> Result<(), StoreError> {
        let sql = "REPLACE INTO idempotency (scope, body_hash, response, created_at) \
                   VALUES (?1, ?2, ?3, ?4)";
        let at = now().as_microsecond();
        self.execute(sql, params![scope.0, saved.body_hash, saved.response, at])?;
        Ok(())
    }

    /// Has these games stay in the lists for a while, if they are not over.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn keep_listed(&mut self, games: &[GameId]) -> Result<(), StoreError> {
        let sql = "UPDATE games SET listed_until = ?3 \
                   WHERE id = ?1 AND listed = 1 AND (listed_until IS NULL OR listed_until < ?2)";
        let until = now() + LISTED_TIME;
        let [until, later] = [until, until + LISTED_SLACK].map(Timestamp::as_microsecond);
        for id in games {
            self.execute(sql, params![id, until, later])?;
        }
        Ok(())
    }

    /// Takes a batch of games out of the lists whose time there is over. Returns whether there may
    /// be more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn sweep_lists(&mut self) -> Result<bool, StoreError> {
        let sql = "UPDATE games SET listed_until = NULL WHERE row_id IN (\
                   SELECT row_id FROM games WHERE listed_until <= ?1 LIMIT ?2)";
        let swept = self.execute(sql, [now().as_microsecond(), LIST_BATCH as i64])?;
        Ok(swept == LIST_BATCH)
    }

    /// Checks that the database can be written, by writing as much as a play does.
    pub fn probe(&mut self) -> Result<SpaceUsage, StoreError> {
        SCHEMA.check(version(self.connection)?)?;
        let usage = self.usage()?;
        usage.check_write()?;
        self.execute("UPDATE probe SET filler = randomblob(?1)", [PROBE_BYTES])?;
        Ok(usage)
    }

    fn usage(&self) -> Result<SpaceUsage, StoreError> {
        self.reader.usage(self.max_bytes)
    }

    /// Executes a statement. Returns the number of rows that it has changed.
    fn execute(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        Ok(self.connection()?.prepare_cached(sql)?.execute(params)?)
    }

    /// The connection, if the transaction is still open. SQLite ends a transaction by itself when
    /// the disk is full; later statements would then be committed one by one.
    fn connection(&self) -> Result<&'c Connection, StoreError> {
        if self.connection.is_autocommit() {
            return Err(StoreError::RolledBack);
        }
        Ok(self.connection)
    }
}
