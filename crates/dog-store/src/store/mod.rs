//! The store, of either kind.

use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use dog_rules::{BySeat, Seat};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use rusqlite::params_from_iter;

use crate::{
    ChangesSince, ClaimedReview, CommitResult, ConnectionSettings, Creator, Cursor, DueByCreator,
    ExpiredBatch, ExpiredGame, Feed, GameCounts, GameHead, GameId, Lease, LoadedGame, LogEntry,
    LogPage, PackedLog, RETURN_TIME, Reaction, RecentReaction, RetentionPolicy, RetentionTime,
    ReviewLimits, ReviewRequest, ReviewStatus, Scope, SeatPresence, Sizes, SpaceUsage, StoreConfig,
    StoreError, StoreMetrics, StoredGame, StoredReview, TokenHash, Write,
    game_row::{json, select_games, stored_game},
    postgres::{PgDatabase, Purpose},
    presence::{OwnLease, RenewalStart},
    review,
    row::{Cell, Row},
    sqlite::SqliteDatabase,
};

/// A handle to the store. A clone is another handle to the same store. Dropping the last handle
/// waits until all queued writes are committed.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) backend: Backend,
    lease: Arc<OwnLease>,
    failed_commits: Arc<AtomicU64>,
    /// The games that somebody with a token has used; see [`Store::note_use`].
    used: Arc<Mutex<HashSet<GameId>>>,
}

#[derive(Clone, Debug)]
pub(super) enum Backend {
    Sqlite(SqliteDatabase),
    Postgres(PgDatabase),
}

/// Calls the same method of either database; or one of PostgreSQL and the same one of SQLite's
/// reader (`read_one` for a single statement, `read` for several), transaction (`write`) or
/// `memory`.
macro_rules! dispatch {
    ($store:ident, $database:ident => $call:expr) => {
        match &$store.backend {
            Backend::Sqlite($database) => $call,
            Backend::Postgres($database) => $call,
        }
    };
    ($store:ident, write $method:ident($($argument:expr),*)) => {
        match &$store.backend {
            Backend::Sqlite(database) => {
                let work = database.write(move |transaction| transaction.$method($($argument),*));
                work.await
            }
            Backend::Postgres(database) => database.$method($($argument),*).await,
        }
    };
    ($store:ident, memory $method:ident($($argument:expr),*)) => {
        match &$store.backend {
            Backend::Sqlite(database) => Ok(database.0.memory.$method($($argument),*)),
            Backend::Postgres(database) => database.$method($($argument),*).await,
        }
    };
    ($store:ident, $read:ident $method:ident($($argument:expr),*)) => {
        match &$store.backend {
            Backend::Sqlite(database) => database.$read(|reader| reader.$method($($argument),*)),
            Backend::Postgres(database) => database.$method($($argument),*).await,
        }
    };
}

mod lists;
mod matches;

impl Store {
    /// Opens a database file. Creates it if it does not exist, and migrates it to the current
    /// schema. Blocks until another process has closed it, for a while.
    ///
    /// # Errors
    /// The file cannot be used, or another process has it. A file of another program or of a newer
    /// version is left unchanged.
    pub fn open(path: impl AsRef<Path>, config: StoreConfig) -> Result<Store, StoreError> {
        let database = SqliteDatabase::open(path.as_ref(), config)?;
        Ok(Store::new(Backend::Sqlite(database)))
    }

    /// Connects to a PostgreSQL database, and migrates it to the current schema. Blocks until that
    /// is done.
    ///
    /// # Errors
    /// The database cannot be reached or refuses access, or is of another program or of a newer
    /// version. In that case it is left unchanged.
    pub fn connect(settings: ConnectionSettings, config: StoreConfig) -> Result<Store, StoreError> {
        let database = PgDatabase::connect(settings, config)?;
        Ok(Store::new(Backend::Postgres(database)))
    }

    pub(super) fn new(backend: Backend) -> Store {
        Store {
            backend,
            lease: Arc::new(OwnLease::new()),
            failed_commits: Arc::default(),
            used: Arc::default(),
        }
    }

