//! Counts of what the croupier does, for whoever watches the server.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use dog_rules::player::Level;

/// What the croupier has done since it was started.
#[derive(Debug, Default)]
pub struct Meter {
    /// By level, in the order of [`Level::ALL`].
    decisions: [AtomicU64; Level::ALL.len()],
    nanos: [AtomicU64; Level::ALL.len()],
    stale: AtomicU64,
}

/// What was done as one level does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub level: Level,
    /// Cards laid down and moves chosen; dealing needs no thought.
    pub decisions: u64,
    /// How long was thought about them.
    pub time: Duration,
}

impl Meter {
    /// A seat's level has decided, in that time.
    pub(super) fn decided(&self, level: Level, time: Duration) {
        self.decisions[level as usize].fetch_add(1, Relaxed);
        self.nanos[level as usize].fetch_add(time.as_nanos() as u64, Relaxed);
    }

    /// What was to be done came too late: the game had gone on.
    pub(super) fn came_too_late(&self) {
        self.stale.fetch_add(1, Relaxed);
    }

    /// What was done, by level.
    pub fn work(&self) -> [Work; Level::ALL.len()] {
        Level::ALL.map(|level| Work {
            level,
            decisions: self.decisions[level as usize].load(Relaxed),
            time: Duration::from_nanos(self.nanos[level as usize].load(Relaxed)),
        })
    }

    /// How often the game had gone on meanwhile.
    pub fn stale(&self) -> u64 {
        self.stale.load(Relaxed)
    }
}
