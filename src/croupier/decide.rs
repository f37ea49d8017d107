//! One decision: what the server does in a game in which it is to act.

use std::time::{Duration, Instant};

use dog_bot::net::nets::Nets;
use dog_rules::{
    event::Action,
    game::{ActionRefusal, Phase},
    seat::Seat,
};
use jiff::Timestamp;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use thiserror::Error;

use super::Meter;
use crate::store::{ActError, Exhausted, GameId, Record, Store, StoreError, now};

/// What the server does in a game.
pub(super) struct Decision {
    /// The game that it was made for.
    pub record: Record,
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
    Exhausted(#[from] Exhausted),
    #[error("a bot panicked")]
    Panicked,
}

impl From<ActError> for Failure {
    fn from(error: ActError) -> Failure {
        match error {
            ActError::Refused(refusal) => refusal.into(),
            ActError::Exhausted(exhausted) => exhausted.into(),
            ActError::Store(error) => error.into(),
        }
    }
}

/// What the server does in this game now, if it is to do anything.
///
/// # Errors
/// The game cannot be read.
pub(super) fn decide(
    store: &Store,
    nets: &Nets,
    meter: &Meter,
    id: GameId,
) -> Result<Option<Decision>, Failure> {
    let Some(record) = store.game(&id)? else {
        return Ok(None);
    };
    let Some(seat) = who(&record, now()) else {
        return Ok(None);
    };
    let begun = Instant::now();
    let game = &record.game;
    let (action, reply_delay) = if game.phase() == Phase::Deal {
        (Action::Deal { by: Some(seat) }, Duration::ZERO)
    } else {
        let level = game.player(seat).level;
        let mut rng = ChaCha8Rng::from_rng(&mut rand::rng());
        let choice = dog_bot::choose(nets, level, None, &game.seen_from(seat), &mut rng);
        meter.decided(level, begun.elapsed());
        (choice.action(seat), dog_bot::reply_delay(level))
    };
    Ok(Some(Decision {
        record,
        action,
        at: begun + reply_delay,
    }))
}

/// For whom the server is to act now: a bot, once its pace allows, or somebody whose time is up.
fn who(record: &Record, now: Timestamp) -> Option<Seat> {
    if record.due_at(record.updated_at).is_none_or(|due| due > now) {
        return None;
    }
    let game = &record.game;
    game.bot_to_act().or_else(|| game.late_seat())
}
