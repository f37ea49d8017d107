//! Which games are due: a bot or the clock has to act in them.

use jiff::Timestamp;
use rusqlite::params;

use super::reader::Reader;
use crate::{CLOCK_TOLERANCE, Creator, DueByCreator, GameId, StoreError, now};

impl Reader<'_> {
    /// Due games and their creators, the longest due first. `is_for_people` selects the games with
    /// a human player or those with bots only. A game with an unreadable id is skipped.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn due(
        &self,
        is_for_people: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        let sql = "SELECT id, creator FROM games WHERE due_at IS NOT NULL AND is_for_people = ?1 \
                   AND due_at <= ?2 ORDER BY due_at LIMIT ?3";
        self.due_games(sql, is_for_people, now(), limit)
    }

    /// See [`Store::due_from_future`](crate::Store::due_from_future).
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn due_from_future(
        &self,
        is_for_people: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        let sql = "SELECT id, creator FROM games WHERE due_at IS NOT NULL AND is_for_people = ?1 \
                   AND due_at > ?2 AND updated_at > ?2 LIMIT ?3";
        self.due_games(sql, is_for_people, now() + CLOCK_TOLERANCE, limit)
    }

    fn due_games(
        &self,
        sql: &str,
        is_for_people: bool,
        at: Timestamp,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        let params = params![is_for_people, at.as_microsecond(), limit];
        let games = self.all(sql, params, |row| {
            Ok(row.get(0).ok().map(|id| (id, row.get(1).unwrap_or(None))))
        })?;
        Ok(games.into_iter().flatten().collect())
    }

    /// The longest due game of each creator, for at most `limit` creators after `after`, in the
    /// order of their hashes; and at most `limit` due games without a creator. Returns the last
    /// creator too if there may be more.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn due_by_creator(
        &self,
        is_for_people: bool,
        after: Option<Creator>,
        limit: u32,
    ) -> Result<DueByCreator, StoreError> {
        let now = now();
        let without_creator = "SELECT id, NULL FROM games WHERE due_at IS NOT NULL \
                               AND is_for_people = ?1 AND creator IS NULL AND due_at <= ?2 \
                               ORDER BY due_at LIMIT ?3";
        let mut games = self.due_games(without_creator, is_for_people, now, limit)?;
        // Two index lookups per creator, however many games it has.
        let next = "SELECT min(creator) FROM games WHERE due_at IS NOT NULL AND is_for_people = ?1 \
                    AND creator > ?2";
        let first = "SELECT id FROM games WHERE due_at IS NOT NULL AND is_for_people = ?1 \
                     AND creator = ?2 AND due_at <= ?3 ORDER BY due_at LIMIT 1";
        let mut last = after;
        for _ in 0..limit {
            let after: &[u8] = last.as_ref().map_or(&[], |creator| &creator.0);
            let params = params![is_for_people, after];
            let Some(creator) = self.one(next, params, |row| row.get::<Option<Creator>>(0))? else {
                return Ok((games, None));
            };
            let params = params![is_for_people, creator, now.as_microsecond()];
            if let Ok(Some(id)) = self.first(first, params, |row| row.get(0)) {
                games.push((id, Some(creator)));
            }
            last = Some(creator);
        }
        Ok((games, last))
    }

    /// The earliest time after `after` at which a game becomes due. A time out of range counts as
    /// never.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT min(due_at) FROM games WHERE due_at IS NOT NULL AND is_for_people = ?1 \
                   AND due_at > ?2";
        let mut next: Option<i64> = None;
        for is_for_people in [true, false] {
            let params = params![is_for_people, after.as_microsecond()];
            let due = self.one(sql, params, |row| row.get(0))?;
            next = [next, due].into_iter().flatten().min();
        }
        Ok(next.and_then(|next| Timestamp::from_microsecond(next).ok()))
    }
}
