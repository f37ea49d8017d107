//! What a move does, in numbers.

use dog_rules::{board::Board, judge::Outcome, seat::Seat, view::SeatView};

/// What a move does, in numbers, for somebody who looks at the board from the seat that plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    pub captured: Captured,
    /// Pieces of the seat's team that come into their goals.
    pub pieces_home: u8,
    /// Whether a piece leaves its kennel.
    pub leaves_kennel: bool,
    /// Steps walked in all, forward or back.
    pub steps: u8,
}

/// Pieces sent to their kennels, by whose they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The seat's that plays.
    pub own: u8,
    /// Its partner's.
    pub partner: u8,
    /// Everybody else's.
    pub others: u8,
}

impl Effect {
    /// What a move with this outcome does, for the seat that plays it.
    pub fn of(view: &SeatView, outcome: &Outcome) -> Effect {
        let partner = view.seat.partner(view.rules.seats);
        let mut captured = Captured::default();
        for capture in &outcome.captures {
            if capture.seat == view.seat {
                captured.own += 1;
            } else if capture.seat == partner {
                captured.partner += 1;
            } else {
                captured.others += 1;
            }
        }
        let home = |board: &Board| {
            let of_seat = |seat: Seat| board.pieces(seat).in_goal();
            of_seat(view.seat) + of_seat(partner)
        };
        Effect {
            captured,
            // No piece leaves a goal, so there are never fewer.
            pieces_home: home(&outcome.board) - home(&view.board),
            leaves_kennel: outcome.parts.iter().any(|part| part.from.is_none()),
            steps: outcome.parts.iter().map(|part| part.steps).sum(),
        }
    }
}
