//! A file as the source or the target of a copy.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, Statement};

use super::{
    check::{check_pages, verify_file},
    connect::{check_not_lost, is_empty, open_existing},
    lock::DatabaseLock,
    migrations::{self, SCHEMA},
    moved,
    partial_file::PartialFile,
};
use crate::{
    StoreError,
    copied_tables::{CopiedTable, CopyError},
};

/// The largest row id that a game has had.
pub const LAST_ROW_ID: &str = "SELECT max(coalesce((SELECT max(row_id) FROM games), 0), \
     coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'games'), 0))";

/// What makes the next game's row id the one after `last`.
pub fn after_rows(last: i64) -> String {
    format!(
        "DELETE FROM sqlite_sequence WHERE name = 'games'; \
         INSERT INTO sqlite_sequence (name, seq) VALUES ('games', {last})"
    )
}

/// A file within a transaction. Dropping it rolls the transaction back, and deletes an unfinished
/// copy.
pub struct CopyFile {
    // Closed before the file is deleted.
    pub connection: Connection,
    copy: Option<(PartialFile, PathBuf, DatabaseLock)>,
}

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
            connection: prepare(&partial.path).map_err(CopyError::Target)?,
            copy: Some((partial, path.to_owned(), lock)),
        })
    }

    /// A statement that adds a row to a table.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn insert(&self, table: &CopiedTable) -> Result<Statement<'_>, StoreError> {
        let places = vec!["?"; table.columns.len()].join(", ");
        let (name, columns) = (table.name, table.column_names());
        let sql = format!("INSERT INTO {name} ({columns}) VALUES ({places})");
        Ok(self.connection.prepare(&sql)?)
    }

    /// Marks the file as moved.
    pub fn mark_moved(&self, target: &str) -> Result<(), StoreError> {
        moved::mark(&self.connection, target)
    }

    /// Commits a copy, checks the file, and gives it its name.
    pub fn commit_copy(self) -> Result<(), CopyError> {
        let CopyFile { connection, copy } = self;
        connection
            .execute_batch("COMMIT")
            .map_err(StoreError::from)
            .and_then(|()| check_pages(&connection, "quick_check"))
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
