//! A cache of games as they were last read or written.
//!
//! The cache is valid as of one position in the change feed. The header of the write-ahead log's
//! index tells whether this or another process has committed anything since. Only then the cache
//! reads the new changes and removes the games that have changed.

use std::fmt;

use parking_lot::RwLock;
use quick_cache::sync::Cache;
use rusqlite::{Connection, Row};

use super::wal::{WalIndex, WalIndexHeader};
use crate::{GameId, StoreError, StoredGame};

/// What a commit has changed.
pub(super) struct BatchChanges {
    /// The last change before the commit.
    pub before: LastChange,
    pub after: LastChange,
    pub games: Vec<ChangedGame>,
}

/// A game that has changed: its new state, or `None` if it was removed or is not known in full.
pub(super) type ChangedGame = (GameId, Option<StoredGame>);

/// The cache.
pub(super) struct GameCache {
    /// `None` if the capacity is 0.
    games: Option<Cache<GameId, StoredGame>>,
    index: WalIndex,
    /// The position up to which changes were applied. It is locked for reading to add a game, and
    /// for writing to apply changes.
    position: RwLock<FeedPosition>,
}

/// A position in the change feed.
#[derive(Default)]
struct FeedPosition {
    last: LastChange,
    /// The header of the log's index at this position; `None` if it is not known.
    index: Option<WalIndexHeader>,
}

/// The last row of the change feed. The number alone does not identify it: a file that was restored
/// to an earlier state reuses numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LastChange {
    /// 0 if there are no changes.
    pub number: i64,
    game: String,
    version: Option<i64>,
}

impl LastChange {
    /// The last change that a connection sees.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn read(connection: &Connection) -> Result<LastChange, StoreError> {
        let sql = "SELECT number, game, version FROM changes ORDER BY number DESC LIMIT 1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let last = rows.next()?.map(LastChange::from_row).transpose()?;
        Ok(last.unwrap_or_default())
    }

    /// Reads a row of the columns number, game and version.
    fn from_row(row: &Row<'_>) -> Result<LastChange, StoreError> {
        Ok(LastChange {
            number: row.get(0)?,
            game: row.get(1)?,
            version: row.get(2)?,
        })
    }
}

impl GameCache {
    /// A cache with a capacity of this many games.
    pub fn new(games: usize, index: WalIndex) -> GameCache {
        GameCache {
            games: (games > 0).then(|| Cache::new(games)),
            index,
            position: RwLock::default(),
        }
    }

    /// The game, if it is cached and no process has committed anything since.
    pub fn current(&self, id: GameId) -> Option<StoredGame> {
        self.current_change()?;
        self.get(id)
    }

    /// The number of the last change, if no process has committed anything since it was read.
    fn current_change(&self) -> Option<i64> {
        let index = self.index.header()?;
        let position = self.position.read();
        (position.index == Some(index)).then_some(position.last.number)
    }

    /// The game, if it is cached. It is current only for a reader that has
    /// [caught up](GameCache::catch_up).
    pub fn get(&self, id: GameId) -> Option<StoredGame> {
        self.games.as_ref()?.get(&id)
    }

    /// Removes the games that have changed, as this connection sees it. Returns the number of the
    /// last change.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn catch_up(&self, connection: &Connection) -> Result<i64, StoreError> {
        let Some(games) = &self.games else {
            return Ok(0);
        };
        if let Some(last) = self.current_change() {
            return Ok(last);
        }
        let mut position = self.position.write();
        // Read before the changes, so that a commit in between is noticed the next time.
        let index = self.index.header();
        if index.is_some() && position.index == index {
            return Ok(position.last.number);
        }
        let sql = "SELECT number, game, version, kind = 'game' FROM changes \
                   WHERE number >= ?1 ORDER BY number";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([position.last.number])?;
        let mut changes = Vec::new();
        while let Some(row) = rows.next()? {
            changes.push((LastChange::from_row(row)?, row.get::<_, bool>(3)?));
        }
        // If the known change is missing, it was trimmed or the file was restored.
        let first = changes.first().map(|(first, _)| first);
        if first.unwrap_or(&LastChange::default()) != &position.last {
            games.clear();
        }
        for (change, is_game) in changes.iter().skip(1) {
            if let (Ok(id), true) = (change.game.parse::<GameId>(), is_game) {
                games.remove(&id);
            }
        }
        position.last = changes.pop().map(|(last, _)| last).unwrap_or_default();
        position.index = index;
        Ok(position.last.number)
    }

    /// Adds a game that was read after its reader had caught up with the change `caught_up`.
    pub fn insert_read(&self, stored: &StoredGame, caught_up: i64) {
        let position = self.position.read();
        // Otherwise a change after `caught_up` may have been to this game.
        if let Some(games) = &self.games
            && is_cacheable(stored)
            && position.last.number <= caught_up
        {
            games.insert(stored.id, stored.clone());
        }
    }

    /// Applies a finished commit of this connection.
    pub fn committed(&self, connection: &Connection, changes: BatchChanges) {
        let BatchChanges {
            before,
            after,
            games: changed,
        } = changes;
        let Some(games) = &self.games else { return };
        let index = self.index.header();
        // Read after the header. Otherwise a commit of another process could come in between.
        let is_last = LastChange::read(connection).is_ok_and(|last| last == after);
        let mut position = self.position.write();
        if position.last != before && position.last != after {
            // Other processes have committed too. The next reader catches up.
            return;
        }
        for (id, stored) in changed {
            match stored {
                Some(stored) if is_cacheable(&stored) => games.insert(id, stored),
                _ => drop(games.remove(&id)),
            }
        }
        position.last = after;
        position.index = index.filter(|_| is_last);
    }
}

/// Whether each change of the game is in the change feed. The exception is that packing the log of
/// a closed game deletes its creator.
fn is_cacheable(stored: &StoredGame) -> bool {
    stored.creator.is_none() || !stored.is_closed()
}

/// Without the games, which contain secrets.
impl fmt::Debug for GameCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameCache").finish_non_exhaustive()
    }
}
