//! A database and the connections of this node.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use super::{
    changes::{ChangeWatcher, SnapshotCursor},
    columns::one,
    connection::{ConnectionSettings, PgConnection, Purpose, QueryError, Slot, SqlParam},
    migrations, row_state,
    row_state::{RowState, StateLookup, StateReader},
    space::DatabaseState,
    statements::WriteStatements,
    writer::{BatchWriter, QUEUE_CAPACITY, QueuedWrite},
};
use crate::{
    CommitResult, GameId, JoinedThread, Sizes, SpaceUsage, StoreConfig, StoreError, StoreMetrics,
    StoredGame, Write, WriteOp, feed::ChangeList, id::CreatorKey, row::Row, thread::runtime,
};
use futures_util::future::join_all;
use quick_cache::sync::Cache;
use tokio::{
    runtime::Handle,
    sync::{Mutex, Notify, mpsc, mpsc::error::TrySendError, oneshot},
    task::JoinHandle,
};

/// Connections for reads.
const READERS: usize = 4;

/// How many of them also read the states of rows.
const STATE_READERS: usize = 2;

/// Connections for batches of writes.
const WRITERS: usize = 2;

/// A handle to a database. A clone is another handle to the same connections. Dropping the last
/// handle waits until all queued writes are committed.
#[derive(Clone)]
pub(crate) struct PgDatabase(pub Arc<PgDatabaseInner>);

pub(crate) struct PgDatabaseInner {
    // The writers end when the queue is closed and empty, and the thread with them.
    pub(super) queue: mpsc::Sender<QueuedWrite>,
    thread: Option<JoinedThread>,
    readers: Vec<Slot>,
    /// For small writes of one statement: tickets, claims, who is present.
    small_writes: Slot,
    /// For statements that may take long.
    background: Slot,
    next_reader: AtomicUsize,
    pub changes: Arc<ChangeList>,
    /// Notified after a commit of this node.
    pub(super) committed: Arc<Notify>,
    /// `None` if the capacity is 0.
    cache: Option<Cache<GameId, StoredGame>>,
    /// The key with which addresses are hashed.
    pub creator_key: CreatorKey,
    pub state: Arc<DatabaseState>,
    /// Counters since the connection.
    pub metrics: StoreMetrics,
    runtime: Handle,
    lookups: mpsc::Sender<StateLookup>,
}

impl PgDatabase {
    /// Connects to a database, and migrates it to the current schema.
    ///
    /// # Errors
    /// It cannot be reached, refuses access, or is of another program or of a later version.
    pub fn connect(
        settings: ConnectionSettings,
        config: StoreConfig,
    ) -> Result<PgDatabase, StoreError> {
        let runtime = runtime()?;
        let (opened, ready) = std::sync::mpsc::channel();
        let work = move || {
            match runtime.block_on(open(settings, config)) {
                Ok((database, writers)) => {
                    let _ = opened.send(Ok(database));
                    runtime.block_on(join_all(writers));
                }
                Err(error) => drop(opened.send(Err(error))),
            }
            // A resolver may still wait for an answer.
            runtime.shutdown_background();
        };
        let thread = JoinedThread::start("store-postgres", work).map_err(StoreError::create)?;
        let mut database = ready.recv().unwrap_or(Err(StoreError::Closed))?;
        database.thread = Some(thread);
        Ok(PgDatabase(Arc::new(database)))
    }

    /// The state of a game's row, or `None` if there is no such game.
    pub(super) async fn row_state(&self, id: &GameId) -> Result<Option<RowState>, StoreError> {
        let (reply_to, answer) = oneshot::channel();
        let lookup = StateLookup { id: *id, reply_to };
        self.0
            .lookups
            .send(lookup)
            .await
            .map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Runs one statement on a shared connection.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        params: Vec<SqlParam>,
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let readers = &self.0.readers;
        let first = self.0.next_reader.fetch_add(1, Ordering::Relaxed);
        let connections = (0..READERS).map(|index| readers[(first + index) % READERS].get());
        let connection = connections.flatten().next();
        self.run(connection, sql, params).await
    }

    /// Runs a statement that may take long.
    pub(super) async fn query_in_background(
        &self,
        sql: &'static str,
        params: Vec<SqlParam>,
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let connection = self.0.background.get();
        self.run(connection, sql, params).await
    }

    /// Runs a write of one statement that is not for the writers.
    pub(super) async fn small_write(
        &self,
        sql: &'static str,
        params: Vec<SqlParam>,
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let connection = self.0.small_writes.get();
        let started = Instant::now();
        let rows = self.run(connection, sql, params).await;
        let rows = rows.map_err(|error| self.0.state.explain(error))?;
        self.0.metrics.committed(1, started.elapsed());
        Ok(rows)
    }

    /// Runs a statement as a task of the store's thread. So a caller that is busy or gone does not
    /// keep the answers from others who share the connection.
    async fn run(
        &self,
        connection: Option<Arc<PgConnection>>,
        sql: &'static str,
        params: Vec<SqlParam>,
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let connection = connection.ok_or(QueryError::NotConnected)?;
        let task = async move { connection.query(sql, &params).await };
        let answer = self.0.runtime.spawn(task).await;
        Ok(answer.map_err(|_| StoreError::Closed)??)
    }

