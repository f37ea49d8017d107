//! What unit tests share.

use std::{env, fs, path::PathBuf, sync::Arc, time::Duration};

use dog_rules::{Actor, BySeat, Game, Player, Preset, Seat, Seed, Setup};
use dog_store::{
    AdminChanges, CommitResult, Draft, GameId, LogEntry, NewGame, Store, StoreConfig, StoredGame,
    Timing, TokenHash, Tokens, Write, WriteOp, now,
};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};

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

/// A new game of four people that is not stored yet.
pub fn new_game() -> StoredGame {
    let setup = Setup {
        rules: Preset::DogspielIt.rules(),
        players: (0..4)
            .map(|seat| Player::human(format!("player {seat}")))
            .collect(),
        first_dealer: Some(Seat::default()),
        seed: Seed::new([7; 32]),
        seed_given: false,
        must_confirm: Vec::new(),
    };
    let now = now();
    StoredGame {
        id: GameId::random(),
        listed: true,
        reactions: true,
        imported: false,
        creator: None,
        created_at: now,
        updated_at: now,
        tokens: Tokens {
            host: Some(TokenHash::new("host")),
            seats: BySeat::default(),
        },
        seating: Arc::default(),
        timing: Timing::default(),
        skips_to_deal: false,
        admin_changes: AdminChanges::default(),
        deadline: None,
        game: Game::new(setup).into(),
    }
}

/// The log entry of a new game.
pub fn creation(stored: &StoredGame) -> LogEntry {
    LogEntry {
        version: 1,
        at: stored.created_at,
        action: None,
        events: vec![stored.game.last_event().clone()],
    }
}

/// Adds a new game to a store.
pub async fn add(store: &Store, stored: StoredGame) {
    let new = NewGame::created(stored.clone(), stored.game.last_event()).expect("a new game");
    let op = WriteOp::Insert(Box::new(new));
    let added = store.commit(Write { op, save: None }).await;
    assert_eq!(added.expect("a commit"), CommitResult::Done);
}

/// The versions of a game that random moves play to its end.
pub fn played_to_end(first: &StoredGame) -> Vec<Draft> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut game, mut drafts) = (first.clone(), Vec::new());
    while let Some(seat) = game.game.timed_out_seat() {
        let actions = game.game.legal_actions(seat);
        let action = actions.choose(&mut rng).expect("a legal action");
        let draft = Draft::new(&game, action, Actor::Player).expect("a legal action");
        game = draft.next.clone();
        drafts.push(draft);
    }
    drafts
}

/// A temporary directory for a database file, deleted when dropped.
pub struct TempDatabase(PathBuf);

impl TempDatabase {
    pub fn new() -> TempDatabase {
        let dir = env::temp_dir().join(format!("dog-unit-test-{}", GameId::random()));
        fs::create_dir(&dir).expect("a new directory");
        TempDatabase(dir)
    }

    /// The path of the database.
    pub fn file(&self) -> PathBuf {
        self.0.join("games.db")
    }

    pub fn store(&self) -> Store {
        Store::open(self.file(), StoreConfig::default()).expect("a new database")
    }
}

impl Drop for TempDatabase {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("a directory of this test's own");
    }
}
