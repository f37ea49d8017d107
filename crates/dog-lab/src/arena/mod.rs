//! The arena: two players measured against each other in duplicate matches.
//!
//! Cards decide a game of DOG as much as play does, so every shuffle is played several times: the
//! cards of every deal follow from the shuffle seed alone (RULES §8), and player A holds each team
//! once. What one player is dealt in one game the other is dealt in another, luck cancels out, and
//! a player against itself scores exactly what chance gives. These games are one *pair*, the unit
//! of all statistics: its games are not independent of each other, pairs are.

mod matches;
mod statistics;

pub use matches::{Build, Match, run_match};
pub use statistics::{
    Decision, Interval, Pair, Sprt, SprtError, Tally, Thinking, interval, mean, mean_and_error,
};
