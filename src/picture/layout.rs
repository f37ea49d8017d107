//! The positions in the picture.
//!
//! The ring is a circle. Fields run anticlockwise (RULES §1) from seat 0's start, at the bottom,
//! so the seats sit as they do at a table seen from above. Goals lead inward from their doors,
//! kennels lie inside the ring beside the starts.

use std::{f64::consts::TAU, fmt};

use dog_rules::{Field, Rules, Seat, ring::Ring};

/// Width of the picture, and of the square that the board fills.
pub const WIDTH: f64 = 1000.0;

/// A number with at most one digit after the point: precise enough for the eye, and short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

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

/// The positions on the board of one set of rules.
pub struct BoardLayout<'a> {
    pub ring: &'a Ring,
    /// The distance between two track fields, from which most sizes follow.
    pub gap: f64,
    /// From the centre of the board to the middle of a track field.
    pub radius: f64,
}

impl<'a> BoardLayout<'a> {
    /// The layout of these rules' board.
    pub fn new(rules: &'a Rules) -> BoardLayout<'a> {
        let ring = rules.ring();
        let step = TAU / f64::from(ring.length());
        // Outside the ring there is room for a captured piece and a number.
        let radius = 464.0 / (1.0 + 1.45 * step);
        BoardLayout {
            ring,
            gap: step * radius,
            radius,
        }
    }

    /// The angle of a track field, anticlockwise from the bottom.
    pub fn angle(&self, field: u8) -> f64 {
        TAU * f64::from(field) / f64::from(self.ring.length())
    }

    /// The point in the direction of a track field, this far from the centre.
    pub fn outward(&self, field: u8, radius: f64) -> Point {
        polar(self.angle(field), radius)
    }

    /// The middle of a track field.
    pub fn track(&self, field: u8) -> Point {
        self.outward(field, self.radius)
    }

    /// The middle of a field; `seat` is whose goal it would be.
    pub fn field(&self, seat: Seat, field: Field) -> Point {
        match field {
            Field::Track(field) => self.track(field),
            Field::Goal(depth) => self.outward(
                self.ring.door(seat),
                self.radius - self.gap * (1.4 + 1.1 * f64::from(depth)),
            ),
        }
    }

    /// How far from the centre the goals end.
    pub fn inner(&self) -> f64 {
        self.radius - self.gap * 5.3
    }

    /// The middle of a seat's kennel: inside the ring, after the start.
    pub fn kennel(&self, seat: Seat) -> Point {
        let start = self.track(self.ring.start(seat));
        let inward = start.direction_to(CENTRE);
        start
            .towards(inward, 2.5 * self.gap)
            .towards(inward.left(), -2.25 * self.gap)
    }

    /// The places for the pieces in a seat's kennel.
    pub fn slots(&self, seat: Seat) -> [Point; 4] {
        let (middle, half) = (self.kennel(seat), 0.58 * self.gap);
        let inward = self.track(self.ring.start(seat)).direction_to(CENTRE);
        let along = inward.left();
        [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)]
            .map(|(x, y)| middle.towards(inward, x * half).towards(along, y * half))
    }
}

/// The point at an angle anticlockwise from the bottom, this far from the centre.
pub fn polar(angle: f64, radius: f64) -> Point {
    Point {
        x: CENTRE.x + radius * angle.sin(),
        y: CENTRE.y + radius * angle.cos(),
    }
}
