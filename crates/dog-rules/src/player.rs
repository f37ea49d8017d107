//! Who plays a seat.

use serde::{Deserialize, Serialize};

crate::named! {
    /// How a bot plays. The bot crate defines what each level does; a game only stores its name.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(as = BotLevel, description =
        "How well a bot or an adviser thinks. `random` and `greedy` answer at once; `fast` and \
         `strong` play on from what looks best, with the hidden cards dealt in many ways that fit \
         what the seat knows, for a few milliseconds and for 200 unless a budget is given."))]
    pub enum Level {
        /// Any playable card, then any way to play it, with equal probability.
        Random = "random",
        /// The move that leads directly to the best board and hand.
        Greedy = "greedy",
        /// The move that the value net likes best, checked by a short search.
        #[default]
        Fast = "fast",
        /// As `fast`, with a longer search.
        Strong = "strong",
    }
}

crate::named! {
    /// What plays a seat.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(description =
        "What plays a seat: a person who holds its token, or a bot. An open seat can be taken; once \
         the game has begun, a bot stands in."))]
    pub enum SeatKind {
        /// A person.
        #[default]
        Human = "human",
        /// A bot.
        Bot = "bot",
        /// Nobody yet: a person may take the seat. Once the game has begun, a bot stands in.
        Open = "open",
    }
}

/// Who plays a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// A name to show.
    pub name: String,
    pub kind: SeatKind,
    /// How the bot plays. For a human, how the server plays in its place when its time is up; for
    /// an open seat, how the bot plays that stands in.
    pub level: Level,
}

impl Player {
    /// A human with this name.
    pub fn human(name: impl Into<String>) -> Player {
        Player {
            name: name.into(),
            kind: SeatKind::Human,
            level: Level::default(),
        }
    }

    /// A bot with this name and level.
    pub fn bot(name: impl Into<String>, level: Level) -> Player {
        Player {
            name: name.into(),
            kind: SeatKind::Bot,
            level,
        }
    }

    pub fn is_human(&self) -> bool {
        self.kind == SeatKind::Human
    }

    /// Whether anybody may take the seat.
    pub fn is_open(&self) -> bool {
        self.kind == SeatKind::Open
    }
}
