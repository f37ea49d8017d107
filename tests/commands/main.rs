//! Tests of the commands of `dog` that serve nothing.

mod perft;
mod verify;
