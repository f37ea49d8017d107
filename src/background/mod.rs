//! What the server does by itself: [`bots`] play, and [`retention`] removes what is old.

pub mod bots;
pub mod retention;
