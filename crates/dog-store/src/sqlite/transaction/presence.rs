//! Who is present, and reactions: what is kept for a short time.

use dog_rules::Seat;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{OptionalExtension, params};

use super::Transaction;
use crate::{
    CLOCK_TOLERANCE, GameId, LEASE, Lease, MAX_REACTIONS, ProcessId, REACTION_TIME,
    REACTION_WINDOW, RETURN_TIME, Reaction, SeatPresence, StoreError, game_row::time,
    stored_game::now,
};

/// The largest number of rows of an ended lease, or of old reactions, changed in one write.
const CLEANUP_BATCH: i64 = 500;

impl Transaction<'_> {
    /// Writes who is now present through a process or no longer, and renews its lease. Removes some
    /// of what is left of processes whose lease has ended.
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
        let games = removed.query_map([process, CLEANUP_BATCH], |row| row.get(0))?;
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

    /// Adds the reaction of a seat's person, unless the seat has no slot left. Returns how long the
    /// person must wait in that case.
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

    /// Removes the words of some reactions that are no longer recent, and some reactions that no
    /// longer count. Those from the future were made before the clock was put back.
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
                CLEANUP_BATCH,
            ])?;
        connection
            .prepare_cached(
                "UPDATE reactions SET reaction = NULL WHERE (game, seat, slot) IN \
                 (SELECT game, seat, slot FROM reactions \
                 WHERE at <= ?1 AND reaction IS NOT NULL LIMIT ?2)",
            )?
            .execute(params![
                (now - REACTION_TIME).as_microsecond(),
                CLEANUP_BATCH,
            ])?;
        Ok(())
    }
}
