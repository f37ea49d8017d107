//! Decisions: what the server does in a game, and the thread that commits it. A decision is
//! committed a fixed time after the thinking began, several of them in one commit.

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

use dog_bot::{net::nets::Nets, player_model::PlayerModels, search::Budget};
use dog_rules::{
    Action, ActionRefusal, Actor, BySeat, Phase, Player, Seat, SeatKind, name::default_name,
};
use futures_util::future::join_all;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use thiserror::Error;
use tokio::runtime::Runtime;

use super::{BotContext, BotMetrics, MAX_POLL, lower_priority};
use crate::store::{CommitResult, Draft, DraftError, GameId, LimitReached, StoreError, StoredGame};

/// What the server does in a game.
pub(super) struct BotAction {
    /// The game that it was made for.
    pub record: StoredGame,
    pub action: Action,
    pub actor: Actor,
    /// People who are not there when a game without a host begins.
    pub absent: Vec<Seat>,
    /// When to commit it, so that the time does not reveal how long the bot thought.
    pub commit_at: Instant,
}

impl BotAction {
    /// The game after the action. The token of somebody who loses the seat is dead.
    fn draft(&self) -> Result<Draft, DraftError> {
        let mut draft = Draft::new(&self.record, &self.action, self.actor)?;
        if let Action::HandOver { seat, player } = &self.action
            && player.kind == SeatKind::Open
        {
            draft.open_seat(*seat, None);
        }
        if !self.absent.is_empty() {
            draft.note_absent(self.absent.iter().copied());
        }
        Ok(draft)
    }
}