    /// What `read` makes of the first row of a query that both databases take. In its text the
    /// parameters must be in their order.
    async fn first<T>(
        &self,
        sql: &'static str,
        params: &[Cell<'_>],
        read: impl FnMut(Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.rows(Purpose::Requests, sql, params, read).await?;
        Ok(rows.into_iter().next())
    }

    /// The same of all rows.
    async fn rows<T>(
        &self,
        purpose: Purpose,
        sql: &'static str,
        params: &[Cell<'_>],
        read: impl FnMut(Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        match &self.backend {
            Backend::Sqlite(database) => {
                database.read_one(|reader| reader.all(sql, params_from_iter(params), read))
            }
            Backend::Postgres(database) => database.rows(purpose, sql, params, read).await,
        }
    }

    /// A game, or `None` if it does not exist.
    ///
    /// # Errors
    /// The store cannot be read, or the game cannot be parsed. The same applies to all reads below.
    pub async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        dispatch!(self, database => database.game(id).await)
    }

    /// What a write is computed from: the game, and the response saved for an earlier request with
    /// the same scope. The response is read from the same state as the game or from a later one.
    pub async fn load(
        &self,
        id: Option<&GameId>,
        scope: Option<&Scope>,
    ) -> Result<LoadedGame, StoreError> {
        // The game is read first. Otherwise a write in between could be in the game but not in the
        // responses.
        let game = match id {
            Some(id) => self.game(id).await?,
            None => None,
        };
        let saved_response = match scope {
            Some(scope) => dispatch!(self, read_one saved_response(scope))?,
            None => None,
        };
        Ok(LoadedGame {
            game,
            saved_response,
        })
    }

    /// The game that was added with this unique key, or `None`.
    pub async fn game_by_unique_key(
        &self,
        unique_key: &str,
    ) -> Result<Option<StoredGame>, StoreError> {
        let sql = select_games!("WHERE unique_key = $1");
        let read = |row: Row<'_>| stored_game(row, |_| None);
        self.first(sql, &[Cell::Text(unique_key)], read).await
    }

    /// The review of a game, done or not; `None` if nobody has asked for it.
    pub async fn review(&self, id: &GameId) -> Result<Option<StoredReview>, StoreError> {
        dispatch!(self, database => database.review(id).await)
    }

    /// At which seats of a game somebody is present. Only what was written counts.
    pub async fn present(&self, id: &GameId) -> Result<BySeat<bool>, StoreError> {
        dispatch!(self, memory present(id, SignedDuration::ZERO))
    }

    /// At which seats of a game somebody is present, or may come back because the process has lost
    /// its lease a moment ago; `None` while this process cannot tell yet. For that it must hold its
    /// own lease for [`RETURN_TIME`], so this call renews it.
    pub async fn present_or_returning(
        &self,
        id: &GameId,
    ) -> Result<Option<BySeat<bool>>, StoreError> {
        // If it seems settled, the renewal shows whether the store has lost the lease meanwhile.
        if self.lease.is_due() || self.lease.is_settled() {
            self.set_present(Vec::new()).await?;
        }
        if !self.lease.is_settled() {
            return Ok(None);
        }
        dispatch!(self, memory present(id, RETURN_TIME)).map(Some)
    }

    /// The reactions of the last ten seconds in a game.
    pub async fn reactions(&self, id: &GameId) -> Result<Vec<RecentReaction>, StoreError> {
        dispatch!(self, memory reactions(id))
    }

    /// The oldest game in the phase `seating` whose unique key begins with `prefix` and which has
    /// had fewer than `max_changes` administrative changes; and the last unique key with the
    /// prefix.
    pub async fn oldest_in_seating(
        &self,
        prefix: &str,
        max_changes: u32,
    ) -> Result<(Option<StoredGame>, Option<String>), StoreError> {
        let sql = select_games!(
            "WHERE phase = 'seating' AND unique_key IS NOT NULL \
             AND unique_key >= $1 AND unique_key < $2 \
             AND admin_changes + token_renewals < $3 ORDER BY unique_key LIMIT 1"
        );
        // The text after all those with this prefix, which is ASCII.
        let end = format!("{prefix}\u{7f}");
        let (prefix, end) = (Cell::Text(prefix), Cell::Text(&end));
        let params = [prefix, end, Cell::Int(max_changes.into())];
        let read = |row: Row<'_>| stored_game(row, |_| None);
        let oldest = self.first(sql, &params, read).await?;
        let sql = "SELECT max(unique_key) FROM games WHERE unique_key >= $1 AND unique_key < $2";
        let last = self.first(sql, &[prefix, end], |row| row.get(0)).await?;
        Ok((oldest, last.flatten()))
    }

    /// A game's version, or `None` if there is no such game.
    pub async fn version(&self, id: &GameId) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT version FROM games WHERE id = $1";
        let id = id.to_string();
        self.first(sql, &[Cell::Text(&id)], |row| row.get(0)).await
    }

    /// A game's version, tokens and creator, without the game itself.
    pub async fn head(&self, id: &GameId) -> Result<Option<GameHead>, StoreError> {
        let sql = "SELECT version, token_hashes, creator, seating FROM games WHERE id = $1";
        let read = |row: Row<'_>| {
            Ok(GameHead {
                version: row.get(0)?,
                tokens: row.get(1)?,
                creator: row.get(2)?,
                seating: json(row.text(3)?, *id)?,
            })
        };
        self.first(sql, &[Cell::Text(&id.to_string())], read).await
    }

    /// The first entries of a game's log after the version `after`, at most `limit`. More may
    /// follow unless the result is empty. Empty if there is no such game.
    pub async fn log(&self, id: &GameId, after: u64, limit: u32) -> Result<LogPage, StoreError> {
        dispatch!(self, read log_page(id, after, limit))
    }

    /// The token that a ticket for this game stands for, or `None` if there is no such ticket or it
    /// has expired.
    pub async fn ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        dispatch!(self, memory ticket(id, ticket))
    }

