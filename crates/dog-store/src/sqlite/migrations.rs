//! The schema versions and the migrations between them.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::StoreError;

/// The application id of this program's files: "DOG1" in ASCII.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"DOG1");

/// One script per schema version; the first creates version 1 in an empty file. Released scripts
/// are never changed. A change of the schema is a new script.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
    include_str!("schema/10.sql"),
];

/// Checks that a file is a database of this program, or an empty one. Nothing is written.
///
/// # Errors
/// The file belongs to another program, is not a database, or its schema cannot be read.
pub(super) fn identify(connection: &Connection) -> Result<(), StoreError> {
    // The id is read last: another process may be creating the first tables, and commits the id
    // with them.
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i32 = pragma(connection, "application_id")?;
    if application == APPLICATION_ID || application == 0 && tables == 0 {
        Ok(())
    } else {
        Err(StoreError::Foreign(application))
    }
}

/// Migrates an identified file to the last of these schema versions, with one transaction per
/// version.
///
/// # Errors
/// The file has a later version, or a migration failed.
pub(super) fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<(), StoreError> {
    // A migration may rebuild a table that others refer to. It checks the references at its end.
    connection.pragma_update(None, "foreign_keys", false)?;
    while step(connection, migrations)? {}
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// Migrates the file by one version. Returns whether there was anything to do.
fn step(connection: &mut Connection, migrations: &[&str]) -> Result<bool, StoreError> {
    // The lock is taken first, because another process may be migrating the same file.
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let found = check_version(&transaction, migrations)?;
    let Some(script) = migrations.get(found) else {
        return Ok(false);
    };
    transaction.execute_batch(script)?;
    let mut violations = transaction.prepare("PRAGMA foreign_key_check")?;
    if violations.exists([])? {
        return Err(StoreError::Damaged(
            "a migration left a row that refers to a missing game".into(),
        ));
    }
    drop(violations);
    set_version(&transaction, found + 1)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    log::info!("database schema: version {}", found + 1);
    Ok(true)
}

/// The schema version of the file.
///
/// # Errors
/// It is later than the last of these, or cannot be read.
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

/// The schema version of the file, without a check.
///
/// # Errors
/// The database cannot be read.
pub(super) fn version(connection: &Connection) -> Result<u32, StoreError> {
    pragma(connection, "user_version")
}

/// Stores the schema version.
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
