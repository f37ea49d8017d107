//! A position as text: each of its lines read and written.

use std::fmt;

use super::{Position, Problem};
use crate::{
    board::{Board, Placement},
    card::Cards,
    notation::Place,
    options::Rules,
    seat::{BySeat, Seat},
};

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
        write!(f, "rules {rules}")?;
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
