//! Games as they were last read or written, so that a game that goes on is not taken from its JSON
//! at every look, and can be drafted from without one.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dog_rules::game::Game;
use jiff::Timestamp;
use rand::{RngExt, rng};

use super::{id::GameId, record::Record};

/// One in so many that were only read takes another's place.
const ADMITTED_OF: u32 = 8;

/// Some games. Each has one place where it can be, and goes when another needs it.
pub(super) struct Recent(Box<[Mutex<Option<Record>>]>);

/// What tells one state of a game from all others. The version alone would do, were it not for a
/// file that is put back to an earlier state while it is served, and goes on differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub version: i64,
    pub updated_at: Timestamp,
}

impl Recent {
    /// Room for so many.
    pub fn new(games: usize) -> Recent {
        Recent((0..games).map(|_| Mutex::new(None)).collect())
    }

    /// The game as it was then, if it is here.
    pub fn get(&self, id: GameId, stamp: Stamp) -> Option<Arc<Game>> {
        let place = self.place(id)?;
        let seen = place.as_ref()?;
        (seen.id == id && seen.stamp() == stamp).then(|| Arc::clone(&seen.game))
    }

    /// What was last seen of a game, if it is here. It may be another by now, or gone.
    pub fn last(&self, id: GameId) -> Option<Record> {
        let place = self.place(id)?;
        let seen = place.as_ref()?;
        (seen.id == id).then(|| seen.clone())
    }

    /// Keeps a game that was written and is on the disk.
    pub fn put(&self, seen: Record) {
        let before = match self.place(seen.id) {
            Some(mut place) => place.replace(seen),
            None => return,
        };
        // Not while the place is locked.
        drop(before);
    }

    /// Keeps a game that was read, mostly only if no other has to go for it: who reads a great many
    /// games once must not drive out those that are played.
    pub fn offer(&self, seen: &Record) {
        let Some(place) = self.place(seen.id) else {
            return;
        };
        let is_free = place.as_ref().is_none_or(|other| other.id == seen.id);
        drop(place);
        if is_free || rng().random_ratio(1, ADMITTED_OF) {
            self.put(seen.clone());
        }
    }

    /// Where a game can be, unless there is no room for any.
    fn place(&self, id: GameId) -> Option<MutexGuard<'_, Option<Record>>> {
        let place = self.0.get(id.low_bits().checked_rem(self.0.len())?)?;
        // Nothing panics while it is locked, and it is never half changed.
        Some(place.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Without the games, which are full of secrets.
impl fmt::Debug for Recent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recent").finish_non_exhaustive()
    }
}
