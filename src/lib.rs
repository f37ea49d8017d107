//! The game of DOG as a service.
//!
//! * [`store`] is where games live.
//! * [`croupier`] plays for bots, and for those whose time is up.
//! * `fair` shares threads fairly among those who use them.
//! * [`api`] serves them over HTTP.
//! * `janitor` removes what is old.
//! * [`picture`] draws the board.
//! * [`cli`] is the command line.

#![forbid(unsafe_code)]

pub mod api;
pub mod cli;
pub mod croupier;
mod fair;
mod janitor;
pub mod picture;
pub mod store;
