//! Seats and teams (RULES §1).

use std::{
    fmt,
    ops::{Index, IndexMut},
};

use serde::{Deserialize, Serialize};

/// The largest number of seats at a table.
pub const MAX_SEATS: usize = 6;

/// A seat, numbered from 0 in turn order (anticlockwise).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(
    feature = "utoipa",
    derive(utoipa::ToSchema),
    schema(maximum = 5, description = "A seat, numbered from 0 in turn order.")
)]
pub struct Seat(u8);

impl Seat {
    /// The seats of a table with this many, in turn order.
    pub fn all(seats: u8) -> impl DoubleEndedIterator<Item = Seat> + ExactSizeIterator + Clone {
        (0..seats).map(Seat)
    }

    /// The seat with this number, if the table has it.
    pub fn new(number: u8, seats: u8) -> Option<Seat> {
        (number < seats).then_some(Seat(number))
    }

    /// The seat with a number that is known to be valid.
    pub(super) const fn from_number(number: u8) -> Seat {
        Seat(number)
    }

    /// The seat's number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The next seat in turn order.
    pub const fn next(self, seats: u8) -> Seat {
        self.plus(1, seats)
    }

    /// The seat `steps` further in turn order; at most `seats` steps.
    #[inline]
    pub const fn plus(self, steps: u8, seats: u8) -> Seat {
        debug_assert!(steps <= seats);
        let number = self.0 + steps;
        Seat(if number < seats {
            number
        } else {
            number - seats
        })
    }

    /// The next seat in turn order for which this holds. This seat itself is tried last.
    #[inline]
    pub fn next_of(self, seats: u8, holds: impl Fn(Seat) -> bool) -> Option<Seat> {
        let mut seat = self;
        for _ in 0..seats {
            seat = seat.next(seats);
            if holds(seat) {
                return Some(seat);
            }
        }
        None
    }

    /// The seat opposite.
    pub const fn partner(self, seats: u8) -> Seat {
        self.plus(seats / 2, seats)
    }

    /// The team's number.
    pub const fn team(self, seats: u8) -> u8 {
        let pairs = seats / 2;
        if self.0 < pairs {
            self.0
        } else {
            self.0 - pairs
        }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seat {}", self.0)
    }
}

/// One value per seat. Tables of four leave the last two at their default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BySeat<T>([T; MAX_SEATS]);

impl<T> BySeat<T> {
    /// An entry for each possible seat.
    pub fn from_fn(make: impl FnMut(usize) -> T) -> BySeat<T> {
        BySeat(std::array::from_fn(make))
    }

    /// The entry that `value` gives each seat of a table with this many.
    pub fn of_seats(seats: u8, mut value: impl FnMut(Seat) -> T) -> BySeat<T>
    where
        T: Default,
    {
        let mut entries = BySeat::from_fn(|_| T::default());
        Seat::all(seats).for_each(|seat| entries[seat] = value(seat));
        entries
    }

    /// Each entry mapped to another.
    pub fn map<U>(&self, mut each: impl FnMut(&T) -> U) -> BySeat<U> {
        BySeat::from_fn(|seat| each(&self.0[seat]))
    }

    /// Each possible seat's entry, in turn order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// Each possible seat's entry, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}

impl<T> Index<Seat> for BySeat<T> {
    type Output = T;

    fn index(&self, seat: Seat) -> &T {
        &self.0[usize::from(seat.0)]
    }
}

impl<T> IndexMut<Seat> for BySeat<T> {
    fn index_mut(&mut self, seat: Seat) -> &mut T {
        &mut self.0[usize::from(seat.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_sit_opposite_and_share_a_team() {
        for seats in [4, 6] {
            for seat in Seat::all(seats) {
                let partner = seat.partner(seats);
                assert_ne!(seat, partner);
                assert_eq!(partner.partner(seats), seat);
                assert_eq!(partner.team(seats), seat.team(seats));
                assert_ne!(seat.next(seats).team(seats), seat.team(seats));
            }
        }
        assert_eq!(Seat::new(4, 4), None);
    }
}
