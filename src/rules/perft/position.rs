//! A position as text: each of its lines read and written.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Position, Problem};
use crate::rules::{
    board::{Board, Placement},
    card::Cards,
    notation::Place,
    options::{Options, Preset, Rules},
    seat::{BySeat, Seat},
};

/// Reads rules, `PRESET NAME=VALUE …`: the names and values of RULES §2.
///
/// # Errors
/// Says which word is wrong and why.
pub fn read_rules(text: &str) -> Result<Rules, Problem> {
    let mut words = text.split_whitespace();
    let preset = words.next().unwrap_or_default();
    let mut options = Preset::by_name(preset)
        .ok_or_else(|| Problem::Preset(preset.to_owned()))?
        .options();
    for word in words {
        let unknown = || Problem::Option(word.to_owned());
        let (name, value) = word.split_once('=').ok_or_else(unknown)?;
        let mut all = as_data(&options);
        let option = all.get_mut(name).filter(|_| name != "preset");
        // Numbers, yes and no are written as in JSON, and words without quotes.
        *option.ok_or_else(unknown)? =
            serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        options = Options::deserialize(Value::Object(all)).map_err(|error| Problem::Value {
            option: name.to_owned(),
            problem: error.to_string(),
        })?;
    }
    Ok(Rules::try_from(options)?)
}

/// The options under their names.
fn as_data(options: &Options) -> Map<String, Value> {
    let Ok(Value::Object(data)) = serde_json::to_value(options) else {
        unreachable!("options have names");
    };
    data
}

/// What each seat has, in turn order; `-` is nothing.
fn by_seat(text: &str) -> impl Iterator<Item = impl Iterator<Item = &str>> {
    text.split('/')
        .map(|seat| seat.split_whitespace().filter(|&word| word != "-"))
}

/// The places of each seat's pieces outside the kennel; `-` alone is the empty board.
pub(super) fn read_board(rules: &Rules, text: &str) -> Result<Board, Problem> {
    if text.trim() == "-" {
        return Ok(Board::new());
    }
    let mut placements = Vec::new();
    let mut seats = rules.ring().seats();
    for words in by_seat(text) {
        // A seat too many is refused with the whole board, below.
        let seat = seats.next().unwrap_or_default();
        let mut placement = Placement::default();
        for word in words {
            place(rules, seat, word, &mut placement)?;
        }
        placements.push(placement);
    }
    Ok(Board::place(rules, &placements)?)
}

/// Reads one piece's place.
fn place(rules: &Rules, seat: Seat, word: &str, placement: &mut Placement) -> Result<(), Problem> {
    let fresh = word.strip_suffix('f');
    match (fresh.unwrap_or(word).parse(), fresh) {
        (Ok(Place::OwnGoal(field)), None) => placement.goal.push(field),
        (Ok(Place::Track(field)), fresh) => {
            let start = rules.ring().start(seat);
            if fresh.is_some() && field != start {
                return Err(Problem::Fresh { seat, field, start });
            }
            placement.fresh |= fresh.is_some();
            placement.track.push(field);
        }
        _ => return Err(Problem::Place(word.to_owned())),
    }
    Ok(())
}

/// The cards of each seat, all out of one deck.
pub(super) fn read_hands(rules: &Rules, text: &str) -> Result<BySeat<Cards>, Problem> {
    let found = text.split('/').count();
    if found != usize::from(rules.seats) {
        let expected = rules.seats;
        return Err(Problem::Hands { expected, found });
    }
    let mut hands = BySeat::<Cards>::default();
    let mut deck = rules.deck();
    for (words, hand) in by_seat(text).zip(hands.iter_mut()) {
        for word in words {
            let card = word
                .parse()
                .map_err(|unknown| Problem::Card(word.to_owned(), unknown))?;
            if !deck.remove(card) {
                return Err(Problem::TooMany(card));
            }
            hand.add(card);
        }
    }
    Ok(hands)
}

/// The number of a seat.
pub(super) fn read_turn(rules: &Rules, text: &str) -> Result<Seat, Problem> {
    let number = text.trim().parse().ok();
    number
        .and_then(|number| Seat::new(number, rules.seats))
        .ok_or_else(|| Problem::Turn(text.trim().to_owned()))
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { rules, board, .. } = self;
        write!(f, "rules {}", rules.preset.name())?;
        let published = as_data(&rules.preset.options());
        for (name, value) in as_data(rules.options()) {
            if published[&name] != value {
                match value {
                    Value::String(word) => write!(f, " {name}={word}")?,
                    value => write!(f, " {name}={value}")?,
                }
            }
        }
        let pieces = rules.ring().seats().zip(board.placements(rules));
        let pieces = pieces.map(|(seat, placement)| {
            let start = rules.ring().start(seat);
            let fresh = |field| placement.fresh && field == start;
            let track = placement.track.iter();
            let track =
                track.map(|&field| format!("{field}{}", if fresh(field) { "f" } else { "" }));
            let goal = placement.goal.iter().map(|field| format!("g{field}"));
            track.chain(goal).collect::<Vec<_>>()
        });
        let hands = rules.ring().seats().map(|seat| {
            let cards = self.hands[seat].sorted();
            cards.map(|card| card.to_string()).collect()
        });
        writeln!(f, "\nboard {}", written(pieces))?;
        writeln!(f, "hands {}", written(hands))?;
        writeln!(f, "turn {}", self.turn.number())
    }
}

/// What each seat has, as [`by_seat`] reads it.
fn written(seats: impl Iterator<Item = Vec<String>>) -> String {
    let words = |words: Vec<String>| match words.as_slice() {
        [] => "-".to_owned(),
        words => words.join(" "),
    };
    seats.map(words).collect::<Vec<_>>().join(" / ")
}
