//! The space that the data takes, and what else is known of the database.
//!
//! The size of the files cannot be limited: it does not shrink when games are removed, because
//! PostgreSQL keeps freed space for later rows. Its statistics tell how many rows are live, but are
//! lost in a crash or a failover, and say nothing before the first `ANALYZE`. So the live rows are
//! counted, on pages that are spread evenly over each table. That is exact for small tables, and
//! for larger ones as exact as the sample. Rows that are deleted no longer count, whether or not
//! the database was vacuumed since.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::sleep;

use super::{
    columns::one,
    connection::{PgConnection, Slot},
};
use crate::{NewGame, SpaceUsage, StoreError, Write, WriteOp, write::NewLog};

/// How often the state of the database is read while it is nearly full: other nodes write too, and
/// games are removed.
const INTERVAL: Duration = Duration::from_secs(1);

/// After how many intervals it is read otherwise.
const READ_AFTER: u32 = 10;

/// The largest number of pages read of a table.
const SAMPLE_PAGES: u64 = 512;

/// The bytes of a row besides those of its long columns: its header, short columns and index
/// entries.
const GAME_ROW: u64 = 400;
const LOG_ROW: u64 = 96;
const PACKED_ROW: u64 = 96;
const RESPONSE_ROW: u64 = 200;
const TICKET_ROW: u64 = 230;
const REVIEW_ROW: u64 = 200;

/// The tables that hold nearly all, the bytes of a row, its long columns, and how many thirds of its
/// size it takes: pages of games are filled to 60%. `pg_column_size` is the stored size, also of
/// values that are compressed or outside of the page, which it does not read.
const TABLES: [(&str, u64, &[&str], u64); 6] = [
    (
        "games",
        GAME_ROW,
        &["snapshot", "token_hashes", "seating"],
        5,
    ),
    ("log", LOG_ROW, &["events", "action"], 3),
    ("packed_log", PACKED_ROW, &["entries"], 3),
    ("idempotency", RESPONSE_ROW, &["response"], 3),
    ("tickets", TICKET_ROW, &[], 3),
    ("reviews", REVIEW_ROW, &["content"], 3),
];

/// The bytes of all live rows, the size of the files, and whether there is a standby. A page is
/// read by a TID range scan.
static READ: LazyLock<String> = LazyLock::new(|| {
    let tables = TABLES.map(|(table, bytes, columns, thirds)| {
        let columns = columns.iter();
        let columns = columns.map(|column| format!(" + coalesce(pg_column_size({column}), 0)"));
        let row = format!("({bytes}{}) * {thirds} / 3", columns.collect::<String>());
        format!(
            "SELECT sum((SELECT sum({row}) FROM {table} \
             WHERE ctid >= format('(%s,0)', page)::tid \
             AND ctid < format('(%s,0)', page + 1)::tid)) * max(pages) / count(*) \
             FROM (SELECT pg_relation_size('{table}') / current_setting('block_size')::bigint) \
             AS size (pages), \
             generate_series(0, pages - 1, \
             greatest(1, (pages + {SAMPLE_PAGES} - 1) / {SAMPLE_PAGES})) AS page"
        )
    });
    format!(
        "SELECT coalesce(sum(bytes), 0)::bigint, pg_database_size(current_database()), \
         current_setting('synchronous_standby_names') <> '' FROM ({}) AS live (bytes)",
        tables.join(" UNION ALL ")
    )
});

/// Whether a session of this role has waited for a standby for two seconds.
const WAITS_FOR_STANDBY: &str = "SELECT EXISTS (SELECT FROM pg_stat_activity \
     WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '2 seconds')";

/// About how many bytes a new game adds.
fn added_by_game(new: &NewGame) -> u64 {
    let log = match &new.log {
        NewLog::Created { events, .. } => LOG_ROW + events.len() as u64,
        NewLog::Packed(log) => {
            let pages = log.pages.iter();
            pages
                .map(|page| PACKED_ROW + page.entries.len() as u64)
                .sum()
        }
    };
    let tokens = new.game.tokens.to_bytes().len();
    (GAME_ROW + (new.snapshot.len() + tokens) as u64) * 5 / 3 + log
}

/// About how many bytes a write adds.
fn added_bytes(write: &Write) -> u64 {
    let saved = match &write.save {
        Some((_, saved)) => RESPONSE_ROW + saved.response.len() as u64,
        None => 0,
    };
    let added = match &write.op {
        WriteOp::Insert(games, _) => games.iter().map(added_by_game).sum(),
        WriteOp::Update(draft) => {
            let rows = &draft.rows;
            LOG_ROW + (rows.action.len() + rows.events.len()) as u64
        }
        WriteOp::AddTicket(..) => TICKET_ROW,
        WriteOp::SetTokens(..)
        | WriteOp::SaveResponse
        | WriteOp::SetDue { .. }
        | WriteOp::Remove(_)
        | WriteOp::EndMatch(_) => 0,
    };
    added + saved
}

