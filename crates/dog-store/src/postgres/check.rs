//! The full check of a database. `pg_amcheck` checks the pages; this checks what is in them.

use super::{
    columns::{all, first, one},
    connection::{ConnectionSettings, PgConnection, params},
    migrations,
    reader::log_form,
};
use crate::{
    CheckReport, GameId, LogEntry, LogPage, StoreError,
    check::{CheckedColumns, replay},
    game_row::{select_games, stored_game},
    row::Row,
    thread::runtime,
};

/// See [`Location::check`](crate::Location::check).
pub fn check(
    settings: &ConnectionSettings,
    progress: impl FnMut(u64, u64),
) -> Result<CheckReport, StoreError> {
    runtime()?.block_on(check_all(settings, progress))
}

async fn check_all(
    settings: &ConnectionSettings,
    mut progress: impl FnMut(u64, u64),
) -> Result<CheckReport, StoreError> {
    let connection = PgConnection::open_for_command(settings).await?;
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
        let row = Row::Postgres(row);
        let row_id = row.get(0)?;
        let id = match row.get(1) {
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
    all(&rows, |row| {
        let (table, rows): (&str, i64) = (row.get(0)?, row.get(1)?);
        Ok(format!("{rows} rows of {table} belong to no game"))
    })
}

/// The rows of a game, of one state.
struct GameRows {
    game: Vec<tokio_postgres::Row>,
    columns: Vec<tokio_postgres::Row>,
    pages: Vec<tokio_postgres::Row>,
    log: Vec<tokio_postgres::Row>,
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
        let read = || -> Result<_, StoreError> {
            let stored = first(&self.game, |row| stored_game(row, |_| None))?;
            Ok(stored.zip(first(&self.columns, CheckedColumns::read)?))
        };
        let Some((stored, columns)) = read().map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        columns.check(&stored)?;
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
