//! What a server will find at a database.

use jiff::Timestamp;

use super::{
    columns::one,
    connection::{ConnectionSettings, PgConnection},
    migrations,
};
use crate::{
    CLOCK_TOLERANCE, Findings, StoreError,
    Verdict::{Bad, Doubtful, Good},
    now,
    thread::runtime,
};

/// Looks at the database, its clock and its standbys. Changes nothing.
pub fn inspect(settings: &ConnectionSettings) -> Findings {
    let mut findings = Findings::default();
    let looked = runtime().and_then(|runtime| runtime.block_on(look(settings, &mut findings)));
    findings.add_result("database", looked);
    findings
}

async fn look(settings: &ConnectionSettings, findings: &mut Findings) -> Result<(), StoreError> {
    let connection = PgConnection::open_for_command(settings).await?;
    migrations::check_encoding(&connection).await?;
    findings.add_schema(migrations::check_version(&connection).await);
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, \
               current_setting('synchronous_standby_names'), \
               (SELECT count(*) FROM pg_stat_replication)";
    let row = one(connection.query(sql, &[]).await?)?;
    let theirs = Timestamp::from_microsecond(row.try_get(0)?).unwrap_or_default();
    match now().duration_since(theirs).abs() > CLOCK_TOLERANCE {
        true => findings.add(Doubtful, "clock: not that of the database; set both right"),
        false => findings.add(Good, "clock"),
    }
    match (row.try_get(1)?, row.try_get(2)?) {
        ("", _) => findings.add(
            Doubtful,
            "standby: none; what is written is on one machine only",
        ),
        (names, 0_i64) => {
            findings.add(
                Bad,
                format!("standby: commits wait for {names}, and none is connected"),
            );
        }
        _ => findings.add(Good, "standby"),
    }
    Ok(())
}
