//! The positions in the picture.
//!
//! The board has one arm per seat. Fields run anticlockwise (RULES §1), out to the edge and along
//! it in each arm, and back inward between two arms: a ring with such notches has room for larger
//! fields than a circle. Each start is in the middle of its arm's edge. The goal leads inward from
//! it, and the kennel lies beside the goal. All arms are alike, so any seat can be at the bottom.

use std::{f64::consts::TAU, fmt};

use dog_rules::{Field, Seat};

/// Width of the picture, and of the square that the board fills.
pub const WIDTH: f64 = 1000.0;

/// A number with at most one digit after the point: precise enough for the eye, and short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Number {
    /// The number with one digit after the point, as it is written.
    pub fn rounded(self) -> f64 {
        // Adding zero turns a negative zero into zero.
        (self.0 * 10.0).round() / 10.0 + 0.0
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, tenth) = (tenths.abs() / 10, tenths.abs() % 10);
        write!(f, "{sign}{whole}")?;
        if tenth != 0 {
            write!(f, ".{tenth}")?;
        }
        Ok(())
    }
}

/// A point, or a direction; x grows to the right, y downward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// The centre of the board.
pub const CENTRE: Point = Point {
    x: WIDTH / 2.0,
    y: WIDTH / 2.0,
};

impl Point {
    /// The point this far in that direction.
    pub fn towards(self, direction: Point, distance: f64) -> Point {
        Point {
            x: self.x + direction.x * distance,
            y: self.y + direction.y * distance,
        }
    }

    /// The direction, of length 1, in which the other point lies; downward if it is the same.
    pub fn direction_to(self, other: Point) -> Point {
        let (x, y) = (other.x - self.x, other.y - self.y);
        let length = x.hypot(y);
        if length < 0.01 {
            return Point { x: 0.0, y: 1.0 };
        }
        Point {
            x: x / length,
            y: y / length,
        }
    }

    /// The distance to the other point.
    pub fn distance(self, other: Point) -> f64 {
        (other.x - self.x).hypot(other.y - self.y)
    }

    /// The opposite direction.
    pub fn reversed(self) -> Point {
        Point {
            x: -self.x,
            y: -self.y,
        }
    }

    /// The direction turned left by a right angle.
    pub fn left(self) -> Point {
        Point {
            x: self.y,
            y: -self.x,
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Number(self.x), Number(self.y))
    }
}

/// One arm of a board with some number of seats and fields.
///
/// Points are in the frame of the seat at the bottom: to the right of its start, and from the
/// centre of the board towards it.
struct Arm {
    /// The distance between neighbouring fields.
    gap: f64,
    /// The fields from the start to the middle of the notch. The other half of the way to the next
    /// start is its mirror image.
    track: &'static [(f64, f64)],
    /// How many of them lie on the edge of the board.
    edge: u8,
    /// The places of the kennel, in two rows.
    kennel: [(f64, f64); 4],
    /// The height of the card in the middle.
    card: f64,
}

/// With four seats the edge is straight in the middle and round at its ends.
const FOUR_KENNEL: [(f64, f64); 4] = [(69.0, 359.0), (136.0, 359.0), (69.0, 292.0), (136.0, 292.0)];

/// With six seats an arm is narrow: the kennel has a row on either side of the goal.
const SIX_KENNEL: [(f64, f64); 4] = [(-62.7, 367.0), (-62.7, 304.3), (62.7, 367.0), (62.7, 304.3)];

// The tables follow an edge, a rounded corner and a notch one gap wide. Its depth is such that all
// fields have the same distance from their neighbours.

const FOUR_BY_SIXTEEN: Arm = Arm {
    gap: 72.2,
    track: &[
        (0.0, 426.0),
        (72.2, 426.0),
        (144.4, 426.0),
        (216.6, 422.3),
        (285.2, 399.9),
        (277.2, 328.1),
        (226.1, 277.0),
        (175.0, 225.9),
        (156.2, 156.2),
    ],
    edge: 5,
    kennel: FOUR_KENNEL,
    card: 166.0,
};

const FOUR_BY_FIFTEEN: Arm = Arm {
    track: &[
        (0.0, 426.0),
        (72.2, 426.0),
        (144.4, 426.0),
        (216.6, 422.3),
        (285.2, 399.9),
        (277.1, 328.1),
        (226.1, 277.0),
        (174.9, 226.0),
    ],
    ..FOUR_BY_SIXTEEN
};

const SIX_BY_SIXTEEN: Arm = Arm {
    gap: 62.7,
    track: &[
        (0.0, 436.0),
        (62.6, 431.5),
        (123.9, 418.0),
        (178.9, 387.8),
        (154.4, 330.0),
        (123.0, 275.7),
        (91.6, 221.3),
        (60.2, 167.0),
        (60.2, 104.3),
    ],
    edge: 4,
    kennel: SIX_KENNEL,
    card: 108.0,
};

