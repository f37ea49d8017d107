//! Small writes, and what the server does by itself: claims of due games, who is present, and the
//! removal of what has expired.

use std::{collections::HashMap, time::Duration};

use dog_rules::Seat;
use jiff::{SignedDuration, Timestamp};

use super::{
    columns::{first, micros, one},
    connection::params,
    database::PgDatabase,
    migrations::SCHEMA,
    sql::{NOW, latest_end, latest_now, sql},
    statements::{page_params, remove_expired},
    writer::QUEUE_CAPACITY,
};
use crate::{
    ClaimedReview, Creator, ExpiredGame, GameId, LEASE, Lease, MAX_REACTIONS, PackedLog, ProcessId,
    REACTION_TIME, REACTION_WINDOW, RETURN_TIME, REVIEW_CLAIM, Reaction, RetentionTime,
    ReviewLimits, ReviewRequest, ReviewStatus, SeatPresence, SpaceUsage, StoreError, TICKET_TTL,
    TokenHash,
    list::{LIST_BATCH, LISTED_SLACK, LISTED_TIME},
    retention::LOG_DELETE_BATCH,
    review::{OPEN, pack},
    row::Row,
    stored_game::now,
    write::RESPONSE_TTL,
};

/// How long a node has a due game for itself.
pub(super) const CLAIM: SignedDuration = SignedDuration::from_secs(3);

/// How long a node has the task of removing and packing old games. It may take longer; then two do
/// it, which is only more work.
const RETENTION_CLAIM: SignedDuration = SignedDuration::from_secs(60);

/// The number of rows of presence or of reactions that are removed at once.
const BATCH: u32 = 500;

/// Bytes that are written to find out whether writes are possible.
const PROBE_BYTES: usize = 4 << 10;

impl PgDatabase {
    /// Claims a due game for this node, until its version changes and at most for three seconds.
    /// Returns whether no other node has claimed it. The claim only saves work: that a game is
    /// acted in once is certain because a write of an old version changes nothing.
    ///
    /// # Errors
    /// The database cannot be written. The same applies to all writes below.
    pub async fn claim_due(&self, id: &GameId) -> Result<bool, StoreError> {
        let sql = sql!(
            "INSERT INTO due_claims AS claim (game, version, until) \
             SELECT row_id, version, {NOW} + $2 FROM games \
             WHERE id = $1 AND (due_at <= least({NOW}, $3) OR updated_at > {}) \
             ON CONFLICT (game) DO UPDATE SET version = excluded.version, until = excluded.until \
             WHERE claim.version <> excluded.version OR claim.until <= {NOW} OR claim.until > {} \
             RETURNING 1",
            latest_now(),
            latest_end(CLAIM)
        );
        let params = params![id.to_string(), micros(CLAIM), now().as_microsecond()];
        Ok(!self.small_write(sql, params).await?.is_empty())
    }

    /// Claims the task of removing and packing old games.
    pub async fn claim_retention(&self) -> Result<bool, StoreError> {
        let sql = sql!(
            "UPDATE retention SET claimed_until = {NOW} + $1 \
             WHERE claimed_until <= {NOW} OR claimed_until > {} RETURNING 1",
            latest_end(RETENTION_CLAIM)
        );
        let params = params![micros(RETENTION_CLAIM)];
        Ok(!self.query_in_background(sql, params).await?.is_empty())
    }

    /// Releases the task.
    pub async fn release_retention(&self) -> Result<(), StoreError> {
        let sql = "UPDATE retention SET claimed_until = 0";
        self.query_in_background(sql, params![]).await?;
        Ok(())
    }

    /// See [`Store::move_retention_time`](crate::Store::move_retention_time).
    pub async fn move_retention_time(&self, passed: Duration) -> Result<RetentionTime, StoreError> {
        let sql = sql!(
            "SELECT coalesce(nullif(seen_at, 0), (SELECT max(updated_at) FROM games), {NOW}), \
             {NOW}, moved_at FROM retention"
        );
        let row = one(self.query_in_background(sql, params![]).await?)?;
        let row = Row::Postgres(&row);
        let now = row.get(1)?;
        let time = RetentionTime::after(row.get(0)?, row.get(2)?, passed, now);
        let params = params![time.at.as_microsecond(), now.as_microsecond()];
        let sql = "UPDATE retention SET seen_at = $1, moved_at = $2";
        self.query_in_background(sql, params).await?;
        Ok(time)
    }

