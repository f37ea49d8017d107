//! Somebody who plays.

use rand::rngs::ChaCha8Rng;

use super::{Choice, Level, choose};
use crate::rules::view::SeatView;

/// Somebody who decides for a seat, from what the seat knows and nothing else.
pub trait Player {
    /// What the seat that is to act does: a move it may play, or an answer it may give in the
    /// exchange.
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice;
}

/// A level, as it plays for the API's clients.
impl Player for Level {
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice {
        choose(*self, view, rng)
    }
}
