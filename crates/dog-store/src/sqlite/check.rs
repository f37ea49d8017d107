//! Checks of a database: a quick one before it is served, and a full one.

use std::{path::Path, time::Instant};

use rusqlite::Connection;

use super::{
    connect::{check_not_lost, is_empty, length, reader, sidecar},
    error::read_only_if_unopenable,
    migrations::{self, SCHEMA},
    reader::Reader,
    wal,
};
use crate::{
    CheckReport, GameId, LogEntry, StoreError,
    check::{CheckedColumns, replay},
    row::Row,
};

/// The largest number of SQLite's errors in the error with which a server refuses to start.
const MAX_REPORTED_ERRORS: usize = 3;

/// The quick check before a file is served: SQLite's `quick_check`, and whether every commit in the
/// write-ahead log can be read. The games are not checked. A missing file passes.
///
/// # Errors
/// The file is damaged, cannot be read, or is not a database of this program.
pub fn verify_file(path: &Path) -> Result<(), StoreError> {
    check_not_lost(path)?;
    if is_empty(path) {
        return Ok(());
    }
    let started = Instant::now();
    wal::check(path)?;
    let connection = reader(path)?;
    migrations::identify(&connection).map_err(read_only_if_unopenable)?;
    check_pages(&connection, "quick_check")?;
    log::info!(
        "the database was checked in {:.3} s ({} bytes)",
        started.elapsed().as_secs_f64(),
        size(path)
    );
    Ok(())
}

/// Runs SQLite's `integrity_check`, or its `quick_check`, which does not compare the indexes with the
/// tables.
///
/// # Errors
/// The database is damaged.
pub(super) fn check_pages(connection: &Connection, check: &str) -> Result<(), StoreError> {
    let pragma = format!("PRAGMA {check}({MAX_REPORTED_ERRORS})");
    let sqlite_errors = sqlite_errors(connection, &pragma)?;
    if sqlite_errors.is_empty() {
        return Ok(());
    }
    Err(StoreError::Damaged(sqlite_errors.join("; ")))
}

/// The size of a database and its write-ahead log in bytes.
fn size(path: &Path) -> u64 {
    length(path) + length(&sidecar(path, "-wal"))
}

/// The full check of a database, which may be in use: SQLite's `integrity_check`, and a replay of
/// each game from its log. Nothing is changed. `progress` gets the number of games checked and of
/// all games.
///
/// # Errors
/// The file is missing, not a database of this program, or of another schema version.
pub fn check(path: &Path, progress: impl FnMut(u64, u64)) -> Result<CheckReport, StoreError> {
    check_not_lost(path)?;
    if let Err(damaged @ StoreError::Damaged(_)) = wal::check(path) {
        // Opening the database would change the damaged log.
        let mut report = CheckReport {
            bytes: size(path),
            ..CheckReport::default()
        };
        report.add_defect(None, damaged);
        return Ok(report);
    }
    let connection = reader(path)?;
    migrations::identify(&connection).map_err(read_only_if_unopenable)?;
    SCHEMA.check_current(migrations::version(&connection)?)?;
    let mut report = CheckReport::default();
    let pages = sqlite_errors(&connection, "PRAGMA integrity_check");
    for found in [pages, orphans(&connection)] {
        for description in found.unwrap_or_else(|error| vec![error.to_string()]) {
            report.add_defect(None, description);
        }
    }
    check_games(&connection, &mut report, progress);
    report.bytes = size(path);
    Ok(report)
}

/// Checks every game, each in a read transaction of its own. A single transaction for the whole
/// check would keep the write-ahead log of a busy server from being reset.
fn check_games(
    connection: &Connection,
    report: &mut CheckReport,
    mut progress: impl FnMut(u64, u64),
) {
    let mut ids = Vec::new();
    if let Err(error) = read_game_ids(connection, &mut ids) {
        report.add_defect(None, format!("not all games can be listed: {error}"));
    }
    let all = ids.len() as u64;
    for (number, (row_id, id)) in (0..).zip(ids) {
        progress(number, all);
        report.add_game(id, || check_game(connection, row_id, id));
    }
    progress(all, all);
}

/// The errors reported by one of SQLite's check pragmas.
fn sqlite_errors(connection: &Connection, pragma: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(pragma)?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut sqlite_errors = Vec::new();
    for line in lines {
        sqlite_errors.extend(line?.lines().map(str::to_owned));
    }
    sqlite_errors.retain(|line| line != "ok");
    Ok(sqlite_errors)
}

/// Rows that refer to a missing game.
fn orphans(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1";
    Reader::new(connection).all(sql, [], |row| {
        let (table, rows): (&str, i64) = (row.get(0)?, row.get(1)?);
        Ok(format!("{rows} rows of {table} belong to no game"))
    })
}

/// Adds the ids of all games, read from an index, so that an unreadable row does not hide others.
///
/// # Errors
/// The list is not complete.
fn read_game_ids(connection: &Connection, ids: &mut Vec<(i64, GameId)>) -> Result<(), StoreError> {
    let sql = "SELECT row_id, id FROM games WHERE phase <> 'removed' ORDER BY id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let row = Row::Sqlite(row);
        ids.push((row.get(0)?, row.get(1)?));
    }
    Ok(())
}

/// Why a game cannot be checked.
fn failure(error: impl Into<StoreError>) -> String {
    error.into().to_string()
}

/// Checks one game. Returns the number of its log entries, or `None` if it was removed.
///
/// # Errors
/// The first defect found.
fn check_game(connection: &Connection, row_id: i64, id: GameId) -> Result<Option<u64>, String> {
    let state = connection.unchecked_transaction().map_err(failure)?;
    let reader = Reader::new(&state);
    let sql = "SELECT is_for_people, due_at, anyone_may_join, at_limit, id FROM games \
               WHERE row_id = ?1";
    let row = reader.first(sql, [row_id], |row| {
        Ok((CheckedColumns::read(row)?, row.get::<String>(4)?))
    });
    let Some((columns, row_of)) = row.map_err(failure)? else {
        return Ok(None);
    };
    if row_of != id.to_string() {
        return Err("its row has a different id".into());
    }
    let Some(stored) = reader.game(&id).map_err(failure)? else {
        return Err("its row is not found by its id".into());
    };
    columns.check(&stored)?;
    replay(&stored, whole_log(&reader, &id)).map(Some)
}

fn whole_log(reader: &Reader<'_>, id: &GameId) -> Result<Vec<LogEntry>, StoreError> {
    let mut log: Vec<LogEntry> = Vec::new();
    loop {
        let after = log.last().map_or(0, |entry| entry.version);
        let page = reader.log_page(id, after, u32::MAX)?.entries()?;
        if page.is_empty() {
            return Ok(log);
        }
        log.extend(page);
    }
}
