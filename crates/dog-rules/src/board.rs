//! The board: where every piece stands (RULES §1), as a small value that is cheap to copy, compare
//! and hash.

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use crate::pieces::{Field, PIECES};
use crate::{
    BySeat, GoalEntry, JackWithoutEffectWhen, Protection, Rules, Seat,
    pieces::Pieces,
    ring::{self, Fields, bit},
};

/// Where every piece stands: 48 bytes, copied and compared as one value.
///
/// The board knows neither the length of its ring nor the number of seats. Those come from the
/// [`Rules`] it is used with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    /// The track fields that hold a piece. `pieces` says the same, but slower.
    occupied: Fields,
    pieces: BySeat<Pieces>,
    /// One bit per seat.
    fresh: u8,
}

impl Default for Board {
    fn default() -> Board {
        Board::new()
    }
}

impl Board {
    /// All pieces in their kennels (RULES §7.1).
    pub fn new() -> Board {
        Board {
            occupied: 0,
            pieces: BySeat::from_fn(|_| Pieces::IN_KENNEL),
            fresh: 0,
        }
    }

    /// Where the seat's pieces stand.
    #[inline]
    pub fn pieces(&self, seat: Seat) -> Pieces {
        self.pieces[seat]
    }

    /// The track fields where the seat's pieces stand.
    #[inline]
    pub fn track(&self, seat: Seat) -> Fields {
        self.pieces[seat].track()
    }

    /// The seat's occupied goal fields, one bit per field.
    #[inline]
    pub fn goal(&self, seat: Seat) -> u8 {
        self.pieces[seat].goal()
    }

    /// The number of pieces in the seat's kennel.
    #[inline]
    pub fn kennel(&self, seat: Seat) -> u8 {
        self.pieces[seat].in_kennel()
    }

    /// Whether a fresh piece of this seat stands on its start (RULES §1).
    #[inline]
    pub fn fresh(&self, seat: Seat) -> bool {
        self.fresh >> seat.number() & 1 != 0
    }

    /// Whether all four of the seat's pieces are in its goal.
    #[inline]
    pub fn home(&self, seat: Seat) -> bool {
        self.pieces[seat].home()
    }

    /// Whether all eight of the seat's team's pieces are in their goals (RULES §7.5).
    #[inline]
    pub fn team_home(&self, rules: &Rules, seat: Seat) -> bool {
        self.home(seat) && self.home(seat.partner(rules.seats))
    }

    /// The seat whose pieces `seat` moves: its own, or its partner's once all its own are in the
    /// goal (RULES §4, whose pieces).
    #[inline]
    pub fn mover(&self, rules: &Rules, seat: Seat) -> Seat {
        if self.home(seat) {
            seat.partner(rules.seats)
        } else {
            seat
        }
    }

    /// The team that has won, if one has.
    pub fn winner(&self, rules: &Rules) -> Option<u8> {
        let seat = rules
            .ring()
            .seats()
            .find(|&seat| self.team_home(rules, seat))?;
        Some(seat.team(rules.seats))
    }

    /// The track fields that hold a piece.
    #[inline]
    pub fn occupied(&self) -> Fields {
        self.occupied
    }

    /// Whether this seat, and no other, has pieces on the track.
    #[inline]
    pub fn alone_on_track(&self, seat: Seat) -> bool {
        let own = self.track(seat);
        own != 0 && own == self.occupied
    }

    /// Whether a jack may swap a piece of this seat's, if the seat moves (RULES §6).
    pub fn can_swap(&self, rules: &Rules, mover: Seat) -> bool {
        let unprotected = self.occupied & !self.swap_protected(rules);
        let own = unprotected & self.track(mover);
        let others = unprotected & !own;
        own != 0 && (others != 0 || rules.jack_own_pair && own.count_ones() > 1)
    }

    /// Whether this seat may play a jack without effect (RULES §6 and §11).
    #[inline]
    pub fn jack_without_effect(&self, rules: &Rules, mover: Seat) -> bool {
        rules.jack_without_effect
            && (self.alone_on_track(mover)
                || rules.jack_without_effect_when == JackWithoutEffectWhen::NoSwapPossible
                    && self.track(mover) != 0
                    && !self.can_swap(rules, mover))
    }

    /// The seat whose piece stands on this track field.
    #[inline]
    pub fn owner(&self, rules: &Rules, field: u8) -> Option<Seat> {
        rules
            .ring()
            .seats()
            .find(|&seat| self.pieces[seat].stand_on(field))
    }

