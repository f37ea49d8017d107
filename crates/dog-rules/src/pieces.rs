//! A seat's four pieces in four bytes.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::ring::{Fields, bit};

/// The number of pieces of a seat, and of its goal fields.
pub const PIECES: u8 = 4;

/// A place on the board where a piece can stand outside its kennel. As a text and in JSON it is
/// `17` or `goal:2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// A track field, 0 to T−1.
    Track(u8),
    /// A field of the piece's own goal, 0 (nearest the ring) to 3.
    Goal(u8),
}

impl Default for Field {
    fn default() -> Field {
        Field::Track(0)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Track(field) => write!(f, "{field}"),
            Field::Goal(field) => write!(f, "goal:{field}"),
        }
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Field, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        match text.strip_prefix("goal:") {
            Some(field) => field.parse().map(Field::Goal),
            None => text.parse().map(Field::Track),
        }
        .map_err(de::Error::custom)
    }
}

/// Where a seat's four pieces stand, one byte each: the track field, or `GOAL` plus the goal field,
/// or `KENNEL`. The bytes are sorted, so equal placements are equal values. Pieces on the track
/// come first, those in the kennel last.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pieces(u32);

/// The byte of goal field 0; track fields are smaller.
const GOAL: u8 = 96;
/// The byte of the kennel, beyond goal field 3.
const KENNEL: u8 = GOAL + PIECES;

/// A one in each byte.
const ONES: u32 = 0x0101_0101;
/// The highest bit of each byte.
const HIGH_BITS: u32 = 0x8080_8080;

const fn byte(place: Option<Field>) -> u8 {
    match place {
        Some(Field::Track(field)) => field,
        Some(Field::Goal(field)) => GOAL + field,
        None => KENNEL,
    }
}

impl Pieces {
    /// All four in the kennel.
    pub(super) const IN_KENNEL: Pieces = Pieces(KENNEL as u32 * ONES);
    /// All four in the goal.
    const HOME: Pieces = Pieces(u32::from_le_bytes([GOAL, GOAL + 1, GOAL + 2, GOAL + 3]));

    /// The number of bytes that are smaller than this one.
    #[inline]
    const fn below(sorted: u32, byte: u8) -> u32 {
        // No byte is above 127, so this sets the high bit of those that are not smaller.
        let not_below = (sorted + (128 - byte as u32) * ONES) & HIGH_BITS;
        not_below.trailing_zeros() / 8
    }

    /// The number of pieces on the track.
    #[inline]
    pub const fn on_track(self) -> u8 {
        Pieces::below(self.0, GOAL) as u8
    }

    /// The number of pieces on the track or in the goal.
    #[inline]
    pub const fn out_of_kennel(self) -> u8 {
        Pieces::below(self.0, KENNEL) as u8
    }

    /// The number of pieces in the goal.
    #[inline]
    pub const fn in_goal(self) -> u8 {
        self.out_of_kennel() - self.on_track()
    }

    /// The number of pieces in the kennel.
    #[inline]
    pub const fn in_kennel(self) -> u8 {
        PIECES - self.out_of_kennel()
    }

    /// Whether all four are in the goal.
    #[inline]
    pub const fn home(self) -> bool {
        self.0 == Pieces::HOME.0
    }

    /// The four bytes.
    pub(super) const fn bytes(self) -> u32 {
        self.0
    }

    /// Where the piece at `index`, 0 to 3, stands; `None` is the kennel. Pieces on the track come
    /// first, in the order of the fields, then those in the goal, then those in the kennel.
    #[inline]
    pub const fn place(self, index: u8) -> Option<Field> {
        let byte = (self.0 >> (8 * index)) as u8;
        if byte < GOAL {
            Some(Field::Track(byte))
        } else if byte < KENNEL {
            Some(Field::Goal(byte - GOAL))
        } else {
            None
        }
    }

