//! What is wrong with the shape of a request, and where.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::range::NumberRange;
use crate::problem::{Code, Problem, Reason};

/// Characters of a member's name that a pointer repeats.
const MAX_NAME: usize = 64;

/// What is wrong with a request, and where.
#[derive(Debug)]
pub(super) struct InvalidShape {
    /// The names and indexes that lead to the place, the last one first.
    path: Vec<String>,
    mistake: Mistake,
}

#[derive(Debug)]
pub(super) enum Mistake {
    /// No member or parameter has this name; these may be there.
    UnknownField(&'static [&'static str]),
    /// The value must be one of these.
    UnknownValue(&'static [&'static str]),
    MissingField,
    DuplicateField,
    /// The value must be something else, which this describes.
    InvalidValue(String),
    /// The value, if it is a number, must be a whole number in this range or in a narrower one.
    InvalidNumber(Option<f64>, NumberRange),
    /// What no other case says.
    Other,
}

impl From<Mistake> for InvalidShape {
    fn from(mistake: Mistake) -> InvalidShape {
        InvalidShape {
            path: Vec::new(),
            mistake,
        }
    }
}

impl InvalidShape {
    /// The same error in the member of this name, or at this index.
    pub(super) fn at(mut self, name: &str) -> InvalidShape {
        self.path.push(name.chars().take(MAX_NAME).collect());
        self
    }

    pub(super) fn expected(expected: impl fmt::Display) -> InvalidShape {
        Mistake::InvalidValue(expected.to_string()).into()
    }

    /// The problem. `documented` returns the range that the OpenAPI document has for the number at
    /// a path.
    pub(super) fn problem(
        self,
        documented: impl FnOnce(&[String]) -> Option<NumberRange>,
    ) -> Problem {
        let InvalidShape { path, mistake } = self;
        let mut pointer = String::new();
        for name in path.iter().rev() {
            pointer.push('/');
            pointer += &name.replace('~', "~0").replace('/', "~1");
        }
        let code = match path.last() {
            Some(name) if name == "rules" => Code::InvalidRules,
            _ => Code::InvalidRequest,
        };
        let place = if pointer.is_empty() { "this" } else { &pointer };
        let (reason, allowed, what) = match mistake {
            Mistake::UnknownField([]) => (
                Reason::UnknownMember,
                Some(&[][..]),
                "is unknown: nothing may be there".to_owned(),
            ),
            Mistake::UnknownField(names) => {
                let what = format!("is unknown: use one of {}", names.join(", "));
                (Reason::UnknownMember, Some(names), what)
            }
            Mistake::UnknownValue(values) => {
                let what = format!("must be one of {}", values.join(", "));
                (Reason::WrongValue, Some(values), what)
            }
            Mistake::MissingField => (Reason::Missing, None, "is missing".to_owned()),
            Mistake::DuplicateField => (Reason::Duplicate, None, "is sent twice".to_owned()),
            Mistake::InvalidValue(expected) => {
                (Reason::WrongValue, None, format!("must be {expected}"))
            }
            Mistake::InvalidNumber(number, range) => {
                let range = documented(&path).unwrap_or(range);
                (Reason::WrongValue, None, range.refusal(number))
            }
            Mistake::Other => (Reason::WrongValue, None, "has the wrong form".to_owned()),
        };
        Problem::new(code, format!("{place} {what}"))
            .because(reason)
            .at(pointer, allowed)
    }
}

impl fmt::Display for InvalidShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.mistake)
    }
}

impl std::error::Error for InvalidShape {}

impl de::Error for InvalidShape {
    fn custom<T: fmt::Display>(_: T) -> InvalidShape {
        Mistake::Other.into()
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> InvalidShape {
        InvalidShape::expected(expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> InvalidShape {
        InvalidShape::expected(expected)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> InvalidShape {
        InvalidShape::expected(expected)
    }

    fn unknown_variant(_: &str, allowed: &'static [&'static str]) -> InvalidShape {
        Mistake::UnknownValue(allowed).into()
    }

    fn unknown_field(name: &str, allowed: &'static [&'static str]) -> InvalidShape {
        InvalidShape::from(Mistake::UnknownField(allowed)).at(name)
    }

    fn missing_field(name: &'static str) -> InvalidShape {
        InvalidShape::from(Mistake::MissingField).at(name)
    }

    fn duplicate_field(name: &'static str) -> InvalidShape {
        InvalidShape::from(Mistake::DuplicateField).at(name)
    }
}