    /// See [`Store::set_present`](crate::Store::set_present).
    pub async fn set_present(
        &self,
        process: ProcessId,
        changes: &[SeatPresence],
    ) -> Result<Lease, StoreError> {
        // The last change of a seat counts.
        let changes = changes.iter().map(|change| {
            let seat = (change.game.to_string(), i64::from(change.seat.number()));
            (seat, change.is_present)
        });
        let changes = changes.collect::<HashMap<_, _>>().into_iter();
        let (seats, is_present): (Vec<_>, Vec<bool>) = changes.unzip();
        let (games, seats): (Vec<String>, Vec<i64>) = seats.into_iter().unzip();
        let any_changes = !games.is_empty();
        let sql = sql!(
            "WITH lease AS (\
                 INSERT INTO processes (process, lease_until) VALUES ($1, {NOW} + $2) \
                 ON CONFLICT (process) DO UPDATE SET lease_until = excluded.lease_until \
                 RETURNING xmax = 0 AS is_new), \
             changed AS (\
                 SELECT * FROM unnest($3::text[], $4::bigint[], $5::boolean[]) \
                 AS change (game, seat, is_present)), \
             came AS (\
                 INSERT INTO presence (game, seat, process) \
                 SELECT game, seat, $1 FROM changed WHERE is_present \
                 ON CONFLICT DO NOTHING RETURNING game), \
             gone AS (\
                 DELETE FROM presence USING changed WHERE NOT is_present \
                 AND presence.game = changed.game AND presence.seat = changed.seat \
                 AND process = $1 RETURNING presence.game), \
             announced AS (\
                 INSERT INTO changes (game, kind) \
                 SELECT game, 'presence' FROM came UNION ALL SELECT game, 'presence' FROM gone) \
             SELECT is_new FROM lease"
        );
        let params = params![process.0, micros(LEASE), games, seats, is_present];
        let is_new = one(self.small_write(sql, params).await?)?.try_get(0)?;
        if any_changes {
            self.0.committed.notify_one();
        }
        self.forget_reactions().await?;
        let more_to_remove = self.remove_ended_lease().await?;
        Ok(Lease {
            is_new,
            more_to_remove,
        })
    }

    /// Removes some of what is left of a process whose lease has ended [`RETURN_TIME`] ago. Returns
    /// whether there may be more.
    async fn remove_ended_lease(&self) -> Result<bool, StoreError> {
        let sql = sql!(
            "WITH ended AS (\
                 SELECT process FROM processes WHERE lease_until <= {NOW} - $1 \
                 OR lease_until > {} LIMIT 1 FOR UPDATE SKIP LOCKED), \
             batch AS (\
                 SELECT game, seat, process FROM presence JOIN ended USING (process) \
                 LIMIT {BATCH}), \
             gone AS (\
                 DELETE FROM presence USING batch WHERE presence.game = batch.game \
                 AND presence.seat = batch.seat AND presence.process = batch.process \
                 RETURNING presence.game), \
             announced AS (INSERT INTO changes (game, kind) SELECT game, 'presence' FROM gone), \
             done AS (\
                 DELETE FROM processes USING ended WHERE processes.process = ended.process \
                 AND NOT EXISTS (SELECT FROM batch)) \
             SELECT (SELECT count(*) FROM gone) FROM ended",
            latest_end(LEASE)
        );
        let params = params![micros(RETURN_TIME)];
        let rows = self.small_write(sql, params).await?;
        if !rows.is_empty() {
            self.0.committed.notify_one();
        }
        Ok(!rows.is_empty())
    }

