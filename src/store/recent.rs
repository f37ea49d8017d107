//! Games as they were last read or written, so that a game that goes on is not taken from its JSON
//! at every look, and can be drafted from without one.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use rand::{RngExt, rng};

use super::{id::GameId, record::Record};
use crate::rules::game::Game;

/// Games that are kept at most; each takes some kilobytes.
const KEPT: usize = 1024;

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
    pub fn new() -> Recent {
        Recent((0..KEPT).map(|_| Mutex::new(None)).collect())
    }

    /// The game as it was then, if it is here.
    pub fn get(&self, id: GameId, stamp: Stamp) -> Option<Arc<Game>> {
        let place = self.place(id);
        let seen = place.as_ref()?;
        (seen.id == id && seen.stamp() == stamp).then(|| Arc::clone(&seen.game))
    }

    /// What was last seen of a game, if it is here. It may be another by now, or gone.
    pub fn last(&self, id: GameId) -> Option<Record> {
        let place = self.place(id);
        let seen = place.as_ref()?;
        (seen.id == id).then(|| seen.clone())
    }

    /// Keeps a game that was written and is on the disk.
    pub fn put(&self, seen: Record) {
        let before = self.place(seen.id).replace(seen);
        // Not while the place is locked.
        drop(before);
    }

    /// Keeps a game that was read, mostly only if no other has to go for it: who reads a great many
    /// games once must not drive out those that are played.
    pub fn offer(&self, seen: &Record) {
        let taken = self.place(seen.id).as_ref().map(|other| other.id);
        if taken.is_none_or(|other| other == seen.id) || rng().random_ratio(1, ADMITTED_OF) {
            self.put(seen.clone());
        }
    }

    fn place(&self, id: GameId) -> MutexGuard<'_, Option<Record>> {
        let place = &self.0[id.low_bits() % self.0.len()];
        // Nothing panics while it is locked, and it is never half changed.
        place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without the games, which are full of secrets.
impl fmt::Debug for Recent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recent").finish_non_exhaustive()
    }
}
