//! The schema versions and the migrations between them.

use rand::random;

use super::{
    connection::{PgConnection, params},
    moved,
};
use crate::StoreError;

/// One script per schema version. Released scripts are never changed. A change of the schema is a
/// new script.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
];

/// Migrates the database to the last of these schema versions. Of several nodes that begin at the
/// same time one does it, and the others wait.
///
/// # Errors
/// The database is of another program or of a later version, was moved, or a migration failed.
pub(super) async fn migrate(connection: &PgConnection) -> Result<(), StoreError> {
    connection.execute("BEGIN").await?;
    migrate_within(connection).await?;
    connection.execute("COMMIT").await?;
    Ok(())
}

/// The same within a transaction.
pub(super) async fn migrate_within(connection: &PgConnection) -> Result<(), StoreError> {
    let lock = "SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(4474694)";
    connection.execute(lock).await?;
    check_encoding(connection).await?;
    let found = found_version(connection).await?;
    if found == 0 {
        let sql = "CREATE TABLE schema_version (version integer NOT NULL); \
                   INSERT INTO schema_version VALUES (0)";
        connection.execute(sql).await?;
    }
    moved::check(connection).await?;
    for (number, script) in (1..).zip(MIGRATIONS).skip(found as usize) {
        connection.execute(script).await?;
        let sql = "UPDATE schema_version SET version = $1";
        let params = params![number];
        connection.query(sql, &params).await?;
        log::info!("database schema: version {number}");
    }
    if found == 0 {
        let sql = "INSERT INTO creator_key VALUES ($1)";
        let key: [u8; 16] = random();
        let params = params![key.to_vec()];
        connection.query(sql, &params).await?;
    }
    Ok(())
}

/// Checks that the database can hold every text.
///
/// # Errors
/// [`StoreError::Unsuitable`].
async fn check_encoding(connection: &PgConnection) -> Result<(), StoreError> {
    let sql = "SELECT current_setting('server_encoding')";
    let rows = connection.query(sql, &[]).await?;
    let encoding: &str = super::reader::one(&rows)?.try_get(0)?;
    match encoding {
        "UTF8" => Ok(()),
        other => Err(StoreError::Unsuitable(format!(
            "its encoding is {other}, and must be UTF8: create it with ENCODING 'UTF8' TEMPLATE \
             template0"
        ))),
    }
}

/// The schema version of the database; 0 if it has no tables yet.
///
/// # Errors
/// It is later than the last of these, or the database is of another program.
async fn found_version(connection: &PgConnection) -> Result<u32, StoreError> {
    let sql = "SELECT to_regclass('schema_version') IS NOT NULL, to_regclass('games') IS NOT NULL";
    let rows = connection.query(sql, &[]).await?;
    let row = super::reader::one(&rows)?;
    let found = match (row.try_get(0)?, row.try_get(1)?) {
        (true, _) => version(connection).await?,
        (false, false) => 0,
        (false, true) => return Err(StoreError::Foreign(0)),
    };
    let known = MIGRATIONS.len() as u32;
    match found {
        found if found > known => Err(StoreError::Newer { found, known }),
        found => Ok(found),
    }
}

/// Checks that the database has the last of these schema versions.
///
/// # Errors
/// It has another one, or is of another program.
pub(super) async fn check_version(connection: &PgConnection) -> Result<(), StoreError> {
    let (found, needed) = (found_version(connection).await?, MIGRATIONS.len() as u32);
    match found < needed {
        true => Err(StoreError::Older { found, needed }),
        false => Ok(()),
    }
}

/// The schema version of the database.
///
/// # Errors
/// It cannot be read.
pub(super) async fn version(connection: &PgConnection) -> Result<u32, StoreError> {
    let rows = connection
        .query("SELECT version FROM schema_version", &[])
        .await?;
    Ok(super::reader::one(&rows)?
        .try_get::<_, i32>(0)?
        .unsigned_abs())
}
