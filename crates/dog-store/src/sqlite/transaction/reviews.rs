//! The queue of reviews, and what they found.

use rusqlite::params;

use super::Transaction;
use crate::{
    Change, ClaimedReview, Creator, GameId, ReviewLimits, ReviewRequest, ReviewStatus, StoreError,
    review::{OPEN, pack},
    stored_game::now,
};

impl Transaction<'_> {
    /// See [`Store::ask_review`](crate::Store::ask_review).
    ///
    /// # Errors
    /// The database is full, or cannot be written.
    pub fn ask_review(
        &mut self,
        id: &GameId,
        creator: Option<Creator>,
        limits: ReviewLimits,
    ) -> Result<ReviewRequest, StoreError> {
        let sql = "SELECT row_id FROM games WHERE id = ?1 AND phase = 'finished'";
        let row_id: Option<i64> = self.first(sql, [id], |row| row.get(0))?;
        let Some(row_id) = row_id else {
            return Ok(ReviewRequest::NoFinishedGame);
        };
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE creator IS ?1), \
             count(*) FILTER (WHERE substr(creator, 1, 8) = substr(?1, 1, 8)), \
             count(*) FILTER (WHERE game = ?2) FROM reviews WHERE {OPEN}"
        );
        let counts = self.one(&sql, params![creator, row_id], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        })?;
        let [total, own, network, same]: [u32; 4] = counts;
        if same > 0 {
            return Ok(ReviewRequest::Exists);
        }
        let is_limited = creator.is_some() && own >= limits.per_creator;
        if is_limited || network >= limits.per_network {
            return Ok(ReviewRequest::CreatorLimit);
        }
        if total >= limits.total && own > 0 {
            return Ok(ReviewRequest::QueueFull);
        }
        self.usage()?.check_new_game()?;
        if total >= limits.total {
            self.displace_review()?;
        }
        // The network keeps its place if it has others in the queue.
        let sql = format!(
            "INSERT INTO reviews (game, creator, asked_at, status, content, worked_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, min(?3, ifnull((\
                 SELECT max(worked_at) FROM reviews \
                 WHERE substr(creator, 1, 8) IS substr(?2, 1, 8) AND {OPEN}), ?3))) \
             ON CONFLICT (game) DO UPDATE SET creator = excluded.creator, \
             asked_at = excluded.asked_at, status = excluded.status, content = excluded.content, \
             worked_at = excluded.worked_at"
        );
        let status = ReviewStatus::Waiting.name();
        let params = params![row_id, creator, now().as_microsecond(), status, pack("")?];
        self.execute(&sql, params)?;
        Ok(ReviewRequest::Added)
    }

    /// Ends the last review of the network with the most open ones.
    fn displace_review(&mut self) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT row_id, id FROM reviews JOIN games ON game = row_id WHERE {OPEN} \
             ORDER BY count(*) OVER (PARTITION BY substr(reviews.creator, 1, 8)) DESC, asked_at DESC"
        );
        let (row_id, id): (i64, GameId) =
            self.one(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sql = "UPDATE reviews SET status = ?2, creator = NULL, content = ?3 WHERE game = ?1";
        let params = params![row_id, ReviewStatus::Displaced.name(), pack("")?];
        self.execute(sql, params)?;
        self.changes.feed.push(Change::Review(id));
        Ok(())
    }

    /// Begins to work on a review that nobody has claimed; see
    /// [`Store::claim_review`](crate::Store::claim_review).
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn begin_review(
        &mut self,
        claim: i64,
        is_claimed: impl Fn(&GameId) -> bool,
    ) -> Result<Option<ClaimedReview>, StoreError> {
        let sql = format!(
            "SELECT row_id, id FROM reviews JOIN games ON game = row_id \
             WHERE phase = 'finished' AND {OPEN} \
             ORDER BY (SELECT max(own.worked_at) FROM reviews AS own \
                 WHERE substr(own.creator, 1, 8) IS substr(reviews.creator, 1, 8) AND {OPEN}), \
             worked_at, asked_at"
        );
        let open = self.all(&sql, [], |row| Ok((row.get::<i64>(0)?, row.get(1)?)))?;
        let next = open.into_iter().find(|(_, game)| !is_claimed(game));
        let Some((row_id, game)) = next else {
            return Ok(None);
        };
        let sql = "UPDATE reviews SET status = 'running', worked_at = ?2 WHERE game = ?1";
        self.execute(sql, [row_id, now().as_microsecond()])?;
        Ok(Some(ClaimedReview { game, claim }))
    }

    /// Saves a review that is open; see [`Store::save_review`](crate::Store::save_review).
    ///
    /// # Errors
    /// The database is full, or cannot be written.
    pub fn save_review(
        &mut self,
        id: &GameId,
        status: ReviewStatus,
        packed: &[u8],
    ) -> Result<bool, StoreError> {
        self.usage()?.check_write()?;
        let sql = format!(
            "UPDATE reviews SET status = ?2, worked_at = ?3, content = ?4, \
             creator = iif(?2 IN ('waiting', 'running'), creator, NULL) \
             WHERE game = (SELECT row_id FROM games WHERE id = ?1 AND phase = 'finished') \
             AND {OPEN}"
        );
        let params = params![id, status.name(), now().as_microsecond(), packed];
        let saved = self.execute(&sql, params)? > 0;
        if saved && status.has_ended() {
            self.changes.feed.push(Change::Review(*id));
        }
        Ok(saved)
    }
}
