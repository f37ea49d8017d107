//! The schema of a database, and its migration.

use rand::random;

use super::{
    columns::one,
    connection::{PgConnection, params},
    moved,
};
use crate::{StoreError, schema::Schema};

pub(super) const SCHEMA: Schema = Schema {
    first_version: 7,
    scripts: &[
        include_str!("schema/initial.sql"),
        include_str!("schema/removal.sql"),
        include_str!("schema/lists.sql"),
        include_str!("schema/data.sql"),
        include_str!("schema/matches.sql"),
    ],
    begin_with: "database",
};

/// Migrates the database to the last schema version. Of several nodes that begin at the same time
/// one does it, and the others wait.
///
/// # Errors
/// The database is of another program or version, was moved, or a migration failed.
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
    SCHEMA.check(found)?;
    moved::check(connection).await?;
    for (version, script) in SCHEMA.missing(found) {
        connection.execute(script).await?;
        let sql = "UPDATE schema_version SET version = $1";
        let params = params![version as i32];
        connection.query(sql, &params).await?;
        log::info!("database schema: version {version}");
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
pub(super) async fn check_encoding(connection: &PgConnection) -> Result<(), StoreError> {
    let sql = "SELECT current_setting('server_encoding')";
    let row = one(connection.query(sql, &[]).await?)?;
    match row.try_get(0)? {
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
/// The database is of another program.
async fn found_version(connection: &PgConnection) -> Result<u32, StoreError> {
    let sql = "SELECT to_regclass('schema_version') IS NOT NULL, to_regclass('games') IS NOT NULL";
    let row = one(connection.query(sql, &[]).await?)?;
    match (row.try_get(0)?, row.try_get(1)?) {
        (true, has_games) => match version(connection).await? {
            0 if has_games => Err(StoreError::Damaged("its schema version is 0".into())),
            found => Ok(found),
        },
        (false, false) => Ok(0),
        (false, true) => Err(StoreError::Foreign(0)),
    }
}

/// Checks that the database has the last schema version.
///
/// # Errors
/// It has another one, or is of another program.
pub(super) async fn check_version(connection: &PgConnection) -> Result<(), StoreError> {
    SCHEMA.check_current(found_version(connection).await?)
}

/// The schema version of the database.
///
/// # Errors
/// It cannot be read.
async fn version(connection: &PgConnection) -> Result<u32, StoreError> {
    let sql = "SELECT version FROM schema_version";
    let found: i32 = one(connection.query(sql, &[]).await?)?.try_get(0)?;
    let negative = |_| StoreError::Damaged(format!("its schema version is {found}"));
    u32::try_from(found).map_err(negative)
}

#[cfg(test)]
mod tests {
    use super::SCHEMA;
    use crate::{StoreConfig, copy, tests::TestStore};

    /// The words of an error; nothing if there is none.
    fn refusal<T, E: ToString>(result: Result<T, E>) -> String {
        result
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_database_of_the_first_release_is_migrated() {
        let Some(store) = TestStore::postgres() else {
            return;
        };
        store.sql(&format!(
            "SET ROLE dog; {} UPDATE schema_version SET version = {}; \
             INSERT INTO creator_key VALUES (decode(repeat('07', 16), 'hex')); \
             INSERT INTO packed_log VALUES (7, 1, ''); \
             INSERT INTO reviews (game, asked_at, status, content) VALUES (7, 0, 'waiting', '')",
            SCHEMA.scripts[0], SCHEMA.first_version
        ));
        drop(store.store());
        let current = i64::from(SCHEMA.version());
        assert_eq!(store.number("SELECT version FROM schema_version"), current);
        let of_no_game =
            "SELECT (SELECT count(*) FROM packed_log) + (SELECT count(*) FROM reviews)";
        assert_eq!(store.number(of_no_game), 0);
    }

    #[test]
    fn databases_of_builds_before_the_first_release_are_refused_by_everything() {
        let (Some(store), file) = (TestStore::postgres(), TestStore::sqlite()) else {
            return;
        };
        let TestStore::Postgres(database) = &store else {
            unreachable!("it was asked for");
        };
        let objects = "SELECT string_agg(relname, ' ' ORDER BY relname), \
                       (SELECT version FROM schema_version) FROM pg_class \
                       WHERE relnamespace = 'public'::regnamespace";
        store.sql(
            "SET ROLE dog; CREATE TABLE schema_version AS SELECT 0 AS version; \
             CREATE TABLE games ()",
        );
        drop(file.store());
        for version in [SCHEMA.first_version - 1, 1] {
            store.sql(&format!("UPDATE schema_version SET version = {version}"));
            let before = database.psql(objects);
            let (here, there) = (store.location(), file.location());
            let refusals = [
                refusal(store.location().open(StoreConfig::default())),
                refusal(here.check(|_, _| {})),
                refusal(copy(&here, &file.another().location(), |_, _| {})),
                refusal(copy(&there, &here, |_, _| {})),
            ];
            for refusal in refusals {
                let expected = format!(
                    "the database has schema version {version}: it was made by a build before the \
                     first release; start with a new database"
                );
                assert!(refusal.ends_with(&expected), "{refusal:?}");
            }
            assert_eq!(database.psql(objects), before);
        }
        drop(file.store());
    }

    #[test]
    fn a_database_whose_version_is_lost_is_refused_in_words() {
        let Some(store) = TestStore::postgres() else {
            return;
        };
        drop(store.store());
        for version in [-1, 0] {
            store.sql(&format!("UPDATE schema_version SET version = {version}"));
            let refusal = refusal(store.location().open(StoreConfig::default()));
            let expected = format!("its schema version is {version}");
            assert!(refusal.ends_with(&expected), "{refusal}");
        }
    }
}
