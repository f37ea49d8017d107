//! Moves as text (the move id), as seen by the acting seat.
//!
//! ```text
//! fold              K:out  joker=K:out     Q:17>29   4:17>13   4:62>g1   2:p0>p2
//! J:17<>33  J:none  7:17>20,62>g1,40>41
//! ```

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use crate::{Card, Field, ShortList};

/// A field as a move id names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotedField {
    /// A track field.
    Track(u8),
    /// `g`: a field of the acting seat's own goal.
    OwnGoal(u8),
    /// `p`: a field of its partner's goal.
    PartnerGoal(u8),
}

impl Default for NotedField {
    fn default() -> NotedField {
        NotedField::Track(0)
    }
}

impl NotedField {
    /// The name of a field, for a seat that owns the piece or whose partner does.
    #[inline(always)]
    pub(super) fn new(field: Field, is_own: bool) -> NotedField {
        match field {
            Field::Track(field) => NotedField::Track(field),
            Field::Goal(field) if is_own => NotedField::OwnGoal(field),
            Field::Goal(field) => NotedField::PartnerGoal(field),
        }
    }
}

/// One piece's walk from here to there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Part {
    pub from: NotedField,
    pub to: NotedField,
}

/// A seven's parts in order, one to seven of them.
pub type Parts = ShortList<Part>;

/// What a card is played for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CardUse {
    /// A piece leaves the kennel.
    Out,
    /// One piece walks, forward or (a four) backward.
    Walk(Part),
    /// A jack swaps two pieces on these track fields, the mover's first.
    Swap(u8, u8),
    /// A jack played without effect.
    NoEffect,
    /// A seven's parts.
    Seven(Parts),
}

/// A move: its text is its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// Nothing can be played.
    Fold,
    /// A card is played.
    Play {
        /// The card from the hand.
        card: Card,
        /// The rank it is played as: itself, or the one a joker is announced as.
        rank: Card,
        action: CardUse,
    },
}

impl Move {
    /// The card that is played; none for a fold.
    pub fn card(&self) -> Option<Card> {
        match *self {
            Move::Fold => None,
            Move::Play { card, .. } => Some(card),
        }
    }

    /// The rank that a joker is announced as, if a joker is played.
    pub fn announced(&self) -> Option<Card> {
        match *self {
            Move::Play {
                card: Card::Joker,
                rank,
                ..
            } => Some(rank),
            _ => None,
        }
    }
}

