//! Storage of games. Queries and writes are values: no database type leaves this module.
//!
//! A caller loads a game, computes a change, and [commits](Store::commit) it. If the game has
//! changed in the meantime, the write is [stale](CommitResult::Stale): it changes nothing, and the
//! caller loads the game again. A write that is reported as done is on disk.
//!
//! There are two kinds of stores with the same guarantees: an SQLite file, for the processes of one
//! machine, and a PostgreSQL database, for those of several. Reads are `async` because PostgreSQL
//! answers them over a network. Those of SQLite run on the caller's thread and never wait for a
//! write. Reading a game takes some microseconds.

#![forbid(unsafe_code)]

mod check;
mod copy;
mod error;
mod game_log;
mod game_row;
mod id;
mod location;
mod metrics;
mod postgres;
mod presence;
mod retention;
mod seating;
mod sqlite;
mod stored_game;
#[cfg(test)]
mod tests;
mod tokens;
mod write;

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use dog_rules::BySeat;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use self::presence::OwnLease;
pub use self::{
    check::{CheckReport, Defect},
    copy::{CopyError, CopyReport, copy},
    error::StoreError,
    game_log::{LogEntry, LogPage, PackedLog},
    id::{Creator, GameId, GameIdError},
    location::Location,
    metrics::{GameCounts, Sizes, StoreMetrics, Usage},
    postgres::{ConnectionSettings, SettingsError, check_shared},
    presence::{LEASE, Lease, ProcessId, RENEWAL, RETURN_TIME, SeatPresence},
    retention::{ExpiredBatch, ExpiredGame, RetentionPolicy, RetentionTime},
    seating::{JoinPolicy, Opened, SeatAccess, Seating, StartPolicy, WAIT_FOR_OTHERS},
    sqlite::{BackupError, BackupReport, backup, check, verify_file},
    stored_game::{
        AdminChanges, CLOCK_TOLERANCE, Change, ChangesSince, Cursor, DueByCreator, ExpectedState,
        GameHead, GamePage, LimitReached, ListQuery, MAX_ADMIN_CHANGES, MAX_PLAY_VERSIONS,
        StoredGame, Timing, now,
    },
    tokens::{TokenHash, Tokens},
    write::{
        CommitResult, Draft, DraftError, LoadedGame, NewGame, NewTicket, SavedResponse, Scope,
        TICKET_TTL, Write, WriteOp,
    },
};

/// A handle to the store. A clone is another handle to the same store. Dropping the last handle
/// waits until all queued writes are committed.
#[derive(Clone, Debug)]
pub struct Store(Kind, Arc<OwnLease>);

#[derive(Clone, Debug)]
enum Kind {
    File(sqlite::Database),
    Shared(postgres::PgDatabase),
}

/// Options of a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreConfig {
    /// The largest number of writes in one commit; 1 commits each write by itself.
    pub commit_batch: usize,
    /// The number of games in the cache; each takes 1 to 2 kB.
    pub games_in_memory: usize,
    /// The largest size of the database in bytes; 0 for no limit.
    pub max_bytes: u64,
}

impl Default for StoreConfig {
    fn default() -> StoreConfig {
        StoreConfig {
            commit_batch: 128,
            games_in_memory: 1024,
            max_bytes: 64 << 30,
        }
    }
}

impl Store {
    /// Opens a database file. Creates it if it does not exist, and migrates it to the current
    /// schema.
    ///
    /// # Errors
    /// The file cannot be used. A file of another program or of a newer version is left unchanged.
    pub fn open(path: impl AsRef<Path>, config: StoreConfig) -> Result<Store, StoreError> {
        let database = sqlite::Database::open(path.as_ref(), config)?;
        Ok(Store(Kind::File(database), Arc::new(OwnLease::new())))
    }

