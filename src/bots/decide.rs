//! Decisions: what the server does in a game.

use std::time::{Duration, Instant};

use dog_bot::{net::nets::Nets, player_model::PlayerModels, search::Budget};
use dog_rules::{
    Action, ActionRefusal, Actor, BySeat, Phase, Player, Seat, SeatKind, name::default_name,
};
use dog_store::{Draft, DraftError, LimitReached, StoreError, StoredGame};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use thiserror::Error;

use super::context::BotMetrics;

/// What the server does in a game.
pub(super) struct BotAction {
    /// The game that it was made for.
    pub stored: StoredGame,
    pub action: Action,
    pub actor: Actor,
    /// People who are absent when a game without a host begins.
    pub absent: Vec<Seat>,
    /// When to commit it, so that the time does not reveal how long the bot thought.
    pub commit_at: Instant,
}

impl BotAction {
    /// An action for nobody, to be committed at once.
    fn by_server(stored: StoredGame, action: Action, absent: Vec<Seat>) -> BotAction {
        BotAction {
            stored,
            action,
            actor: Actor::Server,
            absent,
            commit_at: Instant::now(),
        }
    }

    /// The game after the action. It revokes the token of somebody who loses the seat.
    pub fn draft(&self) -> Result<Draft, DraftError> {
        let mut draft = Draft::new(&self.stored, &self.action, self.actor)?;
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
            DraftError::LimitReached(limit) => limit.into(),
            DraftError::Store(error) => error.into(),
        }
    }
}

/// What a decision needs besides the game.
#[derive(Default)]
pub(super) struct DecisionContext {
    /// At which seats people are present.
    pub present: BySeat<bool>,
    /// How the seats have played.
    pub models: PlayerModels,
}

/// The seat that the server is to play for now.
fn seat_to_play(stored: &StoredGame, present: &BySeat<bool>) -> Option<Seat> {
    let game = &stored.game;
    game.bot_to_act().or_else(|| stored.timed_out_seat(present))
}

/// Whether the next decision in a game is a search.
pub(super) fn searches(stored: &StoredGame, present: &BySeat<bool>) -> bool {
    seat_to_play(stored, present).is_some_and(|seat| {
        let level = stored.game.player(seat).level;
        Budget::for_level(level).is_some()
    })
}

/// What the server does in this game now; none if it is not to act.
pub(super) fn decide(
    stored: StoredGame,
    context: &DecisionContext,
    nets: &Nets,
    metrics: &BotMetrics,
) -> Option<BotAction> {
    let started = Instant::now();
    if let Some((seat, kind)) = stored.next_to_complete(&context.present) {
        let (game, player) = (&stored.game, stored.game.player(seat));
        // Whoever has not asked for the rematch may come back to the seat.
        let name = match game.awaits_confirmation(seat) {
            true => player.name.clone(),
            false => game.distinct_name(seat, &default_name(seat, kind)),
        };
        let level = player.level;
        let player = Player { name, kind, level };
        let action = Action::HandOver { seat, player };
        return Some(BotAction::by_server(stored, action, Vec::new()));
    }
    if stored.server_deals() {
        let mut absent = Vec::new();
        if stored.begins_without_host() {
            absent.extend(
                Seat::all(stored.game.rules().seats)
                    .filter(|&seat| stored.game.player(seat).is_human() && !context.present[seat]),
            );
        }
        return Some(BotAction::by_server(
            stored,
            Action::Deal { by: None },
            absent,
        ));
    }
    let game = &stored.game;
    let seat = seat_to_play(&stored, &context.present)?;
    let actor = if game.bot_plays(seat) {
        Actor::Player
    } else {
        Actor::Clock
    };
    let (action, reply_delay) = if game.phase() == Phase::Deal {
        (Action::Deal { by: Some(seat) }, Duration::ZERO)
    } else if let (Actor::Clock, Some(action)) = (actor, game.clock_action(seat)) {
        (action, Duration::ZERO)
    } else {
        let level = game.player(seat).level;
        let mut rng = ChaCha8Rng::from_rng(&mut rand::rng());
        let view = game.seen_from(seat);
        let choice = dog_bot::choose(nets, level, None, &view, &context.models, &mut rng);
        metrics.decided(level, started.elapsed());
        (choice.action(seat), dog_bot::reply_delay(level))
    };
    Some(BotAction {
        stored,
        action,
        actor,
        absent: Vec::new(),
        commit_at: started + reply_delay,
    })
}
