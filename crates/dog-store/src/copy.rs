//! Copies of a whole store into an empty one, of the same kind or the other.
//!
//! Both sides are locked against writes for as long as it takes. Rows are copied in a defined
//! order, with their row ids, and then read again from the copy: each table must have the same
//! digest. Only then the copy becomes visible, and the source is marked as moved. The change feed,
//! who is present and claims of due games are not copied: they are of the nodes that run. Neither
//! is what removed games have left.

use sha2::{Digest, Sha256};
use tokio::runtime;

use crate::{
    CopyError, Location, StoreError,
    copied_tables::{Cell, CopiedTable, RowFailure, TABLES},
    postgres::{CopyDatabase, PgTableWriter},
    sqlite::{CopyFile, SqliteTableWriter},
};

/// How many rows are copied between two reports of progress.
const ROWS_PER_REPORT: u64 = 1_000;

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

/// Calls the same method of either side.
macro_rules! on_side {
    ($side:expr, $method:ident($($argument:expr),*)) => {
        match $side {
            CopySide::Sqlite(file) => file.$method($($argument),*),
            CopySide::Postgres(database) => database.$method($($argument),*).await,
        }
    };
}

/// One side of a copy, within a transaction.
enum CopySide {
    Sqlite(CopyFile),
    Postgres(CopyDatabase),
}

/// What writes the rows of one table.
enum TableWriter<'a> {
    Sqlite(SqliteTableWriter<'a>),
    Postgres(PgTableWriter),
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
    let runtime = runtime.map_err(|error| CopyError::Target(StoreError::create(error)))?;
    runtime.block_on(copy_and_mark(from, to, progress))
}

async fn copy_and_mark(
    from: &Location,
    to: &Location,
    mut progress: impl FnMut(u64, u64),
) -> Result<CopyReport, CopyError> {
    let target = match to {
        Location::Sqlite(file) => CopySide::Sqlite(CopyFile::target(file)?),
        Location::Postgres(settings) => CopySide::Postgres(CopyDatabase::target(settings).await?),
    };
    let source = match from {
        Location::Sqlite(file) => CopyFile::source(file).map(CopySide::Sqlite),
        Location::Postgres(settings) => {
            CopyDatabase::source(settings).await.map(CopySide::Postgres)
        }
    };
    let source = source.map_err(CopyError::Source)?;

    let mut all = 0;
    for table in &TABLES {
        all += 2 * on_side!(&source, count(table)).map_err(CopyError::Source)?;
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
    let last = on_side!(&source, last_row_id()).map_err(CopyError::Source)?;
    on_side!(&target, after_rows(last)).map_err(CopyError::Target)?;
    let (mut rows, mut sha) = (0, Sha256::new());
    for (table, digest) in TABLES.iter().zip(&copied) {
        let mut read = TableDigest::default();
        let reading = target.each(table, async |row| {
            read.add(row);
            tick();
            Ok(())
        });
        reading.await.map_err(RowFailure::into_target_error)?;
        if read.finish() != *digest {
            return Err(CopyError::Differs(table.name));
        }
        rows += digest.0;
        sha.update(digest.1);
    }
    let digest: [u8; 32] = sha.finalize().into();

    // The mark is written before the copy becomes visible, so that what can fail has not failed
    // yet.
    on_side!(&source, mark_moved(&to.name())).map_err(CopyError::Source)?;
    on_side!(target, commit_copy())?;
    on_side!(source, commit_mark()).map_err(CopyError::NotMarked)?;
    Ok(CopyReport {
        games: copied[0].0,
        rows,
        digest: hex::encode(digest),
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
    let writer = match target {
        CopySide::Sqlite(file) => file.writer(table).map(TableWriter::Sqlite),
        CopySide::Postgres(database) => database.writer(table).await.map(TableWriter::Postgres),
    };
    let mut writer = writer.map_err(CopyError::Target)?;
    let copying = source.each(table, async |row| {
        digest.add(row);
        tick();
        writer.write(row).await
    });
    copying.await.map_err(RowFailure::into_source_error)?;
    writer.finish().await.map_err(CopyError::Target)?;
    Ok(digest.finish())
}

impl CopySide {
    /// Calls a function with each row of a table, in order.
    async fn each(
        &self,
        table: &CopiedTable,
        with: impl AsyncFnMut(&[Cell<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), RowFailure> {
        match self {
            CopySide::Sqlite(file) => file.each(table, with).await,
            CopySide::Postgres(database) => database.each(table, with).await,
        }
    }
}

impl TableWriter<'_> {
    async fn write(&mut self, row: &[Cell<'_>]) -> Result<(), StoreError> {
        match self {
            TableWriter::Sqlite(writer) => writer.write(row),
            TableWriter::Postgres(writer) => writer.write(row).await,
        }
    }

    async fn finish(self) -> Result<(), StoreError> {
        match self {
            TableWriter::Sqlite(_) => Ok(()),
            TableWriter::Postgres(writer) => writer.finish().await,
        }
    }
}
