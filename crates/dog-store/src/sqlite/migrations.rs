//! The schema of a file, and its migration.

use std::{thread, time::Duration};

use jiff::SignedDuration;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{CLOCK_TOLERANCE, LEASE, StoreError, now, schema::Schema};

/// The application id of this program's files: "DOG1" in ASCII.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"DOG1");

/// The schema version of files that several processes may have open. They know no lock of the file,
/// and renew a lease in it.
const SHARED_VERSION: u32 = 14;

/// How old a lease of such a process must be until the process counts as ended.
const LEASE_END: SignedDuration = SignedDuration::from_secs(15);

/// The time between two looks at the leases.
const LEASE_POLL: Duration = Duration::from_secs(1);

pub(super) const SCHEMA: Schema = Schema {
    first_version: 14,
    scripts: &[
        include_str!("schema/initial.sql"),
        include_str!("schema/one_process.sql"),
        include_str!("schema/lists.sql"),
        include_str!("schema/data.sql"),
        include_str!("schema/matches.sql"),
    ],
    begin_with: "file",
};

/// Checks that a file is a database of this program, or an empty one. Nothing is written.
///
/// # Errors
/// The file belongs to another program or to an unreleased build of this one, is not a database, or
/// its schema cannot be read.
pub(super) fn identify(connection: &Connection) -> Result<(), StoreError> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i32 = pragma(connection, "application_id")?;
    if application != APPLICATION_ID && (application != 0 || tables > 0) {
        return Err(StoreError::Foreign(application));
    }
    // A later version is refused where the file is read or written. It can be backed up.
    let found = version(connection)?;
    if found == 0 && tables > 0 {
        return Err(no_version(found.into()));
    }
    match SCHEMA.check(found) {
        Err(unreleased @ StoreError::Unreleased { .. }) => Err(unreleased),
        _ => Ok(()),
    }
}

/// Migrates an identified file to the last version of this schema, with one transaction per
/// version.
///
/// # Errors
/// The file has a later version, or a migration failed.
pub(super) fn migrate(connection: &mut Connection, schema: &Schema) -> Result<(), StoreError> {
    if version(connection)? == SHARED_VERSION {
        wait_for_leases(connection)?;
    }
    // A migration may rebuild a table that others refer to. It checks the references at its end.
    connection.pragma_update(None, "foreign_keys", false)?;
    while step(connection, schema)? {}
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// Waits until the leases of processes of an earlier release are old, which takes 15 seconds at most.
///
/// # Errors
/// A lease is renewed meanwhile.
fn wait_for_leases(connection: &Connection) -> Result<(), StoreError> {
    let first = lease_ends(connection)?;
    loop {
        // Those that end later were made before the clock was put back.
        let [old, latest] = [-LEASE_END, CLOCK_TOLERANCE].map(|from_now| now() + LEASE + from_now);
        let young = old.as_microsecond()..latest.as_microsecond();
        if !first.iter().any(|(_, end)| young.contains(end)) {
            return Ok(());
        }
        log::info!("waiting for the end of a server of an earlier release");
        thread::sleep(LEASE_POLL);
        if lease_ends(connection)? != first {
            return Err(StoreError::InUse(" of an earlier release".to_owned()));
        }
    }
}

/// When the lease of each process ends, in microseconds since 1970.
fn lease_ends(connection: &Connection) -> Result<Vec<(i64, i64)>, StoreError> {
    let mut statement = connection.prepare("SELECT process, lease_until FROM processes")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Migrates the file by one version. Returns whether there was anything to do.
fn step(connection: &mut Connection, schema: &Schema) -> Result<bool, StoreError> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    schema.check(found)?;
    let Some((next, script)) = schema.missing(found).next() else {
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
    transaction.pragma_update(None, "user_version", next)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    log::info!("database schema: version {next}");
    Ok(true)
}

/// The schema version of the file; 0 if it has no tables yet.
///
/// # Errors
/// The database cannot be read.
pub(super) fn version(connection: &Connection) -> Result<u32, StoreError> {
    let found: i64 = pragma(connection, "user_version")?;
    u32::try_from(found).map_err(|_| no_version(found))
}

/// The tables are there, but their version is none that any program has written.
fn no_version(found: i64) -> StoreError {
    StoreError::Damaged(format!("its schema version (user_version) is {found}"))
}

/// The value of a pragma.
fn pragma<T: rusqlite::types::FromSql>(
    connection: &Connection,
    name: &str,
) -> Result<T, StoreError> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}
