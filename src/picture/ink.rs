//! What is written: numbers of one form, text that XML can hold, elements one after another.

use std::fmt::{self, Write};

/// The picture as far as it is drawn.
#[derive(Default)]
pub struct Ink(String);

impl Ink {
    /// Adds elements, or parts of them.
    pub fn add(&mut self, elements: fmt::Arguments<'_>) {
        self.0
            .write_fmt(elements)
            .expect("a String takes every text");
    }

    /// Everything added.
    pub fn text(self) -> String {
        self.0
    }
}

/// A number with one digit after the point at most: finer than the eye, and short.
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

/// Text as XML holds it: what has a meaning in XML is escaped, and what XML 1.0 cannot hold, or
/// nobody can see, is dropped.
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars().filter(|&character| can_stand(character)) {
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

/// Neither a control character nor a noncharacter, nor one that turns the direction of all the
/// text after it.
fn can_stand(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// A text that is cut, if need be, so that it is about `width` times as wide as its font is high.
///
/// Which font it will be is not known: the widths of letters are guessed, rather too large.
pub fn fitted(text: &str, width: f64) -> String {
    let letters: Vec<char> = text.chars().filter(|&letter| can_stand(letter)).collect();
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
