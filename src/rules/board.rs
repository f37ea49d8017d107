//! The board: where every piece stands (RULES §1), kept as sets of bits so that a whole position
//! is a small value to copy, compare and hash.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    options::{Protection, Rules},
    ring::{self, Fields, bit},
    seat::{BySeat, Seat},
};

/// Pieces a seat has, and goal fields.
pub const PIECES: u8 = 4;

/// All four goal fields taken.
const FULL_GOAL: u8 = 0b1111;

/// A place on the board where a piece can stand outside its kennel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// A track field, 0 to T−1.
    Track(u8),
    /// A field of the piece's own goal, 0 (nearest the ring) to 3.
    Goal(u8),
}

/// Where every piece stands. Only the pieces outside the kennels are kept: the rest are in.
///
/// The board knows neither the length of its ring nor the number of seats; those come with the
/// [`Rules`] it is used with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Board {
    track: BySeat<Fields>,
    goal: BySeat<u8>,
    fresh: u8,
}

impl Board {
    /// All pieces in their kennels (RULES §7, set-up).
    pub fn new() -> Board {
        Board::default()
    }

    /// The track fields where the seat's pieces stand.
    #[inline]
    pub fn track(&self, seat: Seat) -> Fields {
        self.track[seat]
    }

    /// The seat's goal fields that are taken, one bit a field.
    #[inline]
    pub fn goal(&self, seat: Seat) -> u8 {
        self.goal[seat]
    }

    /// Pieces in the seat's kennel.
    #[inline]
    pub fn kennel(&self, seat: Seat) -> u8 {
        PIECES - (self.track[seat].count_ones() + self.goal[seat].count_ones()) as u8
    }

    /// Whether a fresh piece of this seat stands on its start (RULES §1).
    #[inline]
    pub fn fresh(&self, seat: Seat) -> bool {
        self.fresh >> seat.number() & 1 != 0
    }

    /// Whether all four of the seat's pieces are in its goal.
    #[inline]
    pub fn home(&self, seat: Seat) -> bool {
        self.goal[seat] == FULL_GOAL
    }

    /// Whether all eight of the seat's team's pieces are in their goals (RULES §7, end).
    #[inline]
    pub fn team_home(&self, rules: &Rules, seat: Seat) -> bool {
        self.home(seat) && self.home(seat.partner(rules.seats))
    }

    /// The team that has won, if one has.
    pub fn winner(&self, rules: &Rules) -> Option<u8> {
        let seat = rules
            .ring()
            .seats()
            .find(|&seat| self.team_home(rules, seat))?;
        Some(seat.team(rules.seats))
    }

    /// The track fields where any piece stands.
    #[inline]
    pub fn occupied(&self) -> Fields {
        self.track.iter().fold(0, |all, track| all | track)
    }

    /// The seat whose piece stands on this track field.
    pub fn owner(&self, rules: &Rules, field: u8) -> Option<Seat> {
        rules
            .ring()
            .seats()
            .find(|&seat| self.track[seat] & bit(field) != 0)
    }

    /// The fields where a block stands (RULES §4, protected start).
    #[inline]
    pub fn blocks(&self, rules: &Rules) -> Fields {
        self.protected(rules, rules.start_block)
    }

    /// The fields whose pieces cannot be swapped (RULES §6).
    #[inline]
    pub fn unswappable(&self, rules: &Rules) -> Fields {
        self.protected(rules, rules.start_swap_protection)
    }

    #[inline]
    fn protected(&self, rules: &Rules, protection: Protection) -> Fields {
        let seats = rules.ring().seats();
        let starts = |seat| bit(rules.ring().start(seat));
        match protection {
            Protection::Always => seats.map(|seat| self.track[seat] & starts(seat)).sum(),
            // A fresh piece stands on its start, and seldom is there one.
            Protection::Fresh if self.fresh == 0 => 0,
            Protection::Fresh => seats.filter(|&seat| self.fresh(seat)).map(starts).sum(),
        }
    }

    /// A hash of the whole position, good enough for tables of a few thousand boards.
    #[inline]
    pub(super) fn hash32(&self) -> u32 {
        const FACTORS: [u64; 6] = [
            0x9e37_79b9_7f4a_7c15,
            0xbf58_476d_1ce4_e5b9,
            0x94d0_49bb_1331_11eb,
            0xd6e8_feb8_6659_fd93,
            0xa076_1d64_78bd_642f,
            0xe703_7ed1_a0b4_28db,
        ];
        let mut sum = u64::from(self.fresh);
        for ((track, goal), factor) in self.track.iter().zip(self.goal.iter()).zip(FACTORS) {
            let folded = *track as u64 ^ ((*track >> 64) as u64).rotate_left(23);
            sum = sum.wrapping_add((folded ^ u64::from(*goal) << 56).wrapping_mul(factor));
            sum = sum.rotate_left(11);
        }
        ((sum ^ sum >> 29).wrapping_mul(FACTORS[0]) >> 32) as u32
    }

    /// Sends the pieces on these track fields, which hold no fresh one, to their kennels.
    #[inline]
    pub(super) fn capture(&mut self, fields: Fields) {
        for track in self.track.iter_mut() {
            *track &= !fields;
        }
    }

    /// Takes a piece of the seat off the field where it stands; a fresh piece that moves is
    /// fresh no more (RULES §4).
    #[inline]
    pub(super) fn lift(&mut self, rules: &Rules, seat: Seat, from: Field) {
        match from {
            Field::Track(field) => {
                self.track[seat] &= !bit(field);
                if field == rules.ring().start(seat) {
                    self.fresh &= !(1 << seat.number());
                }
            }
            Field::Goal(field) => self.goal[seat] &= !(1 << field),
        }
    }

