//! Metrics of bots.

use std::{sync::atomic::AtomicU64, time::Duration};

use dog_bot::Level;
use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::{Registry, Unit},
};

/// What bots have done since the server started.
#[derive(Debug)]
pub struct BotMetrics {
    decisions: Family<LevelLabel, Counter>,
    seconds: Family<LevelLabel, Counter<f64, AtomicU64>>,
    pub(super) stale: Counter,
}

/// A player's level as a label.
type LevelLabel = [(&'static str, &'static str); 1];

impl BotMetrics {
    pub(super) fn new() -> BotMetrics {
        let metrics = BotMetrics {
            decisions: Family::default(),
            seconds: Family::default(),
            stale: Counter::default(),
        };
        for level in Level::ALL.map(|level| [("level", level.name())]) {
            metrics.decisions.get_or_create_owned(&level);
            metrics.seconds.get_or_create_owned(&level);
        }
        metrics
    }

    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Decisions made for bots, and for people whose time was up";
        registry.register("bot_decisions", help, self.decisions.clone());
        let help = "Time spent thinking about these decisions";
        registry.register_with_unit("bot_think", help, Unit::Seconds, self.seconds.clone());
        let help = "Decisions that were dropped because the game had changed meanwhile";
        registry.register("bot_decisions_stale", help, self.stale.clone());
    }

    /// Counts a decision of this level, which took so long.
    pub(super) fn decided(&self, level: Level, time: Duration) {
        let level = [("level", level.name())];
        self.decisions.get_or_create(&level).inc();
        self.seconds
            .get_or_create(&level)
            .inc_by(time.as_secs_f64());
    }
}