    /// See [`Store::react`](crate::Store::react).
    pub async fn react(
        &self,
        id: &GameId,
        seat: Seat,
        reaction: Reaction,
    ) -> Result<Option<SignedDuration>, StoreError> {
        self.forget_reactions().await?;
        // Of two that take the same slot at the same time, the second finds it taken.
        let sql = sql!(
            "WITH taken AS (\
                 SELECT slot, at FROM reactions WHERE game = $1 AND seat = $2 \
                 AND at > {NOW} - $4 AND at <= {latest}), \
             added AS (\
                 INSERT INTO reactions AS old (game, seat, slot, reaction, at) \
                 SELECT $1, $2, free.slot, $3, {NOW} \
                 FROM generate_series(0, $5::bigint - 1) AS free (slot) \
                 WHERE NOT EXISTS (SELECT FROM taken WHERE taken.slot = free.slot) LIMIT 1 \
                 ON CONFLICT (game, seat, slot) DO UPDATE \
                 SET reaction = excluded.reaction, at = excluded.at \
                 WHERE old.at <= excluded.at - $4 OR old.at > {latest} RETURNING 1), \
             announced AS (INSERT INTO changes (game, kind) SELECT $1, 'reaction' FROM added) \
             SELECT (SELECT count(*) FROM added), (SELECT min(at) FROM taken) + $4 - {NOW}",
            latest = latest_now()
        );
        let params = params![
            id.to_string(),
            i64::from(seat.number()),
            reaction.name(),
            micros(REACTION_WINDOW),
            MAX_REACTIONS,
        ];
        let row = one(self.small_write(sql, params).await?)?;
        if row.try_get::<_, i64>(0)? > 0 {
            self.0.committed.notify_one();
            return Ok(None);
        }
        let wait: Option<i64> = row.try_get(1)?;
        Ok(Some(SignedDuration::from_micros(wait.unwrap_or(0))))
    }

    /// Removes the words of some reactions that are no longer recent, and some reactions that no
    /// longer count. Those from the future were made before the clock was put back.
    async fn forget_reactions(&self) -> Result<(), StoreError> {
        let sql = sql!(
            "WITH uncounted AS (\
                 SELECT game, seat, slot FROM reactions WHERE at <= {NOW} - $1 OR at > {} \
                 LIMIT {BATCH} FOR UPDATE SKIP LOCKED), \
             stale AS (\
                 SELECT game, seat, slot FROM reactions WHERE at <= {NOW} - $2 \
                 AND at > {NOW} - $1 AND reaction IS NOT NULL \
                 LIMIT {BATCH} FOR UPDATE SKIP LOCKED), \
             gone AS (\
                 DELETE FROM reactions AS old USING uncounted WHERE old.game = uncounted.game \
                 AND old.seat = uncounted.seat AND old.slot = uncounted.slot) \
             UPDATE reactions AS old SET reaction = NULL FROM stale WHERE old.game = stale.game \
             AND old.seat = stale.seat AND old.slot = stale.slot",
            latest_now()
        );
        let params = params![micros(REACTION_WINDOW), micros(REACTION_TIME)];
        self.small_write(sql, params).await?;
        Ok(())
    }

