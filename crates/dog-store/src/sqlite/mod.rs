//! The store in an SQLite file, which one process has for itself, with any number of threads.
//!
//! Reads run on the caller's thread, see the last commit and never wait for a write. Writes are
//! queued for one writer thread, which commits all waiting writes together. What is of use for some
//! seconds only is kept in memory.

mod backup;
mod check;
mod checkpoint;
mod columns;
mod connect;
pub(super) mod copy;
mod database;
mod due;
mod error;
mod game_cache;
mod inspect;
mod lock;
mod memory;
mod migrations;
mod moved;
mod partial_file;
mod reader;
mod restore;
mod size_limit;
#[cfg(test)]
pub(crate) mod tests;
mod transaction;
mod wal;
mod writer;

pub use self::{
    backup::{BackupError, BackupReport, backup, dated},
    check::verify_file,
    restore::restore,
};
pub(super) use self::{check::check, database::SqliteDatabase, inspect::inspect};
