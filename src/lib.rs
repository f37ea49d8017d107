//! The game of DOG as a service.
//!
//! * [`rules`] is the game, pure.
//! * [`bot`] plays and advises; of a game it knows only what a seat may see.
//! * [`arena`] measures players against each other.
//! * [`train`] makes the nets that players judge by.
//! * [`store`] is where games live.
//! * [`croupier`] plays for bots, and for those whose time is up.
//! * `fair` shares threads fairly among those who use them.
//! * [`api`] serves them over HTTP.
//! * `janitor` removes what is old.
//! * [`picture`] draws the board.
//! * [`cli`] is the command line.

#![forbid(unsafe_code)]

pub mod api;
pub mod arena;
pub mod bot;
pub mod cli;
pub mod croupier;
mod fair;
mod janitor;
pub mod picture;
pub mod rules;
pub mod store;
pub mod train;
