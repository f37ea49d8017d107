//! How seats are told apart: by colour, and without it by shape.

use dog_rules::seat::Seat;

use super::{
    ink::{Ink, Number},
    layout::Point,
};

/// Behind everything, so that the picture can lie on a light page and on a dark one.
pub const PAPER: &str = "#f6f0e2";
/// Lines and letters.
pub const DARK: &str = "#2b2620";
/// Letters of less weight.
pub const FADED: &str = "#756a58";
/// What lies under the fields, and lines that say little.
pub const SAND: &str = "#e6dac0";
/// Empty fields.
pub const FIELD: &str = "#fffdf8";

/// A seat's colours.
pub struct Colours {
    /// Its pieces.
    pub full: &'static str,
    /// What belongs to it and is not a piece.
    pub light: &'static str,
    /// Lines around both.
    pub deep: &'static str,
}

/// After Okabe and Ito, who chose colours that the colour-blind can tell apart; the green is darker
/// than theirs, so that it differs from the red in brightness too.
const COLOURS: [Colours; 6] = [
    Colours {
        full: "#d55e00",
        light: "#f8d8c2",
        deep: "#7d3700",
    },
    Colours {
        full: "#0072b2",
        light: "#c8dff0",
        deep: "#003f63",
    },
    Colours {
        full: "#f0e442",
        light: "#f8f1b4",
        deep: "#736900",
    },
    Colours {
        full: "#007a57",
        light: "#c0e6d8",
        deep: "#00402e",
    },
    Colours {
        full: "#cc79a7",
        light: "#f1d9e6",
        deep: "#75385a",
    },
    Colours {
        full: "#3c3c3c",
        light: "#d9d8d5",
        deep: "#141414",
    },
];

/// The seat's colours.
pub fn colours(seat: Seat) -> &'static Colours {
    &COLOURS[usize::from(seat.number()) % COLOURS.len()]
}

/// The corners of each seat's shape, for a piece of radius 1; none for a disc.
const SHAPES: [&[(f64, f64)]; 6] = [
    &[],
    // A square.
    &[(-0.86, -0.86), (0.86, -0.86), (0.86, 0.86), (-0.86, 0.86)],
    // A triangle.
    &[(0.0, -1.16), (1.1, 0.8), (-1.1, 0.8)],
    // A cross.
    &[
        (-0.4, -1.05),
        (0.4, -1.05),
        (0.4, -0.4),
        (1.05, -0.4),
        (1.05, 0.4),
        (0.4, 0.4),
        (0.4, 1.05),
        (-0.4, 1.05),
        (-0.4, 0.4),
        (-1.05, 0.4),
        (-1.05, -0.4),
        (-0.4, -0.4),
    ],
    // A diamond.
    &[(0.0, -1.2), (1.0, 0.0), (0.0, 1.2), (-1.0, 0.0)],
    // A star.
    &[
        (0.0, -1.2),
        (0.35, -0.41),
        (1.14, -0.37),
        (0.57, 0.16),
        (0.71, 0.97),
        (0.0, 0.57),
        (-0.71, 0.97),
        (-0.57, 0.16),
        (-1.14, -0.37),
        (-0.35, -0.41),
    ],
];

/// What the seat's shape is called.
pub fn shape_name(seat: Seat) -> &'static str {
    ["disc", "square", "triangle", "cross", "diamond", "star"][usize::from(seat.number()) % 6]
}

/// Draws the seat's shape around a point; `attributes` begin with a blank, or are empty.
pub fn shape(ink: &mut Ink, seat: Seat, at: Point, radius: f64, attributes: &str) {
    let corners = SHAPES[usize::from(seat.number()) % SHAPES.len()];
    if corners.is_empty() {
        circle(ink, at, radius, attributes);
        return;
    }
    ink.add(format_args!("<path{attributes} d=\""));
    for (index, &(x, y)) in corners.iter().enumerate() {
        let corner = Point {
            x: at.x + radius * x,
            y: at.y + radius * y,
        };
        let step = if index == 0 { "M" } else { " " };
        ink.add(format_args!("{step}{corner}"));
    }
    ink.add(format_args!("Z\"/>"));
}

/// Draws a circle; `attributes` as in [`shape`].
pub fn circle(ink: &mut Ink, at: Point, radius: f64, attributes: &str) {
    let (x, y, radius) = (Number(at.x), Number(at.y), Number(radius));
    ink.add(format_args!(
        "<circle{attributes} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
    ));
}
