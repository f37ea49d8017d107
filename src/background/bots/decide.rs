//! One decision: what the server does in a game in which it is to act, and when that is carried
//! out: a fixed time after the thinking began, several decisions in one commit.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use dog_bot::net::nets::Nets;
use dog_rules::{Action, ActionRefusal, Phase, Seat};
use futures_util::future::join_all;
use jiff::Timestamp;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use thiserror::Error;
use tokio::runtime::Runtime;

use super::{BotContext, BotMetrics, MAX_POLL, give_way};
use crate::store::{
    CommitResult, Draft, DraftError, GameId, LimitReached, StoreError, StoredGame, now,
};

/// What the server does in a game.
pub(super) struct BotAction {
    /// The game that it was made for.
    pub record: StoredGame,
    pub action: Action,
    /// When it is to be known, so that nobody learns from the time how long was thought.
    pub at: Instant,
}

/// Why nothing was done.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bot that does what it may not is a mistake of this program.
    #[error("a bot was refused: {0}")]
    Refused(#[from] ActionRefusal),
    #[error(transparent)]
    LimitReached(#[from] LimitReached),
    #[error("a bot panicked")]
    Panicked,
}

impl From<DraftError> for Failure {
    fn from(error: DraftError) -> Failure {
        match error {
            DraftError::Refused(refusal) => refusal.into(),
            DraftError::LimitReached(exhausted) => exhausted.into(),
            DraftError::Store(error) => error.into(),
        }
    }
}

/// What the server does in this game now, if it is to do anything.
pub(super) fn decide(record: StoredGame, nets: &Nets, metrics: &BotMetrics) -> Option<BotAction> {
    let seat = who(&record, now())?;
    let begun = Instant::now();
    let game = &record.game;
    let (action, reply_delay) = if game.phase() == Phase::Deal {
        (Action::Deal { by: Some(seat) }, Duration::ZERO)
    } else {
        let level = game.player(seat).level;
        let mut rng = ChaCha8Rng::from_rng(&mut rand::rng());
        let choice = dog_bot::choose(nets, level, None, &game.seen_from(seat), &mut rng);
        metrics.decided(level, begun.elapsed());
        (choice.action(seat), dog_bot::reply_delay(level))
    };
    Some(BotAction {
        record,
        action,
        at: begun + reply_delay,
    })
}

/// For whom the server is to act now: a bot, once its pace allows, or somebody whose time is up.
fn who(record: &StoredGame, now: Timestamp) -> Option<Seat> {
    if record.due_at(record.updated_at).is_none_or(|due| due > now) {
        return None;
    }
    let game = &record.game;
    game.bot_to_act().or_else(|| game.timed_out_seat())
}

/// Writes that are queued at once at most, so that those of people need not wait for many.
const TOGETHER: usize = 4;

/// The one thread that does what the others have decided.
pub(super) struct ActionCommitter {
    shared: Arc<BotContext>,
    runtime: Runtime,
    decisions: Receiver<BotAction>,
    /// What must wait. It is not much, as the longest wait is a fifth of a second.
    waiting: Vec<BotAction>,
}

impl ActionCommitter {
    pub fn new(
        shared: Arc<BotContext>,
        runtime: Runtime,
        decisions: Receiver<BotAction>,
    ) -> ActionCommitter {
        ActionCommitter {
            shared,
            runtime,
            decisions,
            waiting: Vec::new(),
        }
    }

    /// What the thread does until it is to stop.
    pub fn work(mut self) {
        give_way();
        while !self.shared.stopping.load(Ordering::Relaxed) {
            match self.decisions.recv_timeout(self.pause()) {
                Ok(decision) => self.waiting.push(decision),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.waiting.extend(self.decisions.try_iter());
            self.waiting.sort_by_key(|decision| decision.at);
            let now = Instant::now();
            let due = self.waiting.partition_point(|decision| decision.at <= now);
            let due: Vec<BotAction> = self.waiting.drain(..due.min(TOGETHER)).collect();
            if !due.is_empty() {
                self.announce(due);
            }
        }
    }

    /// How long there is nothing to announce.
    fn pause(&self) -> Duration {
        let next = self.waiting.iter().map(|decision| decision.at).min();
        let pause = next.map(|at| at.saturating_duration_since(Instant::now()));
        pause.unwrap_or(MAX_POLL).min(MAX_POLL)
    }

    /// Does these. Whoever changed one of the games in the meantime, in this process or another,
    /// was first, and nothing is done.
    fn announce(&mut self, decisions: Vec<BotAction>) {
        let store = &self.shared.store;
        let (mut drafted, mut commits) = (Vec::new(), Vec::new());
        for decision in decisions {
            let id = decision.record.id;
            let draft = AssertUnwindSafe(|| Draft::new(&decision.record, &decision.action));
            match catch_unwind(draft).map_err(|_| Failure::Panicked) {
                Ok(Ok(draft)) => {
                    drafted.push(decision);
                    commits.push(store.commit(draft.into()));
                }
                Ok(Err(error)) => self.shared.set_aside(id, &error.into()),
                Err(failure) => self.shared.set_aside(id, &failure),
            }
        }
        let committed = self.runtime.block_on(join_all(commits));
        let mut failed = None;
        for (decision, committed) in drafted.into_iter().zip(committed) {
            if let Err(error) = self.done(decision.record.id, committed) {
                failed = Some(error);
                self.waiting.push(decision);
            }
        }
        if let Some(error) = failed {
            log::warn!("bots wait: {error}");
            thread::sleep(MAX_POLL);
        }
    }

    /// Lets a game go after a write.
    ///
    /// # Errors
    /// Nothing was written, but it may go well a little later.
    fn done(
        &self,
        id: GameId,
        committed: Result<CommitResult, StoreError>,
    ) -> Result<(), StoreError> {
        match committed {
            Ok(CommitResult::Done) => self.shared.let_go(id),
            Ok(CommitResult::Stale) => {
                self.shared.metrics.stale.inc();
                self.shared.let_go(id);
            }
            Err(error) if error.is_temporary() => return Err(error),
            Err(error) => self.shared.set_aside(id, &error.into()),
        }
        Ok(())
    }
}
