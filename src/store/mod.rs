//! Where games live: a SQLite file that any number of threads and processes share.
//!
//! Reads see the last commit, run on the caller's own thread and never wait for a write: one game
//! is one row and takes some tens of microseconds. Writes go one after another through a thread of
//! their own; what a write was told is on the disk, and what failed changed nothing.

mod archive;
mod backup;
mod check;
mod checkpoint;
mod connect;
mod draft;
mod error;
mod id;
mod metrics;
mod migrations;
mod reader;
mod record;
mod retention;
#[cfg(test)]
mod tests;
mod tokens;
mod transaction;
mod wal;
mod watch;
mod writer;

use std::{
    path::{self, Path},
    sync::Arc,
};

use jiff::Timestamp;
use rusqlite::Connection;

pub use self::{
    archive::PackedLog,
    backup::{BackupError, Copied, backup},
    check::{Checked, Finding, check, examine},
    draft::{ActError, Draft, Recorded, Scope},
    error::StoreError,
    id::{Creator, GameId, GameIdError},
    metrics::{Census, Sizes, StoreMetrics, Usage},
    reader::{Reader, Standing},
    record::{
        Change, Changes, Cursor, Exhausted, ListQuery, LogEntry, MOST_VERSIONS, Page, Record,
        TableChanges, Tempo, now,
    },
    retention::{Keep, Old, Piece},
    tokens::{TokenHash, Tokens},
    transaction::Transaction,
    watch::Watch,
};
use self::{
    checkpoint::Checkpoints,
    connect::{Place, Readers, State},
    id::CreatorKey,
    migrations::MIGRATIONS,
    record::Recent,
    watch::Commits,
    writer::{OnFailure, Queued, Writer, WriterThread},
};

/// The store; a clone is another handle to it. When the last one goes, the writes that wait are
/// finished first.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

/// How the store works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Writes that are committed together at most, so that none waits for long; 1 commits each by
    /// itself.
    pub commit_batch: usize,
    /// Games kept in memory as they were last read or written, each of 1 to 2 kB.
    pub games_in_memory: usize,
    /// Bytes that the database may hold; 0 for any number.
    pub max_bytes: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            commit_batch: 128,
            games_in_memory: 1024,
            max_bytes: 64 << 30,
        }
    }
}

/// What came of a write that was queued.
async fn outcome<T, E: From<StoreError>>(queued: Queued<T, E>) -> Result<T, E> {
    queued?
        .await
        .unwrap_or_else(|_| Err(StoreError::Closed.into()))
}

#[derive(Debug)]
struct Inner {
    creator_key: CreatorKey,
    max_bytes: Option<u64>,
    readers: Readers,
    recent: Arc<Recent>,
    commits: Arc<Commits>,
    metrics: StoreMetrics,
    // Dropped after the readers, so that the last to leave is one who may tidy up.
    writer: Writer,
}

