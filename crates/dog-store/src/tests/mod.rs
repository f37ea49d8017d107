//! Tests of the guarantees of every store, by its public interface only. Each is a function of a
//! [`TestStore`] and runs on both stores. Tests of SQLite's files and threads are in
//! `sqlite/tests`.

/// Makes a test on each store of each of these functions.
macro_rules! each_store {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            use super::TestStore;
            $(
                #[test]
                fn $test() {
                    super::$test(&TestStore::sqlite());
                }
            )+
        }

        mod postgres {
            use super::TestStore;
            $(
                #[test]
                fn $test() {
                    if let Some(store) = TestStore::postgres() {
                        super::$test(&store);
                    }
                }
            )+
        }
    };
}

/// Makes a test on PostgreSQL of each of these functions.
macro_rules! on_postgres {
    ($($test:ident),+ $(,)?) => {
        mod nodes {
            use super::TestStore;
            $(
                #[test]
                fn $test() {
                    if let Some(store) = TestStore::postgres() {
                        super::$test(&store);
                    }
                }
            )+
        }
    };
}

mod copying;
mod matches;
mod packing;
mod presence;
mod reactions;
mod reading;
mod retention;
mod reviews;
mod saving;
mod schedule;
mod sharing;
mod writing;

use std::{
    fs,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use dog_cluster::{Cluster, TestDatabase};
use dog_rules::{Action, Actor, Game, Phase, Player, Seat, SeatKind};
use jiff::SignedDuration;
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use rusqlite::Connection;

use super::*;
pub use crate::testing::*;

/// An empty database of a test's own, deleted when dropped.
pub(super) enum TestStore {
    Sqlite(Dir),
    Postgres(TestDatabase),
}

impl TestStore {
    pub fn sqlite() -> TestStore {
        TestStore::Sqlite(Dir::new())
    }

    /// `None`, with a message, on a machine without PostgreSQL.
    pub fn postgres() -> Option<TestStore> {
        Some(TestStore::Postgres(Cluster::shared()?.database()))
    }

    /// Another database of the same kind.
    pub fn another(&self) -> TestStore {
        match self {
            TestStore::Sqlite(_) => TestStore::sqlite(),
            TestStore::Postgres(_) => TestStore::postgres().unwrap(),
        }
    }

    /// Where it is.
    pub fn location(&self) -> Location {
        match self {
            TestStore::Sqlite(dir) => Location::Sqlite(dir.file()),
            TestStore::Postgres(database) => Location::Postgres(database.url().parse().unwrap()),
        }
    }

    /// Executes SQL that the store knows, on a connection of its own.
    pub fn sql(&self, sql: &str) {
        match self {
            TestStore::Sqlite(dir) => {
                let connection = Connection::open(dir.file()).unwrap();
                connection.execute_batch(sql).unwrap();
            }
            TestStore::Postgres(database) => drop(database.psql(sql)),
        }
    }

    /// The number that a statement returns, on a connection of its own.
    pub fn number(&self, sql: &str) -> i64 {
        match self {
            TestStore::Sqlite(dir) => {
                let connection = Connection::open(dir.file()).unwrap();
                connection.query_row(sql, [], |row| row.get(0)).unwrap()
            }
            TestStore::Postgres(database) => database.psql(sql).trim().parse().unwrap(),
        }
    }

    /// The report of a check.
    pub fn check(&self) -> CheckReport {
        self.location().check(|_, _| {}).unwrap()
    }

    /// Opens the store.
    pub fn store(&self) -> Store {
        self.store_with(StoreConfig::default())
    }

    /// The stores of two nodes, which share nothing but the database; of a file, which one process
    /// has, two handles.
    pub fn two_stores(&self) -> [Store; 2] {
        let store = self.store();
        match self {
            TestStore::Sqlite(_) => [store.clone(), store],
            TestStore::Postgres(_) => [store, self.store()],
        }
    }

    /// As if what a store keeps for some seconds were older by this. The SQL, to which a number of
    /// microseconds is added, does so in PostgreSQL.
    pub fn age(&self, store: &Store, sql: &str, seconds: i64) {
        match self {
            TestStore::Sqlite(_) => crate::sqlite::tests::age(store, seconds),
            TestStore::Postgres(_) => self.sql(&format!("{sql} {}", 1_000_000 * seconds)),
        }
    }

    pub fn store_with(&self, config: StoreConfig) -> Store {
        match self {
            TestStore::Sqlite(dir) => dir.store_with(config),
            TestStore::Postgres(database) => {
                let settings = database.url().parse().unwrap();
                Store::connect(settings, config).unwrap()
            }
        }
    }
}

impl Dir {
    /// The defects found by a check of the file.
    pub fn defects(&self) -> Vec<String> {
        let checked = Location::Sqlite(self.file()).check(|_, _| {}).unwrap();
        checked.defects.iter().map(Defect::to_string).collect()
    }
}

/// Waits for a future without a runtime.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Waits for a result of the store, which must not be an error.
pub(super) fn wait<T>(future: impl Future<Output = Result<T, StoreError>>) -> T {
    block_on(future).unwrap()
}

/// Commits a write without a saved response.
pub(super) fn commit(store: &Store, op: WriteOp) -> CommitResult {
    wait(store.commit(Write { op, save: None }))
}

/// Commits a write that must not be stale.
pub(super) fn commit_done(store: &Store, op: WriteOp) {
    assert_eq!(commit(store, op), CommitResult::Done);
}

/// Asserts that a write is stale.
pub(super) fn commit_stale(store: &Store, op: WriteOp) {
    assert_eq!(commit(store, op), CommitResult::Stale);
}

pub(super) fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

/// A new game of this creator's that is not stored yet.
pub(super) fn game_of(creator: Option<Creator>) -> StoredGame {
    StoredGame {
        creator,
        ..new_game()
    }
}

/// The same game under another id.
pub(super) fn renamed(stored: &StoredGame) -> StoredGame {
    StoredGame {
        id: GameId::random(),
        ..stored.clone()
    }
}

/// A table with four open seats that is not stored yet.
pub(super) fn open_table(join: JoinPolicy) -> StoredGame {
    let player = |seat| Player {
        kind: SeatKind::Open,
        ..Player::human(format!("Seat {seat}"))
    };
    let seating = Seating {
        join,
        ..Seating::default()
    };
    StoredGame {
        seating: seating.into(),
        game: game(player, [7; 32]),
        ..new_game()
    }
}

/// The write that adds a new game.
pub fn insert(stored: &StoredGame) -> NewGame {
    NewGame::created(stored.clone(), stored.game.last_event()).unwrap()
}

/// The write that adds a finished game with its log.
pub(super) fn import(stored: &StoredGame, log: &[LogEntry]) -> WriteOp {
    let new = NewGame::finished(stored.clone(), PackedLog::new(log).unwrap());
    new.unwrap().into()
}

/// Adds a new game to the store.
pub(super) fn create(store: &Store) -> StoredGame {
    add(store, new_game())
}

pub fn add(store: &Store, stored: StoredGame) -> StoredGame {
    let new = insert(&stored);
    let stored = new.game.clone();
    commit_done(store, WriteOp::from(new));
    stored
}

/// An action that a game allows a hundred times.
pub(super) fn reissue() -> Action {
    Action::ReissueToken {
        seat: Seat::default(),
    }
}

/// The draft of a legal action.
pub(super) fn draft(stored: &StoredGame, action: &Action) -> Draft {
    Draft::new(stored, action, Actor::Player).expect("a legal action")
}

/// The write that stores a legal action.
pub(super) fn update(stored: &StoredGame, action: &Action) -> WriteOp {
    WriteOp::Update(Box::new(draft(stored, action)))
}

/// The write that replaces a game's tokens.
pub(super) fn set_tokens(stored: &StoredGame, text: &str) -> WriteOp {
    WriteOp::SetTokens(stored.expected_state(), tokens(text), Arc::default())
}

/// The write that removes a game.
pub(super) fn removal(stored: &StoredGame) -> WriteOp {
    WriteOp::Remove(stored.expected_state())
}

/// The write that adds a ticket of this name, for the host.
pub(super) fn add_ticket(stored: &StoredGame, name: &str) -> WriteOp {
    let ticket = NewTicket {
        hash: TokenHash::new(name),
        token: stored.tokens.host.unwrap(),
    };
    WriteOp::AddTicket(stored.expected_state(), ticket)
}

/// Loads a game, applies an action and commits it, as the service does.
pub(super) fn act(store: &Store, id: &GameId, action: &Action) -> StoredGame {
    let stored = wait(store.game(id)).expect("the game is there");
    let draft = draft(&stored, action);
    let stored = draft.next.clone();
    assert_eq!(wait(store.commit(draft.into())), CommitResult::Done);
    stored
}

/// The entries of a game's log after the version `after`, at most `limit`.
pub(super) fn entries(store: &Store, id: &GameId, after: u64, limit: usize) -> Vec<LogEntry> {
    let (mut last, mut entries) = (after, Vec::new());
    while entries.len() < limit {
        let page = wait(store.log(id, last, (limit - entries.len()) as u32));
        let page = page.entries().unwrap();
        let Some(end) = page.last() else { break };
        last = end.version;
        entries.extend(page);
    }
    entries
}

/// A game's whole log.
pub(super) fn log(store: &Store, id: &GameId) -> Vec<LogEntry> {
    entries(store, id, 0, usize::MAX)
}

/// Adds a change, and waits until the store tells it, and so everything committed before it.
/// Returns the changes after change number `since` without this one, and its number.
fn changes_to_marker(store: &Store, since: i64) -> (Vec<Change>, i64) {
    let marker = SeatPresence {
        game: GameId::random(),
        seat: Seat::default(),
        is_present: true,
    };
    let mut feed = store.feed();
    wait(store.set_present(vec![marker]));
    loop {
        let (changes, last) = store.changes(since);
        let ChangesSince::Only(mut changes) = changes else {
            panic!("the change {since} is not known");
        };
        if changes.pop() == Some(Change::Presence(marker.game)) {
            return (changes, last);
        }
        block_on(feed.changed());
    }
}

/// The number of the last change. A store may tell a change some time after its commit; this waits
/// for all that were committed.
pub(super) fn last_change(store: &Store) -> i64 {
    let known = store.changes(0).1;
    changes_to_marker(store, known).1
}

/// All committed changes after change number `since`.
pub(super) fn changes(store: &Store, since: i64) -> Vec<Change> {
    changes_to_marker(store, since).0
}

/// Plays a game to its end in the store. Returns the game and its expected log.
pub(super) fn play_to_end(store: &Store, first: StoredGame) -> (StoredGame, Vec<LogEntry>) {
    let (stored, log, drafts) = finished_game(&add(store, first));
    for draft in drafts {
        commit_done(store, WriteOp::Update(Box::new(draft)));
    }
    (stored, log)
}

pub(super) fn scope(number: u8) -> Scope {
    Scope([number; 32])
}

pub(super) fn saved(text: &str) -> SavedResponse {
    SavedResponse {
        body_hash: TokenHash::new(text).0,
        response: text.into(),
    }
}

/// The scope and response for [`Write::save`].
pub(super) fn save(number: u8, text: &str) -> (Scope, SavedResponse) {
    (scope(number), saved(text))
}

/// Commits a write with a saved response.
pub(super) fn commit_saving(store: &Store, op: WriteOp, number: u8, text: &str) -> CommitResult {
    let save = Some(save(number, text));
    wait(store.commit(Write { op, save }))
}

/// The response that is saved in a scope.
pub(super) fn saved_response(store: &Store, number: u8) -> Option<SavedResponse> {
    wait(store.load(None, Some(&scope(number)))).saved_response
}

/// The games of the list, at most this many.
pub(super) fn listed(store: &Store, limit: u32) -> Vec<StoredGame> {
    let query = ListQuery {
        limit,
        ..ListQuery::default()
    };
    wait(store.games(&query)).games
}

/// Unfinished games are kept for ten days.
pub(super) const TEN_IDLE_DAYS: RetentionPolicy = RetentionPolicy {
    finished_days: 0,
    idle_days: 10,
};

/// A game that was created and last changed this many days ago.
pub(super) fn idle_game(created: i64, changed: i64) -> StoredGame {
    let ago = |days: i64| now() - SignedDuration::from_hours(24 * days);
    StoredGame {
        created_at: ago(created),
        updated_at: ago(changed),
        ..new_game()
    }
}
