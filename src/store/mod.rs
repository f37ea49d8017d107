//! Where games live. Queries and writes are values: nothing of the database leaves this module.
//!
//! A caller looks at a game, works out what is to change, and [commits](Store::commit) it. If
//! somebody else was quicker, the write is [stale](CommitResult::Stale): nothing has changed, and the
//! caller looks again. What a commit was told is done is on the disk.
//!
//! Reads are `async` because another store may answer them over a network. Those of SQLite are
//! ready at once, on the caller's own thread, and never wait for a write: a game takes some
//! microseconds.

mod error;
mod game_log;
mod id;
mod metrics;
mod retention;
mod sqlite;
mod stored_game;
#[cfg(test)]
pub(crate) mod tests;
mod tokens;
mod write;

use std::path::Path;

use jiff::Timestamp;
use tokio::sync::watch;

use self::sqlite::Database;
pub use self::{
    error::StoreError,
    game_log::{LogEntry, LogPage, PackedLog},
    id::{Creator, GameId, GameIdError},
    metrics::{GameCounts, Sizes, StoreMetrics, Usage},
    retention::{ExpiredBatch, ExpiredGame, RetentionPolicy},
    sqlite::{BackupError, BackupReport, CheckReport, Defect, backup, check, verify_file},
    stored_game::{
        AdminChanges, Change, ChangesSince, Cursor, DueByCreator, ExpectedState, GameHead,
        GamePage, GameUpdate, LimitReached, ListQuery, LoadedGame, MAX_PLAY_VERSIONS, StoredGame,
        Timing, now,
    },
    tokens::{TokenHash, Tokens},
    write::{
        CommitResult, Draft, DraftError, NewGame, NewTicket, SavedResponse, Scope, Write, WriteOp,
    },
};

/// The store; a clone is another handle to it. When the last one goes, the writes that wait are
/// finished first.
#[derive(Clone, Debug)]
pub struct Store(Database);

/// How the store works.
#[derive(Clone, Copy, Debug)]
pub struct StoreConfig {
    /// Writes that are committed together at most, so that none waits for long; 1 commits each by
    /// itself.
    pub commit_batch: usize,
    /// Games kept in memory as they were last read or written, each of 1 to 2 kB.
    pub games_in_memory: usize,
    /// Bytes that the database may hold; 0 for any number.
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
    /// Opens a database file, creates it if it is not there, and brings it up to date.
    ///
    /// # Errors
    /// Says why the file cannot be used. One that is not ours, or newer, has not been changed.
    pub fn open(path: impl AsRef<Path>, config: StoreConfig) -> Result<Store, StoreError> {
        Database::open(path.as_ref(), config).map(Store)
    }

