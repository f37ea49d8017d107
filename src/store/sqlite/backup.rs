//! A copy of a database that is in use.
//!
//! SQLite's backup interface copies page by page within one reading transaction, which holds up
//! nobody in WAL mode: writers write on, and the copy is the state at which it began. (`VACUUM INTO`
//! would hold up nobody either, but builds every index anew, shows no progress, and turns a damaged
//! database into a copy that looks whole.) Only the write-ahead log grows for as long as it takes.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use thiserror::Error;

use super::{
    check::quick_check,
    connect::{check_not_lost, is_empty, reader},
    migrations,
};
use crate::store::StoreError;

/// Pages that are copied at once.
const PAGES_PER_STEP: i32 = 1024;

/// What was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupReport {
    pub games: u64,
    pub bytes: u64,
}

/// Why there is no copy.
#[derive(Debug, Error)]
pub enum BackupError {
    #[error("there is a file already, which is left as it is")]
    Exists,
    #[error("the copy cannot be written: {0}")]
    Write(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the copy is damaged, and likely the database is: {0}")]
    Damaged(#[source] StoreError),
}

impl From<rusqlite::Error> for BackupError {
    fn from(error: rusqlite::Error) -> BackupError {
        StoreError::from(error).into()
    }
}

/// Copies a database, which may be in use, into a file that must not be there yet, and checks the
/// copy. It has its name only once all of it is on the disk. `progress` is told how many pages of
/// how many are there.
///
/// # Errors
/// Why there is no copy.
pub fn backup(
    database: &Path,
    to: &Path,
    progress: impl FnMut(u64, u64),
) -> Result<BackupReport, BackupError> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(BackupError::Exists);
    }
    check_not_lost(database)?;
    if is_empty(database) {
        return Err(StoreError::Gone.into());
    }
    let source = reader(database)?;
    migrations::identify(&source)?;
    let partial = PartialFile::create(to)?;
    let report = copy(&source, &partial.0, progress)?;
    partial.finish(to)?;
    Ok(report)
}

/// Copies all pages and checks them.
fn copy(
    source: &Connection,
    to: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<BackupReport, BackupError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags)?;
    // Half a copy is of no use, so nothing needs to be kept safe before its end.
    target.pragma_update(None, "synchronous", "off")?;
    // The state that is copied: without it, a commit by somebody else would start the copy anew.
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
    // The copy is one file, which can be read where nothing can be written.
    let journal: String =
        target.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get(0))?;
    if journal != "delete" {
        return Err(StoreError::NoWriteAheadLog(journal).into());
    }
    quick_check(&target).map_err(BackupError::Damaged)?;
    let sql = "SELECT count(*) FROM games WHERE phase <> 'removed'";
    let games: i64 = target.query_row(sql, [], |row| row.get(0))?;
    target.close().map_err(|(_, error)| error)?;
    Ok(BackupReport {
        games: games as u64,
        bytes: fs::metadata(to)?.len(),
    })
}

/// A copy that is not done, under a name of its own. Dropping it removes it.
struct PartialFile(PathBuf);

impl PartialFile {
    fn create(to: &Path) -> io::Result<PartialFile> {
        let mut name = OsString::from(to);
        name.push(".partial");
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(_) => Ok(PartialFile(path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(io::Error::new(
                ErrorKind::AlreadyExists,
                format!(
                    "{} is there: another backup runs, or one was killed and it may be removed",
                    path.display()
                ),
            )),
            Err(error) => Err(error),
        }
    }

    /// Puts it on the disk and gives it its name.
    fn finish(self, to: &Path) -> Result<(), BackupError> {
        File::open(&self.0)?.sync_all()?;
        if fs::symlink_metadata(to).is_ok() {
            return Err(BackupError::Exists);
        }
        fs::rename(&self.0, to)?;
        #[cfg(unix)]
        {
            let folder = to.parent().filter(|folder| *folder != Path::new(""));
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // It is gone already if it has got its name.
        let _ = fs::remove_file(&self.0);
        for suffix in ["-journal", "-wal", "-shm"] {
            let mut name = OsString::from(&self.0);
            name.push(suffix);
            let _ = fs::remove_file(name);
        }
    }
}
