//! Seats of a game: joining, handing over, tokens, rematches.

pub mod hand_over;
pub mod join;
pub mod rematch;
pub mod tokens;
