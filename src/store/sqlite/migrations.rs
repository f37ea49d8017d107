//! The schema and its history.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::store::StoreError;

/// Marks a file as ours: "DOG" and a number, in ASCII.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"DOG1");

/// One script a schema version, the first making version 1 of an empty file. A script that has
/// been released is never changed; a change of the schema is a new script.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
];

/// Makes sure that a file is ours, or empty and so may become ours. Nothing is written.
///
/// # Errors
/// It is another program's, or no database, or so damaged that its schema cannot be read.
pub(super) fn identify(connection: &Connection) -> Result<(), StoreError> {
    // In this order: another process may be making the first tables, and it commits the id with
    // them.
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i32 = pragma(connection, "application_id")?;
    if application == APPLICATION_ID || application == 0 && tables == 0 {
        Ok(())
    } else {
        Err(StoreError::Foreign(application))
    }
}

/// Brings an identified file to the last of these schema versions, each step in a transaction of
/// its own, so that whatever happens the file is at one of them.
///
/// # Errors
/// The file is at a later version, or a step failed.
pub(super) fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<(), StoreError> {
    // A step may rebuild a table that others refer to; the references are checked at its end.
    connection.pragma_update(None, "foreign_keys", false)?;
    while step(connection, migrations)? {}
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// Takes the file one version further; says whether there was anything to do.
fn step(connection: &mut Connection, migrations: &[&str]) -> Result<bool, StoreError> {
    // The lock comes first: another process may be migrating the same file.
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let found = check_version(&transaction, migrations)?;
    let Some(script) = migrations.get(found) else {
        return Ok(false);
    };
    transaction.execute_batch(script)?;
    let mut violations = transaction.prepare("PRAGMA foreign_key_check")?;
    if violations.exists([])? {
        return Err(StoreError::Damaged("a reference leads nowhere".into()));
    }
    drop(violations);
    set_version(&transaction, found + 1)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    log::info!("database schema: version {}", found + 1);
    Ok(true)
}

/// The file's schema version, which is at most the last of these.
///
/// # Errors
/// It is a later one.
pub(super) fn check_version(
    connection: &Connection,
    migrations: &[&str],
) -> Result<usize, StoreError> {
    let found = version(connection)?;
    let known = migrations.len();
    match usize::try_from(found) {
        Ok(version) if version <= known => Ok(version),
        _ => Err(StoreError::Newer {
            found,
            known: known as u32,
        }),
    }
}

/// The file's schema version, whichever it is.
///
/// # Errors
/// The database cannot be read.
pub(super) fn version(connection: &Connection) -> Result<u32, StoreError> {
    pragma(connection, "user_version")
}

/// Writes the schema version down.
pub(super) fn set_version(connection: &Connection, version: usize) -> Result<(), StoreError> {
    Ok(connection.pragma_update(None, "user_version", version as i64)?)
}

/// The value of a pragma.
fn pragma<T: rusqlite::types::FromSql>(
    connection: &Connection,
    name: &str,
) -> Result<T, StoreError> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}
