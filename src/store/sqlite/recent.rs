//! Games kept in memory as they were last read or written, and whether they are still so.
//!
//! The list of changes has a number for each. What is here is the newest there is as of the last
//! change that is known. A reader sees by SQLite's `data_version` whether anybody, in this process
//! or another, has committed anything since it last looked. Only then does it look for changes that
//! are not known yet, and removes the games that have changed.

use std::{
    cell::Cell,
    fmt,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use dog_rules::Phase;
use quick_cache::sync::Cache;
use rusqlite::{Connection, Row};

use crate::store::{GameId, Record, StoreError};

/// The games.
pub(super) struct Recent {
    /// None if there is room for no game.
    games: Option<Cache<GameId, Record>>,
    /// The last change that is known. Whoever adds a game holds the lock for reading, whoever learns
    /// of changes holds it for writing.
    known: RwLock<LastChange>,
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
        let last = rows.next()?.map(LastChange::of).transpose()?;
        Ok(last.unwrap_or_default())
    }

    /// The change in a row of number, game and version.
    fn of(row: &Row<'_>) -> Result<LastChange, StoreError> {
        Ok(LastChange {
            number: row.get(0)?,
            game: row.get(1)?,
            version: row.get(2)?,
        })
    }
}

/// What a reader's connection saw when it last looked.
#[derive(Debug, Default)]
pub(super) struct Glance {
    /// None if it has not looked yet.
    data_version: Cell<Option<i64>>,
    /// The last change then.
    change: Cell<i64>,
}

impl Recent {
    /// Room for so many.
    pub fn new(games: usize) -> Recent {
        Recent {
            games: (games > 0).then(|| Cache::new(games)),
            known: RwLock::default(),
        }
    }

    /// The game as it was last read or written, if it is here. It is as it is on the disk for a
    /// reader that has [caught up](Recent::catch_up).
    pub fn get(&self, id: GameId) -> Option<Record> {
        self.games.as_ref()?.get(&id)
    }

    /// Removes what has changed by what this connection sees.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn catch_up(&self, connection: &Connection, glance: &Glance) -> Result<(), StoreError> {
        let mut statement = connection.prepare_cached("PRAGMA data_version")?;
        let data_version = statement.query_row([], |row| row.get(0))?;
        if glance.data_version.get() == Some(data_version) {
            return Ok(());
        }
        let last = LastChange::read(connection)?;
        glance.change.set(last.number);
        if *self.known() != last {
            self.learn(connection)?;
        }
        glance.data_version.set(Some(data_version));
        Ok(())
    }

    /// Removes the games that have changed since the last change that is known.
    fn learn(&self, connection: &Connection) -> Result<(), StoreError> {
        let Some(games) = &self.games else {
            return Ok(());
        };
        let mut known = self.known_mut();
        let sql = "SELECT number, game, version FROM changes WHERE number >= ?1 ORDER BY number";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([known.number])?;
        // A list that does not hold what is known is another, or has forgotten it.
        let known_row = rows.next()?.map(LastChange::of).transpose()?;
        if known_row.is_none_or(|row| row != *known) {
            games.clear();
            drop(rows);
            *known = LastChange::read(connection)?;
            return Ok(());
        }
        while let Some(row) = rows.next()? {
            let change = LastChange::of(row)?;
            if let Ok(id) = change.game.parse::<GameId>() {
                games.remove(&id);
            }
            *known = change;
        }
        Ok(())
    }

    /// Keeps a game that this connection has read after it caught up.
    pub fn offer(&self, record: &Record, glance: &Glance) {
        let known = self.known();
        // Else it may have changed by a change that others know of.
        if let Some(games) = &self.games
            && may_be_kept(record)
            && known.number <= glance.change.get()
        {
            games.insert(record.id, record.clone());
        }
    }

    /// Learns what a commit has changed, which is on the disk: the last change before it and after
    /// it, and the games, those that are gone or not known as a whole without a record.
    pub fn committed(
        &self,
        (before, after): (LastChange, LastChange),
        changed: Vec<(GameId, Option<Record>)>,
    ) {
        let Some(games) = &self.games else { return };
        let mut known = self.known_mut();
        if *known != before && *known != after {
            // Others have committed, too. Readers see to it.
            return;
        }
        for (id, record) in changed {
            match record {
                Some(record) if may_be_kept(&record) => games.insert(id, record),
                _ => drop(games.remove(&id)),
            }
        }
        *known = after;
    }

    fn known(&self) -> RwLockReadGuard<'_, LastChange> {
        // What was half done when somebody panicked is done again by the next reader.
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_mut(&self) -> RwLockWriteGuard<'_, LastChange> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing becomes of a game that nobody is told of: the creator of a finished one is
/// forgotten when its log is packed.
fn may_be_kept(record: &Record) -> bool {
    record.creator.is_none() || record.game.phase() != Phase::Finished
}

/// Without the games, which are full of secrets.
impl fmt::Debug for Recent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recent").finish_non_exhaustive()
    }
}