impl fmt::Display for NotedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotedField::Track(field) => write!(f, "{field}"),
            NotedField::OwnGoal(field) => write!(f, "g{field}"),
            NotedField::PartnerGoal(field) => write!(f, "p{field}"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}>{}", self.from, self.to)
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Move::Play { card, rank, action } = self else {
            return f.write_str("fold");
        };
        f.write_str(card.name())?;
        if card != rank {
            write!(f, "={rank}")?;
        }
        f.write_str(":")?;
        match action {
            CardUse::Out => f.write_str("out"),
            CardUse::Walk(part) => part.fmt(f),
            CardUse::Swap(own, other) => write!(f, "{own}<>{other}"),
            CardUse::NoEffect => f.write_str("none"),
            CardUse::Seven(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        f.write_str(",")?;
                    }
                    part.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

impl Serialize for Move {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Move {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Move, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// Why a text is not a move id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotationError {
    #[error("a move id is \"fold\" or CARD:WHAT, such as K:out or Q:17>29")]
    NoColon,
    #[error("the card before the colon is none of A 2 3 4 5 6 7 8 9 10 J Q K joker")]
    Card,
    #[error("a joker is announced as one of the other ranks, such as joker=K:out")]
    Announcement,
    #[error("only a joker is announced as another rank")]
    NotAJoker,
    #[error("a field is a track number, g0 to g3 or p0 to p3, with no blank or leading zero")]
    Place,
    #[error("a walk is FROM>TO, such as 17>29 or 62>g1")]
    Walk,
    #[error("the {0} is not played like that")]
    NotForCard(Card),
    #[error("a seven has at most seven parts")]
    TooManyParts,
    #[error("a begun seven is 7: or joker=7: and its first parts, such as 7:17>20,62>g1")]
    NotBegunSeven,
}

impl FromStr for NotedField {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<NotedField, NotationError> {
        match text.as_bytes() {
            [b'g', field @ b'0'..=b'3'] => Ok(NotedField::OwnGoal(field - b'0')),
            [b'p', field @ b'0'..=b'3'] => Ok(NotedField::PartnerGoal(field - b'0')),
            _ => track_number(text).map(NotedField::Track),
        }
    }
}

/// Reads a track field's number.
fn track_number(text: &str) -> Result<u8, NotationError> {
    plain_number(text).ok_or(NotationError::Place)
}

/// Reads a number without signs, blanks or leading zeros.
pub(super) fn plain_number(text: &str) -> Option<u8> {
    let is_plain = text == "0" || !text.starts_with('0');
    let is_digits = text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain && is_digits)
}

impl FromStr for Part {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Part, NotationError> {
        let (from, to) = text.split_once('>').ok_or(NotationError::Walk)?;
        Ok(Part {
            from: from.parse()?,
            to: to.parse()?,
        })
    }
}

fn read_parts(text: &str) -> Result<Parts, NotationError> {
    let mut parts = Parts::new();
    for text in text.split(',') {
        if parts.try_push(text.parse()?).is_some() {
            return Err(NotationError::TooManyParts);
        }
    }
    Ok(parts)
}

impl FromStr for Move {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Move, NotationError> {
        if text == "fold" {
            return Ok(Move::Fold);
        }
        let (cards, what) = text.split_once(':').ok_or(NotationError::NoColon)?;
        let (card, rank) = match cards.split_once('=') {
            None => {
                let card: Card = cards.parse().map_err(|_| NotationError::Card)?;
                if card == Card::Joker {
                    return Err(NotationError::Announcement);
                }
                (card, card)
            }
            Some((card, rank)) => {
                if card.parse() != Ok(Card::Joker) {
                    return Err(NotationError::NotAJoker);
                }
                let rank = rank.parse().map_err(|_| NotationError::Announcement)?;
                if rank == Card::Joker {
                    return Err(NotationError::Announcement);
                }
                (Card::Joker, rank)
            }
        };
        let action = match rank {
            Card::Jack if what == "none" => CardUse::NoEffect,
            Card::Jack => {
                let (own, other) = what
                    .split_once("<>")
                    .ok_or(NotationError::NotForCard(rank))?;
                CardUse::Swap(track_number(own)?, track_number(other)?)
            }
            Card::Seven => CardUse::Seven(read_parts(what)?),
            Card::Ace | Card::King if what == "out" => CardUse::Out,
            _ if ["out", "none"].contains(&what) || what.contains(['<', ',']) => {
                return Err(NotationError::NotForCard(rank));
            }
            _ => CardUse::Walk(what.parse()?),
        };
        Ok(Move::Play { card, rank, action })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip() {
        for id in [
            "fold",
            "K:out",
            "A:out",
            "joker=K:out",
            "Q:17>29",
            "4:17>13",
            "4:62>g1",
            "2:p0>p2",
            "J:17<>33",
            "joker=J:0<>95",
            "J:none",
            "7:17>20,62>g1,40>41",
            "joker=7:0>7",
            "10:0>10",
        ] {
            let parsed: Move = id.parse().unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!(parsed.to_string(), id);
        }
    }

    /// Others are refused in their words in `tests/rules/refusals.rs`.
    #[test]
    fn ids_are_exact() {
        for text in [
            "",
            "Fold",
            "fold ",
            " K:out",
            "K: out",
            "K:Out",
            "k:out",
            "K:out:",
            "7:out",
            "Q:17>029",
            "Q:+17>29",
            "Q:17>>29",
            "Q:17>",
            "Q:>29",
            "Q:17",
            "Q:256>3",
            "5:62>g01",
            "5:62>G1",
            "5:g>g1",
            "5:62>x1",
            "J:17>33",
            "J:17<33",
            "J:g1<>17",
            "J:",
            "J:None",
            "K:none",
            "joker=:out",
            "K=K:out",
            "K=A:out",
            "Joker=K:out",
            "11:0>11",
            "1:0>1",
            "7:",
            "7:1>2,",
            "7:,1>2",
            "7:1>2,,2>3",
            "7:1>2 ,2>3",
            "Q:1>2,2>13",
            "Q",
            "K:\u{664}>17",
            "\u{0}",
            "Q:1\u{a0}>2",
        ] {
            assert!(text.parse::<Move>().is_err(), "{text:?} was read as a move");
        }
    }
}
