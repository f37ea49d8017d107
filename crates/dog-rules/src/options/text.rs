//! Rules as text, `PRESET NAME=VALUE …`: a preset and what differs from it, by the names and values
//! of RULES §2.

use std::{fmt, str::FromStr};

use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::{Options, Preset, Rules, RulesError};

/// Why a text names no rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RulesTextError {
    #[error("there is no preset {0:?}")]
    Preset(String),
    #[error("{0:?} is no option: it is written NAME=VALUE with a name of the rules")]
    Option(String),
    #[error("{option}: {problem}")]
    Value { option: String, problem: String },
    #[error("{0}")]
    Rules(#[from] RulesError),
}

impl FromStr for Rules {
    type Err = RulesTextError;

    /// Reads rules such as `hausregeln seats=6 seven_partner=always`.
    fn from_str(text: &str) -> Result<Rules, RulesTextError> {
        let mut words = text.split_whitespace();
        let preset = words.next().unwrap_or_default();
        let mut options = Preset::by_name(preset)
            .ok_or_else(|| RulesTextError::Preset(preset.to_owned()))?
            .options();
        for word in words {
            let unknown = || RulesTextError::Option(word.to_owned());
            let (name, value) = word.split_once('=').ok_or_else(unknown)?;
            let mut all = as_data(&options);
            let option = all.get_mut(name).filter(|_| name != "preset");
            // Numbers, yes and no are written as in JSON, and words without quotes.
            *option.ok_or_else(unknown)? =
                serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            options = Options::deserialize(Value::Object(all)).map_err(|error| {
                RulesTextError::Value {
                    option: name.to_owned(),
                    problem: error.to_string(),
                }
            })?;
        }
        Ok(Rules::try_from(options)?)
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.preset.name())?;
        let published = as_data(&self.preset.options());
        for (name, value) in as_data(self.options()) {
            if published[&name] != value {
                match value {
                    Value::String(word) => write!(f, " {name}={word}")?,
                    value => write!(f, " {name}={value}")?,
                }
            }
        }
        Ok(())
    }
}

/// The options under their names.
fn as_data(options: &Options) -> Map<String, Value> {
    let Ok(Value::Object(data)) = serde_json::to_value(options) else {
        unreachable!("options have names");
    };
    data
}
