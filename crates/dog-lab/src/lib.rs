//! Experiments with players of DOG; nothing here is part of the server.
//!
//! * [`player`] is somebody who plays, [`planner`] one who plans its whole hand.
//! * [`arena`] measures players against each other.
//! * [`train`] makes the nets that `dog-bot` carries.
//! * [`cli`] is the command line of `dog-lab`.

#![forbid(unsafe_code)]

pub mod arena;
pub mod cli;
pub mod planner;
pub mod player;
pub mod train;
