//! The mark of a file that was moved: triggers that refuse every write. They are created with the
//! mark, so other files pay nothing for them, and processes that run notice it at once.

use rusqlite::{Connection, OptionalExtension};

use crate::{StoreError, copied_tables::MARKED_TABLES};

/// Checks that the file was not moved.
///
/// # Errors
/// It was. Where to is logged; the error is for clients, too.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'moved'";
    if !connection.prepare(sql)?.exists([])? {
        return Ok(());
    }
    let target = connection.query_row("SELECT target FROM moved", [], |row| {
        row.get::<_, String>(0)
    });
    match target.optional()? {
        None => Ok(()),
        Some(target) => {
            log::error!("this database was moved to the {target}");
            Err(StoreError::Moved)
        }
    }
}

/// Marks the file, within a transaction.
///
/// # Errors
/// It cannot be written.
pub(super) fn mark(connection: &Connection, target: &str) -> Result<(), StoreError> {
    let mut sql = "CREATE TABLE IF NOT EXISTS moved (target TEXT NOT NULL) STRICT;".to_owned();
    for table in MARKED_TABLES {
        for change in ["INSERT", "UPDATE", "DELETE"] {
            sql += &format!(
                "CREATE TRIGGER IF NOT EXISTS moved_{table}_{change} BEFORE {change} ON {table} \
                 BEGIN SELECT RAISE(ABORT, 'the database was moved') FROM moved; END;"
            );
        }
    }
    connection.execute_batch(&sql)?;
    connection.execute("INSERT INTO moved VALUES (?1)", [target])?;
    Ok(())
}
