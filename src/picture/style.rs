//! Colours, and the shapes by which seats differ even without colours.

use std::fmt::{self, Write};

use dog_rules::Seat;

use super::layout::{Number, Point};

/// The background, so that the picture looks the same on light and dark pages.
pub const PAPER: &str = "#f6f0e2";
/// Lines and letters.
pub const DARK: &str = "#2b2620";
/// Less important letters.
pub const FADED: &str = "#756a58";
/// The ring under the fields, and less important lines.
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

/// After Okabe and Ito, whose colours remain distinct for colour-blind people. The green is darker than
/// theirs, so that it differs from the red in brightness too.
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

/// The name of the seat's shape.
pub fn shape_name(seat: Seat) -> &'static str {
    ["disc", "square", "triangle", "cross", "diamond", "star"][usize::from(seat.number()) % 6]
}

/// Draws the seat's shape around a point; `attributes` begin with a blank, or are empty.
pub fn shape(ink: &mut SvgWriter, seat: Seat, at: Point, radius: f64, attributes: &str) {
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
pub fn circle(ink: &mut SvgWriter, at: Point, radius: f64, attributes: &str) {
    let (x, y, radius) = (Number(at.x), Number(at.y), Number(radius));
    ink.add(format_args!(
        "<circle{attributes} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
    ));
}

/// Collects the text of the picture.
#[derive(Default)]
pub struct SvgWriter(String);

impl SvgWriter {
    /// Adds elements, or parts of them.
    pub fn add(&mut self, elements: fmt::Arguments<'_>) {
        self.0
            .write_fmt(elements)
            .expect("writing to a string does not fail");
    }

    /// Everything added.
    pub fn text(self) -> String {
        self.0
    }
}

/// Text for XML: special characters are escaped; those that are invalid in XML 1.0 or invisible are
/// dropped.
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars().filter(|&character| is_printable(character)) {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// Whether a character is none of these: a control character, a noncharacter, one that changes the
/// direction of the text after it.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// The text, truncated to a width of about `width` times the size of its font.
///
/// The font is not known, so the widths of letters are estimates, rather too large than too small.
pub fn fitted(text: &str, width: f64) -> String {
    let letters: Vec<char> = text
        .chars()
        .filter(|&letter| is_printable(letter))
        .collect();
    let whole: f64 = letters.iter().copied().map(letter_width).sum();
    if whole <= width {
        return letters.into_iter().collect();
    }
    let mut left = width - letter_width('…');
    let mut cut: String = letters
        .into_iter()
        .take_while(|&letter| {
            left -= letter_width(letter);
            left >= 0.0
        })
        .collect();
    cut.truncate(cut.trim_end().len());
    cut + "…"
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.36,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' => 0.45,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        letter if letter < '\u{1100}' && letter.is_uppercase() => 0.75,
        letter if letter < '\u{1100}' => 0.62,
        _ => 1.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        for (number, text) in [
            (0.0, "0"),
            (-0.04, "0"),
            (12.0, "12"),
            (12.34, "12.3"),
            (-0.25, "-0.3"),
            (999.96, "1000"),
        ] {
            assert_eq!(Number(number).to_string(), text);
        }
    }

    #[test]
    fn text_is_escaped_and_cleaned() {
        let escaped = |text| Escaped(text).to_string();
        assert_eq!(escaped("<a & \"b\">'"), "&lt;a &amp; &quot;b&quot;&gt;'");
        assert_eq!(
            escaped("a\u{0}b\u{1b}c\u{fffe}d\u{ffff}e\u{202e}f\u{85}"),
            "abcdef"
        );
        assert_eq!(escaped("Žofie 🐕 犬"), "Žofie 🐕 犬");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(fitted("Anna", 20.0), "Anna");
        assert_eq!(fitted(&"W".repeat(40), 10.0), "WWWWWWWWW…");
        assert_eq!(fitted("Anna Beatrix Carla", 8.0), "Anna Beatrix…");
        assert_eq!(fitted("a\u{0}b", 20.0), "ab");
    }
}