const SIX_BY_FIFTEEN: Arm = Arm {
    track: &[
        (0.0, 436.0),
        (62.6, 431.5),
        (123.9, 418.0),
        (178.9, 387.8),
        (154.4, 330.0),
        (123.0, 275.6),
        (91.6, 221.3),
        (60.2, 167.0),
    ],
    ..SIX_BY_SIXTEEN
};

/// The positions on a board with some number of seats and fields, seen from one of the seats.
pub struct BoardLayout {
    pub seats: u8,
    pub fields_per_seat: u8,
    /// The seat at the bottom.
    bottom: u8,
    /// The distance between two track fields, from which most sizes follow.
    pub gap: f64,
    arm: Arm,
}

impl BoardLayout {
    /// The layout for 4 or 6 seats with 15 or 16 fields each.
    pub fn new(seats: u8, fields_per_seat: u8, bottom: u8) -> BoardLayout {
        let arm = match (seats, fields_per_seat) {
            (4, 15) => FOUR_BY_FIFTEEN,
            (4, _) => FOUR_BY_SIXTEEN,
            (_, 15) => SIX_BY_FIFTEEN,
            _ => SIX_BY_SIXTEEN,
        };
        BoardLayout {
            seats,
            fields_per_seat,
            bottom,
            gap: arm.gap,
            arm,
        }
    }

    /// The number of track fields.
    pub fn length(&self) -> u8 {
        self.seats * self.fields_per_seat
    }

    /// The start of a seat.
    pub fn start(&self, seat: Seat) -> u8 {
        seat.number() * self.fields_per_seat
    }

    /// Whether the field is a start.
    pub fn is_start(&self, field: u8) -> bool {
        field.is_multiple_of(self.fields_per_seat)
    }

    /// The point in the picture for a point in the frame of a seat.
    fn turned(&self, seat: u8, point: (f64, f64)) -> Point {
        let (right, outward) = point;
        let turn = (seat + self.seats - self.bottom) % self.seats;
        let (sin, cos) = (TAU * f64::from(turn) / f64::from(self.seats)).sin_cos();
        Point {
            x: CENTRE.x + right * cos + outward * sin,
            y: CENTRE.y - right * sin + outward * cos,
        }
    }

    /// The middle of a track field.
    pub fn track(&self, field: u8) -> Point {
        let (seat, index) = (field / self.fields_per_seat, field % self.fields_per_seat);
        if let Some(&point) = self.arm.track.get(usize::from(index)) {
            return self.turned(seat, point);
        }
        let mirrored = usize::from(self.fields_per_seat - index);
        let (right, outward) = self.arm.track[mirrored];
        self.turned((seat + 1) % self.seats, (-right, outward))
    }

    /// The direction from a track field in which there is room for a number or a captured piece:
    /// outward at the edge of the board, and inward in a notch.
    pub fn beside(&self, field: u8) -> Point {
        let length = self.length();
        let before = self.track((field + length - 1) % length);
        let after = self.track((field + 1) % length);
        let inward = before.direction_to(after).left();
        let index = field % self.fields_per_seat;
        if index.min(self.fields_per_seat - index) < self.arm.edge {
            return inward.reversed();
        }
        inward
    }

    /// The middle of a field; `seat` is whose goal it would be.
    pub fn field(&self, seat: Seat, field: Field) -> Point {
        match field {
            Field::Track(field) => self.track(field),
            Field::Goal(depth) => {
                let (_, start) = self.arm.track[0];
                let outward = start - self.gap * f64::from(depth + 1);
                self.turned(seat.number(), (0.0, outward))
            }
        }
    }

    /// The places for the pieces in a seat's kennel.
    pub fn kennel(&self, seat: Seat) -> [Point; 4] {
        self.arm
            .kennel
            .map(|place| self.turned(seat.number(), place))
    }

    /// The height of the card in the middle.
    pub fn card(&self) -> f64 {
        self.arm.card
    }

    /// The key and the point of every place.
    pub fn places(&self) -> impl Iterator<Item = (String, Point)> {
        let track = (0..self.length()).map(|field| (field.to_string(), self.track(field)));
        let seat_places = move |seat| {
            let goal = (0..4).map(move |depth| {
                let field = Field::Goal(depth);
                (place_key(seat, field), self.field(seat, field))
            });
            let kennel = self.kennel(seat).into_iter().enumerate();
            goal.chain(kennel.map(move |(index, point)| (kennel_key(seat, index), point)))
        };
        track.chain(Seat::all(self.seats).flat_map(seat_places))
    }
}

/// The key of a field: `17`, or `0:goal:2` for seat 0.
pub fn place_key(seat: Seat, field: Field) -> String {
    match field {
        Field::Track(field) => field.to_string(),
        Field::Goal(depth) => format!("{}:goal:{depth}", seat.number()),
    }
}

/// The key of a place in a kennel: `0:kennel:1` for seat 0.
pub fn kennel_key(seat: Seat, index: usize) -> String {
    format!("{}:kennel:{index}", seat.number())
}
