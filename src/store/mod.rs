//! Storage of games. Queries and writes are values: no database type leaves this module.
//!
//! A caller loads a game, computes a change, and [commits](Store::commit) it. If the game has
//! changed in the meantime, the write is [stale](CommitResult::Stale): it changes nothing, and the
//! caller loads the game again. A write that is reported as done is on disk.
//!
//! Reads are `async` because another store may answer them over a network. Those of SQLite run on
//! the caller's thread and never wait for a write. Reading a game takes some microseconds.

mod error;
mod game_log;
mod id;
mod metrics;
mod presence;
mod retention;
mod seating;
mod sqlite;
mod stored_game;
#[cfg(test)]
pub(crate) mod tests;
mod tokens;
mod write;

use std::path::Path;

use dog_rules::BySeat;
use jiff::Timestamp;
use tokio::sync::watch;

use self::sqlite::Database;
pub use self::{
    error::StoreError,
    game_log::{LogEntry, LogPage, PackedLog},
    id::{Creator, GameId, GameIdError},
    metrics::{GameCounts, Sizes, StoreMetrics, Usage},
    presence::{LEASE, Lease, ProcessId, SeatPresence},
    retention::{ExpiredBatch, ExpiredGame, RetentionPolicy},
    seating::{JoinPolicy, Opened, SeatAccess, Seating, StartPolicy, WAIT_FOR_OTHERS},
    sqlite::{BackupError, BackupReport, CheckReport, Defect, backup, check, verify_file},
    stored_game::{
        AdminChanges, Change, ChangesSince, Cursor, DueByCreator, ExpectedState, GameHead,
        GamePage, GameUpdate, LimitReached, ListQuery, MAX_PLAY_VERSIONS, StoredGame, Timing, now,
    },
    tokens::{TokenHash, Tokens},
    write::{
        CommitResult, Draft, DraftError, LoadedGame, NewGame, NewTicket, SavedResponse, Scope,
        Write, WriteOp,
    },
};

