//! Helpers for tests: new and finished games, and a database file of a test's own. Built only for
//! tests and with the feature `testing`.

use std::{env, fs, path::PathBuf, sync::Arc};

use dog_rules::{Actor, BySeat, Game, Player, Preset, Seat, Seed, Setup};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};

use crate::{
    AdminChanges, Draft, GameId, LogEntry, Store, StoreConfig, StoredGame, Timing, TokenHash,
    Tokens, now,
};

/// A temporary directory for a database file, deleted when dropped.
pub struct Dir(pub PathBuf);

impl Dir {
    #[expect(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Dir {
        let dir = env::temp_dir().join(format!("dog-store-{}", GameId::random()));
        fs::create_dir(&dir).expect("a new directory");
        Dir(dir)
    }

    /// The path of the database.
    pub fn file(&self) -> PathBuf {
        self.0.join("games.db")
    }

    /// Opens the store.
    pub fn store(&self) -> Store {
        self.store_with(StoreConfig::default())
    }

    pub fn store_with(&self, config: StoreConfig) -> Store {
        Store::open(self.file(), config).expect("a database")
    }

    /// A new directory, and its store.
    pub fn with_store() -> (Dir, Store) {
        let dir = Dir::new();
        let store = dir.store();
        (dir, store)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("a directory of this test's own");
    }
}

/// A new game that is not stored yet.
pub fn new_game() -> StoredGame {
    let now = now();
    StoredGame {
        id: GameId::random(),
        listed: true,
        reactions: true,
        imported: false,
        creator: None,
        created_at: now,
        updated_at: now,
        tokens: tokens("first"),
        seating: Arc::default(),
        data: Arc::default(),
        table: None,
        timing: Timing::default(),
        skips_to_deal: false,
        admin_changes: AdminChanges::default(),
        deadline: None,
        game: game(|seat| Player::human(format!("player {seat}")), [7; 32]),
    }
}

/// The rules' part of a new game of these players.
pub fn game(player: impl Fn(usize) -> Player, seed: [u8; 32]) -> Arc<Game> {
    let setup = Setup {
        rules: Preset::DogspielIt.rules(),
        players: (0..4).map(player).collect(),
        first_dealer: Some(Seat::default()),
        seed: Seed::new(seed),
        seed_given: false,
        must_confirm: Vec::new(),
    };
    Game::new(setup).into()
}

pub fn tokens(text: &str) -> Tokens {
    Tokens {
        host: Some(TokenHash::new(text)),
        seats: BySeat::from_fn(|seat| {
            (seat < 3).then(|| TokenHash::new(&format!("{text} {seat}")))
        }),
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

/// A game played to its end with random moves, its log, and the drafts of all its versions.
pub fn finished_game(first: &StoredGame) -> (StoredGame, Vec<LogEntry>, Vec<Draft>) {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut stored, mut log, mut drafts) = (first.clone(), vec![creation(first)], Vec::new());
    while let Some(seat) = stored.game.timed_out_seat() {
        let actions = stored.game.legal_actions(seat);
        let action = actions
            .choose(&mut dice)
            .expect("the seat has a legal action");
        let draft = Draft::new(&stored, action, Actor::Player).expect("a legal action");
        stored = draft.next.clone();
        log.push(LogEntry {
            version: stored.game.version(),
            at: stored.updated_at,
            action: Some(action.clone()),
            events: draft.events.clone(),
        });
        drafts.push(draft);
    }
    (stored, log, drafts)
}
