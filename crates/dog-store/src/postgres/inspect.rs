//! What a server will find at a database.

use jiff::Timestamp;

use super::{
    columns::one,
    connection::{ConnectionSettings, PgConnection},
    migrations,
};
use crate::{CLOCK_TOLERANCE, Finding, StoreError, now, thread::runtime};

/// Looks at the database, its clock and its standbys. Changes nothing.
pub fn inspect(settings: &ConnectionSettings) -> Vec<Finding> {
    let looked = runtime().and_then(|runtime| runtime.block_on(look(settings)));
    looked.unwrap_or_else(|error| vec![Finding::bad(format!("database: {error}"))])
}

async fn look(settings: &ConnectionSettings) -> Result<Vec<Finding>, StoreError> {
    let connection = PgConnection::open_for_command(settings).await?;
    migrations::check_encoding(&connection).await?;
    let schema = match migrations::check_version(&connection).await {
        Ok(()) => Finding::good("schema: that of this program"),
        Err(StoreError::Older { found: 0, .. }) => Finding::good("schema: will be created"),
        Err(StoreError::Older { found, needed }) => Finding::doubtful(format!(
            "schema: version {found}, which the server will migrate to {needed}; make a backup"
        )),
        Err(error) => Finding::bad(format!("schema: {error}")),
    };
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, \
               current_setting('synchronous_standby_names'), \
               (SELECT count(*) FROM pg_stat_replication)";
    let row = one(connection.query(sql, &[]).await?)?;
    let theirs = Timestamp::from_microsecond(row.try_get(0)?).unwrap_or_default();
    let ahead = now().duration_since(theirs);
    let clock = match ahead.abs() > CLOCK_TOLERANCE {
        true => Finding::doubtful(format!(
            "clock: {ahead:#} ahead of the database's; set both right"
        )),
        false => Finding::good("clock: that of the database"),
    };
    let (names, standbys): (&str, i64) = (row.try_get(1)?, row.try_get(2)?);
    let standby = match (names, standbys) {
        ("", _) => Finding::doubtful(
            "standby: commits wait for none, so what is written is on one machine only",
        ),
        (_, 0) => Finding::bad(format!(
            "standby: none is connected, and commits wait for {names}"
        )),
        _ => Finding::good(format!("standby: commits wait for {names}")),
    };
    Ok(vec![schema, clock, standby])
}
