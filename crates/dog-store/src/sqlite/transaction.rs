//! Changes of the database.

use std::{ops::Deref, sync::Arc, time::Duration};

use dog_rules::Seat;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    game_cache::ChangedGame,
    migrations::{SCHEMA, version},
    reader::{Reader, expiry, latest_expiry},
};
use crate::{
    CLOCK_TOLERANCE, ClaimedReview, CommitResult, Creator, Draft, ExpectedState, ExpiredGame,
    GameId, LEASE, Lease, MAX_REACTIONS, NewGame, NewTicket, PackedLog, ProcessId, REACTION_TIME,
    REACTION_WINDOW, RETURN_TIME, REVIEW_CLAIM, Reaction, RetentionTime, ReviewLimits,
    ReviewRequest, ReviewStatus, SavedResponse, Scope, SeatPresence, Seating, SpaceUsage,
    StoreError, StoredGame, TICKET_TTL, TokenHash, Tokens, Write, WriteOp,
    game_row::{int, seating_column, time},
    review::{pack, unpack},
    stored_game::now,
    write::NewLog,
};

/// The number of changes kept in the change feed.
const MAX_CHANGES: i64 = 10_000;

/// The number of changes after which older ones are deleted.
const CHANGE_TRIM_INTERVAL: i64 = 100;

/// The largest number of log rows deleted in one write, so that other writes do not wait long.
const LOG_DELETE_BATCH: i64 = 1_000;

/// The largest number of rows of an ended lease, or of old reactions, changed in one write.
const PRESENCE_DELETE_BATCH: i64 = 500;

/// The number of bytes written to check that writes are possible; most plays write less. They are
/// random, because SQLite does not write unchanged pages.
const PROBE_BYTES: i64 = 32 << 10;