    /// See [`Store::commit`](crate::Store::commit).
    pub async fn commit(&self, write: Write) -> Result<CommitResult, StoreError> {
        let statements = WriteStatements::new(&write)?;
        let added = self.0.state.admit(&write)?;
        let result = self.commit_admitted(&write, statements).await;
        if !matches!(result, Ok(CommitResult::Done)) {
            self.0.state.take_back(added);
        }
        result.map_err(|error| self.0.state.explain(error))
    }

    /// Queues a write that there is space for, and waits for its result.
    async fn commit_admitted(
        &self,
        write: &Write,
        statements: WriteStatements,
    ) -> Result<CommitResult, StoreError> {
        let next = match &write.op {
            WriteOp::Update(draft) => vec![draft.next.clone()],
            WriteOp::Insert(games, _) => games.iter().map(|new| new.game.clone()).collect(),
            _ => Vec::new(),
        };
        let (reply_to, outcome) = oneshot::channel();
        let job = QueuedWrite {
            statements,
            reply_to,
        };
        // Counted first, because a writer may take it before `try_send` returns.
        self.0.metrics.queued();
        self.0.queue.try_send(job).map_err(|error| {
            self.0.metrics.dequeued(1);
            match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Closed(_) => StoreError::Closed,
            }
        })?;
        let result = outcome.await.unwrap_or(Err(StoreError::Closed))?;
        if result == CommitResult::Done {
            next.iter().for_each(|game| self.cache(game));
        }
        Ok(result)
    }

    /// The space used, as it was read some seconds ago with what this node has written since, and
    /// the limit.
    pub fn usage(&self) -> SpaceUsage {
        self.0.state.usage()
    }

    /// The size of the database's files, some seconds ago.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            database: self.0.state.file_bytes(),
            ..Sizes::default()
        }
    }

    /// The game as it was last read, if it is in the cache.
    pub(super) fn cached(&self, id: &GameId) -> Option<StoredGame> {
        self.0.cache.as_ref()?.get(id)
    }

    /// Adds a game to the cache, if its state tells whether its row has changed; see [`RowState`].
    pub(super) fn cache(&self, stored: &StoredGame) {
        if let Some(cache) = &self.0.cache
            && (stored.creator.is_none() || !stored.is_closed())
        {
            cache.insert(stored.id, stored.clone());
        }
    }
}

impl fmt::Debug for PgDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgDatabase").finish_non_exhaustive()
    }
}

/// Migrates the database, opens the connections and starts the tasks. Those of the writers are
/// returned.
async fn open(
    settings: ConnectionSettings,
    config: StoreConfig,
) -> Result<(PgDatabaseInner, Vec<JoinHandle<()>>), StoreError> {
    let (settings, notified) = (Arc::new(settings), Arc::new(Notify::new()));
    let slot = async |purpose| Slot::open(&settings, purpose, &notified).await;
    let background = slot(Purpose::Background).await?;
    let first = background.get().ok_or(QueryError::NotConnected)?;
    migrations::migrate(&first).await?;
    let max_bytes = Some(config.max_bytes).filter(|&max| max > 0);
    let state = Arc::new(DatabaseState::new(max_bytes));
    state.read(&first).await?;
    if !state.has_standby() {
        // Also a metric.
        log::warn!("the database has no synchronous standby: its disk is the only copy");
    }
    let key = first.query("SELECT key FROM creator_key", &[]).await?;

    let mut readers = Vec::new();
    let (lookups, queued_lookups) = mpsc::channel(row_state::QUEUE_CAPACITY);
    let queued_lookups = Arc::new(Mutex::new(queued_lookups));
    for number in 0..READERS {
        let reader = slot(Purpose::Requests).await?;
        if number < STATE_READERS {
            let state_reader = StateReader {
                queue: Arc::clone(&queued_lookups),
                slot: reader.clone(),
            };
            tokio::spawn(state_reader.run());
        }
        readers.push(reader);
    }
    let watched = slot(Purpose::Requests).await?;
    let seen = watched.get().ok_or(QueryError::NotConnected)?;
    let (changes, committed) = (Arc::<ChangeList>::default(), Arc::<Notify>::default());
    let watcher = ChangeWatcher {
        changes: Arc::clone(&changes),
        committed: Arc::clone(&committed),
        notified: Arc::clone(&notified),
        slot: watched,
    };
    tokio::spawn(watcher.run(SnapshotCursor::new(&seen).await?));
    let (queue, queued_writes) = mpsc::channel(QUEUE_CAPACITY);
    let queued_writes = Arc::new(Mutex::new(queued_writes));
    let (mut writers, metrics) = (Vec::new(), StoreMetrics::new());
    for _ in 0..WRITERS {
        let writer = BatchWriter {
            queue: Arc::clone(&queued_writes),
            slot: slot(Purpose::Writes).await?,
            max_batch: config.commit_batch.max(1),
            committed: Arc::clone(&committed),
            metrics: metrics.clone(),
        };
        writers.push(tokio::spawn(writer.run()));
    }
    tokio::spawn(Arc::clone(&state).watch(background.clone()));
    let database = PgDatabaseInner {
        queue,
        thread: None,
        readers,
        small_writes: slot(Purpose::Requests).await?,
        background,
        next_reader: AtomicUsize::new(0),
        changes,
        committed,
        cache: (config.games_in_memory > 0).then(|| Cache::new(config.games_in_memory)),
        creator_key: CreatorKey(Row::Postgres(&one(key)?).get(0)?),
        state,
        metrics,
        runtime: Handle::current(),
        lookups,
    };
    Ok((database, writers))
}
