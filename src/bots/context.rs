//! What the threads that play for the server share, and what they have done.

use std::{
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::{Duration, Instant},
};

use dog_bot::{Level, net::nets::Nets};
use dog_store::{Creator, GameId, Store};
use parking_lot::Mutex;
use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::{Registry, Unit},
};
use tokio::sync::Notify;

use super::scheduler::{ClaimedGame, DueGames, DueScheduler};
use crate::{player_models::ModelCache, quota::CreatorQuotas};

/// The longest sleep of an idle thread: then it checks whether it is to stop.
pub(super) const MAX_POLL: Duration = Duration::from_millis(500);

/// The nice value of the threads: those that answer requests go first.
pub(super) const NICE: i32 = 10;

/// How long a game is left alone after an error that would occur again.
const ERROR_BACKOFF: Duration = Duration::from_secs(60);

/// What the threads share.
#[derive(Debug)]
pub(super) struct BotContext {
    pub store: Store,
    pub nets: Arc<Nets>,
    pub models: Arc<ModelCache>,
    /// Charged for games without people.
    pub creators: Arc<CreatorQuotas>,
    /// Whether there was room for games without people, and when.
    pub room: Mutex<Option<(Instant, bool)>>,
    pub stopping: AtomicBool,
    pub scheduler: Mutex<DueScheduler>,
    /// Signals that a game can be claimed again.
    pub released: Notify,
    pub due: Mutex<DueGames>,
    /// Held by the one idle thread that polls for work.
    pub polling: Mutex<()>,
    pub metrics: BotMetrics,
}

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

    /// Counts a decision of this level, which took this long.
    pub(super) fn decided(&self, level: Level, time: Duration) {
        let level = [("level", level.name())];
        self.decisions.get_or_create(&level).inc();
        self.seconds
            .get_or_create(&level)
            .inc_by(time.as_secs_f64());
    }
}

impl BotContext {
    /// Claims one of these due games. One without people is charged to its creator, whose other
    /// games wait too if the quota is used up.
    pub fn claim(
        &self,
        due: &[(GameId, Option<Creator>)],
        for_people: bool,
    ) -> Option<ClaimedGame> {
        let mut scheduler = self.scheduler.lock();
        if for_people {
            return scheduler.claim(due);
        }
        let mut due = due.to_vec();
        loop {
            due.retain(|(_, by)| by.is_none_or(|creator| !scheduler.is_suspended(creator)));
            let game = scheduler.claim(&due)?;
            let Some(creator) = game.creator() else {
                return Some(game);
            };
            match self.creators.charge_bot_action(creator) {
                Ok(()) => return Some(game),
                Err(wait) => scheduler.suspend(game, creator, Instant::now() + wait),
            }
        }
    }

    /// Lets other threads claim the game again.
    pub fn release(&self, id: GameId) {
        self.scheduler.lock().release(id);
        self.released.notify_one();
    }

    /// Leaves a game alone for a while after an error.
    pub fn back_off(&self, id: GameId, failure: &dyn Display) {
        log::error!("game {id} is suspended for a minute: {failure}");
        self.scheduler
            .lock()
            .back_off(id, Instant::now() + ERROR_BACKOFF);
    }
}