    /// Whether the seat's piece on its door is fresh and must leave it before it may enter the goal
    /// (RULES §4, the door, and §11, `fresh_into_goal`).
    #[inline]
    pub(super) fn must_leave_door(&self, rules: &Rules, seat: Seat) -> bool {
        rules.goal_entry == GoalEntry::OnStart && !rules.fresh_into_goal && self.fresh(seat)
    }

    /// The steps that the seat's piece on this track field has walked. At the door this is a whole
    /// lap, or 0 for a fresh piece that must leave the door first (RULES §4).
    #[inline]
    pub fn walked(&self, rules: &Rules, seat: Seat, field: u8) -> u8 {
        let ring = rules.ring();
        let door = ring.door(seat);
        if field == door && self.must_leave_door(rules, seat) {
            return 0;
        }
        ring.length() - ring.distance(field, door)
    }

    /// The fields where a block stands (RULES §4, protected start).
    #[inline]
    pub fn blocks(&self, rules: &Rules) -> Fields {
        self.protected(rules, rules.start_block)
    }

    /// The fields whose pieces cannot be swapped (RULES §6).
    #[inline]
    pub fn swap_protected(&self, rules: &Rules) -> Fields {
        self.protected(rules, rules.start_swap_protection)
    }

    #[inline]
    fn protected(&self, rules: &Rules, protection: Protection) -> Fields {
        let ring = rules.ring();
        let seats = match protection {
            // A fresh piece stands on its start.
            Protection::Fresh => self.fresh,
            Protection::Always if self.occupied & ring.starts(u8::MAX) == 0 => 0,
            Protection::Always => ring
                .seats()
                .filter(|&seat| self.pieces[seat].stand_on(ring.start(seat)))
                .map(|seat| 1 << seat.number())
                .sum(),
        };
        ring.starts(seats)
    }

    /// A hash of the whole position, good enough for tables of a few thousand boards.
    #[inline]
    pub(super) fn hash32(&self) -> u32 {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut sum = u64::from(self.fresh);
        for pieces in self.pieces.iter() {
            sum = (sum ^ u64::from(pieces.bytes()))
                .wrapping_mul(FACTOR)
                .rotate_left(29);
        }
        (sum >> 32) as u32 ^ sum as u32
    }

    /// Sends the pieces on these track fields to their kennels. None of them is fresh.
    #[inline]
    pub(super) fn capture(&mut self, fields: Fields) {
        if self.occupied & fields != 0 {
            self.send_home(fields);
        }
    }

    fn send_home(&mut self, fields: Fields) {
        for field in ring::fields(self.occupied & fields) {
            let mut seats = self.pieces.iter_mut();
            if let Some(pieces) = seats.find(|pieces| pieces.stand_on(field)) {
                pieces.relocate(Some(Field::Track(field)), None);
            }
        }
        self.occupied &= !fields;
    }

    /// Moves a piece of the seat to a free field. A fresh piece that moves is no longer fresh
    /// (RULES §4).
    #[inline]
    pub(super) fn relocate(&mut self, rules: &Rules, seat: Seat, from: Field, to: Field) {
        self.leave(rules, seat, from);
        self.take(to);
        self.pieces[seat].relocate(Some(from), Some(to));
    }

    /// Swaps two pieces, each given as a seat and a track field. Neither is fresh: a fresh piece is
    /// always protected.
    #[inline]
    pub(super) fn swap(&mut self, rules: &Rules, own: (Seat, u8), other: (Seat, u8)) {
        let (from, to) = (Field::Track(own.1), Field::Track(other.1));
        self.leave(rules, own.0, from);
        self.pieces[own.0].relocate(Some(from), None);
        self.leave(rules, other.0, to);
        self.pieces[other.0].relocate(Some(to), None);
        self.put(own.0, to);
        self.put(other.0, from);
    }

    /// Moves a piece of the seat from the kennel to a free field.
    #[inline]
    fn put(&mut self, seat: Seat, to: Field) {
        self.take(to);
        self.pieces[seat].relocate(None, Some(to));
    }

    /// Moves a piece from the kennel to the seat's free start, where it is fresh.
    #[inline]
    pub(super) fn put_fresh(&mut self, rules: &Rules, seat: Seat) {
        self.put(seat, Field::Track(rules.ring().start(seat)));
        self.fresh |= 1 << seat.number();
    }

    #[inline]
    fn leave(&mut self, rules: &Rules, seat: Seat, from: Field) {
        if let Field::Track(field) = from {
            self.occupied &= !bit(field);
            if field == rules.ring().start(seat) {
                self.fresh &= !(1 << seat.number());
            }
        }
    }

    #[inline]
    fn take(&mut self, to: Field) {
        if let Field::Track(field) = to {
            self.occupied |= bit(field);
        }
    }

