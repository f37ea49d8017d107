//! The database as the file system sees it: whether its files are there, and still the same.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::StoreError;

/// A file that SQLite keeps beside the database: its name with `-wal` or `-shm` after it.
pub(super) fn beside(database: &Path, suffix: &str) -> PathBuf {
    // SQLite follows links before it adds anything.
    let mut name = fs::canonicalize(database)
        .unwrap_or_else(|_| database.to_owned())
        .into_os_string();
    name.push(suffix);
    name.into()
}

/// Whether there is no database under this name, or an empty file.
pub(super) fn is_empty(database: &Path) -> bool {
    match fs::metadata(database) {
        Ok(found) => found.len() == 0,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Makes sure that a database which is not there was not lost: SQLite takes an empty file for a
/// new database, and throws a log that lies beside it away.
///
/// # Errors
/// There is a log, and nothing that it belongs to.
pub(super) fn check_not_lost(database: &Path) -> Result<(), StoreError> {
    let log = beside(database, "-wal");
    if is_empty(database) && log.exists() {
        return Err(StoreError::Lost(log));
    }
    Ok(())
}

/// Which files somebody has opened: the database and its write-ahead log, which is there as long
/// as anybody has the database open.
#[derive(Clone, Debug)]
pub(super) struct Place {
    database: PathBuf,
    log: PathBuf,
    files: Option<[u64; 4]>,
}

impl Place {
    /// The files that are there now.
    ///
    /// # Errors
    /// They are not.
    pub(super) fn of(database: &Path) -> Result<Place, StoreError> {
        let log = beside(database, "-wal");
        let files = files(database, &log).ok_or(StoreError::Gone)?;
        Ok(Place {
            database: database.to_owned(),
            log,
            files,
        })
    }

    /// Makes sure that the files are where they were: SQLite goes on with files that were removed
    /// or replaced, and what is written to those is lost.
    ///
    /// # Errors
    /// They are gone, or others are in their place.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match files(&self.database, &self.log) {
            Some(files) if files == self.files => Ok(()),
            _ => Err(StoreError::Gone),
        }
    }
}

/// What tells the two files from others, if they are there and the database is not empty.
#[cfg(unix)]
fn files(database: &Path, log: &Path) -> Option<Option<[u64; 4]>> {
    use std::os::unix::fs::MetadataExt;
    let (database, log) = (fs::metadata(database).ok()?, fs::metadata(log).ok()?);
    let node = [database.dev(), database.ino(), log.dev(), log.ino()];
    (database.len() > 0).then_some(Some(node))
}

/// Elsewhere open files can be neither removed nor replaced.
#[cfg(not(unix))]
fn files(database: &Path, _: &Path) -> Option<Option<[u64; 4]>> {
    (!is_empty(database)).then_some(None)
}