    /// The changes after change number `since`, in order, and the number of the last change.
    pub fn changes(&self, since: i64) -> (ChangesSince, i64) {
        dispatch!(self, database => database.0.changes.since(since))
    }

    /// Due games and their creators, the longest due first. `is_for_people` selects the games with
    /// a human player or those with bots only.
    pub async fn due(
        &self,
        is_for_people: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        dispatch!(self, read_one due(is_for_people, limit))
    }

    /// At most `limit` games in which the server acts now because the clock was put back since
    /// their last change; see [`StoredGame::is_due`]. It reads all games that wait.
    pub async fn due_from_future(
        &self,
        is_for_people: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        dispatch!(self, read_one due_from_future(is_for_people, limit))
    }

    /// The longest due game of each creator, for at most `limit` creators after `after`, in the
    /// order of their hashes; and at most `limit` due games without a creator. Returns the last
    /// creator too if there may be more.
    pub async fn due_by_creator(
        &self,
        is_for_people: bool,
        after: Option<Creator>,
        limit: u32,
    ) -> Result<DueByCreator, StoreError> {
        dispatch!(self, read due_by_creator(is_for_people, after, limit))
    }

    /// Claims a due game for this node, for three seconds at most, so that no other node acts in it.
    /// The one process of a file has every game.
    pub async fn claim_due(&self, id: &GameId) -> Result<bool, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(true),
            Backend::Postgres(database) => database.claim_due(id).await,
        }
    }

    /// Claims the task of removing and packing old games for about a minute. The one process of a
    /// file has it.
    pub async fn claim_retention(&self) -> Result<bool, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(true),
            Backend::Postgres(database) => database.claim_retention().await,
        }
    }

    /// Releases the claim before it ends by itself.
    pub async fn release_retention(&self) -> Result<(), StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(()),
            Backend::Postgres(database) => database.release_retention().await,
        }
    }

    /// The earliest time at which a game becomes due that is not yet, after `after`, which is the
    /// time by this process' clock.
    pub async fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        dispatch!(self, read next_due(after))
    }

    /// Moves the time by which games and responses are old, after this process has watched over
    /// them for `passed`; see [`RetentionTime`].
    pub async fn move_retention_time(&self, passed: Duration) -> Result<RetentionTime, StoreError> {
        let time = dispatch!(self, write move_retention_time(passed))?;
        self.metrics().retention_is_behind(time.behind);
        Ok(time)
    }

    /// The games that have expired by `now` among the first `limit` games after `after`, in order
    /// of creation.
    ///
    /// A batch in which every game is too young to have expired ends the search, because all later
    /// games are younger still, unless the clock was put back since.
    pub async fn expired_games(
        &self,
        policy: RetentionPolicy,
        now: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<ExpiredBatch, StoreError> {
        let sql = "SELECT row_id, id, version, updated_at <= CASE WHEN phase = 'finished' \
                   THEN CAST($1 AS bigint) ELSE CAST($2 AS bigint) END, \
                   created_at <= $1 OR created_at <= $2 OR created_at > $3 FROM games \
                   WHERE row_id > $4 AND phase <> 'removed' ORDER BY row_id LIMIT $5";
        let first = after.map_or(0, |Cursor(row_id)| row_id);
        let [finished, idle] = policy.cutoffs(now);
        let params = [finished, idle, now.as_microsecond(), first, limit.into()].map(Cell::Int);
        let (mut last, mut more) = (after, false);
        let read = |row: Row<'_>| {
            last = Some(Cursor(row.get(0)?));
            more |= row.get::<bool>(4)?;
            Ok(match row.get(3)? {
                true => Some(ExpiredGame {
                    id: row.get(1)?,
                    version: row.get(2)?,
                }),
                false => None,
            })
        };
        let games = self.rows(Purpose::Background, sql, &params, read).await?;
        let next = last.filter(|_| more && games.len() == limit as usize);
        let old = games.into_iter().flatten().collect();
        Ok(ExpiredBatch { old, next })
    }

    /// The number of games by phase. Takes some 10 ms for 100,000 games.
    pub async fn game_counts(&self) -> Result<GameCounts, StoreError> {
        dispatch!(self, read game_counts())
    }

    /// The space used and the limit.
    pub async fn usage(&self) -> Result<SpaceUsage, StoreError> {
        match &self.backend {
            Backend::Sqlite(database) => database.usage(),
            Backend::Postgres(database) => Ok(database.usage()),
        }
    }

    /// Commits a write: all of it, or nothing if it is stale or fails. A write is cancelled if its
    /// future is dropped before its batch starts.
    ///
    /// # Errors
    /// The store is full, too many writes are queued, or the store cannot be written. The same
    /// applies to all writes below.
    pub async fn commit(&self, write: Write) -> Result<CommitResult, StoreError> {
        let committed = dispatch!(self, database => database.commit(write).await);
        if committed.is_err() {
            self.failed_commits.fetch_add(1, Ordering::Relaxed);
        }
        committed
    }

    /// How many commits have failed. After another one, what is known of the store may be outdated.
    pub fn failed_commits(&self) -> u64 {
        self.failed_commits.load(Ordering::Relaxed)
    }

    /// Writes who is now present through this process or no longer, and renews its lease.
    pub async fn set_present(&self, changes: Vec<SeatPresence>) -> Result<Lease, StoreError> {
        let (process, start) = (self.lease.process, RenewalStart::now());
        let mut lease = dispatch!(self, memory set_present(process, &changes))?;
        lease.is_new = self.lease.renewed(start, lease.is_new);
        Ok(lease)
    }

    /// Tells all processes of the reaction of a seat's person, unless the person has reacted too
    /// often. Returns the time to wait in that case.
    pub async fn react(
        &self,
        id: &GameId,
        seat: Seat,
        reaction: Reaction,
    ) -> Result<Option<Duration>, StoreError> {
        let wait = dispatch!(self, memory react(id, seat, reaction))?;
        Ok(wait.map(|wait| Duration::try_from(wait).unwrap_or_default()))
    }

    /// Asks for the review of a finished game, and again if there is one that has ended. `creator` is
    /// who asks, if addresses are limited; see [`Creator::in_network`]. If the queue is full, one who
    /// has none in it displaces the last of the network with the most.
    pub async fn ask_review(
        &self,
        id: &GameId,
        creator: Option<Creator>,
        limits: ReviewLimits,
    ) -> Result<ReviewRequest, StoreError> {
        let id = *id;
        dispatch!(self, write ask_review(&id, creator, limits))
    }

    /// Claims a review that no process works on, for [`REVIEW_CLAIM`]; `None` if there is none. It
    /// is one of the network for which nobody has worked for the longest time; of these, the one
    /// that waits longest.
    ///
    /// [`REVIEW_CLAIM`]: crate::REVIEW_CLAIM
    pub async fn claim_review(&self) -> Result<Option<ClaimedReview>, StoreError> {
        let claim = rand::random();
        dispatch!(self, database => database.claim_review(claim).await)
    }

    /// Keeps a review claimed for another [`REVIEW_CLAIM`](crate::REVIEW_CLAIM). Returns false if
    /// another process works on it, or the game was removed.
    pub async fn renew_review(&self, review: &ClaimedReview) -> Result<bool, StoreError> {
        dispatch!(self, database => database.renew_review(&review.game, review.claim).await)
    }

    /// Saves the status of a review and what it has found. If it is still running, it stays claimed
    /// by this process. Returns false, and saves nothing, if another process works on it or the
    /// game was removed.
    pub async fn save_review(
        &self,
        review: &ClaimedReview,
        status: ReviewStatus,
        content: &str,
    ) -> Result<bool, StoreError> {
        let (id, claim, packed) = (&review.game, review.claim, review::pack(content)?);
        dispatch!(self, database => database.save_review(id, claim, status, packed).await)
    }

    /// How often this process has got a new lease. What it wrote with an earlier one is gone.
    pub fn leases(&self) -> u64 {
        self.lease.leases.load(Ordering::Acquire)
    }

    /// Returns the token of a [`ticket`](Store::ticket) and deletes the ticket; `None` if it does
    /// not exist or has expired.
    pub async fn take_ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        dispatch!(self, memory take_ticket(id, ticket))
    }

    /// Removes expired games, except those that have changed since they were found. Returns the
    /// number of games removed.
    pub async fn remove_expired(&self, games: Vec<ExpiredGame>) -> Result<usize, StoreError> {
        dispatch!(self, write remove_expired(&games))
    }

    /// Deletes a batch of the log entries that removed games have left. Returns whether there may
    /// be more.
    pub async fn purge_removed_logs(&self) -> Result<bool, StoreError> {
        dispatch!(self, write purge_removed_logs())
    }

    /// Deletes at most `limit` responses and `limit` tickets that have expired by `now`. Returns
    /// whether there may be more.
    pub async fn delete_expired(&self, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        dispatch!(self, write delete_expired(now, limit))
    }

    /// Packs the logs of at most `limit` games that were closed by `by`, in order of creation
    /// after `after`. Returns the last of them if there may be more. A log that cannot be read
    /// stays as it is and is logged as an error.
    pub async fn pack_logs(
        &self,
        by: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Option<Cursor>, StoreError> {
        let games = self.games_to_pack(by, after, limit).await?;
        for &(_, id, is_packed) in &games {
            // The log of a closed game cannot change between the read and the write.
            let packed = if is_packed {
                Ok(None)
            } else {
                self.packed_log(&id).await.map(Some)
            };
            match packed {
                Ok(packed) => dispatch!(self, database => database.pack(&id, packed).await)?,
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => log::error!("the log of game {id} cannot be packed: {error}"),
            }
        }
        let last = games.last().map(|&(last, ..)| last);
        Ok(last.filter(|_| games.len() as u32 == limit))
    }

    /// At most `limit` games that were closed by `by` and are not marked as packed, in order of
    /// creation after `after`. The flag says whether the log is packed already, as that of an
    /// imported game is.
    async fn games_to_pack(
        &self,
        by: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<(Cursor, GameId, bool)>, StoreError> {
        // The conditions of an index, which each database has in its own words.
        let sql = match &self.backend {
            Backend::Sqlite(_) => {
                "SELECT row_id, id, EXISTS (SELECT 1 FROM packed_log WHERE game = row_id) \
                 FROM games INDEXED BY games_to_pack \
                 WHERE (phase = 'finished' OR at_limit = 1) AND packed = 0 \
                 AND row_id > $1 AND updated_at <= $2 ORDER BY row_id LIMIT $3"
            }
            Backend::Postgres(_) => {
                "SELECT row_id, id, EXISTS (SELECT FROM packed_log WHERE game = row_id) \
                 FROM games WHERE (phase = 'finished' OR at_limit) AND NOT packed \
                 AND row_id > $1 AND updated_at <= $2 ORDER BY row_id LIMIT $3"
            }
        };
        let after = after.map_or(0, |Cursor(row_id)| row_id);
        let params = [after, by.as_microsecond(), limit.into()].map(Cell::Int);
        let read = |row: Row<'_>| Ok((Cursor(row.get(0)?), row.get(1)?, row.get(2)?));
        self.rows(Purpose::Background, sql, &params, read).await
    }

    /// A game's whole log, packed.
    async fn packed_log(&self, id: &GameId) -> Result<PackedLog, StoreError> {
        let mut log: Vec<LogEntry> = Vec::new();
        loop {
            let after = log.last().map_or(0, |entry| entry.version);
            let page = self.log(id, after, u32::MAX).await?.entries()?;
            if page.is_empty() {
                return PackedLog::new(&log);
            }
            log.extend(page);
        }
    }

    /// Checks that the store can be written, with a commit as large as that of a play. Meant to be
    /// called about once a second. Returns the space used.
    pub async fn ready(&self) -> Result<SpaceUsage, StoreError> {
        dispatch!(self, write probe())
    }

    /// The sizes of the files.
    pub fn sizes(&self) -> Sizes {
        dispatch!(self, database => database.sizes())
    }

    /// Whether commits wait until a second machine has them; `None` for a file.
    pub fn has_standby(&self) -> Option<bool> {
        match &self.backend {
            Backend::Sqlite(_) => None,
            Backend::Postgres(database) => Some(database.0.state.has_standby()),
        }
    }

    /// The keyed hash of an address; the key belongs to this store.
    pub fn creator(&self, address: &[u8]) -> Creator {
        dispatch!(self, database => database.0.creator_key.hash(address))
    }

    /// Counters since the store was opened.
    pub fn metrics(&self) -> &StoreMetrics {
        dispatch!(self, database => &database.0.metrics)
    }

    /// A receiver of the change feed.
    pub fn feed(&self) -> Feed {
        dispatch!(self, database => database.0.changes.feed())
    }
}
