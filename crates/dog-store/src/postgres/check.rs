//! The full check of a database. `pg_amcheck` checks the pages; this checks what is in them.

use std::sync::Arc;

use tokio::{runtime, sync::Notify};
use tokio_postgres::Row;

use super::{
    columns::{game_id, one},
    connection::{ConnectionSettings, PgConnection, Purpose, params},
    migrations,
    reader::{log_form, stored_game},
};
use crate::{
    CheckReport, GameId, LogEntry, LogPage, StoreError,
    check::{CheckedColumns, replay},
    game_row::select_games,
};

/// See [`Location::check`](crate::Location::check).
pub fn check(
    settings: &ConnectionSettings,
    progress: impl FnMut(u64, u64),
) -> Result<CheckReport, StoreError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(StoreError::create)?;
    runtime.block_on(check_all(settings, progress))
}

async fn check_all(
    settings: &ConnectionSettings,
    mut progress: impl FnMut(u64, u64),
) -> Result<CheckReport, StoreError> {
    let notified = Arc::new(Notify::new());
    let (connection, _driver) =
        PgConnection::open(settings, Purpose::LongTransactions, notified).await?;
    migrations::check_version(&connection).await?;
    let mut report = CheckReport::default();
    for orphans in orphans(&connection).await? {
        report.add_defect(None, orphans);
    }
    let sql = "SELECT row_id, id FROM games ORDER BY row_id";
    let rows = connection.query(sql, &[]).await?;
    let all = rows.len() as u64;
    for (number, row) in (0..).zip(&rows) {
        progress(number, all);
        let row_id = row.try_get(0)?;
        let id = match game_id(row, 1) {
            Ok(id) => id,
            Err(error) => {
                report.add_defect(None, error);
                continue;
            }
        };
        let found = GameRows::read(&connection, row_id).await?;
        report.add_game(id, || found.check(id));
    }
    progress(all, all);
    let sql = "SELECT pg_database_size(current_database())";
    let size: i64 = one(connection.query(sql, &[]).await?)?.try_get(0)?;
    report.bytes = size.unsigned_abs();
    Ok(report)
}

/// Rows that refer to a missing game. The rest of a removed game is deleted later.
async fn orphans(connection: &PgConnection) -> Result<Vec<String>, StoreError> {
    let sql = "WITH known AS (SELECT row_id AS game FROM games UNION SELECT game FROM removed), \
               counted (name, orphans) AS (\
                   SELECT 'log', count(*) FROM log WHERE game NOT IN (SELECT game FROM known) \
                   UNION ALL SELECT 'packed_log', count(*) FROM packed_log \
                   WHERE game NOT IN (SELECT game FROM known) \
                   UNION ALL SELECT 'tickets', count(*) FROM tickets \
                   WHERE game NOT IN (SELECT game FROM known)) \
               SELECT name, orphans FROM counted WHERE orphans > 0 ORDER BY name";
    let rows = connection.query(sql, &[]).await?;
    rows.iter()
        .map(|row| {
            let (table, rows): (&str, i64) = (row.try_get(0)?, row.try_get(1)?);
            Ok(format!("{rows} rows of {table} belong to no game"))
        })
        .collect()
}

/// The rows of a game, of one state.
struct GameRows {
    game: Vec<Row>,
    columns: Vec<Row>,
    pages: Vec<Row>,
    log: Vec<Row>,
}

impl GameRows {
    /// Each game has a transaction of its own. A single one for the whole check would keep
    /// PostgreSQL from removing old rows.
    async fn read(connection: &PgConnection, row_id: i64) -> Result<GameRows, StoreError> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        connection.execute(begin).await?;
        let row_id = params![row_id];
        let query = async |sql| connection.query(sql, &row_id).await;
        let rows = GameRows {
            game: query(select_games!("WHERE row_id = $1")).await?,
            columns: query(
                "SELECT is_for_people, due_at, anyone_may_join, at_limit FROM games \
                 WHERE row_id = $1",
            )
            .await?,
            pages: query(
                "SELECT entries, NULL, NULL, NULL, NULL FROM packed_log WHERE game = $1 \
                 ORDER BY first_version",
            )
            .await?,
            log: query(
                "SELECT NULL::bytea, version, at, action, events FROM log WHERE game = $1 \
                 ORDER BY version",
            )
            .await?,
        };
        connection.execute("COMMIT").await?;
        Ok(rows)
    }

    /// Checks the game. Returns the number of its log entries, or `None` if it was removed.
    ///
    /// # Errors
    /// The first defect found.
    fn check(&self, id: GameId) -> Result<Option<u64>, String> {
        let (Some(game), Some(columns)) = (self.game.first(), self.columns.first()) else {
            return Ok(None);
        };
        let stored = stored_game(game).map_err(|error| error.to_string())?;
        checked_columns(columns)
            .map_err(|error| error.to_string())?
            .check(&stored)?;
        replay(&stored, self.log(id)).map(Some)
    }

    /// The whole log. As for all readers, packed pages come before rows that are not deleted yet.
    fn log(&self, id: GameId) -> Result<Vec<LogEntry>, StoreError> {
        let pages = match self.pages.len() {
            0 => self.log.chunks(usize::MAX),
            _ => self.pages.chunks(1),
        };
        let mut entries: Vec<LogEntry> = Vec::new();
        for page in pages {
            let page = LogPage {
                game: id,
                after: 0,
                limit: usize::MAX,
                form: log_form(page)?,
            };
            entries.extend(page.entries()?);
        }
        Ok(entries)
    }
}

fn checked_columns(row: &Row) -> Result<CheckedColumns, StoreError> {
    Ok(CheckedColumns {
        is_for_people: row.try_get(0)?,
        due_at: row.try_get(1)?,
        anyone_may_join: row.try_get(2)?,
        at_limit: row.try_get(3)?,
    })
}
