//! A cache of games as they were last read or written.
//!
//! Only this process writes the file, so the cache is current: the writer takes the games of a
//! batch out before it commits, and puts their new states in afterwards. Meanwhile readers find
//! them in the file.

use std::fmt;

use parking_lot::RwLock;
use quick_cache::sync::Cache;

use crate::{GameId, StoredGame};

/// A game that has changed: its new state, or `None` if it was removed or is not known in full.
pub(super) type ChangedGame = (GameId, Option<StoredGame>);

/// The cache.
pub(super) struct GameCache {
    /// `None` if the capacity is 0.
    games: Option<Cache<GameId, StoredGame>>,
    /// It is locked for reading to add a game that was read.
    commits: RwLock<Commits>,
}

/// The commits of this process.
#[derive(Default)]
struct Commits {
    /// How many have ended.
    ended: u64,
    /// The games of the one that is going on.
    changing: Vec<GameId>,
}

impl GameCache {
    /// A cache with a capacity of this many games.
    pub fn new(games: usize) -> GameCache {
        GameCache {
            games: (games > 0).then(|| Cache::new(games)),
            commits: RwLock::default(),
        }
    }

    /// The game, if it is cached.
    pub fn get(&self, id: GameId) -> Option<StoredGame> {
        self.games.as_ref()?.get(&id)
    }

    /// How many commits have ended, for [`GameCache::insert_read`].
    pub fn commits(&self) -> u64 {
        self.commits.read().ended
    }

    /// Adds a game that was read when this many `commits` had ended, unless it may have changed
    /// since.
    pub fn insert_read(&self, stored: &StoredGame, commits: u64) {
        let now = self.commits.read();
        if let Some(games) = &self.games
            && now.ended == commits
            && !now.changing.contains(&stored.id)
        {
            games.insert(stored.id, stored.clone());
        }
    }

    /// Takes out the games that a commit is about to change.
    pub fn begin_commit(&self, changing: &[ChangedGame]) {
        let Some(games) = &self.games else { return };
        let mut commits = self.commits.write();
        commits.changing.extend(changing.iter().map(|&(id, _)| id));
        for id in &commits.changing {
            games.remove(id);
        }
    }

    /// Puts in the games as a commit has changed them.
    pub fn end_commit(&self, changed: Vec<ChangedGame>) {
        let Some(games) = &self.games else { return };
        let mut commits = self.commits.write();
        commits.ended += 1;
        commits.changing.clear();
        for (id, stored) in changed {
            match stored {
                Some(stored) => games.insert(id, stored),
                None => drop(games.remove(&id)),
            }
        }
    }
}

/// Without the games, which contain secrets.
impl fmt::Debug for GameCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameCache").finish_non_exhaustive()
    }
}
