//! The game of DOG, pure: no input or output, no clock, no global randomness.

#![forbid(unsafe_code)]

pub mod board;
pub mod card;
pub mod event;
pub mod exchange;
pub mod game;
pub mod judge;
pub mod movement;
pub mod moves;
pub mod notation;
pub mod options;
pub mod perft;
pub mod pieces;
pub mod player;
pub mod playout;
pub mod plays;
pub mod record;
pub mod ring;
#[cfg(feature = "utoipa")]
mod schema;
pub mod seat;
mod seven;
pub mod shuffle;
pub mod view;
