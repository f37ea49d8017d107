//! How long to think, and how much of that is gone.

use std::time::{Duration, Instant};

use dog_rules::player::Level;

/// The longest that anybody thinks, however many samples are asked for.
/// Tests may run where much else does.
const LONGEST: Duration = Duration::from_secs(if cfg!(test) { 120 } else { 5 });

/// How long to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Until this much time is gone. What comes of it depends on the machine and its load.
    Time(Duration),
    /// Until so many playouts are played: the same on every machine.
    Samples(u32),
}

impl Budget {
    /// How long a level thinks if nobody says; `None` for the levels that do not think ahead.
    pub const fn of(level: Level) -> Option<Budget> {
        match level {
            Level::Random | Level::Greedy => None,
            // Of the 5 ms that it promises, so that the last playout still ends within them.
            Level::Fast => Some(Budget::Time(Duration::from_millis(4))),
            Level::Strong => Some(Budget::Time(Duration::from_millis(200))),
        }
    }

    /// Turns that a playout lasts at least: where there is time for many of them the whole round,
    /// after which the net is right more often; else eight, since luck has more of a say in what is longer.
    pub(super) fn plies(self) -> u32 {
        let many = match self {
            Budget::Time(time) => time >= Duration::from_millis(20),
            Budget::Samples(most) => most >= 128,
        };
        if many { u32::MAX } else { 8 }
    }
}

/// How much of a budget is gone.
pub struct Clock {
    begin: Instant,
    budget: Budget,
}

impl Clock {
    /// A budget of which nothing is gone yet.
    pub fn start(budget: Budget) -> Clock {
        Clock {
            begin: Instant::now(),
            budget,
        }
    }

    /// The share of the budget that is used, 1 or more when it is gone.
    pub(super) fn used(&self, samples: u32) -> f64 {
        match self.budget {
            Budget::Time(time) => self.begin.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9),
            Budget::Samples(_) if self.late() => 1.0,
            Budget::Samples(most) => f64::from(samples) / f64::from(most.max(1)),
        }
    }

    /// Whether no time is left.
    pub(super) fn late(&self) -> bool {
        let longest = match self.budget {
            Budget::Time(time) => time.min(LONGEST),
            Budget::Samples(_) => LONGEST,
        };
        self.begin.elapsed() >= longest
    }
}
