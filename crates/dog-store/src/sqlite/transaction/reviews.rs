//! The queue of reviews, and what they found.

use rusqlite::{OptionalExtension, params};

use super::Transaction;
use crate::{
    CLOCK_TOLERANCE, ClaimedReview, Creator, GameId, REVIEW_CLAIM, ReviewLimits, ReviewRequest,
    ReviewStatus, StoreError,
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
        let sql = "INSERT INTO reviews (game, creator, asked_at, status, content, claimed_until) \
                   VALUES (?1, ?2, ?3, ?4, ?5, min(?3, ifnull((\
                       SELECT max(claimed_until) FROM reviews \
                       WHERE creator IS ?2 AND status <> 'done'), ?3)))";
        let status = ReviewStatus::Waiting.name();
        let params = params![row_id, creator, now().as_microsecond(), status, pack("")?];
        connection.prepare_cached(sql)?.execute(params)?;
        Ok(ReviewRequest::Added)
    }

    /// See [`Store::claim_review`](crate::Store::claim_review).
    ///
    /// # Errors
    /// The database cannot be written, or the review cannot be unpacked.
    pub fn claim_review(&mut self, claim: i64) -> Result<Option<ClaimedReview>, StoreError> {
        let connection = self.connection()?;
        let now = now();
        let sql = "SELECT row_id, id, content FROM reviews JOIN games ON game = row_id \
                   WHERE status <> 'done' AND phase = 'finished' \
                   AND (claimed_until <= ?1 OR claimed_until > ?2) \
                   ORDER BY (SELECT max(own.claimed_until) FROM reviews AS own \
                       WHERE own.status <> 'done' AND own.creator IS reviews.creator), \
                   claimed_until, asked_at LIMIT 1";
        let longest = now + REVIEW_CLAIM + CLOCK_TOLERANCE;
        let params = params![now.as_microsecond(), longest.as_microsecond()];
        let mut statement = connection.prepare_cached(sql)?;
        let found = statement.query_row(params, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, Vec<u8>>(2)?))
        });
        let found: Option<(i64, GameId, Vec<u8>)> = found.optional()?;
        let Some((row_id, game, packed)) = found else {
            return Ok(None);
        };
        let sql = "UPDATE reviews SET status = ?2, claim = ?3, claimed_until = ?4 WHERE game = ?1";
        let until = (now + REVIEW_CLAIM).as_microsecond();
        let params = params![row_id, ReviewStatus::Running.name(), claim, until];
        connection.prepare_cached(sql)?.execute(params)?;
        let content = unpack(&packed)?;
        Ok(Some(ClaimedReview {
            game,
            content,
            claim,
        }))
    }

    /// See [`Store::save_review`](crate::Store::save_review).
    ///
    /// # Errors
    /// The database is full, or cannot be written.
    pub fn save_review(
        &mut self,
        id: &GameId,
        claim: i64,
        status: ReviewStatus,
        packed: &[u8],
    ) -> Result<bool, StoreError> {
        self.usage()?.check_write()?;
        let sql = "UPDATE reviews SET status = ?3, claimed_until = ?4, content = ?5, \
                   creator = iif(?3 = 'done', NULL, creator) \
                   WHERE claim = ?2 AND status = 'running' \
                   AND game = (SELECT row_id FROM games WHERE id = ?1 AND phase = 'finished')";
        let until = (now() + status.claim()).as_microsecond();
        let params = params![id, claim, status.name(), until, packed];
        let saved = self.connection()?.prepare_cached(sql)?.execute(params)? > 0;
        if saved && status == ReviewStatus::Done {
            self.announce(id, None, "review")?;
        }
        Ok(saved)
    }
}
