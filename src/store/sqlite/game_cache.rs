//! Games kept in memory as they were last read or written, and whether they are still so.
//!
//! The list of changes has a number for each. What is here is the newest there is as of the last
//! change that is known. The index of the write-ahead log tells whether anybody, in this process
//! or another, has committed anything since. Only then are the changes read that are not known
//! yet, and the games removed that have changed.

use std::{
    fmt,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use dog_rules::Phase;
use quick_cache::sync::Cache;
use rusqlite::{Connection, Row};

use super::wal::{WalIndex, WalIndexHeader};
use crate::store::{GameId, StoreError, StoredGame};

/// The games.
pub(super) struct GameCache {
    /// None if there is room for no game.
    games: Option<Cache<GameId, StoredGame>>,
    index: WalIndex,
    /// What is known of changes. Whoever adds a game holds the lock for reading, whoever learns of
    /// changes holds it for writing.
    position: RwLock<FeedPosition>,
}

/// How far the changes are known.
#[derive(Default)]
struct FeedPosition {
    last: LastChange,
    /// The log's index when nothing else was there to be known; none if that is not certain.
    index: Option<WalIndexHeader>,
}

/// The last row of the list of changes. More than its number tells it from that of a file that was
/// put back to an earlier state and went on differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LastChange {
    /// 0 before the first.
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

    /// The change in a row of number, game and version.
    fn from_row(row: &Row<'_>) -> Result<LastChange, StoreError> {
        Ok(LastChange {
            number: row.get(0)?,
            game: row.get(1)?,
            version: row.get(2)?,
        })
    }
}

impl GameCache {
    /// Room for so many.
    pub fn new(games: usize, index: WalIndex) -> GameCache {
        GameCache {
            games: (games > 0).then(|| Cache::new(games)),
            index,
            position: RwLock::default(),
        }
    }

    /// The game as it is on the disk, if it is here and nobody has committed anything since.
    pub fn current(&self, id: GameId) -> Option<StoredGame> {
        self.current_change()?;
        self.get(id)
    }

    /// The number of the last change that is known, if nobody has committed anything since.
    fn current_change(&self) -> Option<i64> {
        let index = self.index.header()?;
        let position = self.position();
        (position.index == Some(index)).then_some(position.last.number)
    }

    /// The game as it was last read or written, if it is here. It is as it is on the disk for a
    /// reader that has [caught up](GameCache::catch_up).
    pub fn get(&self, id: GameId) -> Option<StoredGame> {
        self.games.as_ref()?.get(&id)
    }

    /// Removes the games that have changed by what this connection sees; the number of the last
    /// change that is known then.
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
        let mut position = self.position_mut();
        // Before the changes are read: whoever commits in between is seen the next time.
        let index = self.index.header();
        if index.is_some() && position.index == index {
            return Ok(position.last.number);
        }
        let sql = "SELECT number, game, version FROM changes WHERE number >= ?1 ORDER BY number";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([position.last.number])?;
        let mut changes = Vec::new();
        while let Some(row) = rows.next()? {
            changes.push(LastChange::from_row(row)?);
        }
        // A list that does not hold what is known is another, or has forgotten it.
        if changes.first().unwrap_or(&LastChange::default()) != &position.last {
            games.clear();
        }
        for change in changes.iter().skip(1) {
            if let Ok(id) = change.game.parse::<GameId>() {
                games.remove(&id);
            }
        }
        position.last = changes.pop().unwrap_or_default();
        position.index = index;
        Ok(position.last.number)
    }

    /// Keeps a game that was read after its reader had caught up with that change.
    pub fn insert_read(&self, stored: &StoredGame, caught_up: i64) {
        let position = self.position();
        // Else it may have changed by a change that others know of.
        if let Some(games) = &self.games
            && is_cacheable(stored)
            && position.last.number <= caught_up
        {
            games.insert(stored.id, stored.clone());
        }
    }

    /// Learns what a commit of this connection's has changed, which is on the disk: the last change
    /// before it and after it, and the games, those that are gone or not known as a whole without a
    /// record.
    pub fn committed(
        &self,
        connection: &Connection,
        (before, after): (LastChange, LastChange),
        changed: Vec<(GameId, Option<StoredGame>)>,
    ) {
        let Some(games) = &self.games else { return };
        let index = self.index.header();
        // In this order: else another process could have committed in between.
        let is_last = LastChange::read(connection).is_ok_and(|last| last == after);
        let mut position = self.position_mut();
        if position.last != before && position.last != after {
            // Others have committed, too. Readers see to it.
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

    fn position(&self) -> RwLockReadGuard<'_, FeedPosition> {
        // What was half done when somebody panicked is done again by the next reader.
        self.position.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn position_mut(&self) -> RwLockWriteGuard<'_, FeedPosition> {
        self.position
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing becomes of a game that nobody is told of: the creator of a finished one is
/// forgotten when its log is packed.
fn is_cacheable(stored: &StoredGame) -> bool {
    stored.creator.is_none() || stored.game.phase() != Phase::Finished
}

/// Without the games, which are full of secrets.
impl fmt::Debug for GameCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameCache").finish_non_exhaustive()
    }
}
