//! Experiments with players of DOG; nothing here is part of the server.
//!
//! * [`player`] is somebody who plays, [`planner`] one who plans its whole hand.
//! * [`games`] plays games between them, on many threads.
//! * [`arena`] measures players against each other.
//! * [`train`] makes the nets that `dog-bot` carries.
//! * [`cli`] is the command line of `dog-lab`, with the smaller experiments.

#![forbid(unsafe_code)]

pub mod arena;
pub mod cli;
pub mod games;
pub mod planner;
pub mod player;
pub mod train;
