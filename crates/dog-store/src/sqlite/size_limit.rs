//! The limit of the database's size.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::connect::{LOG_SIZE_LIMIT, length, sidecar};
use crate::StoreError;

/// The room on the disk for the write-ahead log and its index, in bytes. The database must not take
/// it: without a log nothing can be written, not even a removal, and a full log cannot be copied
/// into a database that cannot grow.
pub(super) const LOG_ROOM: u64 = LOG_SIZE_LIMIT + (8 << 20);

/// The largest number of pages that SQLite allows.
const MAX_PAGES: u64 = u32::MAX as u64 - 1;

/// The limit of the database's size: what the operator allows, or what the disk has room for, if
/// that is less.
#[derive(Clone, Debug)]
pub(super) struct SizeLimit {
    database: PathBuf,
    log: PathBuf,
    /// What the operator allows, in bytes.
    max_bytes: Option<u64>,
}

impl SizeLimit {
    /// The limit for this database, of which the operator allows `max_bytes`.
    pub fn new(database: &Path, max_bytes: Option<u64>) -> SizeLimit {
        SizeLimit {
            database: database.to_owned(),
            log: sidecar(database, "-wal"),
            max_bytes,
        }
    }

    /// The present limit in bytes; `None` if there is none, or if it is not known.
    pub fn bytes(&self) -> Option<u64> {
        let limits = [self.max_bytes, self.disk_bytes()];
        limits.into_iter().flatten().min()
    }

    /// How large the database can become on its disk, in bytes.
    fn disk_bytes(&self) -> Option<u64> {
        let free = free_bytes(&self.database)?;
        let for_log = LOG_ROOM.saturating_sub(length(&self.log));
        Some(length(&self.database) + free.saturating_sub(for_log))
    }
}

/// The free space of a file's disk in bytes, if it is known.
#[cfg(target_os = "linux")]
pub(super) fn free_bytes(file: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(file).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Makes SQLite refuse to grow the file beyond `max` bytes. A larger file keeps its size.
///
/// # Errors
/// The database cannot be read.
pub(super) fn limit_size(connection: &Connection, max: Option<u64>) -> Result<(), StoreError> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = max.map_or(MAX_PAGES, |max| max / page.unsigned_abs());
    let pages = pages.clamp(1, MAX_PAGES) as i64;
    // The pragma returns the limit in force.
    Ok(connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
}
