//! Looking after pieces that were moved.

use dog_rules::{board::Board, options::Rules, ring, seat::Seat};

/// Looks whether a piece that a move has moved is captured before the seat's next turn.
pub(super) struct Watch {
    /// The pieces moved, by whose they are and where they stand.
    moved: Vec<(Seat, u8, u8)>,
    pub(super) captured: bool,
}

impl Watch {
    pub(super) fn new(rules: &Rules, seat: Seat, before: &Board, after: &Board) -> Watch {
        let own = [seat, seat.partner(rules.seats)];
        let moved = own.into_iter().flat_map(|seat| {
            let fields = after.track(seat) & !before.track(seat);
            let kennel = after.kennel(seat);
            ring::fields(fields).map(move |field| (seat, field, kennel))
        });
        Watch {
            moved: moved.collect(),
            captured: false,
        }
    }

    pub(super) fn look(&mut self, board: &Board) {
        self.captured |= self.moved.iter().any(|&(seat, field, kennel)| {
            !board.pieces(seat).stand_on(field) && board.kennel(seat) > kennel
        });
    }

    /// The seat's next turn has come.
    pub(super) fn over(&mut self) {
        self.moved.clear();
    }
}
