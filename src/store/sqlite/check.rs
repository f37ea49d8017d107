//! Checks of a database: a quick one before it is served, and a full one.

use std::{
    fmt, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
    time::Instant,
};

use dog_rules::{Event, Game, Phase};
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{
    connect::{check_not_lost, is_empty, reader, sidecar},
    game_cache::LastChange,
    migrations::{self, MIGRATIONS},
    read_only_if_unopenable,
    reader::Reader,
    wal,
};
use crate::store::{GameId, LogEntry, StoreError, StoredGame};

/// The largest number of SQLite's errors in the error with which a server refuses to start.
const MAX_REPORTED_ERRORS: usize = 3;

/// A defect of a database. Its text contains no card and no other secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The game with the defect; `None` for a defect of the file.
    pub game: Option<GameId>,
    /// What is wrong.
    pub description: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.game {
            Some(game) => write!(f, "game {game}: {}", self.description),
            None => write!(f, "database: {}", self.description),
        }
    }
}

/// The contents and the defects of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub games: u64,
    /// The number of log entries of these games.
    pub versions: u64,
    /// The size of the file and its write-ahead log.
    pub bytes: u64,
    pub defects: Vec<Defect>,
}

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
    quick_check(&connection)?;
    log::info!(
        "the database was checked in {:.3} s ({} bytes)",
        started.elapsed().as_secs_f64(),
        size(path)
    );
    Ok(())
}

/// Runs SQLite's `quick_check`, which does not compare the indexes with the tables.
///
/// # Errors
/// The database is damaged.
pub(super) fn quick_check(connection: &Connection) -> Result<(), StoreError> {
    let sqlite_errors = sqlite_errors(
        connection,
        &format!("PRAGMA quick_check({MAX_REPORTED_ERRORS})"),
    )?;
    if sqlite_errors.is_empty() {
        return Ok(());
    }
    Err(StoreError::Damaged(sqlite_errors.join("; ")))
}

/// The size of a database and its write-ahead log in bytes.
fn size(path: &Path) -> u64 {
    let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
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
        return Ok(CheckReport {
            bytes: size(path),
            defects: vec![Defect {
                game: None,
                description: damaged.to_string(),
            }],
            ..CheckReport::default()
        });
    }
    let mut verifier = Verifier {
        connection: reader(path)?,
        report: CheckReport::default(),
    };
    migrations::identify(&verifier.connection).map_err(read_only_if_unopenable)?;
    let found = migrations::check_version(&verifier.connection, MIGRATIONS)? as u32;
    let needed = MIGRATIONS.len() as u32;
    if found < needed {
        return Err(StoreError::Older { found, needed });
    }
    verifier.check_pages();
    verifier.check_games(progress);
    verifier.report.bytes = size(path);
    Ok(verifier.report)
}

struct Verifier {
    connection: Connection,
    report: CheckReport,
}

impl Verifier {
    fn add_defect(&mut self, game: Option<GameId>, description: impl fmt::Display) {
        let description = description.to_string();
        self.report.defects.push(Defect { game, description });
    }

    /// Checks the file by SQLite's means.
    fn check_pages(&mut self) {
        let pages = sqlite_errors(&self.connection, "PRAGMA integrity_check")
            .unwrap_or_else(|error| vec![error.to_string()]);
        pages
            .into_iter()
            .for_each(|description| self.add_defect(None, description));
        let references = orphans(&self.connection).unwrap_or_else(|error| vec![error.to_string()]);
        references
            .into_iter()
            .for_each(|description| self.add_defect(None, description));
        if let Err(error) = LastChange::read(&self.connection) {
            self.add_defect(None, format!("the change feed: {error}"));
        }
    }

    /// Checks every game, each in a read transaction of its own. A single transaction for the whole
    /// check would keep the write-ahead log of a busy server from being reset.
    fn check_games(&mut self, mut progress: impl FnMut(u64, u64)) {
        let (ids, error) = game_ids(&self.connection);
        if let Some(error) = error {
            let description = format!("not all games can be listed: {error}");
            self.add_defect(None, description);
        }
        let all = ids.len() as u64;
        for (number, (row_id, id)) in ids.into_iter().enumerate() {
            progress(number as u64, all);
            // The rules may panic on a damaged game.
            let check = AssertUnwindSafe(|| check_game(&self.connection, row_id, id));
            match catch_unwind(check) {
                Ok(Ok(Some(versions))) => {
                    self.report.games += 1;
                    self.report.versions += versions;
                }
                // It was removed in the meantime.
                Ok(Ok(None)) => {}
                Ok(Err(wrong)) => {
                    self.report.games += 1;
                    self.add_defect(Some(id), wrong);
                }
                Err(_) => {
                    self.report.games += 1;
                    self.add_defect(Some(id), "replaying it panicked");
                }
            }
        }
        progress(all, all);
    }
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
    let mut statement = connection.prepare(sql)?;
    let orphans = statement.query_map([], |row| {
        let (table, rows): (String, i64) = (row.get(0)?, row.get(1)?);
        Ok(format!("{rows} rows of {table} belong to no game"))
    })?;
    Ok(orphans.collect::<Result<_, _>>()?)
}

/// The ids of all games, read from an index, so that an unreadable row does not hide others. The
/// error is set if the list is not complete.
fn game_ids(connection: &Connection) -> (Vec<(i64, GameId)>, Option<StoreError>) {
    let mut ids = Vec::new();
    let mut find = || -> Result<(), StoreError> {
        let mut statement = connection
            .prepare("SELECT row_id, id FROM games WHERE phase <> 'removed' ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            ids.push((row.get(0)?, row.get(1)?));
        }
        Ok(())
    };
    let error = find().err();
    (ids, error)
}

