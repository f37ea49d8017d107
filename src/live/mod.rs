//! Live streams: every change of a game goes to all its viewers, as each may see it.

mod event_stream;
mod hub;
mod many_games;
mod messages;
mod presence;

pub use self::{
    event_stream::{EventStream, MAX_TIME_AFTER_END},
    hub::{FeedTask, Hub},
    many_games::{GameLine, ManyGames},
    messages::{Start, StreamOptions, StreamReader},
    presence::{PresenceTask, PresenceTracker},
};
