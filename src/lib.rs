//! The game of DOG as a service.
//!
//! * [`store`] is where games live.
//! * [`background`] plays for bots and for those whose time is up, and removes what is old.
//! * `fair` shares threads fairly among those who use them.
//! * [`service`] is the one path of every write.
//! * [`http`] serves games over HTTP.
//! * [`picture`] draws the board.
//! * [`cli`] is the command line.

#![forbid(unsafe_code)]

pub mod background;
pub mod cli;
mod fair;
pub mod http;
pub mod picture;
pub mod service;
pub mod store;