    /// See [`Store::ask_review`](crate::Store::ask_review). Of several that ask at the same time, a
    /// few more than the limits may be added.
    pub async fn ask_review(
        &self,
        id: &GameId,
        creator: Option<Creator>,
        limits: ReviewLimits,
    ) -> Result<ReviewRequest, StoreError> {
        self.usage().check_new_game()?;
        let sql = sql!(
            "WITH game AS (\
                 SELECT row_id FROM games WHERE id = $1 AND phase = 'finished' FOR KEY SHARE), \
             open AS (\
                 SELECT *, substring(creator FOR 8) AS network FROM reviews WHERE {OPEN}), \
             queue AS (\
                 SELECT count(*) AS total, \
                     count(*) FILTER (WHERE creator IS NOT DISTINCT FROM $2::bytea) AS own, \
                     count(*) FILTER (WHERE network = substring($2::bytea FOR 8)) AS near, \
                     max(claimed_until) FILTER (WHERE network IS NOT DISTINCT FROM \
                         substring($2::bytea FOR 8)) AS last_claim \
                 FROM open), \
             limits AS (\
                 SELECT total >= $3 AS is_full, \
                     $2::bytea IS NOT NULL AND own >= $4 OR near >= $6 AS is_own_full FROM queue), \
             there AS (SELECT 1 FROM open JOIN game ON game = row_id), \
             admitted AS (\
                 SELECT row_id, last_claim, is_full FROM game, queue, limits \
                 WHERE NOT EXISTS (SELECT FROM there) AND NOT is_own_full \
                 AND (own = 0 OR NOT is_full)), \
             displaced AS (\
                 UPDATE reviews SET status = 'displaced', creator = NULL, content = $5 \
                 FROM admitted WHERE is_full AND {OPEN} AND game = (\
                     SELECT game FROM open \
                     ORDER BY count(*) OVER (PARTITION BY network) DESC, asked_at DESC LIMIT 1) \
                 RETURNING game), \
             announced AS (\
                 INSERT INTO changes (game, kind) \
                 SELECT id, 'review' FROM displaced JOIN games ON row_id = displaced.game), \
             added AS (\
                 INSERT INTO reviews AS old \
                     (game, creator, asked_at, status, content, claimed_until) \
                 SELECT row_id, $2, {NOW}, 'waiting', $5, least({NOW}, last_claim) \
                 FROM admitted WHERE NOT is_full OR EXISTS (SELECT FROM displaced) \
                 ON CONFLICT (game) DO UPDATE SET creator = excluded.creator, \
                     asked_at = excluded.asked_at, status = excluded.status, \
                     content = excluded.content, claimed_until = excluded.claimed_until \
                 WHERE old.status NOT IN ('waiting', 'running') RETURNING 1) \
             SELECT EXISTS (SELECT FROM game), EXISTS (SELECT FROM added), \
             EXISTS (SELECT FROM there), is_full, is_own_full FROM limits"
        );
        let params = params![
            id.to_string(),
            creator.map(|creator| creator.0.to_vec()),
            i64::from(limits.total),
            i64::from(limits.per_creator),
            pack("")?,
            i64::from(limits.per_network),
        ];
        let row = one(self.small_write(sql, params).await?)?;
        let whether = |column: usize| row.try_get::<_, bool>(column);
        let (is_finished, is_added, is_there) = (whether(0)?, whether(1)?, whether(2)?);
        let (is_full, is_own_full) = (whether(3)?, whether(4)?);
        self.0.committed.notify_one();
        Ok(if !is_finished {
            ReviewRequest::NoFinishedGame
        } else if is_added {
            ReviewRequest::Added
        } else if is_own_full && !is_there {
            ReviewRequest::CreatorLimit
        } else if is_full && !is_there {
            ReviewRequest::QueueFull
        } else {
            // It was there, or another request has added it at the same time.
            ReviewRequest::Exists
        })
    }

    /// See [`Store::claim_review`](crate::Store::claim_review).
    pub async fn claim_review(&self, claim: i64) -> Result<Option<ClaimedReview>, StoreError> {
        let sql = sql!(
            "UPDATE reviews SET status = 'running', claim = $1, claimed_until = {NOW} + $2 \
             FROM games WHERE row_id = game AND game = (\
                 SELECT game FROM reviews WHERE {OPEN} \
                 AND (claimed_until <= {NOW} OR claimed_until > {}) \
                 ORDER BY (SELECT max(own.claimed_until) FROM reviews AS own \
                     WHERE {OPEN} AND substring(own.creator FOR 8) IS NOT DISTINCT FROM \
                         substring(reviews.creator FOR 8)), \
                 claimed_until, asked_at LIMIT 1 \
                 FOR NO KEY UPDATE SKIP LOCKED) RETURNING id",
            latest_end(REVIEW_CLAIM)
        );
        let params = params![claim, micros(REVIEW_CLAIM)];
        let rows = self.small_write(sql, params).await?;
        first(&rows, |row| {
            let game = row.get(0)?;
            Ok(ClaimedReview { game, claim })
        })
    }