impl Store {
    /// Opens the database file, creates it if it is not there, and brings it up to date.
    ///
    /// # Errors
    /// Says why the file cannot be used. One that is not ours, or newer, has not been changed.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        Store::open_with(path, Settings::default())
    }

    /// Opens the database file with other settings than usual.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(path: impl AsRef<Path>, settings: Settings) -> Result<Store, StoreError> {
        Store::open_migrated(path.as_ref(), MIGRATIONS, settings)
    }

    fn open_migrated(
        path: &Path,
        migrations: &[&str],
        settings: Settings,
    ) -> Result<Store, StoreError> {
        let create = |error| StoreError::Create(Arc::new(error));
        // Readers come later, when the working directory may be another one. It also keeps SQLite
        // from taking a name such as ":memory:" for more than a name.
        let path = path::absolute(path).map_err(create)?;
        let commits = Arc::<Commits>::default();
        let connection = connect::writer(&path, migrations)?;
        let max_bytes = Some(settings.max_bytes).filter(|&max| max > 0);
        metrics::limit(&connection, max_bytes)?;
        let creator_key = CreatorKey::read(&connection)?;
        let metrics = StoreMetrics::new();
        let place = Place::of(&path)?;
        let recent = Arc::new(Recent::new(settings.games_in_memory));
        let thread = WriterThread {
            connection,
            place: place.clone(),
            checkpoints: Checkpoints::start(&path)?,
            batch: settings.commit_batch.max(1),
            max_bytes,
            recent: Arc::clone(&recent),
            commits: Arc::clone(&commits),
            metrics: metrics.clone(),
        };
        let writer = Writer::start(thread).map_err(create)?;
        let readers = Readers::new(path, place);
        Ok(Store(Arc::new(Inner {
            creator_key,
            max_bytes,
            readers,
            recent,
            commits,
            metrics,
            writer,
        })))
    }

    /// Reads several things from one and the same state of the store.
    ///
    /// # Errors
    /// Whatever `read` returns, or the database cannot be read.
    pub fn read<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.readers.with(|connection| {
            let _state = State::begin(connection)?;
            read(&self.reader(connection))
        })
    }

    /// [`Reader::game`] as of now.
    ///
    /// # Errors
    /// As there.
    pub fn game(&self, id: &GameId) -> Result<Option<Record>, StoreError> {
        self.glance(|reader| reader.game(id))
    }

    /// What was last read or written here of a game, if that is still known. It may be another by
    /// now, or gone; a draft of it can be made nevertheless, as [`Transaction::keep`] sees to that.
    pub fn last_seen(&self, id: &GameId) -> Option<Record> {
        self.0.recent.last(*id)
    }

    /// [`Reader::version`] as of now.
    ///
    /// # Errors
    /// As there.
    pub fn version(&self, id: &GameId) -> Result<Option<u64>, StoreError> {
        self.glance(|reader| reader.version(id))
    }

    /// [`Reader::games`] as of now.
    ///
    /// # Errors
    /// As there.
    pub fn games(&self, query: &ListQuery) -> Result<Page, StoreError> {
        self.glance(|reader| reader.games(query))
    }

    /// [`Reader::log`] as of now.
    ///
    /// # Errors
    /// As there.
    pub fn log(&self, id: &GameId, after: u64, limit: u32) -> Result<Vec<LogEntry>, StoreError> {
        self.read(|reader| reader.log(id, after, limit))
    }

    /// Reads with a single statement, which sees one state by itself.
    fn glance<T>(
        &self,
        read: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.0
            .readers
            .with(|connection| read(&self.reader(connection)))
    }

    fn reader<'c>(&'c self, connection: &'c Connection) -> Reader<'c> {
        Reader {
            connection,
            recent: Some(&self.0.recent),
        }
    }

    /// Makes changes, which are kept if `work` returns `Ok`, and returns when they are on the
    /// disk. If it returns `Err` or panics, nothing has changed.
    ///
    /// The write is queued at once, not when the future is first polled; a future that is dropped
    /// before its turn takes the write back, later it has no effect. `work` runs on the writer's
    /// thread while nobody else can write, so it must be quick and never wait for a lock or for
    /// another write.
    ///
    /// # Errors
    /// Whatever `work` returns, or why the changes could not be made.
    pub fn write<T, E, F>(
        &self,
        work: F,
    ) -> impl Future<Output = Result<T, E>> + Send + use<T, E, F>
    where
        F: FnOnce(&mut Transaction<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        outcome(self.0.writer.submit(OnFailure::Undo, work))
    }

    /// As [`Store::write`], for `work` that never fails when it has changed something already,
    /// unless the disk does. That is faster. If it does fail then, it takes the writes with it that
    /// were to be committed together with it.
    ///
    /// # Errors
    /// As there.
    pub fn write_checked<T, E, F>(
        &self,
        work: F,
    ) -> impl Future<Output = Result<T, E>> + Send + use<T, E, F>
    where
        F: FnOnce(&mut Transaction<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        outcome(self.0.writer.submit(OnFailure::Nothing, work))
    }

    /// As [`Store::write`], where there is no async runtime.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// If called from async code.
    pub fn write_blocking<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Transaction<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let queued = self.0.writer.submit(OnFailure::Undo, work)?;
        queued
            .blocking_recv()
            .unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// [`Transaction::keep`] for some drafts, each a write of its own with its own outcome, where
    /// there is no async runtime.
    ///
    /// # Panics
    /// If called from async code.
    pub fn keep_blocking(
        &self,
        drafts: impl IntoIterator<Item = Draft>,
    ) -> Vec<Result<(), StoreError>> {
        let queue = |draft: Draft| {
            self.0
                .writer
                .submit(OnFailure::Nothing, move |transaction| {
                    // It comes back, so that the writer has no work with throwing it away.
                    transaction.keep(&draft).map(|()| draft)
                })
        };
        let queued: Vec<Queued<Draft, StoreError>> = drafts.into_iter().map(queue).collect();
        let outcome = |queued: Queued<Draft, StoreError>| {
            let kept = queued?.blocking_recv();
            kept.unwrap_or(Err(StoreError::Closed)).map(drop)
        };
        queued.into_iter().map(outcome).collect()
    }

    /// Packs the logs of games that were finished by that time, so many at most, in the order of
    /// their creation after that one; says which was the last, if there may be more. One that
    /// cannot be read stays as it is, with an error in the server's log.
    ///
    /// # Errors
    /// The database cannot be read or written.
    pub fn archive(
        &self,
        by: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Option<Cursor>, StoreError> {
        let games = self.glance(|reader| reader.to_archive(by, after, limit))?;
        for &(_, id, is_packed) in &games {
            // A finished game's log does not change any more, whatever happens in between.
            let pack = || PackedLog::new(&self.log(&id, 0, u32::MAX)?);
            match (!is_packed).then(pack).transpose() {
                Ok(packed) => {
                    let archive = |packed| {
                        self.write_blocking(move |tx| tx.archive(&id, Option::as_ref(&packed)))
                    };
                    let mut more = archive(packed)?;
                    while more {
                        more = archive(None)?;
                    }
                }
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => log::error!("the log of game {id} is not packed: {error}"),
            }
        }
        let last = games.last().map(|&(last, ..)| last);
        Ok(last.filter(|_| games.len() as u32 == limit))
    }

    /// Makes sure that the store can be written, by a commit as large as that of a play: ask about
    /// once a second. Says how full it is.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn ready(&self) -> impl Future<Output = Result<Usage, StoreError>> + Send + use<> {
        self.write(|transaction| transaction.probe())
    }

    /// How full the database is.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn usage(&self) -> Result<Usage, StoreError> {
        self.glance(|reader| Usage::of(reader.connection, self.0.max_bytes))
    }

    /// How this database knows the address of these bytes.
    pub fn creator(&self, address: &[u8]) -> Creator {
        self.0.creator_key.hash(address)
    }

    /// What the store has done since it was opened, in numbers.
    pub fn metrics(&self) -> &StoreMetrics {
        &self.0.metrics
    }

    /// Something that tells when the store has changed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn watch(&self) -> Result<Watch, StoreError> {
        Watch::new(self.0.readers.path(), Arc::clone(&self.0.commits))
    }
}
