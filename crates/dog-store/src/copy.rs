//! Copies of a whole store into an empty one, of the same kind or the other.
//!
//! Both sides are locked against writes for as long as it takes. Rows are copied in a defined order,
//! with their row ids, and then read again from the copy: each table must have the same digest. Only
//! then the copy becomes visible, and the source is marked as moved. The change feed, who is present
//! and claims of due games are not copied: they are of the nodes that run. Neither is what removed
//! games have left.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::runtime;

use super::{
    Location, StoreError,
    postgres::{CopyDatabase, PgTableWriter},
    sqlite::{BackupError, CopyFile, SqliteTableWriter},
};

/// How many rows are copied between two reports of progress.
const ROWS_PER_REPORT: u64 = 1_000;

/// The tables in which a moved store takes no writes.
pub(super) const MARKED_TABLES: [&str; 6] = [
    "games",
    "log",
    "packed_log",
    "idempotency",
    "tickets",
    "probe",
];

/// A table that is copied.
pub(super) struct CopiedTable {
    pub name: &'static str,
    pub columns: &'static [(&'static str, ColumnKind)],
    /// The rows, as the rest of a query.
    rows: &'static str,
    /// The order in which they are copied, which both kinds of stores agree on.
    order: &'static str,
}

/// What is in a column, unless it is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Int,
    /// An integer in SQLite.
    Bool,
    Text,
    Bytes,
}

use ColumnKind::{Bool, Bytes, Int, Text};

/// All that is copied. The games come first, because other rows refer to them.
pub(super) const TABLES: [CopiedTable; 6] = [
    CopiedTable {
        name: "games",
        columns: &[
            ("row_id", Int),
            ("id", Text),
            ("version", Int),
            ("phase", Text),
            ("listed", Bool),
            ("imported", Bool),
            ("has_human", Bool),
            ("anyone_may_join", Bool),
            ("at_limit", Bool),
            ("packed", Bool),
            ("created_at", Int),
            ("updated_at", Int),
            ("bot_pace_ms", Int),
            ("turn_seconds", Int),
            ("deadline", Int),
            ("due_at", Int),
            ("admin_changes", Int),
            ("token_renewals", Int),
            ("unique_key", Text),
            ("creator", Bytes),
            ("token_hashes", Bytes),
            ("seating", Text),
            ("snapshot", Text),
        ],
        rows: "games WHERE games.phase <> 'removed'",
        order: "games.row_id",
    },
    CopiedTable {
        name: "log",
        columns: &[
            ("game", Int),
            ("version", Int),
            ("at", Int),
            ("action", Text),
            ("events", Text),
        ],
        rows: "games JOIN log ON log.game = games.row_id WHERE games.phase <> 'removed'",
        order: "log.game, log.version",
    },
    CopiedTable {
        name: "packed_log",
        columns: &[("game", Int), ("first_version", Int), ("entries", Bytes)],
        rows: "games JOIN packed_log ON packed_log.game = games.row_id \
               WHERE games.phase <> 'removed'",
        order: "packed_log.game, packed_log.first_version",
    },
    CopiedTable {
        name: "idempotency",
        columns: &[
            ("scope", Bytes),
            ("body_hash", Bytes),
            ("response", Bytes),
            ("created_at", Int),
        ],
        rows: "idempotency",
        order: "idempotency.scope",
    },
    CopiedTable {
        name: "tickets",
        columns: &[
            ("ticket_hash", Bytes),
            ("game", Int),
            ("token_hash", Bytes),
            ("expires_at", Int),
        ],
        rows: "games JOIN tickets ON tickets.game = games.row_id WHERE games.phase <> 'removed'",
        order: "tickets.ticket_hash",
    },
    // One row. With the same key, the hashes of creators stay valid.
    CopiedTable {
        name: CREATOR_KEY,
        columns: &[("key", Bytes)],
        rows: CREATOR_KEY,
        order: "creator_key.key",
    },
];

/// The table of the creators' key, which also a new store has.
pub(super) const CREATOR_KEY: &str = "creator_key";

impl CopiedTable {
    /// The query of all rows in their order.
    pub fn select(&self) -> String {
        let columns = self
            .columns
            .iter()
            .map(|(column, _)| format!("{}.{column}", self.name));
        let columns = columns.collect::<Vec<_>>().join(", ");
        format!(
            "SELECT {columns} FROM {} ORDER BY {}",
            self.rows, self.order
        )
    }

    /// The query of the number of rows.
    pub fn count(&self) -> String {
        format!("SELECT count(*) FROM {}", self.rows)
    }

    /// The names of the columns, separated by commas.
    pub fn column_names(&self) -> String {
        let names = self.columns.iter().map(|&(column, _)| column);
        names.collect::<Vec<_>>().join(", ")
    }
}