    /// Whether the board is possible under these rules. A stored board does not name its rules.
    pub(super) fn fits(&self, rules: &Rules) -> bool {
        let placed = Board::place(rules, &self.placements(rules));
        placed.as_ref() == Ok(self)
    }

    /// The board as a list, seat by seat.
    pub fn placements(&self, rules: &Rules) -> Vec<Placement> {
        rules
            .ring()
            .seats()
            .map(|seat| Placement {
                track: self.pieces[seat].track_fields().collect(),
                goal: ring::fields(self.goal(seat).into()).collect(),
                kennel: Some(self.kennel(seat)),
                fresh: self.fresh(seat),
            })
            .collect()
    }

    /// Makes a board from such a list.
    ///
    /// # Errors
    /// If the pieces cannot stand like this on a board of these rules.
    pub fn place(rules: &Rules, placements: &[Placement]) -> Result<Board, BoardError> {
        if placements.len() != usize::from(rules.seats) {
            return Err(BoardError::Seats {
                expected: rules.seats,
                found: placements.len(),
            });
        }
        let mut board = Board::new();
        for (seat, placement) in rules.ring().seats().zip(placements) {
            let out = placement.track.len() + placement.goal.len();
            let in_kennel = placement
                .kennel
                .map_or_else(|| usize::from(PIECES).saturating_sub(out), usize::from);
            for (index, &field) in placement.track.iter().enumerate() {
                if field >= rules.ring().length() {
                    let last = rules.ring().length() - 1;
                    return Err(BoardError::OffTrack { seat, field, last });
                }
                if board.occupied & bit(field) != 0 || placement.track[..index].contains(&field) {
                    return Err(BoardError::TwoOnTrack { field });
                }
            }
            for (index, &field) in placement.goal.iter().enumerate() {
                if field >= PIECES {
                    return Err(BoardError::OffGoal { seat, field });
                }
                if placement.goal[..index].contains(&field) {
                    return Err(BoardError::TwoInGoal { seat, field });
                }
            }
            if out + in_kennel != usize::from(PIECES) {
                let found = out + in_kennel;
                return Err(BoardError::Pieces { seat, found });
            }
            let track = placement.track.iter().copied().map(Field::Track);
            let goal = placement.goal.iter().copied().map(Field::Goal);
            track.chain(goal).for_each(|field| board.put(seat, field));
            if placement.fresh {
                let start = rules.ring().start(seat);
                if !board.pieces[seat].stand_on(start) {
                    return Err(BoardError::NothingFresh { seat, start });
                }
                board.fresh |= 1 << seat.number();
            }
        }
        Ok(board)
    }
}

/// How a board is stored: each seat's track fields, then each seat's goal fields as bits.
#[derive(Serialize, Deserialize)]
struct BoardJson {
    track: Vec<Vec<u8>>,
    goal: BySeat<u8>,
    fresh: u8,
}

impl Serialize for Board {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BoardJson {
            track: self
                .pieces
                .iter()
                .map(|pieces| pieces.track_fields().collect())
                .collect(),
            goal: self.pieces.map(|pieces| pieces.goal()),
            fresh: self.fresh,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Board {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Board, D::Error> {
        let BoardJson { track, goal, fresh } = BoardJson::deserialize(deserializer)?;
        let mut board = Board {
            fresh,
            ..Board::new()
        };
        for ((pieces, track), &goal) in board.pieces.iter_mut().zip(track).zip(goal.iter()) {
            let track = track.into_iter().map(Field::Track);
            let goal = (0..PIECES).filter(|field| goal >> field & 1 != 0);
            for field in track.chain(goal.map(Field::Goal)) {
                let crowded = pieces.in_kennel() == 0;
                let off = matches!(field, Field::Track(96..));
                let taken =
                    matches!(field, Field::Track(field) if board.occupied & bit(field) != 0);
                if off || crowded || taken {
                    return Err(serde::de::Error::custom("the pieces do not form a board"));
                }
                pieces.relocate(None, Some(field));
                if let Field::Track(field) = field {
                    board.occupied |= bit(field);
                }
            }
        }
        Ok(board)
    }
}

/// Where one seat's four pieces stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "utoipa",
    derive(utoipa::ToSchema),
    schema(
        as = SeatBoard,
        example = json!({"track": [0, 17], "goal": [2], "kennel": 1, "fresh": true})
    )
)]
pub struct Placement {
    /// Track fields, ascending.
    #[cfg_attr(feature = "utoipa", schema(max_items = 4))]
    pub track: Vec<u8>,
    /// Fields of its own goal, ascending: 0 is nearest the ring.
    #[cfg_attr(feature = "utoipa", schema(max_items = 4))]
    pub goal: Vec<u8>,
    /// Pieces in the kennel.
    // If there is no number, those that stand nowhere else.
    #[cfg_attr(feature = "utoipa", schema(required, value_type = u8, maximum = 4))]
    pub kennel: Option<u8>,
    /// Whether the piece on its own start is fresh.
    pub fresh: bool,
}

