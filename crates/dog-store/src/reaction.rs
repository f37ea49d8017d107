//! Reactions: what a person says to a table with one word of a list. Streams send them for a
//! moment; they are not part of a game.

use std::time::Duration;

use dog_rules::{Seat, seat::MAX_SEATS};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How long a reaction is recent, and streams send it.
pub const REACTION_TIME: SignedDuration = SignedDuration::from_secs(10);

/// How long a reaction counts towards the limit of its person.
pub const REACTION_WINDOW: SignedDuration = SignedDuration::from_secs(20);

/// The largest number of a person's reactions that count at any time: the slots of a seat.
pub const MAX_REACTIONS: i64 = 5;

dog_rules::named! {
    /// What a person says to the table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
    #[schema(as = ReactionName)]
    pub enum Reaction {
        WellPlayed = "well_played",
        Thanks = "thanks",
        Sorry = "sorry",
        Ouch = "ouch",
        Lucky = "lucky",
        OneMoment = "one_moment",
        GoodGame = "good_game",
        Dog = "dog",
    }
}

/// A reaction of the last [`REACTION_TIME`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentReaction {
    pub seat: Seat,
    pub reaction: Reaction,
    /// When the person reacted. A seat has no two at the same time.
    pub at: Timestamp,
    /// How long ago that was, by the same clock.
    pub age: Duration,
}

impl RecentReaction {
    /// The reaction of a database row; none if this program does not know it.
    pub(super) fn new(
        seat: u8,
        name: &str,
        at: Timestamp,
        now: Timestamp,
    ) -> Option<RecentReaction> {
        Some(RecentReaction {
            seat: Seat::new(seat, MAX_SEATS as u8)?,
            reaction: Reaction::by_name(name)?,
            at,
            age: Duration::try_from(now.duration_since(at)).unwrap_or_default(),
        })
    }
}
