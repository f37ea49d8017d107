//! The queue of reviews, and what they found.

use rusqlite::{OptionalExtension, params};

use super::Transaction;
use crate::{
    Change, ClaimedReview, Creator, GameId, ReviewLimits, ReviewRequest, ReviewStatus, StoreError,
    review::{pack, unpack},
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
        let connection = self.connection()?;
        let sql = "SELECT row_id FROM games WHERE id = ?1 AND phase = 'finished'";
        let mut statement = connection.prepare_cached(sql)?;
        let row_id: Option<i64> = statement.query_row([id], |row| row.get(0)).optional()?;
        let Some(row_id) = row_id else {
            return Ok(ReviewRequest::NoFinishedGame);
        };
        let sql = "SELECT 1 FROM reviews WHERE game = ?1";
        if connection.prepare_cached(sql)?.exists([row_id])? {
            return Ok(ReviewRequest::Exists);
        }
        let sql = "SELECT count(*), count(*) FILTER (WHERE creator = ?1) FROM reviews \
                   WHERE status <> 'done'";
        let mut statement = connection.prepare_cached(sql)?;
        let (total, own): (u32, u32) =
            statement.query_row([creator], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if own >= limits.per_creator {
            return Ok(ReviewRequest::CreatorLimit);
        }
        if total >= limits.total {
            return Ok(ReviewRequest::QueueFull);
        }
        self.usage()?.check_new_game()?;
        // The address keeps its place if it has others in the queue.
        let sql = "INSERT INTO reviews (game, creator, asked_at, status, content, worked_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, min(?3, ifnull((\
                       SELECT max(worked_at) FROM reviews \
                       WHERE creator IS ?2 AND status <> 'done'), ?3)))";
        let status = ReviewStatus::Waiting.name();
        let params = params![row_id, creator, now().as_microsecond(), status, pack("")?];
        connection.prepare_cached(sql)?.execute(params)?;
        Ok(ReviewRequest::Added)
    }

    /// Begins to work on a review that nobody has claimed; see
    /// [`Store::claim_review`](crate::Store::claim_review).
    ///
    /// # Errors
    /// The database cannot be written, or the review cannot be unpacked.
    pub fn begin_review(
        &mut self,
        claim: i64,
        is_claimed: impl Fn(&GameId) -> bool,
    ) -> Result<Option<ClaimedReview>, StoreError> {
        let connection = self.connection()?;
        let sql = "SELECT row_id, id, content FROM reviews JOIN games ON game = row_id \
                   WHERE status <> 'done' AND phase = 'finished' \
                   ORDER BY (SELECT max(own.worked_at) FROM reviews AS own \
                       WHERE own.status <> 'done' AND own.creator IS reviews.creator), \
                   worked_at, asked_at";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (row_id, game): (i64, GameId) = (row.get(0)?, row.get(1)?);
            if is_claimed(&game) {
                continue;
            }
            let content = unpack(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?)?;
            let sql = "UPDATE reviews SET status = 'running', worked_at = ?2 WHERE game = ?1";
            let now = now().as_microsecond();
            connection.prepare_cached(sql)?.execute([row_id, now])?;
            return Ok(Some(ClaimedReview {
                game,
                content,
                claim,
            }));
        }
        Ok(None)
    }

    /// Saves a review that is not done; see [`Store::save_review`](crate::Store::save_review).
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
        let sql = "UPDATE reviews SET status = ?2, worked_at = ?3, content = ?4, \
                   creator = iif(?2 = 'done', NULL, creator) WHERE status <> 'done' \
                   AND game = (SELECT row_id FROM games WHERE id = ?1 AND phase = 'finished')";
        let params = params![id, status.name(), now().as_microsecond(), packed];
        let saved = self.connection()?.prepare_cached(sql)?.execute(params)? > 0;
        if saved && status == ReviewStatus::Done {
            self.changes.feed.push(Change::Review(*id));
        }
        Ok(saved)
    }
}
