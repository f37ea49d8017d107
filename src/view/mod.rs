//! What answers, streams and pictures share.

pub mod cache;
pub mod change;
pub mod event;
pub mod game;
pub mod message;
pub mod moves;
pub mod notice;
pub mod rules;