    /// Puts a piece of the seat down on a field that is free.
    #[inline]
    pub(super) fn put(&mut self, seat: Seat, to: Field) {
        match to {
            Field::Track(field) => self.track[seat] |= bit(field),
            Field::Goal(field) => self.goal[seat] |= 1 << field,
        }
    }

    /// Puts a piece out of the kennel on the seat's free start, fresh.
    #[inline]
    pub(super) fn put_fresh(&mut self, rules: &Rules, seat: Seat) {
        self.track[seat] |= bit(rules.ring().start(seat));
        self.fresh |= 1 << seat.number();
    }

    /// The board written out seat by seat.
    pub fn placements(&self, rules: &Rules) -> Vec<Placement> {
        let placement = |seat| Placement {
            track: ring::fields(self.track[seat]).collect(),
            goal: ring::fields(self.goal[seat].into()).collect(),
            kennel: Some(self.kennel(seat)),
            fresh: self.fresh(seat),
        };
        rules.ring().seats().map(placement).collect()
    }

    /// Makes a board of what was written out.
    ///
    /// # Errors
    /// Says what cannot stand so on a board of these rules.
    pub fn place(rules: &Rules, placements: &[Placement]) -> Result<Board, BoardError> {
        if placements.len() != usize::from(rules.seats) {
            return Err(BoardError::Seats {
                expected: rules.seats,
                found: placements.len(),
            });
        }
        let mut board = Board::new();
        let mut occupied = 0;
        for (seat, placement) in rules.ring().seats().zip(placements) {
            for &field in &placement.track {
                if field >= rules.ring().length() {
                    let last = rules.ring().length() - 1;
                    return Err(BoardError::OffTrack { seat, field, last });
                }
                if occupied & bit(field) != 0 {
                    return Err(BoardError::TwoOnTrack { field });
                }
                occupied |= bit(field);
                board.put(seat, Field::Track(field));
            }
            for &field in &placement.goal {
                if field >= PIECES {
                    return Err(BoardError::OffGoal { seat, field });
                }
                if board.goal[seat] & 1 << field != 0 {
                    return Err(BoardError::TwoInGoal { seat, field });
                }
                board.put(seat, Field::Goal(field));
            }
            let out = placement.track.len() + placement.goal.len();
            let in_kennel = placement
                .kennel
                .map_or_else(|| usize::from(PIECES).saturating_sub(out), usize::from);
            if out + in_kennel != usize::from(PIECES) {
                let found = out + in_kennel;
                return Err(BoardError::Pieces { seat, found });
            }
            if placement.fresh {
                let start = rules.ring().start(seat);
                if board.track[seat] & bit(start) == 0 {
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
struct Stored {
    track: Vec<Vec<u8>>,
    goal: BySeat<u8>,
    fresh: u8,
}

impl Serialize for Board {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let track = self
            .track
            .iter()
            .map(|&track| ring::fields(track).collect());
        let (goal, fresh) = (self.goal, self.fresh);
        Stored {
            track: track.collect(),
            goal,
            fresh,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Board {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Board, D::Error> {
        let Stored { track, goal, fresh } = Stored::deserialize(deserializer)?;
        let mut board = Board {
            track: BySeat::default(),
            goal,
            fresh,
        };
        for (fields, stored) in board.track.iter_mut().zip(track) {
            *fields = stored
                .into_iter()
                .filter(|&field| field < 128)
                .map(bit)
                .sum();
        }
        Ok(board)
    }
}

/// One seat's pieces written out, as clients see and send them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Track fields, ascending.
    pub track: Vec<u8>,
    /// Goal fields, ascending.
    pub goal: Vec<u8>,
    /// Pieces in the kennel; if left out, those that stand nowhere else.
    pub kennel: Option<u8>,
    /// Whether the piece on the seat's own start is fresh.
    pub fresh: bool,
}

/// Why a board cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BoardError {
    #[error("the board has {found} entries, but {expected} seats play")]
    Seats { expected: u8, found: usize },
    #[error("{seat} has {found} pieces, each seat has 4")]
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

    #[test]
    fn impossible_boards_are_refused() {
        let rules = Preset::DogspielIt.rules();
        let seat = Seat::default();
        let refused = |first: Placement| {
            let rest = [
                placement(&[40], &[], None, false),
                Placement::default(),
                Placement::default(),
            ];
            let board: Vec<Placement> = [first].into_iter().chain(rest).collect();
            Board::place(&rules, &board).expect_err("an impossible board")
        };
        assert_eq!(
            refused(placement(&[64], &[], None, false)),
            BoardError::OffTrack {
                seat,
                field: 64,
                last: 63
            }
        );
        assert_eq!(
            refused(placement(&[40], &[], None, false)),
            BoardError::TwoOnTrack { field: 40 }
        );
        assert_eq!(
            refused(placement(&[7, 7], &[], None, false)),
            BoardError::TwoOnTrack { field: 7 }
        );
        assert_eq!(
            refused(placement(&[], &[2, 2], None, false)),
            BoardError::TwoInGoal { seat, field: 2 }
        );
        assert_eq!(
            refused(placement(&[], &[4], None, false)),
            BoardError::OffGoal { seat, field: 4 }
        );
        assert_eq!(
            refused(placement(&[1, 2, 3, 4, 5], &[], None, false)),
            BoardError::Pieces { seat, found: 5 }
        );
        assert_eq!(
            refused(placement(&[1], &[], Some(4), false)),
            BoardError::Pieces { seat, found: 5 }
        );
        assert_eq!(
            refused(placement(&[1], &[], None, true)),
            BoardError::NothingFresh { seat, start: 0 }
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
