//! What need not be kept any longer, found and forgotten in small pieces.

use dog_rules::Phase;
use jiff::Timestamp;
use rusqlite::params;

use super::{
    StoreError,
    draft::expiry,
    id::GameId,
    reader::Reader,
    record::{Cursor, version},
    transaction::Transaction,
};

/// How long games are kept after their last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Days that a finished game is kept; 0 for ever.
    pub finished_days: u16,
    /// Days that another one is kept; 0 for ever.
    pub idle_days: u16,
}

/// A game that was kept for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Old {
    pub id: GameId,
    /// The version that was found to be old: a later one is not.
    pub version: u64,
}

/// What a look at some games has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub old: Vec<Old>,
    /// After which game the next look begins; none if there is nothing more to be found.
    pub next: Option<Cursor>,
}

impl Keep {
    /// Whatever changed in that phase by then is old now, in microseconds; none if it is kept.
    fn horizon(self, finished: bool, now: Timestamp) -> Option<i64> {
        let days = if finished {
            self.finished_days
        } else {
            self.idle_days
        };
        let kept = i64::from(days) * 24 * 60 * 60 * 1_000_000;
        (days > 0).then(|| now.as_microsecond().saturating_sub(kept))
    }
}

impl Reader<'_> {
    /// The old ones among so many games after that one, in the order of their creation.
    ///
    /// Games created after all that could be old are the last ones, so a piece with no other ends
    /// the search: what is young is not looked at, however much it is.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn old_games(
        &self,
        keep: Keep,
        now: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Piece, StoreError> {
        let (finished, idle) = (keep.horizon(true, now), keep.horizon(false, now));
        let latest = finished.max(idle);
        let sql = "SELECT key, id, version, phase, created_at, updated_at FROM games \
                   WHERE key > ?1 AND phase <> 'removed' ORDER BY key LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![after.map_or(0, |Cursor(key)| key), limit])?;
        let (mut old, mut seen, mut last, mut more) = (Vec::new(), 0, after, false);
        while let Some(row) = rows.next()? {
            seen += 1;
            last = Some(Cursor(row.get(0)?));
            let phase = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
            let horizon = if phase == Phase::Finished.name() {
                finished
            } else {
                idle
            };
            more |= Some(row.get(4)?) <= latest;
            if Some(row.get(5)?) <= horizon {
                old.push(Old {
                    id: row.get(1)?,
                    version: version(row.get(2)?)?,
                });
            }
        }
        let next = last.filter(|_| more && seen == limit);
        Ok(Piece { old, next })
    }
}

impl Transaction<'_> {
    /// Removes a game that was found to be old, unless it has changed since; says whether it did.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn delete_old(&mut self, old: Old) -> Result<bool, StoreError> {
        if self.version(&old.id)? != Some(old.version) {
            return Ok(false);
        }
        self.delete(&old.id)
    }

    /// Forgets at most so many answers and as many tickets that have expired; says whether there
    /// may be more.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn forget_expired(&mut self, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        let connection = self.open()?;
        let answers = connection
            .prepare_cached(
                "DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency \
                 WHERE created_at <= ?1 ORDER BY created_at LIMIT ?2)",
            )?
            .execute(params![expiry(now), limit])?;
        let tickets = connection
            .prepare_cached(
                "DELETE FROM tickets WHERE hash IN (SELECT hash FROM tickets \
                 WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
            )?
            .execute(params![now.as_microsecond(), limit])?;
        Ok(answers.max(tickets) >= limit as usize)
    }
}
