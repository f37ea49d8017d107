//! Analysis of positions, by a body and by an address.

pub mod batch;
mod board;
pub mod by_address;
pub mod by_body;
mod knowledge;
pub mod position;
