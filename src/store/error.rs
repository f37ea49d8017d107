//! Why the store could not do what it was asked.

use std::{io, path::PathBuf, sync::Arc};

use rusqlite::ErrorCode;
use thiserror::Error;

use super::id::GameId;

/// Why the store could not do what it was asked. No text says anything of what the store holds.
///
/// It can be cloned because writes that are committed together also fail together.
#[derive(Clone, Debug, Error)]
pub enum StoreError {
    /// The file cannot be created.
    #[error("the database cannot be created: {0}")]
    Create(#[source] Arc<io::Error>),
    /// The file holds something else.
    #[error("the file is not a SQLite database")]
    NotADatabase,
    /// The file is a database of another program.
    #[error("the file is another program's SQLite database (application id {0})")]
    Foreign(i32),
    /// The file was written by a newer version of this program.
    #[error(
        "the database has schema version {found}, this program knows none later than {known}: \
         use the newer program"
    )]
    Newer { found: u32, known: u32 },
    /// The file was written by an older version of this program.
    #[error(
        "the database has schema version {found} and must be brought to {needed} first: \
         a server does that when it starts"
    )]
    Older { found: u32, needed: u32 },
    /// There is a write-ahead log, and no database that it belongs to.
    #[error(
        "the database is missing or empty, but its write-ahead log {} is there: put the file back, \
         or move the log away to begin with a new one", .0.display()
    )]
    Lost(PathBuf),
    /// The files that were opened are not under their names any more, or not the same.
    #[error("the database file is gone, empty, or another one is in its place")]
    Gone,
    /// The file system cannot do what concurrent readers need.
    #[error(
        "the database cannot use a write-ahead log here (journal mode {0}): \
         a local file system is needed"
    )]
    NoWriteAheadLog(String),
    /// The file contradicts itself.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// A game cannot be read back; the text of it is left out because it holds secrets.
    #[error("the stored game {game} cannot be read: {category} at line {line}, column {column}")]
    Unreadable {
        game: GameId,
        category: &'static str,
        line: usize,
        column: usize,
    },
    /// The file or its file system may not be written.
    #[error("the database or its folder is read-only")]
    ReadOnly,
    /// The disk is full.
    #[error("the disk is full")]
    Full,
    /// The database holds as much as it may.
    #[error("the database has reached its limit")]
    Quota,
    /// Another process kept the write lock for too long.
    #[error("the database is locked by another process")]
    Busy,
    /// The operating system failed.
    #[error("the disk failed: {0}")]
    Io(#[source] Arc<rusqlite::Error>),
    /// Too many writes are waiting.
    #[error("too many writes are waiting")]
    Overloaded,
    /// SQLite gave up the transaction this write was part of.
    #[error("the transaction was rolled back")]
    RolledBack,
    /// The writer is gone.
    #[error("the store is closed")]
    Closed,
    /// The row is no longer what the caller took it for.
    #[error("the game is gone or no longer at version {0}")]
    Stale(u64),
    /// The caller broke a rule of this module.
    #[error("the store was misused: {0}")]
    Misuse(&'static str),
    /// The work panicked.
    #[error("a write panicked")]
    Panicked,
    /// Anything else that SQLite reports.
    #[error("the database failed: {0}")]
    Sqlite(#[source] Arc<rusqlite::Error>),
}

impl StoreError {
    /// Whether the same request may succeed later, without a change to this program or its
    /// database (an answer of 503 rather than 500).
    pub fn is_temporary(&self) -> bool {
        use StoreError::*;
        match self {
            ReadOnly | Full | Quota | Busy | Gone | Io(_) | Overloaded | RolledBack | Closed => {
                true
            }
            Create(_) | NotADatabase | Foreign(_) | Newer { .. } | Older { .. } => false,
            Lost(_) | NoWriteAheadLog(_) => false,
            Damaged(_) | Unreadable { .. } | Stale(_) | Misuse(_) | Panicked | Sqlite(_) => false,
        }
    }

    /// What the first look at a database says that is there: SQLite cannot open its log beside it
    /// where nothing may be written.
    pub(super) fn at_first_look(self) -> StoreError {
        match self {
            StoreError::Io(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
                StoreError::ReadOnly
            }
            other => other,
        }
    }

    /// Where a stored game's JSON is wrong, without the words of `error`: they may quote it.
    pub(super) fn unreadable(game: GameId, error: &serde_json::Error) -> StoreError {
        use serde_json::error::Category;
        StoreError::Unreadable {
            game,
            category: match error.classify() {
                Category::Io => "input ended",
                Category::Syntax => "wrong syntax",
                Category::Data => "wrong data",
                Category::Eof => "input ended",
            },
            line: error.line(),
            column: error.column(),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::NotADatabase,
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly,
            Some(ErrorCode::DiskFull) => StoreError::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory,
            ) => StoreError::Io(Arc::new(error)),
            _ => StoreError::Sqlite(Arc::new(error)),
        }
    }
}
