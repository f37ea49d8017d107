//! Colours, and the shapes by which seats differ even without colours.

use std::fmt::{self, Write};

use dog_rules::Seat;

use super::layout::{Number, Point};

/// Whether the picture is for a light or a dark page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    Light,
    Dark,
}

/// The colours that do not belong to a seat.
pub struct Palette {
    pub background: &'static str,
    /// Letters, and lines around pieces.
    pub text: &'static str,
    /// Less important letters.
    pub faded: &'static str,
    /// The ring under the fields, and less important lines.
    pub ring: &'static str,
    /// Empty fields and the card.
    pub field: &'static str,
    /// Lines around empty fields.
    pub edge: &'static str,
    /// Behind the names.
    pub panel: &'static str,
}

const LIGHT: Palette = Palette {
    background: "#f6f0e2",
    text: "#2b2620",
    faded: "#665b4a",
    ring: "#9c8452",
    field: "#fffdf8",
    edge: "#6f5b33",
    panel: "#fbf8f0",
};

const DARK: Palette = Palette {
    background: "#211e1a",
    text: "#f4efe4",
    faded: "#c9bda8",
    ring: "#8f7a50",
    field: "#2c2823",
    edge: "#d8c596",
    panel: "#2c2823",
};

/// A seat's colours.
pub struct Colours {
    /// Its pieces.
    pub piece: &'static str,
    /// Its goal and kennel.
    pub home: &'static str,
    /// Lines around both.
    pub line: &'static str,
}

/// The colours of pieces, in all themes. After Okabe and Ito, whose colours remain distinct for
/// colour-blind people. The green is darker than theirs, so that it differs from the red in
/// brightness too.
const PIECES: [&str; 6] = [
    "#d55e00", "#0072b2", "#f0e442", "#007a57", "#cc79a7", "#3c3c3c",
];

/// The colours of homes, and of lines around them and around pieces.
const LIGHT_HOMES: [(&str, &str); 6] = [
    ("#f8d8c2", "#7d3700"),
    ("#c8dff0", "#003f63"),
    ("#f8f1b4", "#736900"),
    ("#c0e6d8", "#00402e"),
    ("#f1d9e6", "#75385a"),
    ("#d9d8d5", "#141414"),
];

const DARK_HOMES: [(&str, &str); 6] = [
    ("#5a2800", "#f2ab7e"),
    ("#003a5c", "#86c4ea"),
    ("#4a4300", "#f0e442"),
    ("#00402e", "#66cfa9"),
    ("#552840", "#e6b0cd"),
    ("#3a3a3a", "#cfcfcf"),
];

impl Theme {
    /// The colours that do not belong to a seat.
    pub fn palette(self) -> &'static Palette {
        match self {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
        }
    }

    /// The seat's colours.
    pub fn colours(self, seat: Seat) -> Colours {
        let homes = match self {
            Theme::Light => &LIGHT_HOMES,
            Theme::Dark => &DARK_HOMES,
        };
        let (home, line) = homes[usize::from(seat.number()) % homes.len()];
        Colours {
            piece: piece_colour(seat),
            home,
            line,
        }
    }
}

/// The colour of the seat's pieces.
pub fn piece_colour(seat: Seat) -> &'static str {
    PIECES[usize::from(seat.number()) % PIECES.len()]
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
pub struct SvgWriter {
    text: String,
    theme: Theme,
}

impl SvgWriter {
    /// An empty picture in this theme.
    pub fn new(theme: Theme) -> SvgWriter {
        let text = String::new();
        SvgWriter { text, theme }
    }

    /// The colours that do not belong to a seat.
    pub fn palette(&self) -> &'static Palette {
        self.theme.palette()
    }

    /// The seat's colours.
    pub fn colours(&self, seat: Seat) -> Colours {
        self.theme.colours(seat)
    }

    /// Adds elements, or parts of them.
    pub fn add(&mut self, elements: fmt::Arguments<'_>) {
        self.text
            .write_fmt(elements)
            .expect("writing to a string does not fail");
    }

    /// Everything added.
    pub fn text(self) -> String {
        self.text
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
