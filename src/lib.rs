//! The game of DOG as a service.
//!
//! * [`store`] keeps games in a database.
//! * [`background`] plays for bots and for players whose time is up, and removes expired data.
//! * `fair` shares threads fairly among clients.
//! * `quota` counts what each client uses.
//! * `player_models` tells how the seats of a game play.
//! * [`access`] is about who may do what.
//! * [`http`] serves games over HTTP.
//! * [`picture`] draws the board.
//! * [`cli`] is the command line.

#![forbid(unsafe_code)]

pub mod access;
pub mod background;
pub mod cli;
mod fair;
pub mod http;
pub mod picture;
mod player_models;
mod quota;
#[cfg(test)]
mod testing;

pub use dog_store as store;
