//! A database as the source or the target of a copy.

use std::{pin::Pin, sync::Arc};

use tokio_postgres::{
    Client,
    binary_copy::BinaryCopyInWriter,
    types::{ToSql, Type},
};

use super::{
    connection::{ConnectionSettings, PgConnection, QueryError},
    error::is_outcome_unknown,
    migrations, moved,
};
use crate::{
    StoreError,
    copied_tables::{CREATOR_KEY, CopiedTable, CopyError, MARKED_TABLES, TABLES},
    row::{Cell, ColumnKind},
};

/// What adds rows to a table.
pub type RowWriter = Pin<Box<BinaryCopyInWriter>>;

/// The largest row id that a game has had.
pub const LAST_ROW_ID: &str = "SELECT greatest(coalesce(max(row_id), 0), \
     coalesce(pg_sequence_last_value(pg_get_serial_sequence('games', 'row_id')::regclass), 0)) \
     FROM games";

/// What makes the next game's row id the one after `last`, and has the planner know the tables.
pub fn after_rows(last: i64) -> String {
    // Unlike `setval`, this is undone with the transaction.
    let next = last.saturating_add(1);
    let mut sql = format!("ALTER TABLE games ALTER COLUMN row_id RESTART WITH {next};");
    for table in &TABLES {
        sql += &format!("ANALYZE {};", table.name);
    }
    sql
}

/// A database within a transaction. Dropping it ends the connection, which rolls it back.
pub struct CopyDatabase(Arc<PgConnection>);

impl CopyDatabase {
    async fn connect(settings: &ConnectionSettings) -> Result<CopyDatabase, StoreError> {
        let settings = settings.with_bulk_timeout();
        let connection = PgConnection::open_for_command(&settings).await?;
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

    /// What adds rows to a table.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn writer(&self, table: &CopiedTable) -> Result<RowWriter, StoreError> {
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
        Ok(Box::pin(writer))
    }

    /// The connection.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// Marks the database as moved.
    pub async fn mark_moved(&self, target: &str) -> Result<(), StoreError> {
        moved::mark(&self.0, target).await
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

/// A value as a parameter for a column.
pub fn parameter<'a>(cell: &'a Cell<'_>, kind: ColumnKind) -> &'a (dyn ToSql + Sync) {
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