    /// See [`Store::renew_review`](crate::Store::renew_review).
    pub async fn renew_review(&self, id: &GameId, claim: i64) -> Result<bool, StoreError> {
        let sql = sql!(
            "UPDATE reviews SET claimed_until = {NOW} + $3 WHERE claim = $2 \
             AND status = 'running' AND game = (SELECT row_id FROM games WHERE id = $1) \
             RETURNING 1"
        );
        let params = params![id.to_string(), claim, micros(REVIEW_CLAIM)];
        Ok(!self.small_write(sql, params).await?.is_empty())
    }

    /// See [`Store::save_review`](crate::Store::save_review).
    pub async fn save_review(
        &self,
        id: &GameId,
        claim: i64,
        status: ReviewStatus,
        packed: Vec<u8>,
    ) -> Result<bool, StoreError> {
        self.usage().check_write()?;
        let sql = sql!(
            "WITH saved AS (\
                 UPDATE reviews SET status = $3, content = $5, claimed_until = {NOW} + $4, \
                 creator = CASE WHEN $3 IN ('waiting', 'running') THEN creator END \
                 WHERE claim = $2 AND status = 'running' \
                 AND game = (SELECT row_id FROM games WHERE id = $1) RETURNING 1), \
             announced AS (\
                 INSERT INTO changes (game, kind) SELECT $1, 'review' FROM saved \
                 WHERE $3 NOT IN ('waiting', 'running')) \
             SELECT 1 FROM saved"
        );
        let params = params![
            id.to_string(),
            claim,
            status.name(),
            micros(status.claim()),
            packed,
        ];
        let saved = !self.small_write(sql, params).await?.is_empty();
        if saved && status.has_ended() {
            self.0.committed.notify_one();
        }
        Ok(saved)
    }

