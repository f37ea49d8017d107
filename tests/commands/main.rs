//! Tests of the commands of `dog` that serve nothing.

mod arena;
mod perft;
mod train;
mod verify;