/// Why a board is impossible.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BoardError {
    #[error("the board must have {expected} entries, not {found}")]
    Seats { expected: u8, found: usize },
    #[error("{seat} must have 4 pieces, not {found}")]
    Pieces { seat: Seat, found: usize },
    #[error("{seat} stands on track field {field}, the last one is {last}")]
    OffTrack { seat: Seat, field: u8, last: u8 },
    #[error("{seat} stands on goal field {field}, the last one is 3")]
    OffGoal { seat: Seat, field: u8 },
    #[error("two pieces stand on track field {field}")]
    TwoOnTrack { field: u8 },
    #[error("two pieces of {seat} stand on its goal field {field}")]
    TwoInGoal { seat: Seat, field: u8 },
    #[error("{seat} has a fresh piece, but none of its pieces stands on its start, field {start}")]
    NothingFresh { seat: Seat, start: u8 },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::options::Preset;
    use super::*;

    fn placement(track: &[u8], goal: &[u8], kennel: Option<u8>, fresh: bool) -> Placement {
        Placement {
            track: track.to_vec(),
            goal: goal.to_vec(),
            kennel,
            fresh,
        }
    }

    #[test]
    fn boards_round_trip() {
        let rules = Preset::DogspielIt.rules();
        let placements = [
            placement(&[0, 63], &[1], Some(1), true),
            placement(&[16], &[], Some(3), false),
            placement(&[], &[0, 1, 2, 3], Some(0), false),
            placement(&[], &[], Some(4), false),
        ];
        let board = Board::place(&rules, &placements).unwrap();
        assert_eq!(board.placements(&rules), placements);
        assert_eq!(board.blocks(&rules), bit(0));
        let always = Preset::Familienlager.rules();
        assert_eq!(board.blocks(&always), bit(0) | bit(16));
    }

    /// Stored games have this form.
    #[test]
    fn the_stored_form_is_stable() {
        let stored = json!({
            "track": [[0, 63], [16], [], [], [], []],
            "goal": [2, 0, 15, 0, 0, 0],
            "fresh": 1,
        });
        let rules = Preset::DogspielIt.rules();
        let placements = [
            placement(&[0, 63], &[1], None, true),
            placement(&[16], &[], None, false),
            placement(&[], &[0, 1, 2, 3], None, false),
            Placement::default(),
        ];
        let board = Board::place(&rules, &placements).expect("a possible board");
        assert_eq!(json!(board), stored);
        assert_eq!(serde_json::from_value::<Board>(stored).ok(), Some(board));
    }

    #[test]
    fn damaged_boards_are_not_read() {
        let read = |track: [&[u8]; 6], goal: [u8; 6]| {
            let stored = json!({ "track": track, "goal": goal, "fresh": 0 });
            serde_json::from_value::<Board>(stored).is_ok()
        };
        let none: &[u8] = &[];
        let first = |track| [track, none, none, none, none, none];
        assert!(read(first(&[1, 2, 3]), [8, 0, 0, 0, 0, 0]));
        assert!(!read(first(&[1, 2, 3]), [9, 0, 0, 0, 0, 0]), "five pieces");
        assert!(!read(first(&[96]), [0; 6]), "no ring has this field");
        assert!(!read(first(&[1, 1]), [0; 6]), "two on one field");
        assert!(!read([&[1], &[1], none, none, none, none], [0; 6]));
    }

    /// Those that a text may describe are in the tests of texts.
    #[test]
    fn impossible_boards_are_refused() {
        let rules = Preset::DogspielIt.rules();
        let seat = Seat::default();
        let refused = |first: Placement| {
            let mut board = vec![Placement::default(); 4];
            board[0] = first;
            Board::place(&rules, &board).expect_err("an impossible board")
        };
        assert_eq!(
            refused(placement(&[7, 7], &[], None, false)),
            BoardError::TwoOnTrack { field: 7 }
        );
        assert_eq!(
            refused(placement(&[], &[4], None, false)),
            BoardError::OffGoal { seat, field: 4 }
        );
        assert_eq!(
            refused(placement(&[1], &[], Some(4), false)),
            BoardError::Pieces { seat, found: 5 }
        );
        assert_eq!(
            Board::place(&rules, &[]),
            Err(BoardError::Seats {
                expected: 4,
                found: 0
            })
        );
    }
}