/// A value of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell<'a> {
    Null,
    Int(i64),
    Bool(bool),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// Without the value, which may be secret.
impl fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}

/// The number of rows of a table and their digest.
#[derive(Clone, Default)]
struct TableDigest {
    rows: u64,
    sha: Sha256,
}

impl TableDigest {
    /// Adds a row. Each value is preceded by its kind and its length, so that different rows have
    /// different bytes.
    fn add(&mut self, row: &[Cell<'_>]) {
        self.rows += 1;
        for &cell in row {
            let number;
            let (kind, bytes): (u8, &[u8]) = match cell {
                Cell::Null => (0, &[]),
                Cell::Bool(value) => (1, if value { &[1] } else { &[0] }),
                Cell::Int(value) => {
                    number = value.to_be_bytes();
                    (2, &number)
                }
                Cell::Text(text) => (3, text.as_bytes()),
                Cell::Bytes(bytes) => (4, bytes),
            };
            let mut head = [kind; 9];
            head[1..].copy_from_slice(&(bytes.len() as u64).to_be_bytes());
            self.sha.update(head);
            self.sha.update(bytes);
        }
    }

    fn finish(self) -> (u64, [u8; 32]) {
        (self.rows, self.sha.finalize().into())
    }
}

/// What was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyReport {
    pub games: u64,
    /// The rows of all tables.
    pub rows: u64,
    /// The digest of all rows of both sides: SHA-256 in hexadecimal.
    pub digest: String,
}

/// Why a store was not copied.
#[derive(Debug, Error)]
pub enum CopyError {
    #[error("the target has games already, or saved responses; it was not changed")]
    NotEmpty,
    /// The file of the target exists or cannot be written.
    #[error(transparent)]
    File(#[from] BackupError),
    #[error("the source: {0}")]
    Source(#[source] StoreError),
    #[error("the target: {0}")]
    Target(#[source] StoreError),
    #[error("the copy differs from the source in the table {0}; nothing was kept of it")]
    Differs(&'static str),
    #[error(
        "the connection was lost at the end, and the copy may be complete or not there at all. The \
         source is not marked as moved. If the target has games, empty it and copy again: {0}"
    )]
    Unknown(#[source] StoreError),
    #[error(
        "the copy is complete, but the source may not be marked as moved, so that servers would go \
         on writing there. If one still starts on the source, remove the copy and copy again: {0}"
    )]
    NotMarked(#[source] StoreError),
}

/// One side of a copy, within a transaction.
enum CopySide {
    File(CopyFile),
    Shared(CopyDatabase),
}

/// What writes the rows of one table.
enum TableWriter<'a> {
    File(SqliteTableWriter<'a>),
    Shared(PgTableWriter),
}

/// Copies a store into an empty one, compares the two, and marks the source as moved. `progress`
/// gets the number of rows that are done and of all rows; each row counts twice, because it is
/// copied and compared.
///
/// # Errors
/// The target is not empty, one of them cannot be read or written, or the copy differs. Nothing is
/// changed then, except with [`CopyError::Unknown`] and [`CopyError::NotMarked`].
pub fn copy(
    from: &Location,
    to: &Location,
    progress: impl FnMut(u64, u64),
) -> Result<CopyReport, CopyError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CopyError::Target(StoreError::Create(Arc::new(error))))?;
    runtime.block_on(copy_and_mark(from, to, progress))
}

