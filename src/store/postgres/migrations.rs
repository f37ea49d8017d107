//! The schema versions and the migrations between them.

use rand::random;

use super::connection::{PgConnection, params};
use crate::store::StoreError;

/// One script per schema version. Released scripts are never changed. A change of the schema is a
/// new script.
pub(super) const MIGRATIONS: &[&str] = &[include_str!("schema/1.sql")];

/// Migrates the database to the last of these schema versions. Of several nodes that begin at the
/// same time one does it, and the others wait.
///
/// # Errors
/// The database is of another program or of a later version, or a migration failed.
pub(super) async fn migrate(connection: &PgConnection) -> Result<(), StoreError> {
    let client = &connection.client;
    let begin = "BEGIN; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(4474694)";
    connection
        .within_deadline(client.batch_execute(begin))
        .await?;
    let sql = "SELECT to_regclass('schema_version') IS NOT NULL, to_regclass('games') IS NOT NULL";
    let rows = connection.query(sql, &[]).await?;
    let row = super::reader::one(&rows)?;
    let found = match (row.try_get(0)?, row.try_get(1)?) {
        (true, _) => version(connection).await?,
        (false, false) => 0,
        (false, true) => return Err(StoreError::Foreign(0)),
    };
    let known = MIGRATIONS.len() as u32;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    if found == 0 {
        let sql = "CREATE TABLE schema_version (version integer NOT NULL); \
                   INSERT INTO schema_version VALUES (0)";
        connection
            .within_deadline(client.batch_execute(sql))
            .await?;
    }
    for (number, script) in (1..).zip(MIGRATIONS).skip(found as usize) {
        connection
            .within_deadline(client.batch_execute(script))
            .await?;
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
    connection
        .within_deadline(client.batch_execute("COMMIT"))
        .await?;
    Ok(())
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
