//! What is asked of the adviser, by level.

use std::{sync::atomic::AtomicU64, time::Duration};

use dog_bot::Level;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::{Registry, Unit},
};

/// How well is played.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByLevel {
    level: &'static str,
}

/// Counts advice.
#[derive(Debug)]
pub struct Advisers {
    advice: Family<ByLevel, Counter>,
    samples: Family<ByLevel, Counter>,
    seconds: Family<ByLevel, Counter<f64, AtomicU64>>,
}

impl Default for Advisers {
    /// Every level is there from the beginning, so that its first advice shows as an increase.
    fn default() -> Advisers {
        let advisers = Advisers {
            advice: Family::default(),
            samples: Family::default(),
            seconds: Family::default(),
        };
        for level in Level::ALL {
            advisers.add(level, 0, 0, Duration::ZERO);
        }
        advisers
    }
}

impl Advisers {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Times that advice was given";
        registry.register("advice", help, self.advice.clone());
        let help = "Playouts that advice was drawn from";
        registry.register("advice_samples", help, self.samples.clone());
        let help = "Time that was thought for advice";
        registry.register_with_unit("advice", help, Unit::Seconds, self.seconds.clone());
    }

    /// Advice of this level was given, after so many playouts and that time.
    pub fn advised(&self, level: Level, samples: u32, time: Duration) {
        self.add(level, 1, samples, time);
    }

    fn add(&self, level: Level, advice: u64, samples: u32, time: Duration) {
        let level = ByLevel {
            level: level.name(),
        };
        self.advice.get_or_create(&level).inc_by(advice);
        let samples = u64::from(samples);
        self.samples.get_or_create(&level).inc_by(samples);
        let seconds = time.as_secs_f64();
        self.seconds.get_or_create(&level).inc_by(seconds);
    }
}
