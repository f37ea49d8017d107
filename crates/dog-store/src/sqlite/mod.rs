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
mod game_cache;
mod migrations;
mod moved;
mod reader;
mod rows;
mod size_limit;
#[cfg(test)]
mod tests;
mod transaction;
mod wal;
mod watch;
mod writer;

use std::{
    fs,
    path::{self, Path, PathBuf},
    sync::Arc,
};

use rusqlite::ErrorCode;

pub(super) use self::copy::{CopyFile, SqliteTableWriter};
pub use self::{
    backup::{BackupError, BackupReport, backup},
    check::{check, verify_file},
};
use self::{
    checkpoint::CheckpointThread,
    connect::{FileIdentity, ReadTransaction, Readers},
    game_cache::GameCache,
    migrations::MIGRATIONS,
    reader::Reader,
    size_limit::{SizeLimit, limit_size},
    transaction::Transaction,
    wal::WalIndex,
    watch::{ChangeSignal, Watcher},
    writer::{OnFailure, Writer, WriterThread},
};
use super::{
    Feed, GameId, Sizes, StoreConfig, StoreError, StoreMetrics, StoredGame, id::CreatorKey,
};

/// A handle to an open database file. A clone is another handle to the same file. Dropping the last
/// handle waits until all queued writes are committed.
#[derive(Clone, Debug)]
pub(super) struct Database(Arc<DatabaseInner>);

#[derive(Debug)]
struct DatabaseInner {
    creator_key: CreatorKey,
    limit: SizeLimit,
    readers: Readers,
    cache: Arc<GameCache>,
    changes: Arc<ChangeSignal>,
    _watcher: Watcher,
    metrics: StoreMetrics,
    // Dropped last: the last connection to close removes the log, and a reader may not do that.
    writer: Writer,
}

impl Database {
    /// Opens the file. Creates it if it does not exist, and migrates it to the current schema.
    ///
    /// # Errors
    /// The file cannot be used. A file of another program or of a newer version is left unchanged.
    pub fn open(path: &Path, config: StoreConfig) -> Result<Database, StoreError> {
        Database::open_migrated(path, MIGRATIONS, config)
    }

    fn open_migrated(
        path: &Path,
        migrations: &[&str],
        config: StoreConfig,
    ) -> Result<Database, StoreError> {
        let create = |error| StoreError::Create(Arc::new(error));
        // Readers may be opened after a change of the working directory. An absolute path also
        // prevents SQLite from giving a name such as ":memory:" its special meaning.
        let path = path::absolute(path).map_err(create)?;
        let mut connection = connect::writer(&path, migrations)?;
        let limit = SizeLimit::new(&path, Some(config.max_bytes).filter(|&max| max > 0));
        let max_bytes = limit.bytes();
        limit_size(&connection, max_bytes)?;
        let sql = "SELECT key FROM creator_key";
        let creator_key = connection.query_row(sql, [], |row| row.get(0).map(CreatorKey))?;
        let metrics = StoreMetrics::new();
        let file_identity = FileIdentity::of(&path)?;
        let index = WalIndex::open(&path).map_err(create)?;
        let cache = Arc::new(GameCache::new(config.games_in_memory, index));
        let changes = Arc::new(ChangeSignal::new());
        let watcher = Watcher::start(&path, &changes)?;
        let thread = WriterThread {
            file_identity: file_identity.clone(),
            checkpoints: CheckpointThread::start(&path, &mut connection)?,
            connection,
            max_batch: config.commit_batch.max(1),
            limit: limit.clone(),
            max_bytes,
            cache: Arc::clone(&cache),
            changes: Arc::clone(&changes),
            metrics: metrics.clone(),
        };
        let writer = Writer::start(thread).map_err(create)?;
        let readers = Readers::open(path, file_identity)?;
        Ok(Database(Arc::new(DatabaseInner {
            creator_key,
            limit,
            readers,
            cache,
            changes,
            _watcher: watcher,
            metrics,
            writer,
        })))
    }

    /// Runs several queries on one state of the database.
    ///
    /// # Errors
    /// Those of `read`, or the database cannot be read.
    pub fn read<T>(
        &self,
        read: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.0.readers.with(|connection| {
            let _state = ReadTransaction::begin(connection)?;
            // Games in the cache may be from another state.
            let cache = None;
            read(&Reader { connection, cache })
        })
    }

    /// A game, or `None` if it does not exist. It is taken from the cache if no process has
    /// committed anything since it was read.
    ///
    /// # Errors
    /// The database cannot be read, or the game cannot be parsed.
    pub fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        match self.0.cache.current(*id) {
            Some(stored) => Ok(Some(stored)),
            None => self.read_one(|reader| reader.game(id)),
        }
    }

    /// Runs a query of a single statement, which needs no transaction to see one state.
    ///
    /// # Errors
    /// As [`Database::read`].
    pub fn read_one<T>(
        &self,
        read: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.0.readers.with(|connection| {
            let cache = Some(&*self.0.cache);
            read(&Reader { connection, cache })
        })
    }

    /// Runs `work` on the writer thread and waits until its changes are on disk. The changes are
    /// rolled back if `work` returns an error. It blocks all other writes, so it must be quick and
    /// must not wait.
    ///
    /// # Errors
    /// Those of `work`, or the changes could not be committed. Nothing was changed then.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.writer.submit(OnFailure::Undo, work).await
    }

    /// Like [`Database::write`], but faster, because no savepoint is needed. `work` must make all
    /// its checks before its first change. If it fails after a change, its whole batch is rolled
    /// back.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub async fn write_checked<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.writer.submit(OnFailure::NoChanges, work).await
    }

    /// The key with which addresses are hashed.
    pub fn creator_key(&self) -> &CreatorKey {
        &self.0.creator_key
    }

    /// The largest size of the database in bytes, at present; `None` without a limit.
    pub fn max_bytes(&self) -> Option<u64> {
        self.0.limit.bytes()
    }

    /// Counters since the file was opened.
    pub fn metrics(&self) -> &StoreMetrics {
        &self.0.metrics
    }

    /// A receiver of the change feed.
    pub fn feed(&self) -> Feed {
        self.0.changes.feed()
    }

    /// The sizes of the files.
    pub fn sizes(&self) -> Sizes {
        let path = self.0.readers.path();
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let size = |path: PathBuf| fs::metadata(path).map_or(0, |file| file.len());
        Sizes {
            database: size(path.to_owned()),
            log: size(log.into()),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        let extended = error.sqlite_extended_error_code();
        // The only triggers are those of the mark.
        if extended == Some(rusqlite::ffi::SQLITE_CONSTRAINT_TRIGGER) {
            return StoreError::Moved;
        }
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
            _ => StoreError::Failed(Arc::new(error)),
        }
    }
}

/// Translates an error of the first query of an existing database. SQLite reports "cannot open" if
/// it may not create the log in a read-only directory.
fn read_only_if_unopenable(error: StoreError) -> StoreError {
    match &error {
        StoreError::Io(cause) => match cause.downcast_ref::<rusqlite::Error>() {
            Some(cause) if cause.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
                StoreError::ReadOnly
            }
            _ => error,
        },
        _ => error,
    }
}
