//! The expected time of a search.

use std::time::Duration;

use dog_rules::{Seat, SeatView, SevenPartner};

use super::{Budget, MAX_SEARCH_TIME};

/// The time of a board, with its share of everything else.
const BOARD: Duration = Duration::from_micros(3);

/// The boards of a turn without a seven.
const USUAL_BOARDS: f64 = 12.0;

/// The parts of a seven.
const STEPS: u64 = 7;

impl Budget {
    /// The time that a search with this view is expected to take: four of five are within a third and three times of it.
    pub fn expected_time(self, view: &SeatView) -> Duration {
        match self {
            Budget::Time(time) => time,
            Budget::Samples(samples) => {
                let turns = Seat::all(view.rules.seats).map(|seat| f64::from(view.counts[seat]));
                let turns = turns.sum::<f64>().min(f64::from(self.plies()));
                let boards = f64::from(samples) * turns * boards_of_turn(view);
                MAX_SEARCH_TIME.min(BOARD.mul_f64(boards.min(1e9)))
            }
        }
    }
}

/// The mean boards of a turn: most are ways to share out a seven, also by a joker.
fn boards_of_turn(view: &SeatView) -> f64 {
    let rules = view.rules;
    let (seats, deck) = (f64::from(rules.seats), f64::from(rules.deck().len()));
    let jokers = f64::from(rules.jokers);
    let sevens = jokers + (deck - jokers) / 13.0;
    let boards = Seat::all(rules.seats).map(|seat| {
        // As the hand shrinks, half of its cards are there on average.
        let cards = f64::from(view.counts[seat]) / 2.0;
        let has_seven = 1.0 - (1.0 - sevens / deck).powf(cards);
        USUAL_BOARDS + has_seven * ways_to_share(movable(view, seat))
    });
    boards.sum::<f64>() / seats
}

/// The pieces that a seven of this seat may move: those on the track, and one that comes out.
fn movable(view: &SeatView, seat: Seat) -> u64 {
    let out = |seat: Seat| {
        let (kennel, home) = (view.board.kennel(seat), view.board.pieces(seat).in_goal());
        u64::from(4 - kennel - home + kennel.min(1))
    };
    let home = view.board.pieces(seat).in_goal() == 4;
    match view.rules.seven_partner {
        SevenPartner::WhenHome if !home => out(seat),
        _ => out(seat) + out(seat.partner(view.rules.seats)),
    }
}

/// In how many ways the steps of a seven can be shared out among this many pieces.
fn ways_to_share(pieces: u64) -> f64 {
    (1..pieces).fold(f64::from(u8::from(pieces > 0)), |ways, piece| {
        ways * (STEPS + piece) as f64 / piece as f64
    })
}
