//! Puts a backup in the place of a database that no server has open.
//!
//! SQLite would write the log or the journal of another file into this one, and without its log a
//! file may lack commits. So at each step there is the old database as it was, or the new one, or an
//! empty log without a database, with which no server starts.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{self, Path},
    time::Duration,
};

use super::{
    backup::{BackupError, BackupReport, copy, dated, source},
    check::check_pages,
    connect::{private_file, sidecar},
    lock::DatabaseLock,
    migrations::{self, SCHEMA},
    moved,
    partial_file::{PartialFile, sync_folder},
};

/// Checks a backup, and puts a copy of it in the place of a database, with the same owner and mode.
/// The files that were there get another name. `progress` gets the number of pages copied and of all
/// pages.
///
/// # Errors
/// The backup is damaged, was moved, or is of a newer program; a server has the database open; or a
/// file cannot be written.
pub fn restore(
    backup: &Path,
    database: &Path,
    progress: impl FnMut(u64, u64),
) -> Result<BackupReport, BackupError> {
    // A link to the database stays.
    let database = fs::canonicalize(database).or_else(|_| path::absolute(database))?;
    let lock = DatabaseLock::take(&database, Duration::ZERO)?;
    give_to_owner(&lock.file, &database)?;
    let source = source(backup)?;
    SCHEMA.check(migrations::version(&source)?)?;
    moved::check(&source)?;
    check_pages(&source, "integrity_check")?;
    let partial = PartialFile::create(&database)?;
    let report = copy(&source, &partial.path, progress)?;
    give_to_owner(&partial.file, &database)?;
    if let Ok(old) = fs::metadata(&database) {
        partial.file.set_permissions(old.permissions())?;
    }
    partial.file.sync_all()?;
    replace(&database, &partial.path)?;
    Ok(report)
}

/// Gives a file of root to the owner of the database, or of its folder if there is none.
fn give_to_owner(file: &File, database: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let folder = database.parent().unwrap_or(database);
        let owner = fs::metadata(database).or_else(|_| fs::metadata(folder))?;
        if file.metadata()?.uid() == 0 {
            fchown(file, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    Ok(())
}

/// Gives the files of a database another name, and its own to this file.
fn replace(database: &Path, new: &Path) -> io::Result<()> {
    let kept = dated(&sidecar(database, "-replaced"));
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let (old, kept) = (sidecar(database, suffix), sidecar(&kept, suffix));
        existing(fs::hard_link(old, kept))?;
    }
    sync_folder(database)?;
    let log = sidecar(database, "-wal");
    if log.exists() {
        let empty = sidecar(new, "-wal");
        private_file().create_new(true).open(&empty)?;
        existing(fs::remove_file(database))?;
        fs::rename(empty, &log)?;
    }
    existing(fs::remove_file(sidecar(database, "-shm")))?;
    existing(fs::remove_file(sidecar(database, "-journal")))?;
    fs::rename(new, database)?;
    existing(fs::remove_file(log))?;
    if kept.exists() {
        log::info!("the old file is {}", kept.display());
    }
    sync_folder(database)
}

/// The result of an operation on a file that need not exist.
fn existing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
