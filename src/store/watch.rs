//! Seeing that another process has changed the store.

use std::path::Path;

use rusqlite::Connection;

use super::{StoreError, connect};

/// Tells whether anybody, in this process or another, has committed anything to the store: a
/// glance at shared memory, cheap enough for many a second.
#[derive(Debug)]
pub struct Watch {
    connection: Connection,
    seen: i64,
}

impl Watch {
    pub(super) fn new(path: &Path) -> Result<Watch, StoreError> {
        let connection = connect::reader(path)?;
        let seen = data_version(&connection)?;
        Ok(Watch { connection, seen })
    }

    /// Whether there was a commit since this was last asked, or since the watch began.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn changed(&mut self) -> Result<bool, StoreError> {
        let before = self.seen;
        self.seen = data_version(&self.connection)?;
        Ok(self.seen != before)
    }
}

/// A number that changes when another connection commits something.
fn data_version(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("PRAGMA data_version")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
