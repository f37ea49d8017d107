//! A board as text, for people to read and write.
//!
//! ```text
//! 0f 9 g2 / 17 / - / 60        0f,9,g2/17/-/60        -3@2 / 5@1 / - / g0 g1
//! ```
//!
//! Seats are separated by `/`, the pieces of a seat by blanks or a comma. A place is a track field,
//! `g0` to `g3`, or relative to a start: `5@2` is five fields after the start of seat 2, `-3@2`
//! three before it. `f` after a place marks a fresh piece. A seat without pieces outside the kennel
//! is `-`, and `-` alone is the empty board.

use std::fmt;

use thiserror::Error;

use crate::{Board, BoardError, Placement, Rules, Seat, notation::plain_number, pieces::PIECES};

/// Characters of a wrong place that an error repeats.
const MAX_QUOTED: usize = 16;

/// Why a text is not a board.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("character {character}: {problem}")]
pub struct PositionError {
    /// Where the wrong part begins, from 1.
    pub character: usize,
    pub problem: PositionProblem,
}

/// What is wrong with a part of the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PositionProblem {
    #[error(
        "{0:?} is not a place: places are track fields such as 17, g0 to g3, and 5@2 or -3@2 for \
         fields after and before the start of seat 2; 0f is a fresh piece on field 0"
    )]
    Place(String),
    #[error("a place is missing here; - stands for none")]
    Missing,
    #[error("{seat} cannot have a fresh piece on field {field}, only on its start, field {start}")]
    Fresh { seat: Seat, field: u8, start: u8 },
    #[error("{0}")]
    Board(#[from] BoardError),
}

/// Reads a board.
///
/// # Errors
/// If the text is not a board. The error says what is wrong, and at which character.
pub fn read(rules: &Rules, text: &str) -> Result<Board, PositionError> {
    if text.trim() == "-" {
        return Ok(Board::new());
    }
    let segments: Vec<&str> = text.split('/').collect();
    let found = segments.len();
    if found != usize::from(rules.seats) {
        let expected = rules.seats;
        let problem = BoardError::Seats { expected, found }.into();
        let part = segments.get(usize::from(expected));
        let part = part.map_or(&text[text.len()..], |part| part.trim_start());
        return Err(error(text, part, problem));
    }
    let mut placements = vec![Placement::default(); found];
    let mut board = Board::new();
    for (seat, segment) in rules.ring().seats().zip(segments) {
        if segment.trim() == "-" {
            continue;
        }
        for part in segment.split(',') {
            let mut words = part.split_whitespace().peekable();
            if words.peek().is_none() {
                return Err(error(text, part, PositionProblem::Missing));
            }
            for word in words {
                let placement = &mut placements[usize::from(seat.number())];
                // Each piece is checked with those before it, so that the error is about it.
                board = add(rules, seat, word, placement)
                    .and_then(|()| Ok(Board::place(rules, &placements)?))
                    .map_err(|problem| error(text, word, problem))?;
            }
        }
    }
    Ok(board)
}

/// The error for this problem with a part of the text.
fn error(text: &str, part: &str, problem: PositionProblem) -> PositionError {
    let begin = part.as_ptr() as usize - text.as_ptr() as usize;
    let character = text[..begin].chars().count() + 1;
    PositionError { character, problem }
}

/// Adds a piece at the place that this word names.
fn add(
    rules: &Rules,
    seat: Seat,
    word: &str,
    placement: &mut Placement,
) -> Result<(), PositionProblem> {
    let not_a_place = || PositionProblem::Place(word.chars().take(MAX_QUOTED).collect());
    if let Some(field) = word.strip_prefix('g') {
        let field = plain_number(field).filter(|&field| field < PIECES);
        placement.goal.push(field.ok_or_else(not_a_place)?);
        return Ok(());
    }
    let fresh = word.strip_suffix('f');
    let field = track_field(rules, fresh.unwrap_or(word)).ok_or_else(not_a_place)?;
    placement.track.push(field);
    if fresh.is_some() {
        let start = rules.ring().start(seat);
        if field != start {
            return Err(PositionProblem::Fresh { seat, field, start });
        }
        placement.fresh = true;
    }
    Ok(())
}

/// The track field that this word names. It may be beyond the track.
fn track_field(rules: &Rules, word: &str) -> Option<u8> {
    let Some((distance, seat)) = word.split_once('@') else {
        return plain_number(word);
    };
    let ring = rules.ring();
    let start = ring.start(Seat::new(plain_number(seat)?, rules.seats)?);
    let (distance, is_before) = match distance.strip_prefix('-') {
        Some(distance) => (
            plain_number(distance).filter(|&distance| distance > 0)?,
            true,
        ),
        None => (plain_number(distance)?, false),
    };
    let distance = Some(distance).filter(|&distance| distance < ring.length())?;
    Some(if is_before {
        ring.backward(start, distance)
    } else {
        ring.forward(start, distance)
    })
}