/// Checks one game. Returns the number of its log entries, or `None` if it was removed.
///
/// # Errors
/// The first defect found.
fn check_game(connection: &Connection, row_id: i64, id: GameId) -> Result<Option<u64>, String> {
    let failed = |error: StoreError| error.to_string();
    let state = connection
        .unchecked_transaction()
        .map_err(|error| failed(error.into()))?;
    let reader = Reader {
        connection: &state,
        cache: None,
    };
    let Some(row) = Row::read(&state, row_id).map_err(failed)? else {
        return Ok(None);
    };
    if row.id != id.to_string() {
        return Err("its row has a different id".into());
    }
    let Some(stored) = reader.game(&id).map_err(failed)? else {
        return Err("its row is not found by its id".into());
    };
    row.check(&stored)?;
    let versions = replay(&reader, &stored)?;
    Ok(Some(versions))
}

/// The columns that can be checked against the snapshot.
struct Row {
    id: String,
    phase: String,
    has_human: bool,
    due_at: Option<i64>,
    anyone_may_join: bool,
}

impl Row {
    fn read(connection: &Connection, row_id: i64) -> Result<Option<Row>, StoreError> {
        let sql = "SELECT id, phase, has_human, due_at, anyone_may_join FROM games \
                   WHERE row_id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![row_id])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        Ok(Some(Row {
            id: row.get(0)?,
            phase: row.get(1)?,
            has_human: row.get(2)?,
            due_at: row.get(3)?,
            anyone_may_join: row.get(4)?,
        }))
    }

    fn check(&self, stored: &StoredGame) -> Result<(), String> {
        let due_at = stored.due_at(stored.updated_at);
        let wrong = |what: &str| Err(format!("its row and its snapshot differ in {what}"));
        if self.phase != stored.game.phase().name() {
            return wrong("the phase");
        }
        if self.has_human != stored.game.has_human() {
            return wrong("whether a human plays");
        }
        if self.anyone_may_join != stored.anyone_may_join() {
            return wrong("whether anyone may join");
        }
        if self.due_at != due_at.map(Timestamp::as_microsecond) {
            return wrong("when the server is to act");
        }
        Ok(())
    }
}

/// Replays a game from its log and compares the result. Returns the number of log entries.
///
/// # Errors
/// The first difference.
fn replay(reader: &Reader<'_>, stored: &StoredGame) -> Result<u64, String> {
    let mut played = StoredGame {
        deadline: None,
        game: stored.game.at_creation().into(),
        ..stored.clone()
    };
    let log = reader.log(&stored.id, 0, u32::MAX);
    let log = log.map_err(|error| format!("its log: {error}"))?;
    let settings = |entry: &LogEntry| match entry.events.first() {
        Some(Event::SettingsChanged { settings }) => Some(*settings),
        _ => None,
    };
    // The settings of the creation are not known if they were changed.
    let mut timing_known = !log.iter().any(|entry| settings(entry).is_some());
    let mut deadline_known = timing_known;
    let mut has_marks = true;
    for (entry, version) in log.iter().zip(1..) {
        let before = match version {
            1 => Phase::Seating,
            _ => played.game.phase(),
        };
        has_marks &= replay_entry(Arc::make_mut(&mut played.game), entry, version)?;
        if let Some(settings) = settings(entry) {
            played.timing.turn_seconds = settings.turn_seconds;
            timing_known = true;
        }
        played.set_deadline(entry.at, &entry.events, before);
        let restarts = entry.events.iter().any(Event::restarts_clock) || before == Phase::Seating;
        deadline_known |= timing_known && restarts;
    }
    let (count, version) = (log.len() as u64, stored.game.version());
    if count != version {
        return Err(format!(
            "its log ends at version {count}, the game is at {version}"
        ));
    }
    let same =
        played.game == stored.game || !has_marks && played.game.equals_without_marks(&stored.game);
    if !same {
        return Err("its snapshot differs from the replay of its log".into());
    }
    if deadline_known && played.deadline != stored.deadline {
        return Err("its deadline differs from the replay of its log".into());
    }
    let at = |entry: Option<&LogEntry>| entry.map(|entry| entry.at);
    let times = (at(log.first()), at(log.last()));
    if times != (Some(stored.created_at), Some(stored.updated_at)) {
        return Err("its times differ from those of its log".into());
    }
    Ok(count)
}

/// Replays one log entry. Returns whether its events say who acted; those that an earlier release
/// wrote do not.
///
/// # Errors
/// The entry is out of order, refused by the rules, or has other events than the rules give.
fn replay_entry(game: &mut Game, entry: &LogEntry, version: u64) -> Result<bool, String> {
    if entry.version != version {
        return Err(format!("its log has no version {version}"));
    }
    let events = match (&entry.action, version) {
        (None, 1) => vec![game.last_event().clone()],
        // The refusal is not reported, because it may name a card.
        (Some(action), 2..) => Some(action)
            .filter(|action| {
                let seats = game.rules().seats;
                action.seat().is_none_or(|seat| seat.number() < seats)
            })
            .and_then(|action| {
                let actor = entry.events.first().map(Event::actor);
                game.apply_by(action, actor.unwrap_or_default()).ok()
            })
            .ok_or_else(|| format!("the rules refuse the action of version {version}"))?,
        _ => {
            return Err(format!(
                "version {version} has no action, or is a creation with one"
            ));
        }
    };
    if events == entry.events {
        return Ok(true);
    }
    let without_marks = events.into_iter().map(Event::without_marks);
    if without_marks.eq(entry.events.iter().cloned()) {
        return Ok(false);
    }
    Err(format!(
        "the events of version {version} differ from those of a replay"
    ))
}
