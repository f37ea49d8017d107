//! The game of DOG as a service.
//!
//! * `cli` is the command line.
//! * `app` is a running server: its state, its start and its stop.
//! * `api` is the routes, a file for each resource.
//! * `http` is what surrounds them: limits, streams, thread pools, metrics.
//! * `background` plays for bots and for players whose time is up, and removes expired data.
//! * `access` is about who may do what.
//! * `fair` shares threads fairly among clients.
//! * `quota` counts what each client uses.
//! * `player_models` tells how the seats of a game play.
//! * `rematch` finds the next game of the same people.
//! * `picture` draws the board.
//! * [`store`] keeps games in a database.

#![forbid(unsafe_code)]

mod access;
mod api;
mod app;
mod background;
pub mod cli;
mod fair;
mod http;
mod player_models;
mod quota;
mod rematch;

#[doc(hidden)]
pub use self::api::fuzz;
pub use self::{api::openapi, http::problem};
use dog_picture as picture;
#[cfg(test)]
mod testing;

pub use dog_store as store;
