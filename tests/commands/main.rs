//! Tests of `dog perft` and `dog verify`.

mod perft;
mod verify;
