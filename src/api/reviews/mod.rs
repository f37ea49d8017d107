//! Reviews of games that are over.

pub mod review;