    /// A game, if it is there.
    ///
    /// # Errors
    /// The store cannot be read, or the game cannot be understood. So with all that follow.
    pub async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        self.0.game(id)
    }

    /// What a write is worked out from: the game, if it is about one, and for a request with an
    /// `Idempotency-Key` the response that was saved for it. That is of the same state as the game
    /// or a later one.
    pub async fn load(
        &self,
        id: Option<&GameId>,
        scope: Option<&Scope>,
    ) -> Result<LoadedGame, StoreError> {
        // In this order: else a response could be missed that belongs to the game as it is.
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

    /// The game that was added under this unique key, if it is there.
    pub async fn game_by_unique_key(
        &self,
        unique_key: &str,
    ) -> Result<Option<StoredGame>, StoreError> {
        self.0
            .read_one(|reader| reader.game_by_unique_key(unique_key))
    }

    /// A game's version, if it is there.
    pub async fn version(&self, id: &GameId) -> Result<Option<u64>, StoreError> {
        self.0.read_one(|reader| reader.version(id))
    }

    /// What is known of a game without reading the game itself, if it is there.
    pub async fn head(&self, id: &GameId) -> Result<Option<GameHead>, StoreError> {
        self.0.read_one(|reader| reader.head(id))
    }

    /// What is new in a game since this version, if one is known: the last entries of its log, so
    /// many at most. Of a packed log there may be more after them. None if there is no such game.
    pub async fn update_since(
        &self,
        id: &GameId,
        known: Option<u64>,
        limit: u32,
    ) -> Result<Option<GameUpdate>, StoreError> {
        self.0.read(|reader| reader.update_since(id, known, limit))
    }

    /// The first of the entries of a game's log after this version, so many at most. There may be
    /// more; there are none if there is no such game.
    pub async fn log(&self, id: &GameId, after: u64, limit: u32) -> Result<LogPage, StoreError> {
        self.0.read(|reader| reader.log_page(id, after, limit))
    }

    /// A part of the public list of games, newest first. A game that cannot be understood is left
    /// out, with an error in the server's log, so that it does not take the others with it.
    pub async fn games(&self, query: &ListQuery) -> Result<GamePage, StoreError> {
        self.0.read_one(|reader| reader.games(query))
    }

    /// Whose token a ticket for this game stands for, if there is such a one and it has not expired.
    pub async fn ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        self.0.read_one(|reader| reader.ticket(id, ticket, now()))
    }

    /// What has changed since the change of that number, in its order, and the number of the last
    /// change.
    pub async fn changes(&self, since: i64) -> Result<(ChangesSince, i64), StoreError> {
        self.0.read(|reader| reader.changes(since))
    }

    /// Games in which the server is to act by now, with their creators, the longest due first:
    /// those with humans, or those without.
    pub async fn due(
        &self,
        has_human: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        self.0
            .read_one(|reader| reader.due(has_human, now(), limit))
    }

    /// The longest due of each creator's games in which the server is to act by now: of so many
    /// creators at most, in the order of their hashes after that one. As many of the games without
    /// a creator come with them. Says which creator was the last, if there may be more.
    pub async fn due_by_creator(
        &self,
        has_human: bool,
        after: Option<Creator>,
        limit: u32,
    ) -> Result<DueByCreator, StoreError> {
        self.0
            .read(|reader| reader.due_by_creator(has_human, now(), after, limit))
    }

    /// When the server is to act next after that time, in whatever game.
    pub async fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.0.read(|reader| reader.next_due(after))
    }

    /// The old ones among so many games after that one, in the order of their creation.
    ///
    /// Games created after all that could be old are the last ones, so a piece with no other ends
    /// the search: what is young is not looked at, however much it is.
    pub async fn expired_games(
        &self,
        policy: RetentionPolicy,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<ExpiredBatch, StoreError> {
        self.0
            .read_one(|reader| reader.expired_games(policy, now(), after, limit))
    }

    /// How many games there are: some 10 ms for 100,000 games.
    pub async fn game_counts(&self) -> Result<GameCounts, StoreError> {
        self.0.read(|reader| reader.game_counts(now()))
    }

    /// How full the store is.
    pub async fn usage(&self) -> Result<Usage, StoreError> {
        let max = self.0.max_bytes();
        self.0.read_one(|reader| reader.usage(max))
    }

    /// Carries out a write: all of it, or nothing if it is stale or fails. A write whose future is
    /// dropped before its turn is taken back.
    ///
    /// # Errors
    /// There is no room for it, too many are waiting, or the store cannot be written. So with all
    /// that follow.
    pub async fn commit(&self, write: Write) -> Result<CommitResult, StoreError> {
        let committed = self.0.write_checked(move |transaction| {
            let committed = transaction.write(&write)?;
            // It comes back, so that the writer has no work with throwing it away.
            Ok((committed, write))
        });
        committed.await.map(|(committed, _)| committed)
    }

    /// Takes a [`ticket`](Store::ticket), which is then gone; none if it is not there any more.
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

    /// Removes the games that were found to be old, unless they have changed since; how many of
    /// them had not.
    pub async fn remove_expired(&self, games: Vec<ExpiredGame>) -> Result<usize, StoreError> {
        self.0
            .write(move |transaction| transaction.remove_expired(&games))
            .await
    }

    /// Removes a part of what is left of removed games; says whether there may be more.
    pub async fn remove_rest(&self) -> Result<bool, StoreError> {
        self.0.write(|transaction| transaction.remove_rest()).await
    }

    /// Forgets at most so many responses and as many tickets that have expired; says whether there
    /// may be more.
    pub async fn forget_expired(&self, limit: u32) -> Result<bool, StoreError> {
        self.0
            .write(move |transaction| transaction.forget_expired(now(), limit))
            .await
    }

    /// Packs the logs of games that were finished by that time, so many at most, in the order of
    /// their creation after that one; says which was the last, if there may be more. One that
    /// cannot be read stays as it is, with an error in the server's log.
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
            // A finished game's log does not change any more, whatever happens in between.
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
                Err(error) => log::error!("the log of game {id} cannot be compressed: {error}"),
            }
        }
        let last = games.last().map(|&(last, ..)| last);
        Ok(last.filter(|_| games.len() as u32 == limit))
    }

    /// Makes sure that the store can be written, by a commit as large as that of a play: ask about
    /// once a second. Says how full it is.
    pub async fn ready(&self) -> Result<Usage, StoreError> {
        self.0.write(|transaction| transaction.probe()).await
    }

    /// How large the files are.
    pub fn sizes(&self) -> Sizes {
        self.0.sizes()
    }

    /// How this store knows the address of these bytes.
    pub fn creator(&self, address: &[u8]) -> Creator {
        self.0.creator_key().hash(address)
    }

    /// What the store has done since it was opened, in numbers.
    pub fn metrics(&self) -> &StoreMetrics {
        self.0.metrics()
    }

    /// Something that tells when a game has changed.
    pub fn feed(&self) -> Feed {
        self.0.feed()
    }
}

/// Tells whether anybody, in this process or another, has changed a game.
#[derive(Clone, Debug)]
pub struct Feed(watch::Receiver<i64>);

impl Feed {
    /// Waits for a change since this was last asked; the number of the last one. This process's own
    /// are seen at once, another's within some milliseconds. A feed whose store is gone waits for
    /// ever.
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