    /// Where the pieces outside the kennel stand, in the same order.
    #[inline]
    pub fn places(self) -> impl DoubleEndedIterator<Item = Field> {
        (0..self.out_of_kennel()).filter_map(move |index| self.place(index))
    }

    /// The track fields that hold a piece, in order.
    #[inline]
    pub fn track_fields(self) -> impl DoubleEndedIterator<Item = u8> {
        (0..self.on_track()).map(move |index| (self.0 >> (8 * index)) as u8)
    }

    /// The track fields that hold a piece, as a set.
    #[inline]
    pub fn track(self) -> Fields {
        self.track_fields().map(bit).sum()
    }

    /// The goal fields that hold a piece, one bit per field.
    #[inline]
    pub fn goal(self) -> u8 {
        (self.on_track()..self.out_of_kennel())
            .map(|index| 1 << ((self.0 >> (8 * index)) as u8 - GOAL))
            .sum()
    }

    /// The high bit of the first byte that equals this one; 0 if there is none.
    #[inline]
    const fn find(self, byte: u8) -> u32 {
        let differ = self.0 ^ (byte as u32 * ONES);
        differ.wrapping_sub(ONES) & !differ & HIGH_BITS
    }

    /// Whether a piece stands on this track field.
    #[inline]
    pub const fn stand_on(self, field: u8) -> bool {
        self.find(field) != 0
    }

    /// Moves the piece at one place to another; `None` is the kennel.
    #[inline]
    pub(super) fn relocate(&mut self, from: Option<Field>, to: Option<Field>) {
        let (found, to) = (self.find(byte(from)), byte(to));
        debug_assert!(found != 0, "no piece stands there");
        let all = u64::from(self.0);
        // Removes the byte, which leaves three, and inserts the new one in sorted order.
        let taken = (1 << (found.trailing_zeros() & !7)) - 1;
        let rest = all & taken | all >> 8 & !taken;
        let kept = (1 << (8 * Pieces::below(rest as u32 | 127 << 24, to))) - 1;
        let moved_up = (rest & !kept) << 8;
        self.0 = (rest & kept | moved_up) as u32 | (u32::from(to) * (kept as u32 + 1));
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.places()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves single pieces through every set of four places, and compares with sorted lists.
    #[test]
    fn pieces_are_sorted_lists() {
        let places: Vec<Option<Field>> = [0, 1, 50, 94, 95]
            .map(|field| Some(Field::Track(field)))
            .into_iter()
            .chain((0..4).map(|field| Some(Field::Goal(field))))
            .chain([None])
            .collect();
        let mut pieces = Pieces::IN_KENNEL;
        let mut list = vec![None; 4];
        let mut number = 1usize;
        for _ in 0..100_000 {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let from = list[number >> 33 & 3];
            let to = places[(number >> 40) % places.len()];
            if to.is_some() && list.contains(&to) {
                continue;
            }
            pieces.relocate(from, to);
            let index = list.iter().position(|&place| place == from).unwrap();
            list[index] = to;
            list.sort_by_key(|&place| byte(place));
            let found: Vec<_> = (0..4).map(|index| pieces.place(index)).collect();
            assert_eq!(found, list);
            let count = |holds: fn(&Option<Field>) -> bool| {
                list.iter().filter(|place| holds(place)).count() as u8
            };
            let in_goal = count(|place| matches!(place, Some(Field::Goal(_))));
            assert_eq!(pieces.in_kennel(), count(Option::is_none));
            assert_eq!(pieces.in_goal(), in_goal);
            assert_eq!(pieces.home(), in_goal == 4);
            assert_eq!(pieces.goal().count_ones() as u8, in_goal);
            assert_eq!(pieces.track().count_ones() as u8, pieces.on_track());
            assert!(pieces.places().eq(list.iter().copied().flatten()));
            for field in 0..96 {
                let stands = list.contains(&Some(Field::Track(field)));
                assert_eq!(pieces.stand_on(field), stands);
                assert_eq!(pieces.track() & bit(field) != 0, stands);
            }
        }
    }
}
