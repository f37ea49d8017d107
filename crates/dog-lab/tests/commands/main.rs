//! Tests of the commands of `dog-lab`.

mod arena;
mod train;
