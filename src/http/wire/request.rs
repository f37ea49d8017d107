//! The bodies and queries that clients send, and their conversion to types of the rules.

use std::{fmt, marker::PhantomData};

use dog_rules::{
    Card, ParseCardError, Phase, Rules, Seat, SeatKind, name::checked, seat::MAX_SEATS,
};
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use utoipa::IntoParams;

use super::{change::Include, moves::MovesOptions};
use crate::http::problem::{Code, Problem};

/// Games on a page of the list: the default and the maximum.
const LIST_LIMIT: (u32, u32) = (20, 100);

/// No parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoQuery {}

/// How to wait for a change.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GameParams {
    /// While the game is at this version, wait for the next one, up to 25 seconds; then the answer is
    /// 304.
    #[param(format = "uint64")]
    pub after_version: Option<u64>,
}

/// Where a stream begins, and a ticket for it.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsParams {
    /// The last version that was received; the stream continues after it. For clients that cannot send
    /// the header `Last-Event-ID`.
    #[param(value_type = Option<u64>)]
    pub last_event_id: Option<String>,
    /// A ticket in place of a token, for clients that cannot send one.
    pub ticket: Option<String>,
    /// What the newest change includes besides its events.
    #[param(inline)]
    pub include: Option<Include>,
    /// Whether the stream stays open after the end of the game, for an hour at most, and tells of the
    /// rematch; false by default.
    pub after_end: Option<bool>,
}

/// Which games to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// Only games in this phase.
    pub phase: Option<Phase>,
    /// Whether to list only tables with a seat that anyone may take; false by default.
    pub open: Option<bool>,
    /// Where to continue: `next` of an earlier response.
    #[param(pattern = "^(0|[1-9a-f][0-9a-f]{0,14}|[1-7][0-9a-f]{15})$")]
    pub cursor: Option<String>,
    /// Maximum number of games; 20 by default.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

impl ListParams {
    /// Maximum number of games.
    pub fn limit(&self) -> Result<u32, Problem> {
        let (default, max) = LIST_LIMIT;
        in_range("limit", self.limit, 1, max).map(|limit| limit.unwrap_or(default))
    }
}

/// Parameters of a list of moves.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MovesParams {
    /// Whether each move includes the board after it; true by default. A seven can have thousands of
    /// outcomes.
    board: Option<bool>,
    /// List the moves of this card only. The list is empty if the hand does not have the card, or if
    /// the card has no legal move.
    #[param(value_type = Option<Card>)]
    card: Option<String>,
}

impl MovesParams {
    /// What the list is to have.
    ///
    /// # Errors
    /// `unknown_card`.
    pub fn options(&self) -> Result<MovesOptions, Problem> {
        moves_options(self.board, self.card.as_deref())
    }
}

/// What a list of moves with these parameters is to have.
///
/// # Errors
/// `unknown_card`.
pub(super) fn moves_options(
    board: Option<bool>,
    card: Option<&str>,
) -> Result<MovesOptions, Problem> {
    let card = card.map(|name| card_of(name, "/card".to_owned()));
    Ok(MovesOptions {
        card: card.transpose()?,
        with_boards: board.unwrap_or(true),
    })
}

/// The seven whose next parts are listed.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SevenParams {
    /// The seven so far: `7:` or `joker=7:`, then the parts that are chosen.
    #[param(max_length = 63, example = "7:")]
    pub begun: String,
}

pub fn seat_of(number: u8, rules: &Rules, what: &str) -> Result<Seat, Problem> {
    Seat::new(number, rules.seats).ok_or_else(|| {
        let last = rules.seats - 1;
        Problem::wrong_value(what, format!("/{what} must be a seat from 0 to {last}"))
    })
}

/// The card of this name, which stands at that place in the body.
///
/// # Errors
/// `unknown_card`.
pub fn card_of(name: &str, pointer: String) -> Result<Card, Problem> {
    let unknown = |error| Problem::new(Code::UnknownCard, error);
    let parsed = name.parse().map_err(|error: ParseCardError| unknown(error));
    parsed.map_err(|problem| problem.at(pointer, Some(&Card::ALL.map(Card::name))))
}

pub fn in_range(
    name: &str,
    value: Option<u32>,
    min: u32,
    max: u32,
) -> Result<Option<u32>, Problem> {
    match value {
        Some(value) if !(min..=max).contains(&value) => Err(Problem::wrong_value(
            name,
            format!("/{name} must be {min} to {max}"),
        )),
        value => Ok(value),
    }
}

/// A list with one entry per seat. Parsing stops at more entries than a game can have.
pub struct BySeatList<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for BySeatList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BySeatList<T>, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = BySeatList<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "a list with an entry for each of {MAX_SEATS} seats at most"
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element()? {
                    entries.push(entry);
                    if entries.len() > MAX_SEATS {
                        return Err(de::Error::invalid_length(entries.len(), &self));
                    }
                }
                Ok(BySeatList(entries))
            }
        }

        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

/// The name that this member of the body gives to a player of that kind; none if it is not there.
///
/// # Errors
/// `invalid_request`, if no such player may have it.
pub fn given_name(
    text: Option<&str>,
    kind: SeatKind,
    member: &str,
) -> Result<Option<String>, Problem> {
    let name = text.map(|text| checked(text, kind)).transpose();
    name.map_err(|error| Problem::wrong_value(member, error))
}
