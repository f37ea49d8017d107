//! The store in an SQLite file, which any number of threads and processes can share.
//!
//! Reads run on the caller's thread, see the last commit and never wait for a write. Writes are
//! queued for one writer thread per process, which commits all waiting writes together.

mod backup;
mod check;
mod checkpoint;
mod columns;
mod connect;
mod copy;
mod database;
mod due;
mod error;
mod game_cache;
mod migrations;
mod moved;
mod partial_file;
mod reader;
mod rows;
mod size_limit;
#[cfg(test)]
mod tests;
mod transaction;
mod wal;
mod watch;
mod writer;

pub use self::{
    backup::{BackupError, BackupReport, backup},
    check::verify_file,
};
pub(super) use self::{
    check::check,
    copy::{CopyFile, SqliteTableWriter},
    database::SqliteDatabase,
};
