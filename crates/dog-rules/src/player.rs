//! Who plays a seat.

use serde::{Deserialize, Serialize};

/// How a bot plays. The bot crate defines what each level does; a game only stores its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Any playable card, then any way to play it, with equal probability.
    Random,
    /// The move that leads directly to the best board and hand.
    Greedy,
    /// The move that the value net likes best, checked by a short search.
    #[default]
    Fast,
    /// As `fast`, with a longer search.
    Strong,
}

impl Level {
    /// Every level, the weakest first.
    pub const ALL: [Level; 4] = [Level::Random, Level::Greedy, Level::Fast, Level::Strong];

    /// The name a client uses.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Random => "random",
            Level::Greedy => "greedy",
            Level::Fast => "fast",
            Level::Strong => "strong",
        }
    }

    /// The level of that name, if there is one.
    pub fn by_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// What plays a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatKind {
    /// A person.
    #[default]
    Human,
    /// A bot.
    Bot,
    /// Nobody yet: a person may take the seat. Once the game has begun, a bot stands in.
    Open,
}

impl SeatKind {
    pub const ALL: [SeatKind; 3] = [SeatKind::Human, SeatKind::Bot, SeatKind::Open];

    /// The name a client uses.
    pub const fn name(self) -> &'static str {
        match self {
            SeatKind::Human => "human",
            SeatKind::Bot => "bot",
            SeatKind::Open => "open",
        }
    }

    /// The kind of that name, if there is one.
    pub fn by_name(name: &str) -> Option<SeatKind> {
        SeatKind::ALL.into_iter().find(|kind| kind.name() == name)
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
