//! Backups of a database that may be in use.
//!
//! SQLite's backup interface copies all pages in one read transaction. In WAL mode this does not
//! block writers, and the copy is the state at the start of the backup. `VACUUM INTO` would not
//! block writers either, but it rebuilds every index, reports no progress, and makes an
//! intact-looking copy of a damaged database. The write-ahead log cannot be reset during the
//! backup, so it grows.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use thiserror::Error;

use super::{
    check::check_pages,
    connect::{check_not_lost, is_empty, private_file, reader, sidecar},
    migrations,
    partial_file::PartialFile,
    wal,
};
use crate::{StoreError, now};

/// Pages copied between two reports of progress.
const PAGES_PER_STEP: i32 = 1024;

/// What is appended to the name of a database for that of an empty file as old as the last backup.
const MARK: &str = "-backup";

/// The size of a finished backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupReport {
    pub games: u64,
    pub bytes: u64,
}

/// An error of a backup, or of its return.
#[derive(Debug, Error)]
pub enum BackupError {
    #[error("there is a file already; it was not changed")]
    Exists,
    #[error("the copy cannot be written: {0}")]
    Write(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the copy is damaged, and so probably is the database: {0}")]
    Damaged(#[source] StoreError),
}

impl From<rusqlite::Error> for BackupError {
    fn from(error: rusqlite::Error) -> BackupError {
        StoreError::from(error).into()
    }
}

/// Copies a database, which may be in use, into a new file and checks the copy. The copy has
/// another name until all of it is on disk. `progress` gets the number of pages copied and of all
/// pages.
///
/// # Errors
/// The file exists, the database cannot be read, or the copy cannot be written or is damaged.
pub fn backup(
    database: &Path,
    to: &Path,
    progress: impl FnMut(u64, u64),
) -> Result<BackupReport, BackupError> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(BackupError::Exists);
    }
    // SQLite would add the log of another database to the copy.
    check_not_lost(to)?;
    let source = source(database)?;
    let partial = PartialFile::create(to)?;
    let report = copy(&source, &partial.path, progress)?;
    partial.finish(to)?;
    let mark = sidecar(database, MARK);
    // Another user may have left the last one.
    let _ = fs::remove_file(&mark);
    if let Err(error) = private_file().create_new(true).open(&mark) {
        log::warn!("cannot write {}: {error}", mark.display());
    }
    Ok(report)
}

/// This path, followed by the time: `dog.db-20261128T130238Z`.
pub fn dated(path: &Path) -> PathBuf {
    let mut dated = path.as_os_str().to_owned();
    dated.push(now().strftime("-%Y%m%dT%H%M%SZ").to_string());
    dated.into()
}

/// The time since the last backup of a database; `None` if there was none.
pub(super) fn age(database: &Path) -> Option<Duration> {
    let mark = fs::metadata(sidecar(database, MARK)).ok()?;
    Some(mark.modified().ok()?.elapsed().unwrap_or_default())
}

/// Opens a database of this program that is to be copied.
pub(super) fn source(database: &Path) -> Result<Connection, StoreError> {
    check_not_lost(database)?;
    if is_empty(database) {
        return Err(StoreError::Gone);
    }
    // SQLite would leave out what comes after the damage.
    wal::check(database)?;
    let source = reader(database)?;
    migrations::identify(&source)?;
    Ok(source)
}

/// Copies all pages and checks them.
pub(super) fn copy(
    source: &Connection,
    to: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<BackupReport, BackupError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags)?;
    // A partial copy is useless, so nothing is synced before the end.
    target.pragma_update(None, "synchronous", "off")?;
    // Without a transaction, a commit by another connection would restart the copy.
    let state = source.unchecked_transaction()?;
    state.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let backup = Backup::new(&state, &mut target)?;
    loop {
        let step = backup.step(PAGES_PER_STEP)?;
        let pages = backup.progress();
        let all = pages.pagecount as u64;
        progress(all - pages.remaining as u64, all);
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            _ => return Err(StoreError::Busy.into()),
        }
    }
    drop(backup);
    drop(state);
    // Not WAL mode, so that the copy is a single file and can be read from a read-only medium.
    let journal: String =
        target.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get(0))?;
    if journal != "delete" {
        return Err(StoreError::NoWriteAheadLog(journal).into());
    }
    check_pages(&target, "quick_check").map_err(BackupError::Damaged)?;
    let sql = "SELECT count(*) FROM games WHERE phase <> 'removed'";
    let games: i64 = target.query_row(sql, [], |row| row.get(0))?;
    target.close().map_err(|(_, error)| error)?;
    Ok(BackupReport {
        games: games as u64,
        bytes: fs::metadata(to)?.len(),
    })
}