/// A handle to the store. A clone is another handle to the same store. Dropping the last handle
/// waits until all queued writes are committed.
#[derive(Clone, Debug)]
pub struct Store(Database);

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
        Database::open(path.as_ref(), config).map(Store)
    }

    /// A game, or `None` if it does not exist.
    ///
    /// # Errors
    /// The store cannot be read, or the game cannot be parsed. The same applies to all reads below.
    pub async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        self.0.game(id)
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
        let game = id.map(|id| self.0.game(id)).transpose()?.flatten();
        let response = scope.map(|scope| {
            self.0
                .read_one(|reader| reader.saved_response(scope, now()))
        });
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
        self.0
            .read_one(|reader| reader.game_by_unique_key(unique_key))
    }

    /// At which seats of a game somebody is present. Only what was written counts.
    pub async fn present(&self, id: &GameId) -> Result<BySeat<bool>, StoreError> {
        self.0.read_one(|reader| reader.present(id, now()))
    }

    /// The oldest game in the phase `seating` whose unique key begins with `prefix` and which has
    /// had fewer than `max_changes` administrative changes; and the last unique key with the prefix.
    pub async fn oldest_in_seating(
        &self,
        prefix: &str,
        max_changes: u32,
    ) -> Result<(Option<StoredGame>, Option<String>), StoreError> {
        self.0.read(|reader| {
            let oldest = reader.oldest_in_seating(prefix, max_changes)?;
            Ok((oldest, reader.last_unique_key(prefix)?))
        })
    }

    /// A game's version, or `None` if there is no such game.
    pub async fn version(&self, id: &GameId) -> Result<Option<u64>, StoreError> {
        self.0.read_one(|reader| reader.version(id))
    }

    /// A game's version, tokens and creator, without the game itself.
    pub async fn head(&self, id: &GameId) -> Result<Option<GameHead>, StoreError> {
        self.0.read_one(|reader| reader.head(id))
    }

    /// A game's head, and the entries of its log after the version `known`: the last `limit` ones,
    /// none if `known` is `None`. Of a packed log the entries of one page are returned; more may
    /// follow. `None` if there is no such game.
    pub async fn update_since(
        &self,
        id: &GameId,
        known: Option<u64>,
        limit: u32,
    ) -> Result<Option<GameUpdate>, StoreError> {
        self.0.read(|reader| reader.update_since(id, known, limit))
    }

    /// The first entries of a game's log after the version `after`, at most `limit`. More may
    /// follow unless the result is empty. Empty if there is no such game.
    pub async fn log(&self, id: &GameId, after: u64, limit: u32) -> Result<LogPage, StoreError> {
        self.0.read(|reader| reader.log_page(id, after, limit))
    }

    /// A page of the public list of games, newest first. A game that cannot be parsed is skipped
    /// and logged as an error.
    pub async fn games(&self, query: &ListQuery) -> Result<GamePage, StoreError> {
        self.0.read_one(|reader| reader.games(query))
    }

    /// The token that a ticket for this game stands for, or `None` if there is no such ticket or it
    /// has expired.
    pub async fn ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        self.0.read_one(|reader| reader.ticket(id, ticket, now()))
    }

    /// The changes after change number `since`, in order, and the number of the last change.
    pub async fn changes(&self, since: i64) -> Result<(ChangesSince, i64), StoreError> {
        self.0.read(|reader| reader.changes(since))
    }

    /// Due games and their creators, the longest due first. `has_human` selects the games with a
    /// human player or those with bots only.
    pub async fn due(
        &self,
        has_human: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        self.0
            .read_one(|reader| reader.due(has_human, now(), limit))
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
        self.0
            .read(|reader| reader.due_by_creator(has_human, now(), after, limit))
    }

    /// The earliest time after `after` at which a game becomes due.
    pub async fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.0.read(|reader| reader.next_due(after))
    }

    /// The expired games among the first `limit` games after `after`, in order of creation.
    ///
    /// A batch in which every game is too young to have expired ends the search, because all later
    /// games are younger still.
    pub async fn expired_games(
        &self,
        policy: RetentionPolicy,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<ExpiredBatch, StoreError> {
        self.0
            .read_one(|reader| reader.expired_games(policy, now(), after, limit))
    }

    /// The number of games by phase. Takes some 10 ms for 100,000 games.
    pub async fn game_counts(&self) -> Result<GameCounts, StoreError> {
        self.0.read(|reader| reader.game_counts(now()))
    }

    /// The space used and the limit.
    pub async fn usage(&self) -> Result<Usage, StoreError> {
        let max = self.0.max_bytes();
        self.0.read_one(|reader| reader.usage(max))
    }

    /// Commits a write: all of it, or nothing if it is stale or fails. A write is cancelled if its
    /// future is dropped before its batch starts.
    ///
    /// # Errors
    /// The store is full, too many writes are queued, or the store cannot be written. The same
    /// applies to all writes below.
    pub async fn commit(&self, write: Write) -> Result<CommitResult, StoreError> {
        let committed = self.0.write_checked(move |transaction| {
            let committed = transaction.write(&write)?;
            // The write is returned so that the caller's thread drops it, not the writer's.
            Ok((committed, write))
        });
        committed.await.map(|(committed, _)| committed)
    }

    /// Writes who is now present by a process or no longer, and renews its lease.
    pub async fn set_present(
        &self,
        process: ProcessId,
        changes: Vec<SeatPresence>,
    ) -> Result<Lease, StoreError> {
        self.0
            .write(move |transaction| transaction.set_present(process, &changes, now()))
            .await
    }

    /// Returns the token of a [`ticket`](Store::ticket) and deletes the ticket; `None` if it does
    /// not exist or has expired.
    pub async fn take_ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        let (id, ticket) = (*id, *ticket);
        let take = self
            .0
            .write(move |transaction| transaction.take_ticket(&id, &ticket, now()));
        take.await
    }

    /// Removes expired games, except those that have changed since they were found. Returns the
    /// number of games removed.
    pub async fn remove_expired(&self, games: Vec<ExpiredGame>) -> Result<usize, StoreError> {
        self.0
            .write(move |transaction| transaction.remove_expired(&games))
            .await
    }

    /// Deletes a batch of the log entries that removed games have left. Returns whether there may
    /// be more.
    pub async fn remove_rest(&self) -> Result<bool, StoreError> {
        self.0.write(|transaction| transaction.remove_rest()).await
    }

    /// Deletes at most `limit` expired responses and `limit` expired tickets. Returns whether there
    /// may be more.
    pub async fn forget_expired(&self, limit: u32) -> Result<bool, StoreError> {
        self.0
            .write(move |transaction| transaction.forget_expired(now(), limit))
            .await
    }

    /// Packs the logs of at most `limit` games that were finished by `by`, in order of creation
    /// after `after`. Returns the last of them if there may be more. A log that cannot be read
    /// stays as it is and is logged as an error.
    pub async fn pack_logs(
        &self,
        by: Timestamp,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Option<Cursor>, StoreError> {
        let games = self
            .0
            .read_one(|reader| reader.games_to_pack(by, after, limit))?;
        for &(_, id, is_packed) in &games {
            // The log of a finished game cannot change between the read and the write.
            let log = || self.0.read(|reader| reader.log(&id, 0, u32::MAX));
            let pack = || PackedLog::new(&log()?);
            match (!is_packed).then(pack).transpose() {
                Ok(mut packed) => {
                    let mut more = true;
                    while more {
                        let packed = packed.take();
                        let pack = self
                            .0
                            .write(move |transaction| transaction.pack(&id, packed.as_ref()));
                        more = pack.await?;
                    }
                }
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => log::error!("the log of game {id} cannot be packed: {error}"),
            }
        }
        let last = games.last().map(|&(last, ..)| last);
        Ok(last.filter(|_| games.len() as u32 == limit))
    }

    /// Checks that the store can be written, with a commit as large as that of a play. Meant to be
    /// called about once a second. Returns the space used.
    pub async fn ready(&self) -> Result<Usage, StoreError> {
        self.0.write(|transaction| transaction.probe()).await
    }

    /// The sizes of the files.
    pub fn sizes(&self) -> Sizes {
        self.0.sizes()
    }

    /// The keyed hash of an address; the key belongs to this store.
    pub fn creator(&self, address: &[u8]) -> Creator {
        self.0.creator_key().hash(address)
    }

    /// Counters since the store was opened.
    pub fn metrics(&self) -> &StoreMetrics {
        self.0.metrics()
    }

    /// A receiver of the change feed.
    pub fn feed(&self) -> Feed {
        self.0.feed()
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