/// Why nothing was committed.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An illegal action of a bot is a bug.
    #[error("a bot was refused: {0}")]
    Refused(#[from] ActionRefusal),
    #[error(transparent)]
    LimitReached(#[from] LimitReached),
    #[error("a bot panicked")]
    Panicked,
    /// Not an error: those who are missing have some time left.
    #[error("people may still come")]
    PeopleMayCome,
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

/// What a decision needs besides the game.
#[derive(Default)]
pub(super) struct Known {
    /// At which seats people are present.
    pub present: BySeat<bool>,
    /// How the seats have played.
    pub models: PlayerModels,
}

/// The seat that the server is to play for now.
fn seat_to_play(record: &StoredGame, present: &BySeat<bool>) -> Option<Seat> {
    let bot = record.game.bot_to_act();
    bot.or_else(|| record.timed_out_seat(present))
}

/// Whether the next decision in a game is a search.
pub(super) fn searches(record: &StoredGame, present: &BySeat<bool>) -> bool {
    let level = |seat| record.game.player(seat).level;
    seat_to_play(record, present).is_some_and(|seat| Budget::for_level(level(seat)).is_some())
}

/// What the server does in this game now; none if it is not to act.
pub(super) fn decide(
    record: StoredGame,
    known: &Known,
    nets: &Nets,
    metrics: &BotMetrics,
) -> Option<BotAction> {
    let begun = Instant::now();
    let for_nobody = |action| BotAction {
        record: record.clone(),
        action,
        actor: Actor::Server,
        absent: Vec::new(),
        commit_at: begun,
    };
    if let Some((seat, kind)) = record.next_to_complete(&known.present) {
        let name = record.game.distinct_name(seat, &default_name(seat, kind));
        let level = record.game.player(seat).level;
        let player = Player { name, kind, level };
        return Some(for_nobody(Action::HandOver { seat, player }));
    }
    if record.server_deals() {
        let mut deal = for_nobody(Action::Deal { by: None });
        if record.begins_without_host() {
            let people = Seat::all(record.game.rules().seats)
                .filter(|&seat| record.game.player(seat).is_human());
            deal.absent = people.filter(|&seat| !known.present[seat]).collect();
        }
        return Some(deal);
    }
    let game = &record.game;
    let seat = seat_to_play(&record, &known.present)?;
    let actor = if game.bot_plays(seat) {
        Actor::Player
    } else {
        Actor::Clock
    };
    let (action, reply_delay) = if game.phase() == Phase::Deal {
        (Action::Deal { by: Some(seat) }, Duration::ZERO)
    } else {
        let level = game.player(seat).level;
        let mut rng = ChaCha8Rng::from_rng(&mut rand::rng());
        let view = game.seen_from(seat);
        let choice = dog_bot::choose(nets, level, None, &view, &known.models, &mut rng);
        metrics.decided(level, begun.elapsed());
        (choice.action(seat), dog_bot::reply_delay(level))
    };
    Some(BotAction {
        record,
        action,
        actor,
        absent: Vec::new(),
        commit_at: begun + reply_delay,
    })
}

/// Writes queued at once, so that the writes of clients do not wait behind many of them.
const MAX_COMMITS: usize = 4;

/// The one thread that commits what the others have decided.
pub(super) struct ActionCommitter {
    shared: Arc<BotContext>,
    runtime: Runtime,
    actions: Receiver<BotAction>,
    /// Actions whose time has not come. They are few: none waits longer than a fifth of a second.
    waiting: Vec<BotAction>,
}

impl ActionCommitter {
    pub fn new(
        shared: Arc<BotContext>,
        runtime: Runtime,
        actions: Receiver<BotAction>,
    ) -> ActionCommitter {
        ActionCommitter {
            shared,
            runtime,
            actions,
            waiting: Vec::new(),
        }
    }

    /// Runs until the thread is to stop.
    pub fn run(mut self) {
        lower_priority();
        while !self.shared.stopping.load(Ordering::Relaxed) {
            match self.actions.recv_timeout(self.until_next()) {
                Ok(action) => self.waiting.push(action),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.waiting.extend(self.actions.try_iter());
            self.waiting.sort_by_key(|action| action.commit_at);
            let now = Instant::now();
            let due = self
                .waiting
                .partition_point(|action| action.commit_at <= now);
            let due: Vec<BotAction> = self.waiting.drain(..due.min(MAX_COMMITS)).collect();
            if !due.is_empty() {
                self.commit(due);
            }
        }
    }

    /// The time until the next action is to be committed.
    fn until_next(&self) -> Duration {
        let next = self.waiting.iter().map(|action| action.commit_at).min();
        let wait = next.map(|at| at.saturating_duration_since(Instant::now()));
        wait.unwrap_or(MAX_POLL).min(MAX_POLL)
    }

    /// Commits these actions, except in games that were changed in the meantime.
    fn commit(&mut self, actions: Vec<BotAction>) {
        let store = &self.shared.store;
        let (mut drafted, mut commits) = (Vec::new(), Vec::new());
        for action in actions {
            let id = action.record.id;
            let draft = AssertUnwindSafe(|| action.draft());
            match catch_unwind(draft).map_err(|_| Failure::Panicked) {
                Ok(Ok(draft)) => {
                    drafted.push(action);
                    commits.push(store.commit(draft.into()));
                }
                Ok(Err(error)) => self.shared.back_off(id, &error.into()),
                Err(failure) => self.shared.back_off(id, &failure),
            }
        }
        let committed = self.runtime.block_on(join_all(commits));
        let mut last_error = None;
        for (action, committed) in drafted.into_iter().zip(committed) {
            if let Err(error) = self.finish(action.record.id, committed) {
                last_error = Some(error);
                self.waiting.push(action);
            }
        }
        if let Some(error) = last_error {
            log::warn!("bots wait for the store: {error}");
            thread::sleep(MAX_POLL);
        }
    }

    /// Releases a game after its commit.
    ///
    /// # Errors
    /// If nothing was written but a later try may succeed.
    fn finish(
        &self,
        id: GameId,
        committed: Result<CommitResult, StoreError>,
    ) -> Result<(), StoreError> {
        match committed {
            Ok(CommitResult::Done) => self.shared.release(id),
            Ok(CommitResult::Stale) => {
                self.shared.metrics.stale.inc();
                self.shared.release(id);
            }
            Err(error) if error.is_temporary() => return Err(error),
            Err(error) => self.shared.back_off(id, &error.into()),
        }
        Ok(())
    }
}
