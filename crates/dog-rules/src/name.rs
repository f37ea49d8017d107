//! Names of players: which texts are allowed, and how two at a table are told apart.
//!
//! A [`Game`] takes any text, so records with other names can be replayed. Callers check a name
//! here before they give it to a game.

use thiserror::Error;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{game::Game, player::SeatKind, seat::Seat};

/// Maximum number of characters (code points) of a name.
pub const MAX_NAME: usize = 40;

/// Why a text is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    #[error("a seat's name must have 1 to {max} characters", max = MAX_NAME)]
    TooLong,
    #[error("a seat's name must have 1 to {max} characters, at least one of them visible", max = MAX_NAME)]
    Invisible,
    #[error(
        "a seat's name must have no control characters, no line separators, and none that change \
         the direction of text"
    )]
    Forbidden,
    #[error("a person's name must not be \"Bot\" or \"Bot\" and a number, as those of bots are")]
    BotName,
}

/// The name that this text gives a player of this kind. White space around it is removed, and any
/// inside becomes one blank.
///
/// # Errors
/// If a player of this kind may not have it.
pub fn checked(text: &str, kind: SeatKind) -> Result<String, NameError> {
    if text.contains(is_forbidden) {
        return Err(NameError::Forbidden);
    }
    let name = one_blank_each(text);
    if name.chars().all(is_invisible) {
        return Err(NameError::Invisible);
    }
    if name.chars().count() > MAX_NAME {
        return Err(NameError::TooLong);
    }
    if kind != SeatKind::Bot && is_bot_name(&name) {
        return Err(NameError::BotName);
    }
    Ok(name)
}

/// The name of a player who was given none.
pub fn default_name(seat: Seat, kind: SeatKind) -> String {
    let what = match kind {
        SeatKind::Bot => "Bot",
        SeatKind::Human | SeatKind::Open => "Seat",
    };
    format!("{what} {}", seat.number())
}

/// This name, with a number after it if one of the others has it: `Anna (2)`. Names that differ
/// only in case, or in characters that cannot be seen, are the same.
pub fn distinct<'a>(name: &str, others: impl IntoIterator<Item = &'a str>) -> String {
    let others: Vec<String> = others.into_iter().map(comparison_key).collect();
    let mut distinct = name.to_owned();
    // Ends at the number of seats at the latest.
    for number in 2.. {
        if !others.contains(&comparison_key(&distinct)) {
            break;
        }
        distinct = numbered(name, number);
    }
    distinct
}

impl Game {
    /// This name for the player of a seat, different from those of the other seats. The present
    /// name stays as it is.
    pub fn distinct_name(&self, seat: Seat, name: &str) -> String {
        if name == self.player(seat).name {
            return name.to_owned();
        }
        let others = Seat::all(self.rules().seats).filter(|&other| other != seat);
        distinct(name, others.map(|other| self.player(other).name.as_str()))
    }
}

/// The name of a player of a record as others may see it: a text of any kind, without what
/// [`checked`] refuses in every name.
pub fn repaired(text: &str, seat: Seat, kind: SeatKind) -> String {
    // An open seat may have none.
    if text.is_empty() && kind == SeatKind::Open {
        return String::new();
    }
    let name = one_blank_each(&text.replace(is_forbidden, " "));
    let name: String = name.chars().take(MAX_NAME).collect();
    if name.chars().all(is_invisible) {
        default_name(seat, kind)
    } else {
        name.trim_end().to_owned()
    }
}

/// The name with this number, which replaces the one that it has. A long name is cut.
fn numbered(name: &str, number: usize) -> String {
    let base = match name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once(" ("))
    {
        Some((base, digits))
            if !digits.is_empty() && digits.bytes().all(|d| d.is_ascii_digit()) =>
        {
            base
        }
        _ => name,
    };
    let mark = format!(" ({number})");
    let base: String = base.chars().take(MAX_NAME - mark.len()).collect();
    // A joiner would join the mark.
    let base = base.trim_end_matches(|c: char| c == '\u{200d}' || c.is_whitespace());
    base.to_owned() + &mark
}

fn one_blank_each(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// A text that is equal for names that look the same.
fn comparison_key(name: &str) -> String {
    let shown = name.nfkc().filter(|&c| !is_ignorable(c));
    let upper: String = shown.flat_map(char::to_uppercase).collect();
    one_blank_each(&upper.to_lowercase())
}

/// Whether a name is `Bot`, or `Bot` and a number, however it is written.
fn is_bot_name(name: &str) -> bool {
    let letters: String = comparison_key(name)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect();
    let number = letters.strip_prefix("bot");
    number.is_some_and(|number| number.chars().all(char::is_numeric))
}

/// Whether no name may have this character: controls, line and paragraph separators, and
/// embeddings, overrides and isolates, which reverse the text after them.
fn is_forbidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character by itself shows nothing. Marks belong to the character before them.
fn is_invisible(c: char) -> bool {
    c.is_whitespace() || is_combining_mark(c) || is_ignorable(c)
}

/// Whether a character leaves no trace: those that Unicode lists as `Default_Ignorable_Code_Point`,
/// and a few others.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