/// A write transaction. All queries of [`Reader`] are available and see the latest state, because
/// nobody else can write in the meantime.
pub struct Transaction<'c> {
    reader: Reader<'c>,
    max_bytes: Option<u64>,
    /// The games changed so far in this batch.
    changed: &'c mut Vec<ChangedGame>,
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
        changed: &'c mut Vec<ChangedGame>,
    ) -> Transaction<'c> {
        // No cache: what is read here may be rolled back.
        let reader = Reader {
            connection,
            cache: None,
        };
        Transaction {
            reader,
            max_bytes,
            changed,
        }
    }

    /// Makes the changes of a write. Changes nothing if it is [stale](CommitResult::Stale) or the
    /// database is full.
    ///
    /// # Errors
    /// The database is full, or cannot be written.
    pub fn write(&mut self, write: &Write) -> Result<CommitResult, StoreError> {
        let now = now();
        if let Some((scope, _)) = &write.save
            && self.saved_response(scope, now)?.is_some()
        {
            return Ok(CommitResult::Stale);
        }
        let committed = match &write.op {
            WriteOp::Insert(new) => self.insert(new)?,
            WriteOp::Update(draft) => self.update(draft)?,
            WriteOp::SetTokens(expected, tokens, seating) => {
                self.set_tokens(expected, tokens, seating)?
            }
            WriteOp::SaveResponse => CommitResult::Done,
            WriteOp::AddTicket(expected, ticket) => self.add_ticket(expected, ticket, now)?,
            WriteOp::SkipToDeal { expected, due_at } => self.skip_to_deal(expected, *due_at)?,
            WriteOp::Remove(expected) => match self.row_id_if_unchanged(expected)? {
                Some(row_id) => {
                    self.remove(row_id, &expected.id)?;
                    CommitResult::Done
                }
                None => CommitResult::Stale,
            },
        };
        if let (CommitResult::Done, Some((scope, saved))) = (committed, &write.save) {
            self.save_response(scope, saved, now)?;
        }
        Ok(committed)
    }

    /// The row id of a game, if it is in the expected state.
    fn row_id_if_unchanged(&mut self, expected: &ExpectedState) -> Result<Option<i64>, StoreError> {
        // UPDATE … RETURNING would save a statement, but SQLite opens a statement journal for it,
        // which takes longer.
        let sql = "SELECT row_id FROM games \
                   WHERE id = ?1 AND version = ?2 AND updated_at = ?3 AND token_hashes = ?4 \
                   AND skips_to_deal = ?5";
        let mut statement = self.connection()?.prepare_cached(sql)?;
        let params = params![
            expected.id,
            int(expected.version),
            expected.updated_at.as_microsecond(),
            expected.tokens,
            expected.skips_to_deal,
        ];
        let row_id = statement.query_row(params, |row| row.get(0)).optional()?;
        if row_id.is_none() {
            // The expected state may come from the cache. Without the entry, the row is read next.
            self.changed.push((expected.id, None));
        }
        Ok(row_id)
    }

    /// Whether another game has the unique key of a new one.
    fn unique_key_exists(&self, new: &NewGame) -> Result<bool, StoreError> {
        let Some(key) = &new.unique_key else {
            return Ok(false);
        };
        let sql = "SELECT 1 FROM games WHERE unique_key = ?1";
        Ok(self.connection()?.prepare_cached(sql)?.exists([key])?)
    }

    /// Adds a game with its log.
    fn insert(&mut self, new: &NewGame) -> Result<CommitResult, StoreError> {
        if self.unique_key_exists(new)? {
            return Ok(CommitResult::Stale);
        }
        let NewGame {
            game: stored,
            unique_key,
            follows,
            snapshot,
            log,
        } = new;
        let (version, phase) = (stored.game.version(), stored.game.phase());
        self.usage()?.check_new_game()?;
        let connection = self.connection()?;
        connection
            .prepare_cached(
                "INSERT INTO games \
                 (id, version, phase, listed, created_at, updated_at, token_hashes, snapshot, \
                 bot_pace_ms, turn_seconds, deadline, is_for_people, due_at, imported, creator, \
                 unique_key, seating, anyone_may_join, reactions) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
                 ?17, ?18, ?19)",
            )?
            .execute(params![
                stored.id,
                int(version),
                phase.name(),
                stored.listed,
                stored.created_at.as_microsecond(),
                stored.updated_at.as_microsecond(),
                stored.tokens,
                snapshot,
                stored.timing.bot_pace_ms,
                stored.timing.turn_seconds,
                stored.deadline.map(Timestamp::as_microsecond),
                stored.is_for_people(),
                stored
                    .due_at(stored.updated_at)
                    .map(Timestamp::as_microsecond),
                stored.imported,
                stored.creator,
                unique_key,
                seating_column(&stored.seating)?,
                stored.anyone_may_join(),
                stored.reactions,
            ])?;
        let row_id = connection.last_insert_rowid();
        self.note_change(&stored.id, Some(version), Some(stored))?;
        if let Some((id, version)) = follows {
            self.note_change(id, Some(*version), None)?;
        }
        match log {
            NewLog::Created { at, events } => self.append(row_id, version, *at, None, events)?,
            NewLog::Packed(log) => self.insert_pages(row_id, log)?,
        }
        Ok(CommitResult::Done)
    }

    /// Stores a draft as the game's new state, and adds its log entry.
    fn update(&mut self, draft: &Draft) -> Result<CommitResult, StoreError> {
        // This check comes before the first change.
        let Some(row_id) = self.row_id_if_unchanged(&draft.expected)? else {
            return Ok(CommitResult::Stale);
        };
        let Draft { next, rows, .. } = draft;
        let (version, at) = (next.game.version(), next.updated_at);
        let connection = self.connection()?;
        connection
            .prepare_cached(
                "UPDATE games SET version = ?2, updated_at = ?3, token_hashes = ?4, snapshot = ?5, \
                 deadline = ?6, is_for_people = ?7, due_at = ?8, admin_changes = ?9, \
                 skips_to_deal = ?10 WHERE row_id = ?1",
            )?
            .execute(params![
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
            ])?;
        let (phase, anyone_may_join) = (next.game.phase(), next.anyone_may_join());
        let at_limit = next.is_at_limit();
        // They are indexed and seldom change, so they are written only if they do.
        if (phase, anyone_may_join) != (draft.phase, draft.anyone_may_join) || at_limit {
            connection
                .prepare_cached(
                    "UPDATE games SET phase = ?2, anyone_may_join = ?3, at_limit = ?4 \
                     WHERE row_id = ?1",
                )?
                .execute(params![row_id, phase.name(), anyone_may_join, at_limit])?;
        }
        if !Arc::ptr_eq(&next.seating, &draft.seating) {
            self.set_seating(row_id, &next.seating)?;
        }
        if draft.changes_settings {
            connection
                .prepare_cached(
                    "UPDATE games SET listed = ?2, bot_pace_ms = ?3, turn_seconds = ?4, \
                     reactions = ?5 WHERE row_id = ?1",
                )?
                .execute(params![
                    row_id,
                    next.listed,
                    next.timing.bot_pace_ms,
                    next.timing.turn_seconds,
                    next.reactions,
                ])?;
        }
        self.append(row_id, version, at, Some(&rows.action), &rows.events)?;
        self.note_change(&next.id, Some(version), Some(next))?;
        Ok(CommitResult::Done)
    }

    /// Adds an entry to the change feed: the game's new version, or `None` if it was removed.
    /// `stored` is its new state, if it is known in full.
    fn note_change(
        &mut self,
        id: &GameId,
        version: Option<u64>,
        stored: Option<&StoredGame>,
    ) -> Result<(), StoreError> {
        self.changed.push((*id, stored.cloned()));
        self.announce(id, version, "game")
    }

    /// Adds a row of this kind to the change feed; see [`Change::new`](crate::Change).
    fn announce(&self, id: &GameId, version: Option<u64>, kind: &str) -> Result<(), StoreError> {
        let connection = self.connection()?;
        connection
            .prepare_cached("INSERT INTO changes (game, version, kind) VALUES (?1, ?2, ?3)")?
            .execute(params![id, version.map(int), kind])?;
        let number = connection.last_insert_rowid();
        if number % CHANGE_TRIM_INTERVAL == 0 {
            connection
                .prepare_cached("DELETE FROM changes WHERE number <= ?1")?
                .execute([number - MAX_CHANGES])?;
        }
        Ok(())
    }

    /// Writes who is now present by a process or no longer, and renews its lease. Removes some of
    /// what is left of processes whose lease has ended.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_present(
        &mut self,
        process: ProcessId,
        changes: &[SeatPresence],
    ) -> Result<Lease, StoreError> {
        let now = now();
        let (connection, until) = (self.connection()?, (now + LEASE).as_microsecond());
        let renewed = connection
            .prepare_cached("UPDATE processes SET lease_until = ?2 WHERE process = ?1")?
            .execute([process.0, until])?;
        if renewed == 0 {
            connection
                .prepare_cached("INSERT INTO processes (process, lease_until) VALUES (?1, ?2)")?
                .execute([process.0, until])?;
        }
        for change in changes {
            let sql = if change.is_present {
                "INSERT OR IGNORE INTO presence (game, seat, process) VALUES (?1, ?2, ?3)"
            } else {
                "DELETE FROM presence WHERE game = ?1 AND seat = ?2 AND process = ?3"
            };
            let row = params![change.game, change.seat.number(), process.0];
            if connection.prepare_cached(sql)?.execute(row)? > 0 {
                self.announce(&change.game, None, "presence")?;
            }
        }
        self.forget_reactions(now)?;
        Ok(Lease {
            is_new: renewed == 0,
            more_to_remove: self.remove_ended_lease(now)?,
        })
    }

    /// Removes some of what is left of a process whose lease has ended [`RETURN_TIME`] ago. Returns
    /// whether there may be more.
    fn remove_ended_lease(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let connection = self.connection()?;
        let longest = now + LEASE + CLOCK_TOLERANCE;
        let ended = connection
            .prepare_cached(
                "SELECT process FROM processes WHERE lease_until <= ?1 OR lease_until > ?2 LIMIT 1",
            )?
            .query_row(
                [now - RETURN_TIME, longest].map(Timestamp::as_microsecond),
                |row| row.get::<_, i64>(0),
            )
            .optional()?;
        let Some(process) = ended else {
            return Ok(false);
        };
        let mut removed = connection.prepare_cached(
            "DELETE FROM presence WHERE process = ?1 AND (game, seat) IN \
             (SELECT game, seat FROM presence WHERE process = ?1 LIMIT ?2) RETURNING game",
        )?;
        let games = removed.query_map([process, PRESENCE_DELETE_BATCH], |row| row.get(0))?;
        let games = games.collect::<Result<Vec<GameId>, _>>()?;
        for id in &games {
            self.announce(id, None, "presence")?;
        }
        if games.is_empty() {
            connection
                .prepare_cached("DELETE FROM processes WHERE process = ?1")?
                .execute([process])?;
        }
        Ok(true)
    }

    /// Has a seat's person react, unless the seat has no slot left. Returns how long the person must
    /// wait in that case.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn react(
        &mut self,
        id: &GameId,
        seat: Seat,
        reaction: Reaction,
    ) -> Result<Option<SignedDuration>, StoreError> {
        let now = now();
        self.forget_reactions(now)?;
        let connection = self.connection()?;
        let mut taken = connection.prepare_cached(
            "SELECT slot, at FROM reactions WHERE game = ?1 AND seat = ?2 AND at > ?3 AND at <= ?4",
        )?;
        let (after, latest) = (now - REACTION_WINDOW, now + CLOCK_TOLERANCE);
        let params = params![
            id,
            seat.number(),
            after.as_microsecond(),
            latest.as_microsecond()
        ];
        let taken = taken.query_map(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let taken = taken.collect::<Result<Vec<(i64, i64)>, _>>()?;
        let is_free = |slot: &i64| taken.iter().all(|(other, _)| other != slot);
        let Some(slot) = (0..MAX_REACTIONS).find(is_free) else {
            let first = taken
                .iter()
                .map(|&(_, at)| at)
                .min()
                .map(time)
                .transpose()?;
            return Ok(first.map(|first| (first + REACTION_WINDOW).duration_since(now)));
        };
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO reactions (game, seat, slot, reaction, at) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                id,
                seat.number(),
                slot,
                reaction.name(),
                now.as_microsecond(),
            ])?;
        self.announce(id, None, "reaction")?;
        Ok(None)
    }

    /// Removes what is not told any more of some reactions, and some of those that do not count any
    /// more. Those of the future were made before the clock was put back.
    fn forget_reactions(&self, now: Timestamp) -> Result<(), StoreError> {
        let connection = self.connection()?;
        let latest = (now + CLOCK_TOLERANCE).as_microsecond();
        connection
            .prepare_cached(
                "DELETE FROM reactions WHERE (game, seat, slot) IN \
                 (SELECT game, seat, slot FROM reactions WHERE at <= ?1 OR at > ?2 LIMIT ?3)",
            )?
            .execute(params![
                (now - REACTION_WINDOW).as_microsecond(),
                latest,
                PRESENCE_DELETE_BATCH,
            ])?;
        connection
            .prepare_cached(
                "UPDATE reactions SET reaction = NULL WHERE (game, seat, slot) IN \
                 (SELECT game, seat, slot FROM reactions \
                 WHERE at <= ?1 AND reaction IS NOT NULL LIMIT ?2)",
            )?
            .execute(params![
                (now - REACTION_TIME).as_microsecond(),
                PRESENCE_DELETE_BATCH,
            ])?;
        Ok(())
    }

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
        let sql = "INSERT INTO reviews (game, creator, asked_at, status, content) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
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
                   ORDER BY (SELECT count(*) FROM reviews AS earlier \
                       WHERE earlier.status <> 'done' AND earlier.creator IS reviews.creator \
                       AND earlier.asked_at < reviews.asked_at), asked_at LIMIT 1";
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

    /// Has the bots of a game act without their pace until the next deal.
    fn skip_to_deal(
        &mut self,
        expected: &ExpectedState,
        due_at: Option<Timestamp>,
    ) -> Result<CommitResult, StoreError> {
        let Some(row_id) = self.row_id_if_unchanged(expected)? else {
            return Ok(CommitResult::Stale);
        };
        self.connection()?
            .prepare_cached("UPDATE games SET skips_to_deal = 1, due_at = ?2 WHERE row_id = ?1")?
            .execute(params![row_id, due_at.map(Timestamp::as_microsecond)])?;
        self.note_change(&expected.id, Some(expected.version), None)?;
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
        self.connection()?
            .prepare_cached(
                "INSERT INTO log (game, version, at, action, events) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                row_id,
                int(version),
                at.as_microsecond(),
                action,
                events,
            ])?;
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
        let sql = "UPDATE games SET token_hashes = ?2, token_renewals = token_renewals + 1 WHERE row_id = ?1";
        self.connection()?
            .prepare_cached(sql)?
            .execute(params![row_id, tokens])?;
        self.set_seating(row_id, seating)?;
        self.note_change(&expected.id, Some(expected.version), None)?;
        Ok(CommitResult::Done)
    }

    fn set_seating(&self, row_id: i64, seating: &Seating) -> Result<(), StoreError> {
        self.connection()?
            .prepare_cached("UPDATE games SET seating = ?2 WHERE row_id = ?1")?
            .execute(params![row_id, seating_column(seating)?])?;
        Ok(())
    }

    /// Removes a game and its log. Only the first entries of a long log are deleted at once; the
    /// game's row stays as a marker until [`Transaction::purge_removed_logs`] has deleted the others.
    fn remove(&mut self, row_id: i64, id: &GameId) -> Result<(), StoreError> {
        let connection = self.connection()?;
        if self.delete_log(row_id)? {
            connection
                .prepare_cached(
                    "UPDATE games SET id = 'removed ' || row_id, phase = 'removed', listed = 0, \
                     due_at = NULL, anyone_may_join = 0, at_limit = 0, creator = NULL, unique_key = NULL, \
                     token_hashes = x'', snapshot = '' WHERE row_id = ?1",
                )?
                .execute([row_id])?;
            connection
                .prepare_cached("DELETE FROM tickets WHERE game = ?1")?
                .execute([row_id])?;
        } else {
            self.delete_row(row_id)?;
        }
        self.note_change(id, None, None)
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
            let mut statement = self.connection()?.prepare_cached(sql)?;
            let row_id = statement.query_row(params![old.id, int(old.version)], |row| row.get(0));
            if let Some(row_id) = row_id.optional()? {
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
        let mut statement = self.connection()?.prepare_cached(sql)?;
        let row_id = statement.query_row([], |row| row.get(0));
        let Some(row_id) = row_id.optional()? else {
            return Ok(false);
        };
        if !self.delete_log(row_id)? {
            self.delete_row(row_id)?;
        }
        Ok(true)
    }

    /// Deletes a game's row, and by cascade all rows that refer to it.
    fn delete_row(&self, row_id: i64) -> Result<(), StoreError> {
        self.connection()?
            .prepare_cached("DELETE FROM games WHERE row_id = ?1")?
            .execute([row_id])?;
        Ok(())
    }

    fn insert_pages(&self, row_id: i64, log: &PackedLog) -> Result<(), StoreError> {
        let mut insert = self.connection()?.prepare_cached(
            "INSERT INTO packed_log (game, first_version, entries) VALUES (?1, ?2, ?3)",
        )?;
        for page in &log.pages {
            insert.execute(params![row_id, int(page.first_version), page.entries])?;
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
        let connection = self.connection()?;
        let row_id = connection
            .prepare_cached(
                "SELECT row_id FROM games WHERE id = ?1 AND (phase = 'finished' OR at_limit = 1) \
                 AND packed = 0",
            )?
            .query_row([id], |row| row.get(0));
        let Some(row_id) = row_id.optional()? else {
            return Ok(false);
        };
        // Deleted first, because a full database has no other space for the pages.
        let more = self.delete_log(row_id)?;
        if let Some(packed) = packed {
            // Another process may have begun to pack it.
            connection
                .prepare_cached("DELETE FROM packed_log WHERE game = ?1")?
                .execute([row_id])?;
            self.insert_pages(row_id, packed)?;
        }
        if !more {
            connection
                .prepare_cached("UPDATE games SET packed = 1, creator = NULL WHERE row_id = ?1")?
                .execute([row_id])?;
        }
        Ok(more)
    }

    /// Deletes the first [`LOG_DELETE_BATCH`] entries of a log. Returns whether there may be more.
    fn delete_log(&self, row_id: i64) -> Result<bool, StoreError> {
        let removed = self
            .connection()?
            .prepare_cached(
                "DELETE FROM log WHERE game = ?1 \
                 AND version < ?2 + (SELECT min(version) FROM log WHERE game = ?1)",
            )?
            .execute([row_id, LOG_DELETE_BATCH])?;
        Ok(removed as i64 >= LOG_DELETE_BATCH)
    }

    /// Adds a ticket, and deletes expired tickets.
    fn add_ticket(
        &mut self,
        expected: &ExpectedState,
        ticket: &NewTicket,
        now: Timestamp,
    ) -> Result<CommitResult, StoreError> {
        let Some(row_id) = self.row_id_if_unchanged(expected)? else {
            return Ok(CommitResult::Stale);
        };
        let connection = self.connection()?;
        connection
            .prepare_cached("DELETE FROM tickets WHERE expires_at <= ?1")?
            .execute([now.as_microsecond()])?;
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO tickets (ticket_hash, game, token_hash, expires_at) \
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                ticket.hash.0,
                row_id,
                ticket.token.0,
                (now + TICKET_TTL).as_microsecond()
            ])?;
        Ok(CommitResult::Done)
    }

    /// Returns the token of a [`ticket`](Reader::ticket) and deletes the ticket; `None` if it does
    /// not exist or has expired.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn take_ticket(
        &mut self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        let now = now();
        let taken = self
            .connection()?
            .prepare_cached(
                "DELETE FROM tickets WHERE ticket_hash = ?2 \
                 AND expires_at > ?3 AND expires_at <= ?4 AND game = (SELECT row_id FROM games WHERE id = ?1) RETURNING token_hash",
            )?
            .query_row(
                params![id, ticket.0, now.as_microsecond(), latest_expiry(now)],
                |row| row.get(0).map(TokenHash),
            )
            .optional()?;
        Ok(taken)
    }

    /// Saves the response to a request, in the place of an expired one.
    fn save_response(
        &self,
        scope: &Scope,
        saved: &SavedResponse,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let connection = self.connection()?;
        connection
            .prepare_cached("DELETE FROM idempotency WHERE scope = ?2 AND created_at <= ?1")?
            .execute(params![expiry(now), scope.0])?;
        connection
            .prepare_cached(
                "INSERT INTO idempotency (scope, body_hash, response, created_at) \
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                scope.0,
                saved.body_hash,
                saved.response,
                now.as_microsecond(),
            ])?;
        Ok(())
    }

    /// Moves the time by which games and responses are old; see [`RetentionTime`].
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn move_retention_time(&mut self, passed: Duration) -> Result<RetentionTime, StoreError> {
        let now = now();
        let connection = self.connection()?;
        let sql = "SELECT coalesce(nullif(seen_at, 0), (SELECT max(updated_at) FROM games), ?1), \
                   moved_at FROM retention";
        let (seen_at, moved_at) = connection.query_row(sql, [now.as_microsecond()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let time = RetentionTime::after(time(seen_at)?, time(moved_at)?, passed, now);
        connection.execute(
            "UPDATE retention SET seen_at = ?1, moved_at = ?2",
            [time.at, now].map(Timestamp::as_microsecond),
        )?;
        Ok(time)
    }

    /// Deletes at most `limit` responses and `limit` tickets that have expired by `now`. Returns
    /// whether there may be more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn delete_expired(&mut self, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        let connection = self.connection()?;
        let responses = connection
            .prepare_cached(
                "DELETE FROM idempotency WHERE row_id IN (SELECT row_id FROM idempotency \
                 WHERE created_at <= ?1 ORDER BY created_at LIMIT ?2)",
            )?
            .execute(params![expiry(now), limit])?;
        let tickets = connection
            .prepare_cached(
                "DELETE FROM tickets WHERE ticket_hash IN (SELECT ticket_hash FROM tickets \
                 WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
            )?
            .execute(params![now.as_microsecond(), limit])?;
        Ok(responses.max(tickets) >= limit as usize)
    }

    /// Checks that the database can be written, by writing as much as a play does.
    pub fn probe(&mut self) -> Result<SpaceUsage, StoreError> {
        let connection = self.connection()?;
        SCHEMA.check(version(connection)?)?;
        let usage = self.usage()?;
        usage.check_write()?;
        connection
            .prepare_cached("UPDATE probe SET filler = randomblob(?1)")?
            .execute([PROBE_BYTES])?;
        Ok(usage)
    }

    fn usage(&self) -> Result<SpaceUsage, StoreError> {
        self.connection()?;
        self.reader.usage(self.max_bytes)
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
