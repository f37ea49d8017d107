//! Players and advisers of DOG. They know the rules and, of a game, one seat's view of it and nothing
//! else, so that they cannot peek.
//!
//! Advice depends only on the view and on the generator given. With `rand::rngs::ChaCha8Rng`,
//! whose stream is fixed on every platform, the same seed gives the same advice on every machine.

#![forbid(unsafe_code)]

pub use dog_rules::player::Level;

mod advice;
pub mod evaluate;
mod greedy;
pub mod net;
pub mod search;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod worlds;

pub use advice::{
    Captured, Choice, Effect, GREEDY_VERSION, Suggestion, advise, at_once, choose, reply_delay,
};

#[cfg(test)]
mod tests;
