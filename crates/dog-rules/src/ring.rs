//! The ring: track fields as numbers and as sets of bits (RULES §1).

use std::sync::LazyLock;

use crate::{BySeat, Seat};

/// A set of track fields, one bit per field. The longest ring has 96.
pub type Fields = u128;

/// What is computed once for each ring of RULES §2.
struct Tables {
    seats: u8,
    len: u8,
    /// The fields stepped on by walking 0 to 15 steps forward from each field.
    paths: [[Fields; 16]; 96],
    /// The starts of each set of seats, one bit per seat.
    starts: [Fields; 64],
}

static TABLES: LazyLock<[Tables; 4]> = LazyLock::new(|| {
    [(4, 60), (4, 64), (6, 90), (6, 96)].map(|(seats, len)| Tables::new(seats, len))
});

impl Tables {
    fn new(seats: u8, len: u8) -> Tables {
        let mut paths = [[0; 16]; 96];
        for (from, paths) in paths.iter_mut().enumerate().take(len.into()) {
            for steps in 1..16 {
                paths[steps] = paths[steps - 1] | 1 << ((from + steps) % usize::from(len));
            }
        }
        let mut starts = [0; 64];
        for (set, starts) in starts.iter_mut().enumerate() {
            let members = (0..seats).filter(|seat| set >> seat & 1 != 0);
            *starts = members.map(|seat| 1 << (seat * (len / seats))).sum();
        }
        Tables {
            seats,
            len,
            paths,
            starts,
        }
    }
}

/// The track of one table: its length, and each seat's start and door.
#[derive(Clone)]
pub struct Ring {
    seats: u8,
    len: u8,
    starts: BySeat<u8>,
    doors: BySeat<u8>,
    tables: &'static Tables,
}

impl Ring {
    /// The ring of a table. The doors are on the starts, or on the fields before them.
    pub(super) fn new(seats: u8, fields_per_seat: u8, door_before_start: bool) -> Ring {
        let len = seats * fields_per_seat;
        let starts = BySeat::from_fn(|seat| seat as u8 * fields_per_seat % len);
        Ring {
            seats,
            len,
            doors: starts.map(|&start| (start + len - u8::from(door_before_start)) % len),
            starts,
            tables: TABLES
                .iter()
                .find(|tables| (tables.seats, tables.len) == (seats, len))
                .expect("tables for every ring of RULES §2"),
        }
    }

    /// The seats around the ring, in turn order.
    pub fn seats(
        &self,
    ) -> impl DoubleEndedIterator<Item = Seat> + ExactSizeIterator + Clone + use<> {
        Seat::all(self.seats)
    }

    /// T, the number of track fields.
    pub fn length(&self) -> u8 {
        self.len
    }

    /// The field where the seat's pieces come out of the kennel.
    #[inline]
    pub fn start(&self, seat: Seat) -> u8 {
        self.starts[seat]
    }

    /// The starts of a set of seats, one bit per seat.
    #[inline]
    pub(super) fn starts(&self, seats: u8) -> Fields {
        self.tables.starts[usize::from(seats) & 63]
    }

    /// The seat whose start this field is. Meaningless for any other field.
    #[inline]
    pub(super) fn whose_start(&self, field: u8) -> Seat {
        Seat::from_number(field / (self.len / self.seats))
    }

    /// The field from which the next step may be goal 0 (RULES §4, the door).
    #[inline]
    pub fn door(&self, seat: Seat) -> u8 {
        self.doors[seat]
    }

    /// The field `steps` further on.
    #[inline]
    pub fn forward(&self, field: u8, steps: u8) -> u8 {
        let to = field + steps;
        if to >= self.len { to - self.len } else { to }
    }

    /// The field `steps` back.
    #[inline]
    pub fn backward(&self, field: u8, steps: u8) -> u8 {
        if field >= steps {
            field - steps
        } else {
            field + self.len - steps
        }
    }

    /// The number of steps forward from one field to another: 0 to T−1.
    #[inline]
    pub fn distance(&self, from: u8, to: u8) -> u8 {
        self.backward(to, from)
    }

    /// The fields stepped on by walking `steps` (at most 13) forward, the last included.
    #[inline]
    pub fn path(&self, from: u8, steps: u8) -> Fields {
        self.tables.paths[usize::from(from)][usize::from(steps)]
    }

    /// The fields stepped on by walking `steps` back, the last included.
    #[inline]
    pub fn path_back(&self, from: u8, steps: u8) -> Fields {
        self.path(self.backward(from, steps + 1), steps)
    }
}

/// The set that holds one field.
#[inline]
pub const fn bit(field: u8) -> Fields {
    BITS[(field & 127) as usize]
}

/// A table, since a shift of a 128-bit word takes several instructions.
static BITS: [Fields; 128] = {
    let (mut bits, mut field) = ([0; 128], 0);
    while field < 128 {
        bits[field] = 1 << field;
        field += 1;
    }
    bits
};

/// The fields of a set, ascending.
pub fn fields(mut set: Fields) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let field = (set != 0).then(|| set.trailing_zeros() as u8)?;
        set &= set - 1;
        Some(field)
    })
}

#[cfg(test)]
mod tests {
    use super::super::options::{Preset, Rules};
    use super::*;

    #[test]
    fn paths_are_what_single_steps_give() {
        for (seats, fields_per_seat) in [(4, 15), (4, 16), (6, 15), (6, 16)] {
            let rules = format!("dogspiel-it seats={seats} fields_per_seat={fields_per_seat}");
            let rules: Rules = rules.parse().unwrap();
            let ring = rules.ring();
            for from in 0..ring.length() {
                let (mut ahead, mut behind) = (from, from);
                let (mut path, mut path_back) = (0, 0);
                for steps in 1..=13 {
                    ahead = (ahead + 1) % ring.length();
                    behind = (behind + ring.length() - 1) % ring.length();
                    path |= bit(ahead);
                    path_back |= bit(behind);
                    assert_eq!(ring.forward(from, steps), ahead);
                    assert_eq!(ring.backward(from, steps), behind);
                    assert_eq!(ring.path(from, steps), path);
                    assert_eq!(ring.path_back(from, steps), path_back);
                    assert_eq!(ring.distance(from, ahead), steps);
                }
            }
        }
    }

    #[test]
    fn doors_follow_the_option() {
        let seat = Seat::new(1, 4).unwrap();
        assert_eq!(Preset::DogspielIt.rules().ring().door(seat), 16);
        assert_eq!(Preset::Hausregeln.rules().ring().door(seat), 14);
        let first = Seat::new(0, 4).unwrap();
        assert_eq!(Preset::Hausregeln.rules().ring().door(first), 59);
    }
}
