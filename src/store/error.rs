//! Why the store could not do what it was asked.

use std::{error::Error as StdError, io, path::PathBuf, sync::Arc};

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
    #[error("the file is not a database")]
    NotADatabase,
    /// The file is a database of another program.
    #[error("the file is another program's database (application id {0})")]
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
    Io(#[source] Cause),
    /// Too many writes are waiting.
    #[error("too many writes are waiting")]
    Overloaded,
    /// The transaction that this write was part of was given up.
    #[error("the transaction was rolled back")]
    RolledBack,
    /// The writer is gone.
    #[error("the store is closed")]
    Closed,
    /// The caller broke a rule of this module.
    #[error("the store was misused: {0}")]
    Misuse(&'static str),
    /// The work panicked.
    #[error("a write panicked")]
    Panicked,
    /// Anything else that the database reports.
    #[error("the database failed: {0}")]
    Failed(#[source] Cause),
}

/// What the database has reported.
pub type Cause = Arc<dyn StdError + Send + Sync>;

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
            Damaged(_) | Unreadable { .. } | Misuse(_) | Panicked | Failed(_) => false,
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
