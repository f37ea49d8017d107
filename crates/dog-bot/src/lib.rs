//! Players and advisers of DOG. They know the rules and one seat's view of a game, and nothing
//! else, so they cannot peek.
//!
//! Advice depends only on the view and on the generator given. With `rand::rngs::ChaCha8Rng`,
//! whose stream is fixed on every platform, the same seed gives the same advice on every machine.
//!
//! ```
//! use dog_bot::{Level, advise, net::nets::Nets, player_model::PlayerModels, search::Budget};
//! use dog_rules::{Board, Card, Preset, Seat, SeatView};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let nets = Nets::built_in();
//! let rules = Preset::DogspielIt.rules();
//! let hand = [Card::Two, Card::King].into_iter().collect();
//! let view = SeatView::to_play(&rules, Board::new(), Seat::default(), hand);
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let budget = Some(Budget::Samples(10));
//! let models = PlayerModels::default();
//! let advice = advise(&nets, Level::Fast, budget, &view, &models, &|| true, &mut rng);
//! // With all pieces in the kennel the king brings one out, and the two cannot be played.
//! assert_eq!(advice.len(), 1);
//! assert!(advice[0].outcome.is_some_and(|outcome| outcome.board.fresh(view.seat)));
//! ```
//!
//! * [`advise`], [`choose`]: what a level says and does, from a seat's view.
//! * [`evaluate`]: the value of boards and hands, for the levels that do not search.
//! * [`net`]: the value nets.
//! * [`player_model`]: how each seat plays, by the moves that all have seen.
//! * [`puzzle`]: positions in which one choice is better than every other.
//! * [`reasons`]: what speaks for or against a suggestion, as codes that are true of the board.
//! * [`search`]: search by playouts.
//! * [`determinize`]: random deals of the hidden cards that fit what a seat has seen.

pub use dog_rules::Level;

mod advice;
mod budget;
pub mod determinize;
pub mod evaluate;
mod greedy;
pub mod net;
pub mod player_model;
pub mod puzzle;
pub mod reasons;
pub mod search;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use advice::{
    Captured, GREEDY_VERSION, MoveEffect, Suggestion, advise, advise_by_search, choose,
    reply_delay, rounded, static_advice,
};
pub use greedy::Choice;

#[cfg(test)]
mod tests;
