//! Players by name: the one place where a text becomes somebody who plays.

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::bot::{Level, planner::Planner, player::Player};

/// What the planner is called.
const PLANNER: &str = "planner";

/// A player as it is named on the command line: `NAME`, `NAME:PARAMETERS` or `NAME=PARAMETER`.
///
/// Whatever can fail, such as reading a file, fails when the text is read, so that
/// [`PlayerSpec::build`] cannot: it is called once a thread and side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerSpec {
    /// A level of the API: `random`, `greedy`.
    Level(Level),
    /// `planner`: plans its whole hand, the others standing still.
    Planner,
}

impl PlayerSpec {
    /// A player of this kind. It sits at every seat of its side, game after game, and is to keep
    /// nothing that a view told it from one decision to the next: that would be peeking at the
    /// partner's cards, and make results depend on which thread plays which game.
    pub fn build(&self) -> Box<dyn Player> {
        match *self {
            PlayerSpec::Level(level) => Box::new(level),
            PlayerSpec::Planner => Box::new(Planner::new()),
        }
    }
}

/// Why a text names no player.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    #[error("there is no player {name:?}; there are {known}", known = known())]
    Unknown { name: String },
    #[error("{name} takes no parameters, such as {parameters:?}")]
    Parameters { name: String, parameters: String },
}

/// The names of all players.
fn known() -> String {
    let levels = Level::ALL.map(Level::name);
    [&levels[..], &[PLANNER]].concat().join(", ")
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let (name, parameters) = match text.split_once([':', '=']) {
            Some((name, parameters)) => (name, Some(parameters)),
            None => (text, None),
        };
        let level = Level::by_name(name).map(PlayerSpec::Level);
        let spec = level.or((name == PLANNER).then_some(PlayerSpec::Planner));
        match (spec, parameters) {
            (Some(spec), None) => Ok(spec),
            (Some(_), Some(parameters)) => Err(SpecError::Parameters {
                name: name.to_owned(),
                parameters: parameters.to_owned(),
            }),
            (None, _) => Err(SpecError::Unknown {
                name: name.to_owned(),
            }),
        }
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerSpec::Level(level) => f.write_str(level.name()),
            PlayerSpec::Planner => f.write_str(PLANNER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_round_trip() {
        for text in ["random", "greedy", "planner"] {
            assert_eq!(text.parse::<PlayerSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_names_no_player_is_refused() {
        let refused = |text: &str| text.parse::<PlayerSpec>().expect_err(text).to_string();
        assert_eq!(
            refused("oracle:3"),
            "there is no player \"oracle\"; there are random, greedy, planner"
        );
        assert_eq!(
            refused("greedy:200ms"),
            "greedy takes no parameters, such as \"200ms\""
        );
        refused("");
    }
}
