//! A file as the source or the target of a copy.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{
    Connection, Statement, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    check::{quick_check, verify_file},
    connect::{check_not_lost, is_empty, open_existing},
    lock::DatabaseLock,
    migrations::{self, SCHEMA},
    moved,
    partial_file::PartialFile,
};
use crate::{
    StoreError,
    copied_tables::{CREATOR_KEY, Cell, ColumnKind, CopiedTable, CopyError, RowFailure},
};

/// A file within a transaction. Dropping it rolls the transaction back, and deletes an unfinished
/// copy.
pub struct CopyFile {
    // Closed before the file is deleted.
    connection: Connection,
    copy: Option<(PartialFile, PathBuf, DatabaseLock)>,
}

/// Writes the rows of one table.
pub struct SqliteTableWriter<'a>(Statement<'a>);

impl CopyFile {
    /// Opens and locks a file that is to be moved, after a quick check.
    ///
    /// # Errors
    /// It cannot be read or written, is damaged or of another schema version, or was moved before.
    pub fn source(path: &Path) -> Result<CopyFile, StoreError> {
        if is_empty(path) {
            check_not_lost(path)?;
            return Err(StoreError::Gone);
        }
        verify_file(path)?;
        let connection = open_existing(path)?;
        migrations::identify(&connection)?;
        // No other process writes from here on, so this is one state.
        connection.execute_batch("BEGIN IMMEDIATE")?;
        SCHEMA.check_current(migrations::version(&connection)?)?;
        moved::check(&connection)?;
        Ok(CopyFile {
            connection,
            copy: None,
        })
    }

    /// Creates a new file, which has another name until it is complete.
    ///
    /// # Errors
    /// A file of that name exists, or it cannot be created.
    pub fn target(path: &Path) -> Result<CopyFile, CopyError> {
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(CopyError::Exists);
        }
        // SQLite would add the log of another database to the copy.
        check_not_lost(path).map_err(CopyError::Target)?;
        let lock = DatabaseLock::take(path, Duration::ZERO).map_err(CopyError::Target)?;
        let partial = PartialFile::create(path)?;
        Ok(CopyFile {
            connection: prepare(partial.path()).map_err(CopyError::Target)?,
            copy: Some((partial, path.to_owned(), lock)),
        })
    }

    pub fn count(&self, table: &CopiedTable) -> Result<u64, StoreError> {
        let rows: i64 = self
            .connection
            .query_row(&table.count(), [], |row| row.get(0))?;
        Ok(rows.unsigned_abs())
    }

    /// Calls a function with each row of a table, in order.
    pub async fn each(
        &self,
        table: &CopiedTable,
        mut with: impl AsyncFnMut(&[Cell<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), RowFailure> {
        let mut statement = self.connection.prepare(&table.select())?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut cells = Vec::with_capacity(table.columns.len());
            for (index, &(_, kind)) in table.columns.iter().enumerate() {
                cells.push(cell(row.get_ref(index)?, kind)?);
            }
            with(&cells).await.map_err(RowFailure::Write)?;
        }
        Ok(())
    }

    pub fn writer(&self, table: &CopiedTable) -> Result<SqliteTableWriter<'_>, StoreError> {
        if table.name == CREATOR_KEY {
            self.connection.execute("DELETE FROM creator_key", [])?;
        }
        let places = vec!["?"; table.columns.len()].join(", ");
        let (name, columns) = (table.name, table.column_names());
        let sql = format!("INSERT INTO {name} ({columns}) VALUES ({places})");
        Ok(SqliteTableWriter(self.connection.prepare(&sql)?))
    }

    /// The largest row id that a game has had.
    pub fn last_row_id(&self) -> Result<i64, StoreError> {
        let sql = "SELECT max(coalesce((SELECT max(row_id) FROM games), 0), \
                   coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'games'), 0))";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    /// Makes the next game's row id the one after `last`.
    pub fn after_rows(&self, last: i64) -> Result<(), StoreError> {
        let sql = "DELETE FROM sqlite_sequence WHERE name = 'games'";
        self.connection.execute(sql, [])?;
        let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES ('games', ?1)";
        self.connection.execute(sql, [last])?;
        Ok(())
    }

    /// Marks the file as moved.
    pub fn mark_moved(&self, target: &str) -> Result<(), StoreError> {
        moved::mark(&self.connection, target)
    }

    /// Commits the mark.
    pub fn commit_mark(self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("COMMIT")?)
    }

    /// Commits a copy, checks the file, and gives it its name.
    pub fn commit_copy(self) -> Result<(), CopyError> {
        let CopyFile { connection, copy } = self;
        connection
            .execute_batch("COMMIT")
            .map_err(StoreError::from)
            .and_then(|()| quick_check(&connection))
            .map_err(CopyError::Target)?;
        connection
            .close()
            .map_err(|(_, error)| CopyError::Target(error.into()))?;
        if let Some((partial, path, _lock)) = copy {
            partial.finish(&path)?;
        }
        Ok(())
    }
}

/// Opens a new file, creates the tables, and begins the transaction of the copy.
fn prepare(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = open_existing(path)?;
    // A partial copy is useless, so nothing is synced before the end.
    connection.pragma_update(None, "synchronous", "off")?;
    migrations::migrate(&mut connection, &SCHEMA)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    Ok(connection)
}

impl SqliteTableWriter<'_> {
    pub fn write(&mut self, row: &[Cell<'_>]) -> Result<(), StoreError> {
        self.0.execute(params_from_iter(row))?;
        Ok(())
    }
}

/// The value of a column.
///
/// # Errors
/// It is of another kind.
fn cell(value: ValueRef<'_>, kind: ColumnKind) -> Result<Cell<'_>, StoreError> {
    let cell = match (value, kind) {
        (ValueRef::Null, _) => Some(Cell::Null),
        (ValueRef::Integer(value), ColumnKind::Int) => Some(Cell::Int(value)),
        (ValueRef::Integer(value @ (0 | 1)), ColumnKind::Bool) => Some(Cell::Bool(value == 1)),
        (ValueRef::Text(value), ColumnKind::Text) => str::from_utf8(value).ok().map(Cell::Text),
        (ValueRef::Blob(value), ColumnKind::Bytes) => Some(Cell::Bytes(value)),
        _ => None,
    };
    cell.ok_or_else(|| StoreError::Damaged("a value is not of the kind of its column".into()))
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Cell::Null => ValueRef::Null,
            Cell::Int(value) => ValueRef::Integer(value),
            Cell::Bool(value) => ValueRef::Integer(value.into()),
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
            Cell::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
