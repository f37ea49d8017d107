//! The removal and packing of old games, and what else expires.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::params;

use super::Transaction;
use crate::{
    ExpiredGame, GameId, PackedLog, RetentionTime, StoreError, game_row::int,
    retention::LOG_DELETE_BATCH, sqlite::reader::expiry, stored_game::now,
};

/// Deletes old matches whose tables are gone.
const OLD_MATCHES: &str = "DELETE FROM matches WHERE id IN (SELECT id FROM matches \
     WHERE created_at <= ?1 AND NOT EXISTS (SELECT 1 FROM games WHERE match_id = matches.id) \
     LIMIT ?2)";

/// Also deletes all rows that refer to the game's.
const DELETE_ROW: &str = "DELETE FROM games WHERE row_id = ?1";

impl Transaction<'_> {
    /// Removes a game and its log. Only the first entries of a long log are deleted at once; the
    /// game's row stays as a marker until [`Transaction::purge_removed_logs`] has deleted the
    /// others.
    pub(super) fn remove(&mut self, row_id: i64, id: &GameId) -> Result<(), StoreError> {
        self.end_removed_table(row_id)?;
        if self.delete_log(row_id)? {
            return self.mark_removed(row_id, id);
        }
        self.execute(DELETE_ROW, [row_id])?;
        self.note_change(id, None, None);
        Ok(())
    }

    /// Removes a game but for its log, which [`Transaction::purge_removed_logs`] deletes.
    pub(super) fn mark_removed(&mut self, row_id: i64, id: &GameId) -> Result<(), StoreError> {
        let sql = "UPDATE games SET id = 'removed ' || row_id, phase = 'removed', listed = 0, \
                   due_at = NULL, anyone_may_join = 0, at_limit = 0, creator = NULL, \
                   unique_key = NULL, token_hashes = x'', snapshot = '', data = NULL, \
                   match_id = NULL, match_table = NULL WHERE row_id = ?1";
        self.execute(sql, [row_id])?;
        self.note_change(id, None, None);
        Ok(())
    }

    /// Removes expired games, except those that have changed since they were found. Returns the
    /// number of games removed.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn remove_expired(&mut self, games: &[ExpiredGame]) -> Result<usize, StoreError> {
        let mut removed = 0;
        for old in games {
            let sql = "SELECT row_id FROM games WHERE id = ?1 AND version = ?2";
            let params = params![old.id, int(old.version)];
            if let Some(row_id) = self.first(sql, params, |row| row.get(0))? {
                self.remove(row_id, &old.id)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Deletes a batch of the log entries that removed games have left. Returns whether there may
    /// be more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn purge_removed_logs(&mut self) -> Result<bool, StoreError> {
        // The condition on `listed` lets SQLite use the index of the public list.
        let sql = "SELECT row_id FROM games WHERE listed = 0 AND phase = 'removed' LIMIT 1";
        let Some(row_id) = self.first(sql, [], |row| row.get(0))? else {
            return Ok(false);
        };
        if !self.delete_log(row_id)? {
            self.execute(DELETE_ROW, [row_id])?;
        }
        Ok(true)
    }

    pub(super) fn insert_pages(&self, row_id: i64, log: &PackedLog) -> Result<(), StoreError> {
        let sql = "INSERT INTO packed_log (game, first_version, entries) VALUES (?1, ?2, ?3)";
        for page in &log.pages {
            self.execute(sql, params![row_id, int(page.first_version), page.entries])?;
        }
        Ok(())
    }

    /// Replaces the log of a closed game by a packed one, if given, and deletes the game's
    /// creator. Only the first rows of a long log are deleted at once. Returns whether there may be
    /// more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn pack(&mut self, id: &GameId, packed: Option<&PackedLog>) -> Result<bool, StoreError> {
        let sql = "SELECT row_id FROM games WHERE id = ?1 \
                   AND (phase = 'finished' OR at_limit = 1) AND packed = 0";
        let Some(row_id) = self.first(sql, [id], |row| row.get(0))? else {
            return Ok(false);
        };
        // Deleted first, because a full database has no other space for the pages.
        let more = self.delete_log(row_id)?;
        if let Some(packed) = packed {
            self.insert_pages(row_id, packed)?;
        }
        if !more {
            let sql = "UPDATE games SET packed = 1, creator = NULL WHERE row_id = ?1";
            self.execute(sql, [row_id])?;
            self.changes.games.push((*id, None));
        }
        Ok(more)
    }

    /// Deletes the first [`LOG_DELETE_BATCH`] entries of a log. Returns whether there may be more.
    fn delete_log(&self, row_id: i64) -> Result<bool, StoreError> {
        let sql = "DELETE FROM log WHERE game = ?1 \
                   AND version < ?2 + (SELECT min(version) FROM log WHERE game = ?1)";
        let removed = self.execute(sql, [row_id, LOG_DELETE_BATCH])?;
        Ok(removed as i64 >= LOG_DELETE_BATCH)
    }

    /// Moves the time by which games and responses are old; see [`RetentionTime`].
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn move_retention_time(&mut self, passed: Duration) -> Result<RetentionTime, StoreError> {
        let now = now();
        let sql = "SELECT coalesce(nullif(seen_at, 0), (SELECT max(updated_at) FROM games), ?1), \
                   moved_at FROM retention";
        let (seen_at, moved_at) = self.one(sql, [now.as_microsecond()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let time = RetentionTime::after(seen_at, moved_at, passed, now);
        let sql = "UPDATE retention SET seen_at = ?1, moved_at = ?2";
        self.execute(sql, [time.at, now].map(Timestamp::as_microsecond))?;
        Ok(time)
    }

    /// Deletes at most `limit` responses that have expired by `now`. Returns whether there may be
    /// more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn delete_expired(&mut self, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        let sql = "DELETE FROM idempotency WHERE row_id IN (SELECT row_id FROM idempotency \
                   WHERE created_at <= ?1 ORDER BY created_at LIMIT ?2)";
        let deleted = self.execute(sql, params![expiry(now), limit])?;
        self.execute(OLD_MATCHES, params![expiry(now), limit])?;
        Ok(deleted >= limit as usize)
    }
}
