//! Errors of the store.

use std::{error::Error as StdError, io, path::PathBuf, sync::Arc};

use thiserror::Error;

use super::id::GameId;

/// An error of the store. No message contains stored data.
///
/// It is `Clone` because all writes of a batch fail with the same error.
#[derive(Clone, Debug, Error)]
pub enum StoreError {
    /// The file cannot be created.
    #[error("the database cannot be created: {0}")]
    Create(#[source] Arc<io::Error>),
    /// The file is not an SQLite database.
    #[error("the file is not a database")]
    NotADatabase,
    /// The file is a database of another program.
    #[error("the file is another program's database (application id {0})")]
    Foreign(i32),
    /// The file was written by a newer version of this program.
    #[error(
        "the database has schema version {found}, this program supports up to {known}: \
         use the newer program"
    )]
    Newer { found: u32, known: u32 },
    /// A build before the first release has made the database.
    #[error(
        "the database has schema version {found}: it was made by a build before the first release; \
         start with a new {begin_with}"
    )]
    Unreleased {
        found: u32,
        begin_with: &'static str,
    },
    /// The file was written by an older version of this program.
    #[error(
        "the database has schema version {found} and must be migrated to {needed} first: \
         a server does that when it starts"
    )]
    Older { found: u32, needed: u32 },
    /// There is a write-ahead log without its database.
    #[error(
        "the database is missing or empty, but its write-ahead log {} is there: put the file back, \
         or move the log away to begin with a new one", .0.display()
    )]
    Lost(PathBuf),
    /// The open files have been moved, removed or replaced.
    #[error("the database file is gone, empty, or another one is in its place")]
    Gone,
    /// Another process has the file.
    #[error(
        "another server{0} has this database open; several servers share a PostgreSQL database"
    )]
    InUse(String),
    /// Files cannot be locked where the database is.
    #[error("{} cannot be locked ({error}): a local file system is needed", .path.display())]
    NoLocks {
        path: PathBuf,
        error: Arc<io::Error>,
    },
    /// The database was copied to another one, which has taken its place.
    #[error(
        "the database was moved by `dog copy`: the copy has taken its place, and this one takes no \
         more writes"
    )]
    Moved,
    /// The file system does not support a write-ahead log.
    #[error(
        "the database cannot use a write-ahead log here (journal mode {0}): \
         a local file system is needed"
    )]
    NoWriteAheadLog(String),
    /// The file is corrupt or inconsistent.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// A game cannot be parsed. Its text is left out because it contains secrets.
    #[error("the stored game {game} cannot be read: {category} at line {line}, column {column}")]
    Unreadable {
        game: GameId,
        category: &'static str,
        line: usize,
        column: usize,
    },
    /// This user may not read or write a file of the database.
    #[error(
        "permission denied: this user cannot read and write {}; `chown` it to the server's user",
        .0.display()
    )]
    Forbidden(PathBuf),
    /// The file, its directory or its file system is read-only.
    #[error("the database or its folder is read-only")]
    ReadOnly,
    /// The disk is full.
    #[error("the disk is full")]
    Full,
    /// The database has reached its size limit, or its disk has no more room for it.
    #[error("the database has reached its limit, or its disk is nearly full")]
    Quota,
    /// Another program kept the write lock for too long.
    #[error("the database is locked by another process")]
    Busy,
    /// An I/O error of the operating system.
    #[error("the disk failed: {0}")]
    Io(#[source] Cause),
    /// The database server cannot be reached.
    #[error("the database cannot be reached: {0}")]
    Unreachable(#[source] Cause),
    /// The database server does not know the role or its password, or gives it too few rights.
    #[error("the database refuses access: {0}")]
    Denied(#[source] Cause),
    /// A setting of the database server does not let this program work.
    #[error("the database does not suit this server: {0}")]
    Unsuitable(String),
    /// The queue of writes is full.
    #[error("too many writes are waiting")]
    Overloaded,
    /// The transaction of this write was rolled back.
    #[error("the transaction was rolled back")]
    RolledBack,
    /// The writer thread has stopped.
    #[error("the store is closed")]
    Closed,
    /// The caller violated a precondition.
    #[error("the store was misused: {0}")]
    Misuse(&'static str),
    /// The closure of a write panicked.
    #[error("a write panicked")]
    Panicked,
    /// Any other error of the database.
    #[error("the database failed: {0}")]
    Failed(#[source] Cause),
}

/// The error that the database has returned.
pub type Cause = Arc<dyn StdError + Send + Sync>;

impl StoreError {
    /// Whether the same request may succeed later, without a change to this program or its
    /// database (an answer of 503 or 507 rather than 500).
    pub fn is_temporary(&self) -> bool {
        use StoreError::*;
        match self {
            ReadOnly | Full | Quota | Busy | Gone | Io(_) | Overloaded | RolledBack | Closed => {
                true
            }
            Unreachable(_) | Denied(_) | Moved => true,
            Create(_) | Forbidden(_) | NotADatabase | Foreign(_) | Unreleased { .. } => false,
            Newer { .. } | Older { .. } => false,
            Lost(_) | InUse(_) | NoLocks { .. } | NoWriteAheadLog(_) | Unsuitable(_) => false,
            Damaged(_) | Unreadable { .. } | Misuse(_) | Panicked | Failed(_) => false,
        }
    }

    /// The database, or what it needs, cannot be created.
    pub(super) fn create(error: io::Error) -> StoreError {
        StoreError::Create(Arc::new(error))
    }

    /// The database server cannot be reached, for a reason that this program found.
    pub(super) fn unreachable(reason: &'static str) -> StoreError {
        StoreError::Unreachable(Arc::new(io::Error::other(reason)))
    }

    /// The position of an error in a stored game's JSON. The message of `error` is left out
    /// because it may quote the JSON.
    pub(super) fn unreadable(game: GameId, error: &serde_json::Error) -> StoreError {
        use serde_json::error::Category;
        StoreError::Unreadable {
            game,
            category: match error.classify() {
                Category::Syntax => "wrong syntax",
                Category::Data => "wrong data",
                Category::Io | Category::Eof => "input ended",
            },
            line: error.line(),
            column: error.column(),
        }
    }
}
