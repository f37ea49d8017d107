//! What unit tests share.

use std::time::Duration;

pub use dog_store::testing::{Dir as TempDatabase, creation, new_game};
use dog_store::{
    CommitResult, Draft, NewGame, Store, StoredGame, Write, WriteOp, testing::finished_game,
};

use crate::pool::PoolConfig;

/// A pool with one thread.
pub const POOL: PoolConfig = PoolConfig {
    name: "test",
    threads: 1,
    max_paused: 0,
    queue_capacity: 10,
    queue_timeout: Duration::from_secs(10),
    nice: 0,
};

/// Adds a new game to a store.
pub async fn add(store: &Store, stored: StoredGame) {
    let new = NewGame::created(stored.clone(), stored.game.last_event()).expect("a new game");
    let op = WriteOp::from(new);
    let added = store.commit(Write { op, save: None }).await;
    assert_eq!(added.expect("a commit"), CommitResult::Done);
}

/// The versions of a game that random moves play to its end.
pub fn played_to_end(first: &StoredGame) -> Vec<Draft> {
    finished_game(first).2
}
