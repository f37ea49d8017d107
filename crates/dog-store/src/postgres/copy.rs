//! A database as the source or the target of a copy.

use std::{pin::Pin, sync::Arc};

use futures_util::TryStreamExt;
use tokio::sync::Notify;
use tokio_postgres::{
    Row,
    binary_copy::BinaryCopyInWriter,
    types::{ToSql, Type},
};

use super::{
    columns::one,
    connection::{ConnectionSettings, PgConnection, Purpose},
    error::is_outcome_unknown,
    migrations, moved,
};
use crate::{
    StoreError,
    copied_tables::{
        CREATOR_KEY, Cell, ColumnKind, CopiedTable, CopyError, MARKED_TABLES, RowFailure, TABLES,
    },
    postgres::connection::QueryError,
};

/// A database within a transaction. Dropping it ends the connection, which rolls it back.
pub struct CopyDatabase(Arc<PgConnection>);

/// Writes the rows of one table.
pub struct PgTableWriter {
    table: &'static CopiedTable,
    writer: Pin<Box<BinaryCopyInWriter>>,
}

impl CopyDatabase {
    async fn connect(settings: &ConnectionSettings) -> Result<CopyDatabase, StoreError> {
        let notified = Arc::new(Notify::new());
        let settings = settings.with_bulk_timeout();
        let (connection, _driver) =
            PgConnection::open(&settings, Purpose::LongTransactions, notified).await?;
        Ok(CopyDatabase(connection))
    }

    /// Locks the tables against writes by others. They can still be read.
    async fn lock(&self) -> Result<(), StoreError> {
        let tables = [&MARKED_TABLES[..], &[CREATOR_KEY]].concat().join(", ");
        let sql = format!("LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE");
        Ok(self.0.execute(&sql).await?)
    }

    /// Connects to a database that is to be moved, and locks it.
    ///
    /// # Errors
    /// It cannot be read or locked, is of another schema version, or was moved before.
    pub async fn source(settings: &ConnectionSettings) -> Result<CopyDatabase, StoreError> {
        let database = CopyDatabase::connect(settings).await?;
        migrations::check_version(&database.0).await?;
        // All queries after the lock see the state at the first one.
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ";
        database.0.execute(begin).await?;
        database.lock().await?;
        moved::check(&database.0).await?;
        Ok(database)
    }

    /// Connects to an empty database, creates its tables if it has none, and locks it.
    ///
    /// # Errors
    /// It is not empty, or cannot be written.
    pub async fn target(settings: &ConnectionSettings) -> Result<CopyDatabase, CopyError> {
        let database = CopyDatabase::connect(settings)
            .await
            .map_err(CopyError::Target)?;
        if !database.prepare().await.map_err(CopyError::Target)? {
            return Err(CopyError::NotEmpty);
        }
        Ok(database)
    }

