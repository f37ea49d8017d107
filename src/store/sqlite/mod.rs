//! The store in a SQLite file, which any number of threads and processes share.
//!
//! Reads see the last commit, run on the caller's own thread and never wait for a write. Writes go
//! one after another through a thread of their own, which commits together what is waiting.

mod backup;
mod check;
mod checkpoint;
mod columns;
mod connect;
mod game_cache;
mod migrations;
mod reader;
mod rows;
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

pub use self::{
    backup::{BackupError, BackupReport, backup},
    check::{CheckReport, Defect, check, verify_file},
};
use self::{
    checkpoint::CheckpointThread,
    connect::{FileIdentity, ReadTransaction, Readers},
    game_cache::GameCache,
    migrations::MIGRATIONS,
    reader::Reader,
    transaction::Transaction,
    wal::WalIndex,
    watch::{ChangeSignal, Watcher},
    writer::{OnFailure, Writer, WriterThread},
};
use super::{
    Feed, GameId, Sizes, StoreConfig, StoreError, StoreMetrics, StoredGame, id::CreatorKey,
};

/// An open database file; a clone is another handle to it. When the last one goes, the writes that
/// wait are finished first.
#[derive(Clone, Debug)]
pub(super) struct Database(Arc<DatabaseInner>);

#[derive(Debug)]
struct DatabaseInner {
    creator_key: CreatorKey,
    max_bytes: Option<u64>,
    readers: Readers,
    cache: Arc<GameCache>,
    changes: Arc<ChangeSignal>,
    _watcher: Watcher,
    metrics: StoreMetrics,
    // Dropped after the readers, so that the last to leave is one who may tidy up.
    writer: Writer,
}

impl Database {
    /// Opens the file, creates it if it is not there, and brings it up to date.
    ///
    /// # Errors
    /// Says why the file cannot be used. One that is not ours, or newer, has not been changed.
    pub fn open(path: &Path, config: StoreConfig) -> Result<Database, StoreError> {
        Database::open_migrated(path, MIGRATIONS, config)
    }

    fn open_migrated(
        path: &Path,
        migrations: &[&str],
        config: StoreConfig,
    ) -> Result<Database, StoreError> {
        let create = |error| StoreError::Create(Arc::new(error));
        // Readers come later, when the working directory may be another one. It also keeps SQLite
        // from taking a name such as ":memory:" for more than a name.
        let path = path::absolute(path).map_err(create)?;
        let connection = connect::writer(&path, migrations)?;
        let max_bytes = Some(config.max_bytes).filter(|&max| max > 0);
        connect::limit_size(&connection, max_bytes)?;
        let sql = "SELECT key FROM creator_key";
        let creator_key = connection.query_row(sql, [], |row| row.get(0).map(CreatorKey))?;
        let metrics = StoreMetrics::new();
        let file_identity = FileIdentity::of(&path)?;
        let index = WalIndex::open(&path).map_err(create)?;
        let cache = Arc::new(GameCache::new(config.games_in_memory, index));
        let changes = Arc::new(ChangeSignal::new());
        let watcher = Watcher::start(&path, &changes)?;
        let thread = WriterThread {
            connection,
            file_identity: file_identity.clone(),
            checkpoints: CheckpointThread::start(&path)?,
            max_batch: config.commit_batch.max(1),
            max_bytes,
            cache: Arc::clone(&cache),
            changes: Arc::clone(&changes),
            metrics: metrics.clone(),
        };
        let writer = Writer::start(thread).map_err(create)?;
        let readers = Readers::open(path, file_identity)?;
        Ok(Database(Arc::new(DatabaseInner {
            creator_key,
            max_bytes,
            readers,
            cache,
            changes,
            _watcher: watcher,
            metrics,
            writer,
        })))
    }

    /// Reads several things from one and the same state of the database.
    ///
    /// # Errors
    /// Whatever `read` returns, or the database cannot be read.
    pub fn read<T>(
        &self,
        read: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.0.readers.with(|connection| {
            let _state = ReadTransaction::begin(connection)?;
            // What is known of games in memory is of another state.
            let cache = None;
            read(&Reader { connection, cache })
        })
    }

    /// A game, if it is there: from memory if nobody has committed anything since it was read.
    ///
    /// # Errors
    /// The database cannot be read, or the game cannot be understood.
    pub fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        match self.0.cache.current(*id) {
            Some(stored) => Ok(Some(stored)),
            None => self.read_one(|reader| reader.game(id)),
        }
    }

    /// Reads something that a single statement says, which sees one state by itself.
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

    /// Makes changes, which are kept if `work` returns `Ok`, and waits until they are on the disk.
    /// `work` runs on the writer's thread while nobody else can write, so it must be quick and never
    /// wait.
    ///
    /// # Errors
    /// Whatever `work` returns, or why the changes could not be made. Nothing has changed.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.writer.submit(OnFailure::Undo, work).await
    }

    /// As [`Database::write`], for `work` that never fails when it has changed something already,
    /// unless the disk does. That is faster. If it does fail then, it takes the writes with it that
    /// were to be committed together with it.
    ///
    /// # Errors
    /// As there.
    pub async fn write_checked<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.writer.submit(OnFailure::NoChanges, work).await
    }

    /// What addresses are hashed with.
    pub fn creator_key(&self) -> &CreatorKey {
        &self.0.creator_key
    }

    /// Bytes that the database may hold; none for any number.
    pub fn max_bytes(&self) -> Option<u64> {
        self.0.max_bytes
    }

    /// What was done since the file was opened, in numbers.
    pub fn metrics(&self) -> &StoreMetrics {
        &self.0.metrics
    }

    /// Something that tells when a game has changed.
    pub fn feed(&self) -> Feed {
        self.0.changes.feed()
    }

    /// How large the files are.
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

/// What the first look at a database says that is there: SQLite cannot open its log beside it where
/// nothing may be written.
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