    /// See [`Store::take_ticket`](crate::Store::take_ticket).
    pub async fn take_ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        let sql = sql!(
            "DELETE FROM tickets WHERE ticket_hash = $2 AND expires_at > {NOW} \
             AND expires_at <= {} AND game = (SELECT row_id FROM games WHERE id = $1) \
             RETURNING token_hash",
            latest_end(TICKET_TTL)
        );
        let params = params![id.to_string(), ticket.0.to_vec()];
        let rows = self.small_write(sql, params).await?;
        first(&rows, |row| row.get(0).map(TokenHash))
    }

    /// Removes expired games, except those that have changed since they were found. Returns the
    /// number of games removed.
    pub async fn remove_expired(&self, games: &[ExpiredGame]) -> Result<usize, StoreError> {
        let mut removed = 0;
        for old in games {
            let remove = remove_expired(old);
            let rows = self.query_in_background(remove.sql, remove.params);
            removed += rows.await?.len();
        }
        if removed > 0 {
            self.0.committed.notify_one();
        }
        Ok(removed)
    }

    /// Deletes a batch of the log entries that removed games have left. Returns whether there may
    /// be more.
    pub async fn purge_removed_logs(&self) -> Result<bool, StoreError> {
        let sql = sql!(
            "WITH game AS (SELECT game FROM removed LIMIT 1), \
             batch AS (\
                 SELECT game, version FROM log JOIN game USING (game) LIMIT {LOG_DELETE_BATCH}), \
             gone AS (\
                 DELETE FROM log USING batch \
                 WHERE log.game = batch.game AND log.version = batch.version), \
             done AS (\
                 DELETE FROM removed USING game WHERE removed.game = game.game \
                 AND NOT EXISTS (SELECT FROM batch)) \
             SELECT 1 FROM game"
        );
        Ok(!self.query_in_background(sql, params![]).await?.is_empty())
    }

    /// Deletes at most `limit` responses and `limit` tickets that have expired by `now`, and
    /// `limit` old claims. Returns whether there may be more.
    pub async fn delete_expired(&self, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        let sql = sql!(
            "WITH responses AS (\
                 DELETE FROM idempotency WHERE scope IN (\
                     SELECT scope FROM idempotency WHERE created_at <= $2 - {} \
                     ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING 1), \
             old_tickets AS (\
                 DELETE FROM tickets WHERE ticket_hash IN (\
                     SELECT ticket_hash FROM tickets WHERE expires_at <= $2 \
                     ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING 1), \
             claims AS (\
                 DELETE FROM due_claims WHERE game IN (\
                     SELECT game FROM due_claims WHERE until <= {NOW} \
                     LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING 1), \
             old_matches AS (\
                 DELETE FROM matches WHERE id IN (\
                     SELECT id FROM matches WHERE created_at <= $2 - {} AND NOT EXISTS (\
                         SELECT FROM games WHERE match_id = matches.id) \
                     LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING 1) \
             SELECT greatest((SELECT count(*) FROM responses), \
             (SELECT count(*) FROM old_tickets), (SELECT count(*) FROM claims))",
            RESPONSE_TTL.as_micros(),
            RESPONSE_TTL.as_micros()
        );
        let params = params![i64::from(limit), now.as_microsecond()];
        let row = one(self.query_in_background(sql, params).await?)?;
        Ok(row.try_get::<_, i64>(0)? >= i64::from(limit))
    }

    /// Replaces the log of a closed game by a packed one, if given, and deletes the game's
    /// creator.
    pub async fn pack(&self, id: &GameId, packed: Option<PackedLog>) -> Result<(), StoreError> {
        let sql = "WITH packing AS (\
                       UPDATE games SET packed = true, creator = NULL \
                       WHERE id = $1 AND (phase = 'finished' OR at_limit) AND NOT packed \
                       RETURNING row_id), \
                   gone AS (DELETE FROM log USING packing WHERE game = row_id) \
                   INSERT INTO packed_log (game, first_version, entries) \
                   SELECT row_id, first_version, entries FROM packing, \
                   unnest($2::bigint[], $3::bytea[]) AS page (first_version, entries)";
        let mut params = params![id.to_string()];
        params.extend(page_params(packed.as_ref()));
        self.query_in_background(sql, params).await?;
        Ok(())
    }

    /// Has these games stay in the lists for a while, if they are not over.
    pub async fn keep_listed(&self, games: &[GameId]) -> Result<(), StoreError> {
        let sql = sql!(
            "UPDATE games SET listed_until = {NOW} + $2 + $3 WHERE id = ANY ($1) AND listed \
             AND coalesce(listed_until, 0) < {NOW} + $2"
        );
        let ids: Vec<String> = games.iter().map(GameId::to_string).collect();
        let params = params![ids, micros(LISTED_TIME), micros(LISTED_SLACK)];
        self.small_write(sql, params).await?;
        Ok(())
    }

    /// Takes a batch of games out of the lists whose time there is over. Returns whether there may
    /// be more.
    pub async fn sweep_lists(&self) -> Result<bool, StoreError> {
        let sql = sql!(
            "UPDATE games SET listed_until = NULL WHERE row_id IN (\
                 SELECT row_id FROM games WHERE listed_until <= {NOW} \
                 LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED) RETURNING 1"
        );
        let swept = self.small_write(sql, params![LIST_BATCH as i64]).await?;
        Ok(swept.len() == LIST_BATCH)
    }

    /// Checks that the database can be written, and that no newer program has changed its schema.
    /// Returns the space used.
    pub async fn probe(&self) -> Result<SpaceUsage, StoreError> {
        if self.0.queue.capacity() == 0 {
            crate::warn_rarely!("{QUEUE_CAPACITY} writes wait");
            return Err(StoreError::Overloaded);
        }
        let usage = self.usage();
        usage.check_write()?;
        let sql = "WITH written AS (UPDATE probe SET filler = $1) \
                   SELECT version FROM schema_version";
        let params = params![vec![0_u8; PROBE_BYTES]];
        let row = one(self.small_write(sql, params).await?)?;
        SCHEMA.check(row.try_get::<_, i32>(0)?.unsigned_abs())?;
        Ok(usage)
    }
}