/// A board, to be written as text.
pub struct PositionText<'a> {
    pub rules: &'a Rules,
    pub board: &'a Board,
}

impl fmt::Display for PositionText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ring = self.rules.ring();
        let placements = self.board.placements(self.rules);
        for (seat, mut placement) in ring.seats().zip(placements) {
            if seat.number() > 0 {
                f.write_str(" / ")?;
            }
            if placement.track.is_empty() && placement.goal.is_empty() {
                f.write_str("-")?;
            }
            placement.track.sort_unstable();
            let mut blank = "";
            for field in placement.track {
                let fresh = placement.fresh && field == ring.start(seat);
                write!(f, "{blank}{field}{}", if fresh { "f" } else { "" })?;
                blank = " ";
            }
            for field in placement.goal {
                write!(f, "{blank}g{field}")?;
                blank = " ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    fn written(rules: &Rules, text: &str) -> String {
        let board = read(rules, text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let written = PositionText {
            rules,
            board: &board,
        }
        .to_string();
        assert_eq!(read(rules, &written), Ok(board), "{text:?}");
        written
    }

    #[test]
    fn texts_are_read() {
        let rules = Preset::DogspielIt.rules();
        for (text, expected) in [
            ("0f 9 g2 / 17 / - / 60", "0f 9 g2 / 17 / - / 60"),
            ("0f,9,g2/17/-/60", "0f 9 g2 / 17 / - / 60"),
            ("  9\tg2 , 0f/ 17 /-/60 ", "0f 9 g2 / 17 / - / 60"),
            ("g3 g0 63 5/-/-/-", "5 63 g0 g3 / - / - / -"),
            (" - ", "- / - / - / -"),
            ("5@2 / -3@2 / -3@0 / 63@3", "37 / 29 / 61 / 47"),
            ("- / - / 0@2f / 16@2f", "- / - / 32f / 48f"),
        ] {
            assert_eq!(written(&rules, text), expected);
        }
        let six = "hausregeln seats=6".parse().expect("rules");
        assert_eq!(
            written(&six, "-1@0 / 0@1f / - / - / - / g0,g1,g2,g3"),
            "89 / 15f / - / - / - / g0 g1 g2 g3"
        );
    }

    #[test]
    fn errors_name_the_character() {
        let rules = Preset::DogspielIt.rules();
        let refused = |text: &str| read(&rules, text).expect_err(text).to_string();
        for (text, begin) in [
            ("", "character 1: the board must have 4 entries, not 1"),
            ("0 / 1", "character 6: the board must have 4 entries, not 2"),
            (
                "-/-/-/-/ 5",
                "character 10: the board must have 4 entries, not 5",
            ),
            ("0 / / - / -", "character 4: a place is missing here"),
            ("0,,5/-/-/-", "character 3: a place is missing here"),
            ("0,/-/-/-", "character 3: a place is missing here"),
            ("0 - / - / - / -", "character 3: \"-\" is not a place"),
            (
                "64 / - / - / -",
                "character 1: seat 0 stands on track field 64",
            ),
            ("256 / - / - / -", "character 1: \"256\" is not a place"),
            (
                "5 / 7 5 / - / -",
                "character 7: two pieces stand on track field 5",
            ),
            ("g1 9 g1 / - / - / -", "character 6: two pieces of seat 0"),
            (
                "1 2 3 4 5/-/-/-",
                "character 9: seat 0 must have 4 pieces, not 5",
            ),
            (
                "- / 0f / - / -",
                "character 5: seat 1 cannot have a fresh piece on field 0",
            ),
            ("0ff / - / - / -", "character 1: \"0ff\" is not a place"),
            ("g0f / - / - / -", "character 1: \"g0f\" is not a place"),
            ("g4 / - / - / -", "character 1: \"g4\" is not a place"),
            ("p0 / - / - / -", "character 1: \"p0\" is not a place"),
            ("+5 / - / - / -", "character 1: \"+5\" is not a place"),
            ("g+1 / - / - / -", "character 1: \"g+1\" is not a place"),
            ("05 / - / - / -", "character 1: \"05\" is not a place"),
            ("5@4 / - / - / -", "character 1: \"5@4\" is not a place"),
            ("5@02 / - / - / -", "character 1: \"5@02\" is not a place"),
            ("-0@2 / - / - / -", "character 1: \"-0@2\" is not a place"),
            ("64@2 / - / - / -", "character 1: \"64@2\" is not a place"),
            ("@2 / - / - / -", "character 1: \"@2\" is not a place"),
            ("5@2@1 / - / - / -", "character 1: \"5@2@1\" is not a place"),
            ("ä ö / - / - / -", "character 1: \"ä\" is not a place"),
            ("- / ä / - / -", "character 5: \"ä\" is not a place"),
        ] {
            let error = refused(text);
            assert!(error.starts_with(begin), "{text:?}: {error}");
        }
        let long = format!("{} / - / - / -", "x".repeat(99));
        assert!(refused(&long).len() < 250);
    }
}
