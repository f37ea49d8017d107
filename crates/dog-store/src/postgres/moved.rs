//! The mark of a database that was moved: triggers that refuse every write. They are created with
//! the mark, so other databases pay nothing for them, and nodes that run notice it at once.

use super::{
    columns::one,
    connection::{PgConnection, params},
};
use crate::{StoreError, copied_tables::MARKED_TABLES};

/// The code of the error that the triggers raise.
pub(super) const SQL_STATE: &str = "DGMVD";

/// Checks that the database was not moved.
///
/// # Errors
/// It was. Where to is logged; the error is for clients, too.
pub(super) async fn check(connection: &PgConnection) -> Result<(), StoreError> {
    let sql = "SELECT to_regclass('moved') IS NOT NULL";
    if !one(connection.query(sql, &[]).await?)?.try_get(0)? {
        return Ok(());
    }
    let rows = connection.query("SELECT target FROM moved", &[]).await?;
    let Some(row) = rows.first() else {
        return Ok(());
    };
    log::error!(
        "this database was moved to the {}",
        row.try_get::<_, &str>(0)?
    );
    Err(StoreError::Moved)
}

/// Marks the database, within a transaction.
///
/// # Errors
/// The role may not create a table, a function or triggers.
pub(super) async fn mark(connection: &PgConnection, target: &str) -> Result<(), StoreError> {
    let mut sql = format!(
        "CREATE TABLE IF NOT EXISTS moved (target text NOT NULL);
         CREATE OR REPLACE FUNCTION refuse_moved() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             IF EXISTS (SELECT FROM moved) THEN
                 RAISE EXCEPTION 'the database was moved' USING ERRCODE = '{SQL_STATE}';
             END IF;
             RETURN NULL;
         END $$;"
    );
    for table in MARKED_TABLES {
        sql += &format!(
            "CREATE OR REPLACE TRIGGER moved BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE \
             ON {table} EXECUTE FUNCTION refuse_moved();"
        );
    }
    connection.execute(&sql).await?;
    let params = params![target.to_owned()];
    connection
        .query("INSERT INTO moved VALUES ($1)", &params)
        .await?;
    Ok(())
}