    /// Connects to a PostgreSQL database, and migrates it to the current schema. Blocks until that
    /// is done.
    ///
    /// # Errors
    /// The database cannot be reached or refuses access, or is of another program or of a newer
    /// version. It is left unchanged then.
    pub fn connect(settings: ConnectionSettings, config: StoreConfig) -> Result<Store, StoreError> {
        let database = postgres::PgDatabase::connect(settings, config)?;
        Ok(Store(Kind::Shared(database), Arc::new(OwnLease::new())))
    }

    /// A game, or `None` if it does not exist.
    ///
    /// # Errors
    /// The store cannot be read, or the game cannot be parsed. The same applies to all reads below.
    pub async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        match &self.0 {
            Kind::File(database) => database.game(id),
            Kind::Shared(database) => database.game(id).await,
        }
    }

    /// What a write is computed from: the game, and the response saved for an earlier request with
    /// the same scope. The response is read from the same state as the game or from a later one.
    pub async fn load(
        &self,
        id: Option<&GameId>,
        scope: Option<&Scope>,
    ) -> Result<LoadedGame, StoreError> {
        let database = match &self.0 {
            Kind::File(database) => database,
            Kind::Shared(database) => return database.load(id, scope).await,
        };
        // The game is read first. Otherwise a write in between could be in the game but not in the
        // responses.
        let game = id.map(|id| database.game(id)).transpose()?.flatten();
        let response =
            scope.map(|scope| database.read_one(|reader| reader.saved_response(scope, now())));
        Ok(LoadedGame {
            game,
            saved_response: response.transpose()?.flatten(),
        })
    }

    /// The game that was added with this unique key, or `None`.
    pub async fn game_by_unique_key(
        &self,
        unique_key: &str,
    ) -> Result<Option<StoredGame>, StoreError> {
        match &self.0 {
            Kind::File(database) => {
                database.read_one(|reader| reader.game_by_unique_key(unique_key))
            }
            Kind::Shared(database) => database.game_by_unique_key(unique_key).await,
        }
    }

    /// At which seats of a game somebody is present. Only what was written counts.
    pub async fn present(&self, id: &GameId) -> Result<BySeat<bool>, StoreError> {
        self.present_within(id, SignedDuration::ZERO).await
    }

    /// At which seats of a game somebody is present, or may come back because the process has lost
    /// its lease a moment ago; `None` while this process cannot tell yet. For that it must hold its
    /// own lease for [`RETURN_TIME`], so this call renews it.
    pub async fn present_or_returning(
        &self,
        id: &GameId,
    ) -> Result<Option<BySeat<bool>>, StoreError> {
        // If it seems settled, the renewal shows whether the store has lost the lease meanwhile.
        if self.1.is_due() || self.1.is_settled() {
            self.set_present(Vec::new()).await?;
        }
        if !self.1.is_settled() {
            return Ok(None);
        }
        self.present_within(id, RETURN_TIME).await.map(Some)
    }

    /// At which seats of a game somebody is present by a lease that lasts, or has ended at most so
    /// long ago.
    async fn present_within(
        &self,
        id: &GameId,
        ended: SignedDuration,
    ) -> Result<BySeat<bool>, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read_one(|reader| reader.present(id, ended, now())),
            Kind::Shared(database) => database.present(id, ended).await,
        }
    }

    /// The oldest game in the phase `seating` whose unique key begins with `prefix` and which has
    /// had fewer than `max_changes` administrative changes; and the last unique key with the prefix.
    pub async fn oldest_in_seating(
        &self,
        prefix: &str,
        max_changes: u32,
    ) -> Result<(Option<StoredGame>, Option<String>), StoreError> {
        match &self.0 {
            Kind::File(database) => database.read(|reader| {
                let oldest = reader.oldest_in_seating(prefix, max_changes)?;
                Ok((oldest, reader.last_unique_key(prefix)?))
            }),
            Kind::Shared(database) => database.oldest_in_seating(prefix, max_changes).await,
        }
    }

    /// A game's version, or `None` if there is no such game.
    pub async fn version(&self, id: &GameId) -> Result<Option<u64>, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read_one(|reader| reader.version(id)),
            Kind::Shared(database) => database.version(id).await,
        }
    }

    /// A game's version, tokens and creator, without the game itself.
    pub async fn head(&self, id: &GameId) -> Result<Option<GameHead>, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read_one(|reader| reader.head(id)),
            Kind::Shared(database) => database.head(id).await,
        }
    }

    /// The first entries of a game's log after the version `after`, at most `limit`. More may
    /// follow unless the result is empty. Empty if there is no such game.
    pub async fn log(&self, id: &GameId, after: u64, limit: u32) -> Result<LogPage, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read(|reader| reader.log_page(id, after, limit)),
            Kind::Shared(database) => database.log(id, after, limit).await,
        }
    }

    /// A page of the public list of games, newest first. A game that cannot be parsed is skipped
    /// and logged as an error.
    pub async fn games(&self, query: &ListQuery) -> Result<GamePage, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read_one(|reader| reader.games(query)),
            Kind::Shared(database) => database.games(query).await,
        }
    }

    /// The token that a ticket for this game stands for, or `None` if there is no such ticket or it
    /// has expired.
    pub async fn ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read_one(|reader| reader.ticket(id, ticket, now())),
            Kind::Shared(database) => database.ticket(id, ticket).await,
        }
    }

    /// The changes after change number `since`, in order, and the number of the last change.
    pub async fn changes(&self, since: i64) -> Result<(ChangesSince, i64), StoreError> {
        match &self.0 {
            Kind::File(database) => database.read(|reader| reader.changes(since)),
            Kind::Shared(database) => Ok(database.changes_since(since)),
        }
    }

    /// Due games and their creators, the longest due first. `has_human` selects the games with a
    /// human player or those with bots only.
    pub async fn due(
        &self,
        has_human: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read_one(|reader| reader.due(has_human, now(), limit)),
            Kind::Shared(database) => database.due(has_human, limit).await,
        }
    }

    /// At most `limit` games in which the server acts now because the clock was put back since their
    /// last change; see [`StoredGame::is_due`]. It reads all games that wait.
    pub async fn due_from_future(
        &self,
        has_human: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        match &self.0 {
            Kind::File(database) => {
                database.read_one(|reader| reader.due_from_future(has_human, now(), limit))
            }
            Kind::Shared(database) => database.due_from_future(has_human, limit).await,
        }
    }

    /// The longest due game of each creator, for at most `limit` creators after `after`, in the
    /// order of their hashes; and at most `limit` due games without a creator. Returns the last
    /// creator too if there may be more.
    pub async fn due_by_creator(
        &self,
        has_human: bool,
        after: Option<Creator>,
        limit: u32,
    ) -> Result<DueByCreator, StoreError> {
        match &self.0 {
            Kind::File(database) => {
                database.read(|reader| reader.due_by_creator(has_human, now(), after, limit))
            }
            Kind::Shared(database) => database.due_by_creator(has_human, after, limit).await,
        }
    }

    /// Claims a due game for this process, so that no other one on another machine acts in it, for
    /// three seconds at most. Processes on one file do not claim games, because they hardly ever
    /// choose the same one.
    pub async fn claim_due(&self, id: &GameId) -> Result<bool, StoreError> {
        match &self.0 {
            Kind::File(_) => Ok(true),
            Kind::Shared(database) => database.claim_due(id).await,
        }
    }

    /// Claims the task of removing and packing old games for about a minute. Processes on one file
    /// share the task.
    pub async fn claim_retention(&self) -> Result<bool, StoreError> {
        match &self.0 {
            Kind::File(_) => Ok(true),
            Kind::Shared(database) => database.claim_retention().await,
        }
    }

    /// Releases the claim before it ends by itself.
    pub async fn release_retention(&self) -> Result<(), StoreError> {
        match &self.0 {
            Kind::File(_) => Ok(()),
            Kind::Shared(database) => database.release_retention().await,
        }
    }

    /// The earliest time after `after` at which a game becomes due.
    pub async fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read(|reader| reader.next_due(after)),
            Kind::Shared(database) => database.next_due(after).await,
        }
    }

    /// Moves the time by which games and responses are old, after this much time in which this process
    /// has looked after them; see [`RetentionTime`].
    pub async fn move_retention_time(&self, passed: Duration) -> Result<RetentionTime, StoreError> {
        let time = match &self.0 {
            Kind::File(database) => {
                database
                    .write(move |transaction| transaction.move_retention_time(passed, now()))
                    .await?
            }
            Kind::Shared(database) => database.move_retention_time(passed).await?,
        };
        self.metrics().retention_is_behind(time.behind);
        Ok(time)
    }

    /// The games that have expired by `now` among the first `limit` games after `after`, in order of
    /// creation.
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
        match &self.0 {
            Kind::File(database) => {
                database.read_one(|reader| reader.expired_games(policy, now, after, limit))
            }
            Kind::Shared(database) => database.expired_games(policy, now, after, limit).await,
        }
    }

    /// The number of games by phase. Takes some 10 ms for 100,000 games.
    pub async fn game_counts(&self) -> Result<GameCounts, StoreError> {
        match &self.0 {
            Kind::File(database) => database.read(|reader| reader.game_counts(now())),
            Kind::Shared(database) => database.game_counts().await,
        }
    }

    /// The space used and the limit.
    pub async fn usage(&self) -> Result<Usage, StoreError> {
        match &self.0 {
            Kind::File(database) => {
                let max = database.max_bytes();
                database.read_one(|reader| reader.usage(max))
            }
            Kind::Shared(database) => Ok(database.usage()),
        }
    }

    /// Commits a write: all of it, or nothing if it is stale or fails. A write is cancelled if its
    /// future is dropped before its batch starts.
    ///
    /// # Errors
    /// The store is full, too many writes are queued, or the store cannot be written. The same
    /// applies to all writes below.
    pub async fn commit(&self, write: Write) -> Result<CommitResult, StoreError> {
        let database = match &self.0 {
            Kind::File(database) => database,
            Kind::Shared(database) => return database.commit(write).await,
        };
        let committed = database.write_checked(move |transaction| {
            let committed = transaction.write(&write)?;
            // The write is returned so that the caller's thread drops it, not the writer's.
            Ok((committed, write))
        });
        committed.await.map(|(committed, _)| committed)
    }

    /// Writes who is now present by this process or no longer, and renews its lease.
    pub async fn set_present(&self, changes: Vec<SeatPresence>) -> Result<Lease, StoreError> {
        let (process, begun) = (self.1.process, (Instant::now(), now()));
        let lease = match &self.0 {
            Kind::File(database) => {
                database
                    .write(move |transaction| transaction.set_present(process, &changes, now()))
                    .await
            }
            Kind::Shared(database) => database.set_present(process, &changes).await,
        }?;
        self.1.renewed(begun, lease.is_new);
        Ok(lease)
    }

    /// How often this process has got a new lease. What it wrote with an earlier one is gone.
    pub fn leases(&self) -> u64 {
        self.1.leases.load(Ordering::Acquire)
    }

    /// Returns the token of a [`ticket`](Store::ticket) and deletes the ticket; `None` if it does
    /// not exist or has expired.
    pub async fn take_ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        match &self.0 {
            Kind::File(database) => {
                let (id, ticket) = (*id, *ticket);
                let take =
                    database.write(move |transaction| transaction.take_ticket(&id, &ticket, now()));
                take.await
            }
            Kind::Shared(database) => database.take_ticket(id, ticket).await,
        }
    }

    /// Removes expired games, except those that have changed since they were found. Returns the
    /// number of games removed.
    pub async fn remove_expired(&self, games: Vec<ExpiredGame>) -> Result<usize, StoreError> {
        match &self.0 {
            Kind::File(database) => {
                database
                    .write(move |transaction| transaction.remove_expired(&games))
                    .await
            }
            Kind::Shared(database) => database.remove_expired(&games).await,
        }
    }

    /// Deletes a batch of the log entries that removed games have left. Returns whether there may
    /// be more.
    pub async fn remove_rest(&self) -> Result<bool, StoreError> {
        match &self.0 {
            Kind::File(database) => {
                database
                    .write(|transaction| transaction.remove_rest())
                    .await
            }
            Kind::Shared(database) => database.remove_rest().await,
        }
    }

    /// Deletes at most `limit` responses and `limit` tickets that have expired by `now`. Returns
    /// whether there may be more.
    pub async fn forget_expired(&self, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        match &self.0 {
            Kind::File(database) => {
                database
                    .write(move |transaction| transaction.forget_expired(now, limit))
                    .await
            }
            Kind::Shared(database) => database.forget_expired(now, limit).await,
        }
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
        let games = match &self.0 {
            Kind::File(database) => {
                database.read_one(|reader| reader.games_to_pack(by, after, limit))?
            }
            Kind::Shared(database) => database.games_to_pack(by, after, limit).await?,
        };
        for &(_, id, is_packed) in &games {
            // The log of a closed game cannot change between the read and the write.
            let packed = match is_packed {
                true => Ok(None),
                false => self.packed_log(&id).await.map(Some),
            };
            match packed {
                Ok(packed) => self.pack(id, packed).await?,
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => log::error!("the log of game {id} cannot be packed: {error}"),
            }
        }
        let last = games.last().map(|&(last, ..)| last);
        Ok(last.filter(|_| games.len() as u32 == limit))
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

    async fn pack(&self, id: GameId, mut packed: Option<PackedLog>) -> Result<(), StoreError> {
        let database = match &self.0 {
            Kind::File(database) => database,
            Kind::Shared(database) => return database.pack(&id, packed.as_ref()).await,
        };
        let mut more = true;
        while more {
            let packed = packed.take();
            let pack = database.write(move |transaction| transaction.pack(&id, packed.as_ref()));
            more = pack.await?;
        }
        Ok(())
    }

    /// Checks that the store can be written, with a commit as large as that of a play. Meant to be
    /// called about once a second. Returns the space used.
    pub async fn ready(&self) -> Result<Usage, StoreError> {
        match &self.0 {
            Kind::File(database) => database.write(|transaction| transaction.probe()).await,
            Kind::Shared(database) => database.ready().await,
        }
    }

    /// The sizes of the files.
    pub fn sizes(&self) -> Sizes {
        match &self.0 {
            Kind::File(database) => database.sizes(),
            Kind::Shared(database) => Sizes {
                database: database.file_bytes(),
                log: 0,
            },
        }
    }

    /// Whether commits wait until a second machine has them; `None` for a file.
    pub fn has_standby(&self) -> Option<bool> {
        match &self.0 {
            Kind::File(_) => None,
            Kind::Shared(database) => Some(database.has_standby()),
        }
    }

    /// The keyed hash of an address; the key belongs to this store.
    pub fn creator(&self, address: &[u8]) -> Creator {
        let key = match &self.0 {
            Kind::File(database) => database.creator_key(),
            Kind::Shared(database) => database.creator_key(),
        };
        key.hash(address)
    }

    /// Counters since the store was opened.
    pub fn metrics(&self) -> &StoreMetrics {
        match &self.0 {
            Kind::File(database) => database.metrics(),
            Kind::Shared(database) => database.metrics(),
        }
    }

    /// A receiver of the change feed.
    pub fn feed(&self) -> Feed {
        match &self.0 {
            Kind::File(database) => database.feed(),
            Kind::Shared(database) => database.feed(),
        }
    }
}

/// A receiver that is woken when this or another process has changed a game.
#[derive(Clone, Debug)]
pub struct Feed(watch::Receiver<i64>);

impl Feed {
    /// Waits for a change after the last one returned, and returns the number of the latest.
    /// Changes by this process arrive at once, those by another within about 10 ms. Never returns
    /// once the store is closed.
    pub async fn changed(&mut self) -> i64 {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.last()
    }

    /// The number of the last change.
    pub fn last(&mut self) -> i64 {
        *self.0.borrow_and_update()
    }
}