async fn copy_and_mark(
    from: &Location,
    to: &Location,
    mut progress: impl FnMut(u64, u64),
) -> Result<CopyReport, CopyError> {
    let target = match to {
        Location::File(file) => CopySide::File(CopyFile::target(file)?),
        Location::Shared(settings) => CopySide::Shared(CopyDatabase::target(settings).await?),
    };
    let source = match from {
        Location::File(file) => CopyFile::source(file).map(CopySide::File),
        Location::Shared(settings) => CopyDatabase::source(settings).await.map(CopySide::Shared),
    };
    let source = source.map_err(CopyError::Source)?;

    let mut all = 0;
    for table in &TABLES {
        all += 2 * source.count(table).await.map_err(CopyError::Source)?;
    }
    let mut done = 0;
    let mut tick = || {
        done += 1;
        if done % ROWS_PER_REPORT == 0 || done == all {
            progress(done, all);
        }
    };
    let mut copied = Vec::with_capacity(TABLES.len());
    for table in &TABLES {
        copied.push(copy_table(table, &source, &target, &mut tick).await?);
    }
    let last = source.last_row_id().await.map_err(CopyError::Source)?;
    let after_rows = target.after_rows(last).await;
    after_rows.map_err(CopyError::Target)?;
    let (mut rows, mut sha) = (0, Sha256::new());
    for (table, digest) in TABLES.iter().zip(&copied) {
        let mut read = TableDigest::default();
        let reading = target.each(table, async |row| {
            read.add(row);
            tick();
            Ok(())
        });
        reading.await.map_err(RowFailure::of_target)?;
        if read.finish() != *digest {
            return Err(CopyError::Differs(table.name));
        }
        rows += digest.0;
        sha.update(digest.1);
    }
    let digest: [u8; 32] = sha.finalize().into();

    // The mark is written before the copy becomes visible, so that what can fail has not failed yet.
    let marked = source.mark_moved(&to.name()).await;
    marked.map_err(CopyError::Source)?;
    target.commit_copy().await?;
    source.commit_mark().await.map_err(CopyError::NotMarked)?;
    Ok(CopyReport {
        games: copied[0].0,
        rows,
        digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

/// Copies the rows of a table. Returns their number and digest.
async fn copy_table(
    table: &'static CopiedTable,
    source: &CopySide,
    target: &CopySide,
    tick: &mut impl FnMut(),
) -> Result<(u64, [u8; 32]), CopyError> {
    let mut digest = TableDigest::default();
    let mut writer = target.writer(table).await.map_err(CopyError::Target)?;
    let copying = source.each(table, async |row| {
        digest.add(row);
        tick();
        writer.write(row).await
    });
    copying.await.map_err(RowFailure::of_source)?;
    writer.finish().await.map_err(CopyError::Target)?;
    Ok(digest.finish())
}

/// Why not all rows of a table were read.
pub(super) enum RowFailure {
    /// They cannot be read.
    Read(StoreError),
    /// What was to be done with a row has failed.
    Write(StoreError),
}

impl<E: Into<StoreError>> From<E> for RowFailure {
    fn from(error: E) -> RowFailure {
        RowFailure::Read(error.into())
    }
}

impl RowFailure {
    /// The rows were read from the source and written to the target.
    fn of_source(self) -> CopyError {
        match self {
            RowFailure::Read(error) => CopyError::Source(error),
            RowFailure::Write(error) => CopyError::Target(error),
        }
    }

    /// The rows were read from the target.
    fn of_target(self) -> CopyError {
        let (RowFailure::Read(error) | RowFailure::Write(error)) = self;
        CopyError::Target(error)
    }
}

impl CopySide {
    async fn count(&self, table: &CopiedTable) -> Result<u64, StoreError> {
        match self {
            CopySide::File(file) => file.count(table),
            CopySide::Shared(database) => database.count(table).await,
        }
    }

    /// Calls a function with each row of a table, in order.
    async fn each(
        &self,
        table: &CopiedTable,
        with: impl AsyncFnMut(&[Cell<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), RowFailure> {
        match self {
            CopySide::File(file) => file.each(table, with).await,
            CopySide::Shared(database) => database.each(table, with).await,
        }
    }

    async fn writer(&self, table: &'static CopiedTable) -> Result<TableWriter<'_>, StoreError> {
        match self {
            CopySide::File(file) => file.writer(table).map(TableWriter::File),
            CopySide::Shared(database) => database.writer(table).await.map(TableWriter::Shared),
        }
    }

    /// The largest row id that a game has had.
    async fn last_row_id(&self) -> Result<i64, StoreError> {
        match self {
            CopySide::File(file) => file.last_row_id(),
            CopySide::Shared(database) => database.last_row_id().await,
        }
    }

    /// Makes the next game's row id the one after `last`.
    async fn after_rows(&self, last: i64) -> Result<(), StoreError> {
        match self {
            CopySide::File(file) => file.after_rows(last),
            CopySide::Shared(database) => database.after_rows(last).await,
        }
    }

    async fn mark_moved(&self, target: &str) -> Result<(), StoreError> {
        match self {
            CopySide::File(file) => file.mark_moved(target),
            CopySide::Shared(database) => database.mark_moved(target).await,
        }
    }

    async fn commit_copy(self) -> Result<(), CopyError> {
        match self {
            CopySide::File(file) => file.commit_copy(),
            CopySide::Shared(database) => database.commit_copy().await,
        }
    }

    async fn commit_mark(self) -> Result<(), StoreError> {
        match self {
            CopySide::File(file) => file.commit_mark(),
            CopySide::Shared(database) => database.commit_mark().await,
        }
    }
}

impl TableWriter<'_> {
    async fn write(&mut self, row: &[Cell<'_>]) -> Result<(), StoreError> {
        match self {
            TableWriter::File(writer) => writer.write(row),
            TableWriter::Shared(writer) => writer.write(row).await,
        }
    }

    async fn finish(self) -> Result<(), StoreError> {
        match self {
            TableWriter::File(_) => Ok(()),
            TableWriter::Shared(writer) => writer.finish().await,
        }
    }
}
