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

/// Who plays a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// A name to show.
    pub name: String,
    /// Whether a bot plays the seat. Games stored by earlier builds have only humans.
    #[serde(default)]
    pub bot: bool,
    /// How the bot plays. For a human, how the server plays in its place when its time is up.
    #[serde(default)]
    pub level: Level,
}

impl Player {
    /// A human with this name.
    pub fn human(name: impl Into<String>) -> Player {
        Player {
            name: name.into(),
            bot: false,
            level: Level::default(),
        }
    }

    /// A bot with this name and level.
    pub fn bot(name: impl Into<String>, level: Level) -> Player {
        Player {
            name: name.into(),
            bot: true,
            level,
        }
    }

    /// What the player is, as a client names it.
    pub const fn kind(&self) -> &'static str {
        if self.bot { "bot" } else { "human" }
    }
}
