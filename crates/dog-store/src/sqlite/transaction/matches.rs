//! Matches: what begins and ends with their tables.

use rusqlite::params;

use super::Transaction;
use crate::{
    CommitResult, GameId, MatchTable, NewGame, NewMatch, StoreError, matches::NO_RESULT,
    write::to_json,
};

impl Transaction<'_> {
    /// Adds a match with these tables.
    pub(super) fn insert_match(
        &mut self,
        new: &NewMatch,
        games: &[NewGame],
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO matches (id, created_at, host_token, setup) VALUES (?1, ?2, ?3, ?4)";
        let (at, setup) = (new.created_at.as_microsecond(), to_json(&new.setup)?);
        self.execute(sql, params![new.id, at, new.host.0, setup])?;
        let sql = "INSERT INTO match_tables (match_id, number, game, seed) VALUES (?1, ?2, ?3, ?4)";
        for (number, new_game) in games.iter().enumerate() {
            let seed = new.seeds[number / 2].hex();
            self.execute(sql, params![new.id, number as u32, new_game.game.id, seed])?;
        }
        Ok(())
    }

    /// Notes the result of a table, and opens its pair if the other table has ended too.
    pub(super) fn end_table(&mut self, table: MatchTable, result: &str) -> Result<(), StoreError> {
        let MatchTable {
            match_id, number, ..
        } = table;
        let sql = "UPDATE match_tables SET result = ?3 \
                   WHERE match_id = ?1 AND number = ?2 AND result IS NULL";
        self.execute(sql, params![match_id, number, result])?;
        let first = number & !1;
        let pair = params![match_id, first];
        // If the host has ended the match before, a pair without a result stays closed.
        let opens = "SELECT count(result) = 2 AND (min(result) <> 'null' \
                     OR NOT (SELECT ended FROM matches WHERE id = ?1)) \
                     FROM match_tables WHERE match_id = ?1 AND number IN (?2, ?2 + 1)";
        if !self.one(opens, pair, |row| row.get(0))? {
            return Ok(());
        }
        let sql = "SELECT id, version FROM games WHERE match_id = ?1 \
                   AND match_table IN (?2, ?2 + 1) AND match_closed = 1";
        let closed = self.all(sql, pair, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sql = "UPDATE games SET match_closed = 0 \
                   WHERE match_id = ?1 AND match_table IN (?2, ?2 + 1)";
        self.execute(sql, pair)?;
        for (id, version) in closed {
            self.note_change(&id, Some(version), None);
        }
        self.note_change(&match_id, Some(0), None);
        Ok(())
    }

    /// Ends a match, and removes its tables that have not ended. Their logs are deleted later, since
    /// they are many.
    pub(super) fn end_match(&mut self, id: &GameId) -> Result<CommitResult, StoreError> {
        let sql = "UPDATE matches SET ended = 1 WHERE id = ?1 AND ended = 0";
        if self.execute(sql, [id])? == 0 {
            return Ok(CommitResult::Stale);
        }
        let sql = "SELECT row_id, id FROM games \
                   WHERE match_id = ?1 AND phase <> 'finished' AND at_limit = 0";
        let tables = self.all(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (row_id, game) in tables {
            self.end_removed_table(row_id)?;
            self.mark_removed(row_id, &game)?;
        }
        self.note_change(id, Some(0), None);
        Ok(CommitResult::Done)
    }

    /// Ends the table that is about to be removed.
    pub(super) fn end_removed_table(&mut self, row_id: i64) -> Result<(), StoreError> {
        let sql = "SELECT match_id, match_table, match_closed FROM games WHERE row_id = ?1";
        match self.one(sql, [row_id], |row| MatchTable::read(row, 0))? {
            Some(table) => self.end_table(table, NO_RESULT),
            None => Ok(()),
        }
    }
}
