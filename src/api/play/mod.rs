//! Playing: actions, legal moves, advice.

pub mod actions;
pub mod advice;
pub mod forfeit;
pub mod legal_moves;
pub mod seven;
