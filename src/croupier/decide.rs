//! One decision: what the server does in a game in which it is to act.

use std::time::Instant;

use jiff::Timestamp;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use thiserror::Error;

use super::Meter;
use crate::{
    bot::{self, net::nets::Nets},
    rules::{
        event::Action,
        game::{ActionRefusal, Game, Phase},
        seat::Seat,
    },
    store::{ActError, Draft, GameId, Record, Store, StoreError, now},
};

/// Why nothing was done.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bot that does what it may not is a mistake of this program.
    #[error("a bot was refused: {0}")]
    Refused(#[from] ActionRefusal),
    #[error("a bot panicked")]
    Panicked,
}

impl From<ActError> for Failure {
    fn from(error: ActError) -> Failure {
        match error {
            ActError::Refused(refusal) => refusal.into(),
            ActError::Store(error) => error.into(),
        }
    }
}

/// Does what the server is to do in this game now, if anything. Whoever changes the game in the
/// meantime, in this process or another, was first, and nothing is done.
///
/// # Errors
/// Why it cannot be done.
pub(super) fn act(store: &Store, nets: &Nets, meter: &Meter, id: GameId) -> Result<(), Failure> {
    let Some(record) = store.game(&id)? else {
        return Ok(());
    };
    let Some(seat) = who(&record, now()) else {
        return Ok(());
    };
    let action = decide(nets, meter, &record.game, seat);
    let draft = Draft::new(&record, &action)?;
    match store.keep_blocking(draft) {
        Err(StoreError::Stale(_)) => meter.came_too_late(),
        kept => kept?,
    }
    Ok(())
}

/// For whom the server is to act now: a bot, once its pace allows, or somebody whose time is up.
fn who(record: &Record, now: Timestamp) -> Option<Seat> {
    if record.due_at(record.updated_at).is_none_or(|due| due > now) {
        return None;
    }
    let game = &record.game;
    game.bot_to_act().or_else(|| game.late_seat())
}

/// What the seat's level does, by what the seat sees.
fn decide(nets: &Nets, meter: &Meter, game: &Game, seat: Seat) -> Action {
    if game.phase() == Phase::Deal {
        return Action::Deal { by: Some(seat) };
    }
    let mut rng = ChaCha8Rng::from_rng(&mut rand::rng());
    let level = game.player(seat).level;
    let begun = Instant::now();
    let choice = bot::choose(nets, level, None, &game.seen_from(seat), &mut rng);
    meter.decided(level, begun.elapsed());
    choice.action(seat)
}
