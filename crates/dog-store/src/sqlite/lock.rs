//! The lock of a database: one process has a file.
//!
//! It is a lock on a file beside the database. The locks on the database itself are SQLite's, and
//! closing the file anywhere in this process would release them.

use std::{
    fs::{self, File, TryLockError},
    io::{ErrorKind, Read, Seek, Write},
    path::Path,
    process,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::connect::{private_file, sidecar};
use crate::StoreError;

/// The time between two attempts to get a lock.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// A lock, which ends with the process. The file stays: a new one would be another lock.
#[derive(Debug)]
pub(super) struct DatabaseLock {
    pub file: File,
}

impl DatabaseLock {
    /// Takes the lock of a database that exists or is to be created. Waits this long for another
    /// process that has it.
    ///
    /// # Errors
    /// Another process has it, or the file system has no locks.
    pub fn take(database: &Path, wait: Duration) -> Result<DatabaseLock, StoreError> {
        let path = sidecar(database, "-lock");
        let mut file = open(&path)?;
        let started = Instant::now();
        let mut is_first = true;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    let error = Arc::new(error);
                    return Err(StoreError::NoLocks { path, error });
                }
            }
            let holder = holder(&mut file);
            if started.elapsed() >= wait {
                return Err(StoreError::InUse(holder));
            }
            if is_first {
                log::info!("another server{holder} has the database open: waiting for its end");
                is_first = false;
            }
            thread::sleep(RETRY_DELAY);
        }
        let written = file.rewind().and_then(|()| file.set_len(0)).and_then(|()| {
            let name = host_name();
            write!(file, "{} {name}", process::id())
        });
        // It is for the message only.
        if let Err(error) = written {
            log::warn!("cannot write {}: {error}", path.display());
        }
        Ok(DatabaseLock { file })
    }
}

/// Which process has the lock of a database; none if it is free.
pub(super) fn holder_of(database: &Path) -> Option<String> {
    let mut file = File::open(sidecar(database, "-lock")).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Some(holder(&mut file)),
        _ => None,
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    let mut options = private_file();
    let opened = options.read(true).create(true).truncate(false).open(path);
    opened.map_err(|error| match error.kind() {
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => StoreError::ReadOnly,
        _ => StoreError::create(error),
    })
}

/// The process that has the lock, as far as it can be read: ` (pid 4711 on HOST)`.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    match (read, text.split_once(' ')) {
        (Ok(_), Some((pid, ""))) => format!(" (pid {pid})"),
        (Ok(_), Some((pid, host))) => format!(" (pid {pid} on {host})"),
        _ => String::new(),
    }
}

/// The name of this machine, on Linux.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}