/// What is known of the database. It is read from time to time.
#[derive(Debug)]
pub(crate) struct DatabaseState {
    max_bytes: Option<u64>,
    known: Mutex<KnownState>,
}

/// What was last read, and has happened since.
#[derive(Debug, Default)]
struct KnownState {
    /// The bytes of the live rows.
    read: u64,
    /// What this node has added since.
    written: u64,
    file_bytes: u64,
    has_standby: bool,
    waits_for_standby: bool,
}

impl DatabaseState {
    /// The state of a database that was not read yet. `max_bytes` is the limit of the live bytes.
    pub fn new(max_bytes: Option<u64>) -> DatabaseState {
        DatabaseState {
            max_bytes,
            known: Mutex::default(),
        }
    }

    /// The bytes of the live rows, and the limit.
    pub fn usage(&self) -> SpaceUsage {
        self.usage_of(&self.known.lock())
    }

    fn usage_of(&self, known: &KnownState) -> SpaceUsage {
        SpaceUsage {
            used: known.read + known.written,
            max: self.max_bytes,
        }
    }

    /// Checks that there is space for a write, and counts what it adds. Returns the bytes counted.
    ///
    /// # Errors
    /// [`StoreError::Quota`].
    pub fn admit(&self, write: &Write) -> Result<u64, StoreError> {
        let added = added_bytes(write);
        let mut known = self.known.lock();
        let usage = self.usage_of(&known);
        match write.op {
            WriteOp::Insert(..) => usage.check_new_game()?,
            WriteOp::Remove(_) | WriteOp::EndMatch(_) => {}
            _ => usage.check_write()?,
        }
        known.written += added;
        Ok(added)
    }

    /// Takes back what was counted for a write that was not made.
    pub fn take_back(&self, added: u64) {
        let mut known = self.known.lock();
        known.written = known.written.saturating_sub(added);
    }

    /// The size of the database's files in bytes, some seconds ago.
    pub fn file_bytes(&self) -> u64 {
        self.known.lock().file_bytes
    }

    /// Whether commits wait for a standby, some seconds ago.
    pub fn has_standby(&self) -> bool {
        self.known.lock().has_standby
    }

    /// The error of a write, which names what its commit waits for.
    pub fn explain(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Unreachable(_) if self.known.lock().waits_for_standby => {
                StoreError::unreachable("its commits wait for a synchronous standby")
            }
            other => other,
        }
    }

    /// Finds out whether commits have waited for a standby for a while.
    async fn look_for_waits(&self, connection: &PgConnection) -> Result<(), StoreError> {
        let waits = one(connection.query(WAITS_FOR_STANDBY, &[]).await?)?.try_get(0)?;
        self.known.lock().waits_for_standby = waits;
        if waits {
            crate::warn_rarely!(
                "commits wait for a synchronous standby, and none answers: start one, or change \
                 synchronous_standby_names on the primary"
            );
        }
        Ok(())
    }

    /// Reads the state.
    pub(super) async fn read(&self, connection: &PgConnection) -> Result<(), StoreError> {
        let written_before = self.known.lock().written;
        let row = one(connection.query(&READ, &[]).await?)?;
        let (read, file_bytes): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let mut known = self.known.lock();
        known.read = read.unsigned_abs();
        // What was written meanwhile may or may not have been read, and counts until the next time.
        known.written = known.written.saturating_sub(written_before);
        known.file_bytes = file_bytes.unsigned_abs();
        known.has_standby = row.try_get(2)?;
        Ok(())
    }

    /// Reads it again and again.
    pub(super) async fn watch(self: Arc<DatabaseState>, slot: Slot) {
        let mut waited = 0;
        loop {
            sleep(INTERVAL).await;
            let Some(connection) = slot.get() else {
                continue;
            };
            let mut read = self.look_for_waits(&connection).await;
            waited += 1;
            if waited >= READ_AFTER || self.usage().is_nearly_full() {
                waited = 0;
                read = read.and(self.read(&connection).await);
            }
            if let Err(error) = read {
                log::debug!("cannot read the state of the database: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{TestStore, wait};

    #[test]
    fn a_large_table_is_counted_by_a_sample_of_its_live_rows() {
        let Some(database) = TestStore::postgres() else {
            return;
        };
        let used = || wait(database.store().usage()).used;
        assert_eq!(used(), 0);
        // About 5,000 pages, ten times the sample.
        database.sql(
            "INSERT INTO log SELECT i / 500, i % 500, 0, NULL, repeat('x', i % 200) \
             FROM generate_series(0, 199999) AS i",
        );
        let text = |length: u64| length + if length <= 126 { 1 } else { 4 };
        let all: u64 = (0..200_000).map(|i| LOG_ROW + text(i % 200)).sum();
        let near = |found: u64, expected: u64| {
            let difference = found.abs_diff(expected);
            assert!(difference < expected / 50, "{found} of {expected}");
        };
        near(used(), all);
        // Removed rows do not count, although nothing vacuums the table.
        database.sql("DELETE FROM log WHERE game < 100");
        near(used(), all / 4 * 3);
    }
}
