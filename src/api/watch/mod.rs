//! Watching a game: events, presence, reactions, pictures.

pub mod events;
pub mod many_events;
pub mod pictures;
pub mod presence;
pub mod reactions;