    /// Begins the transaction of a copy. Returns whether the database is empty.
    async fn prepare(&self) -> Result<bool, StoreError> {
        self.0.execute("BEGIN").await?;
        migrations::migrate_within(&self.0).await?;
        self.lock().await?;
        let kept = TABLES.iter().filter(|table| table.name != CREATOR_KEY);
        for table in kept {
            let sql = format!("SELECT 1 FROM {} LIMIT 1", table.name);
            if !self.0.client.query(&sql, &[]).await?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub async fn count(&self, table: &CopiedTable) -> Result<u64, StoreError> {
        let rows = self.0.client.query_one(&table.count(), &[]).await?;
        Ok(rows.try_get::<_, i64>(0)?.unsigned_abs())
    }

    /// Calls a function with each row of a table, in order.
    pub async fn each(
        &self,
        table: &CopiedTable,
        mut with: impl AsyncFnMut(&[Cell<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), RowFailure> {
        // The rows are sent no faster than they are taken.
        let none: [&(dyn ToSql + Sync); 0] = [];
        let rows = self.0.client.query_raw(&table.select(), none).await?;
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = rows.try_next().await? {
            let mut cells = Vec::with_capacity(table.columns.len());
            for (index, &(_, kind)) in table.columns.iter().enumerate() {
                cells.push(cell(&row, index, kind)?);
            }
            with(&cells).await.map_err(RowFailure::Write)?;
        }
        Ok(())
    }

    pub async fn writer(&self, table: &'static CopiedTable) -> Result<PgTableWriter, StoreError> {
        if table.name == CREATOR_KEY {
            self.0.execute("DELETE FROM creator_key").await?;
        }
        let (name, columns) = (table.name, table.column_names());
        let sql = format!("COPY {name} ({columns}) FROM STDIN (FORMAT binary)");
        let types = table.columns.iter().map(|(_, kind)| match kind {
            ColumnKind::Int => Type::INT8,
            ColumnKind::Bool => Type::BOOL,
            ColumnKind::Text => Type::TEXT,
            ColumnKind::Bytes => Type::BYTEA,
        });
        let sink = self.0.client.copy_in(&sql).await?;
        let writer = BinaryCopyInWriter::new(sink, &types.collect::<Vec<_>>());
        let writer = Box::pin(writer);
        Ok(PgTableWriter { table, writer })
    }

    /// The largest row id that a game has had.
    pub async fn last_row_id(&self) -> Result<i64, StoreError> {
        let sql = "SELECT greatest(coalesce(max(row_id), 0), coalesce(pg_sequence_last_value(\
                   pg_get_serial_sequence('games', 'row_id')::regclass), 0)) FROM games";
        Ok(one(self.0.query(sql, &[]).await?)?.try_get(0)?)
    }

    /// Makes the next game's row id the one after `last`, and has the planner know the tables.
    pub async fn after_rows(&self, last: i64) -> Result<(), StoreError> {
        // Unlike `setval`, this is undone with the transaction.
        let next = last.saturating_add(1);
        let mut sql = format!("ALTER TABLE games ALTER COLUMN row_id RESTART WITH {next};");
        for table in &TABLES {
            sql += &format!("ANALYZE {};", table.name);
        }
        Ok(self.0.execute(&sql).await?)
    }

    /// Marks the database as moved.
    pub async fn mark_moved(&self, target: &str) -> Result<(), StoreError> {
        moved::mark(&self.0, target).await
    }

    /// Commits the mark.
    pub async fn commit_mark(self) -> Result<(), StoreError> {
        Ok(self.0.execute("COMMIT").await?)
    }

    /// Commits a copy.
    pub async fn commit_copy(self) -> Result<(), CopyError> {
        self.0.execute("COMMIT").await.map_err(|error| match error {
            QueryError::Failed(cause) if !is_outcome_unknown(&cause) => {
                CopyError::Target(cause.into())
            }
            lost => CopyError::Unknown(lost.into()),
        })
    }
}

impl PgTableWriter {
    pub async fn write(&mut self, row: &[Cell<'_>]) -> Result<(), StoreError> {
        let cells = row.iter().zip(self.table.columns);
        let values = cells.map(|(cell, &(_, kind))| parameter(cell, kind));
        let values: Vec<_> = values.collect();
        Ok(self.writer.as_mut().write(&values).await?)
    }

    pub async fn finish(mut self) -> Result<(), StoreError> {
        self.writer.as_mut().finish().await?;
        Ok(())
    }
}

/// The value of a column.
fn cell(row: &Row, index: usize, kind: ColumnKind) -> Result<Cell<'_>, StoreError> {
    let cell = match kind {
        ColumnKind::Int => row.try_get::<_, Option<_>>(index)?.map(Cell::Int),
        ColumnKind::Bool => row.try_get::<_, Option<_>>(index)?.map(Cell::Bool),
        ColumnKind::Text => row.try_get::<_, Option<_>>(index)?.map(Cell::Text),
        ColumnKind::Bytes => row.try_get::<_, Option<_>>(index)?.map(Cell::Bytes),
    };
    Ok(cell.unwrap_or(Cell::Null))
}

/// A value as a parameter for a column.
fn parameter<'a>(cell: &'a Cell<'_>, kind: ColumnKind) -> &'a (dyn ToSql + Sync) {
    match (cell, kind) {
        (Cell::Int(value), _) => value,
        (Cell::Bool(value), _) => value,
        (Cell::Text(text), _) => text,
        (Cell::Bytes(bytes), _) => bytes,
        (Cell::Null, ColumnKind::Int) => &None::<i64>,
        (Cell::Null, ColumnKind::Bool) => &None::<bool>,
        (Cell::Null, ColumnKind::Text) => &None::<&str>,
        (Cell::Null, ColumnKind::Bytes) => &None::<&[u8]>,
    }
}
