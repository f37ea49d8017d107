//! An open database file.

use std::{
    path::{self, Path},
    sync::Arc,
};

use super::{
    backup,
    checkpoint::CheckpointThread,
    connect::{self, FileIdentity, ReadTransaction, Readers, length, sidecar},
    game_cache::GameCache,
    lock::DatabaseLock,
    memory::Memory,
    migrations::SCHEMA,
    reader::Reader,
    size_limit::{SizeLimit, free_bytes, limit_size},
    transaction::Transaction,
    verify_file,
    writer::{OnFailure, Writer, WriterThread},
};
use crate::{
    ClaimedReview, CommitResult, GameId, PackedLog, ReviewStatus, Sizes, SpaceUsage, StoreConfig,
    StoreError, StoreMetrics, StoredGame, StoredReview, Write, WriteOp, feed::ChangeList,
    id::CreatorKey, schema::Schema,
};

/// A handle to an open database file. A clone is another handle to the same file. Dropping the last
/// handle waits until all queued writes are committed.
#[derive(Clone, Debug)]
pub(crate) struct SqliteDatabase(pub Arc<SqliteDatabaseInner>);

#[derive(Debug)]
pub(crate) struct SqliteDatabaseInner {
    /// The key with which addresses are hashed.
    pub creator_key: CreatorKey,
    limit: SizeLimit,
    readers: Readers,
    pub(super) cache: Arc<GameCache>,
    pub changes: Arc<ChangeList>,
    /// What is kept in memory.
    pub memory: Arc<Memory>,
    /// Counters since the file was opened.
    pub metrics: StoreMetrics,
    // Dropped last: the last connection to close removes the log, and a reader may not do that.
    pub(super) writer: Writer,
}

impl SqliteDatabase {
    /// Opens the file. Creates it if it does not exist, and migrates it to the current schema.
    ///
    /// # Errors
    /// The file cannot be used. A file of another program or of a newer version is left unchanged.
    pub fn open(path: &Path, config: StoreConfig) -> Result<SqliteDatabase, StoreError> {
        SqliteDatabase::open_with(path, &SCHEMA, config)
    }

    pub(super) fn open_with(
        path: &Path,
        schema: &Schema,
        config: StoreConfig,
    ) -> Result<SqliteDatabase, StoreError> {
        // Readers may be opened after a change of the working directory. An absolute path also
        // prevents SQLite from giving a name such as ":memory:" its special meaning.
        let path = path::absolute(path).map_err(StoreError::create)?;
        let lock = DatabaseLock::take(&path, config.lock_wait)?;
        connect::check_permissions(&path)?;
        if config.check {
            verify_file(&path)?;
        }
        let mut connection = connect::writer(&path, schema)?;
        let limit = SizeLimit::new(&path, Some(config.max_bytes).filter(|&max| max > 0));
        let max_bytes = limit.bytes();
        limit_size(&connection, max_bytes)?;
        let sql = "SELECT key FROM creator_key";
        let creator_key = connection.query_row(sql, [], |row| row.get(0).map(CreatorKey))?;
        let metrics = StoreMetrics::new();
        let file_identity = FileIdentity::new(&path)?;
        let cache = Arc::new(GameCache::new(config.games_in_memory));
        let changes = Arc::<ChangeList>::default();
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
            _lock: lock,
        };
        let writer = Writer::start(thread).map_err(StoreError::create)?;
        let readers = Readers::open(path, file_identity)?;
        Ok(SqliteDatabase(Arc::new(SqliteDatabaseInner {
            creator_key,
            limit,
            readers,
            cache,
            memory: Arc::new(Memory::new(&changes)),
            changes,
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
            read(&Reader::new(connection))
        })
    }

    /// A game, or `None` if it does not exist. It is taken from the cache if it is there.
    ///
    /// # Errors
    /// The database cannot be read, or the game cannot be parsed.
    pub async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        match self.0.cache.get(*id) {
            Some(stored) => Ok(Some(stored)),
            None => self.read_one(|reader| reader.game(id)),
        }
    }

    /// See [`Store::commit`](crate::Store::commit).
    pub async fn commit(&self, write: Write) -> Result<CommitResult, StoreError> {
        let committed = self
            .0
            .writer
            .submit(OnFailure::NoChanges, move |transaction| {
                let committed = transaction.write(&write)?;
                // The write is returned so that the caller's thread drops it, not the writer's.
                Ok((committed, write))
            });
        let (committed, write) = committed.await?;
        if let (CommitResult::Done, WriteOp::AddTicket(expected, ticket)) = (committed, &write.op) {
            self.0.memory.add_ticket(expected.id, *ticket);
        }
        Ok(committed)
    }

    /// Replaces the log of a closed game by a packed one, if given, in as many writes as it takes.
    pub async fn pack(&self, id: &GameId, mut packed: Option<PackedLog>) -> Result<(), StoreError> {
        let (id, mut more) = (*id, true);
        while more {
            let packed = packed.take();
            let pack = self.write(move |transaction| transaction.pack(&id, packed.as_ref()));
            more = pack.await?;
        }
        Ok(())
    }

    /// See [`Store::review`](crate::Store::review).
    pub async fn review(&self, id: &GameId) -> Result<Option<StoredReview>, StoreError> {
        let is_claimed = self.0.memory.is_claimed(id);
        self.read_one(|reader| reader.review(id, is_claimed))
    }

    /// See [`Store::claim_review`](crate::Store::claim_review).
    pub async fn claim_review(&self, claim: i64) -> Result<Option<ClaimedReview>, StoreError> {
        let memory = Arc::clone(&self.0.memory);
        let claimed = self.write(move |transaction| {
            let claimed = transaction.begin_review(claim, |id| memory.is_claimed(id))?;
            if let Some(claimed) = &claimed {
                memory.claim_review(claimed);
            }
            Ok(claimed)
        });
        claimed.await
    }

    /// See [`Store::renew_review`](crate::Store::renew_review).
    pub async fn renew_review(&self, id: &GameId, claim: i64) -> Result<bool, StoreError> {
        Ok(self.0.memory.renew_claim(id, claim, ReviewStatus::Running))
    }

    /// See [`Store::save_review`](crate::Store::save_review).
    pub async fn save_review(
        &self,
        id: &GameId,
        claim: i64,
        status: ReviewStatus,
        packed: Vec<u8>,
    ) -> Result<bool, StoreError> {
        let (id, memory) = (*id, Arc::clone(&self.0.memory));
        let saved = self.write(move |transaction| {
            Ok(memory.renew_claim(&id, claim, status)
                && transaction.save_review(&id, status, &packed)?)
        });
        saved.await
    }

    /// Runs a query of a single statement, which needs no transaction to see one state.
    ///
    /// # Errors
    /// As [`SqliteDatabase::read`].
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
    /// Those of `work`, or the changes could not be committed. In both cases nothing was changed.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.writer.submit(OnFailure::Undo, work).await
    }

    /// The space used and the limit.
    pub fn usage(&self) -> Result<SpaceUsage, StoreError> {
        let max = self.0.limit.bytes();
        self.read_one(|reader| reader.usage(max))
    }

    /// The sizes of the files.
    pub fn sizes(&self) -> Sizes {
        let path = self.0.readers.path();
        Sizes {
            database: length(path),
            log: length(&sidecar(path, "-wal")),
            disk_free: free_bytes(path),
            backup_age: backup::age(path),
        }
    }
}
