//! Experiments with players of DOG; nothing here is part of the server.
//!
//! * [`net_file`] reads and writes the files of nets.
//! * [`player`] has the players.
//! * [`games`] plays games between them, on many threads.
//! * [`arena`] measures players against each other.
//! * [`ends`] has positions whose result is proved.
//! * [`facts`] measures the game itself.
//! * [`train`] makes the nets that are built into `dog-bot`.
//! * [`cli`] is the command line of `dog-lab`, with the smaller experiments.

pub mod arena;
pub mod cli;
pub mod ends;
pub mod facts;
pub mod games;
pub mod net_file;
pub mod player;
pub mod puzzles;
pub mod train;
