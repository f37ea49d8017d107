//! Copies of a whole store into an empty one, of the same kind or the other.
//!
//! Both sides are locked against writes for as long as it takes. Rows are copied in a defined
//! order, with their row ids, and then read again from the copy: each table must have the same
//! digest. Only then the copy becomes visible, and the source is marked as moved. The change feed,
//! who is present and claims of due games are not copied: they are of the nodes that run. Neither
//! is what removed games have left.

use std::pin::pin;

use futures_util::TryStreamExt;
use rusqlite::{Statement, params_from_iter};
use sha2::{Digest, Sha256};
use tokio_postgres::types::ToSql;

use crate::{
    CopyError, Location, StoreError,
    copied_tables::{CREATOR_KEY, CopiedTable, TABLES},
    postgres::{
        self,
        copy::{CopyDatabase, RowWriter, parameter},
    },
    row::{Cell, Row},
    sqlite::{self, copy::CopyFile},
    thread::runtime,
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

/// One side of a copy, within a transaction.
enum CopySide {
    Sqlite(CopyFile),
    Postgres(CopyDatabase),
}

/// What writes the rows of one table.
enum TableWriter<'a> {
    Sqlite(Statement<'a>),
    Postgres(RowWriter),
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
    let runtime = runtime().map_err(CopyError::Target)?;
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
        let rows = source.number(&table.count()).await;
        all += 2 * rows.map_err(CopyError::Source)?.unsigned_abs();
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
    let last = source.number(match &source {
        CopySide::Sqlite(_) => sqlite::copy::LAST_ROW_ID,
        CopySide::Postgres(_) => postgres::copy::LAST_ROW_ID,
    });
    let last = last.await.map_err(CopyError::Source)?;
    let after_rows = match &target {
        CopySide::Sqlite(_) => sqlite::copy::after_rows(last),
        CopySide::Postgres(_) => postgres::copy::after_rows(last),
    };
    let ended = target.execute(&after_rows).await;
    ended.map_err(CopyError::Target)?;
    let (mut rows, mut sha) = (0, Sha256::new());
    for (table, digest) in TABLES.iter().zip(&copied) {
        let mut read = TableDigest::default();
        let reading = target.each(table, async |row| {
            read.add(row);
            tick();
            Ok(())
        });
        reading.await.map_err(CopyError::Target)?;
        if read.finish() != *digest {
            return Err(CopyError::Differs(table.name));
        }
        rows += digest.0;
        sha.update(digest.1);
    }
    let digest: [u8; 32] = sha.finalize().into();

    // The mark is written before the copy becomes visible, so that what can fail has not failed
    // yet.
    let marked = source.mark_moved(&to.name()).await;
    marked.map_err(CopyError::Source)?;
    match target {
        CopySide::Sqlite(file) => file.commit_copy()?,
        CopySide::Postgres(database) => database.commit_copy().await?,
    }
    source
        .execute("COMMIT")
        .await
        .map_err(CopyError::NotMarked)?;
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
    if table.name == CREATOR_KEY {
        let deleted = target.execute("DELETE FROM creator_key").await;
        deleted.map_err(CopyError::Target)?;
    }
    let mut writer = target.writer(table).await.map_err(CopyError::Target)?;
    // Rows are read from the source, and written to the target.
    let mut failure: fn(StoreError) -> CopyError = CopyError::Source;
    let copying = source.each(table, async |row| {
        digest.add(row);
        tick();
        let written = writer.write(table, row).await;
        if written.is_err() {
            failure = CopyError::Target;
        }
        written
    });
    copying.await.map_err(failure)?;
    writer.finish().await.map_err(CopyError::Target)?;
    Ok(digest.finish())
}

impl CopySide {
    /// Executes statements without results.
    async fn execute(&self, sql: &str) -> Result<(), StoreError> {
        match self {
            CopySide::Sqlite(file) => Ok(file.connection.execute_batch(sql)?),
            CopySide::Postgres(database) => Ok(database.client().batch_execute(sql).await?),
        }
    }

    /// The number that a query returns.
    async fn number(&self, sql: &str) -> Result<i64, StoreError> {
        match self {
            CopySide::Sqlite(file) => Ok(file.connection.query_row(sql, [], |row| row.get(0))?),
            CopySide::Postgres(database) => {
                Ok(database.client().query_one(sql, &[]).await?.try_get(0)?)
            }
        }
    }

    async fn mark_moved(&self, target: &str) -> Result<(), StoreError> {
        match self {
            CopySide::Sqlite(file) => file.mark_moved(target),
            CopySide::Postgres(database) => database.mark_moved(target).await,
        }
    }

    /// Calls a function with each row of a table, in order.
    async fn each(
        &self,
        table: &CopiedTable,
        mut with: impl AsyncFnMut(&[Cell<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match self {
            CopySide::Sqlite(file) => {
                let mut statement = file.connection.prepare(&table.select())?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    with(&table.cells(Row::Sqlite(row))?).await?;
                }
            }
            CopySide::Postgres(database) => {
                // The rows are sent no faster than they are taken.
                let none: [&(dyn ToSql + Sync); 0] = [];
                let rows = database.client().query_raw(&table.select(), none).await?;
                let mut rows = pin!(rows);
                while let Some(row) = rows.try_next().await? {
                    with(&table.cells(Row::Postgres(&row))?).await?;
                }
            }
        }
        Ok(())
    }

    /// What writes the rows of a table.
    async fn writer(&self, table: &CopiedTable) -> Result<TableWriter<'_>, StoreError> {
        Ok(match self {
            CopySide::Sqlite(file) => TableWriter::Sqlite(file.insert(table)?),
            CopySide::Postgres(database) => TableWriter::Postgres(database.writer(table).await?),
        })
    }
}

impl TableWriter<'_> {
    async fn write(&mut self, table: &CopiedTable, row: &[Cell<'_>]) -> Result<(), StoreError> {
        match self {
            TableWriter::Sqlite(insert) => {
                insert.execute(params_from_iter(row))?;
            }
            TableWriter::Postgres(writer) => {
                let cells = row.iter().zip(table.columns);
                let values = cells.map(|(cell, &(_, kind))| parameter(cell, kind));
                writer.as_mut().write(&values.collect::<Vec<_>>()).await?;
            }
        }
        Ok(())
    }

    async fn finish(self) -> Result<(), StoreError> {
        if let TableWriter::Postgres(mut writer) = self {
            writer.as_mut().finish().await?;
        }
        Ok(())
    }
}
