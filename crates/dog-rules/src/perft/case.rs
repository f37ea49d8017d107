//! Positions and their counts as text, for people to read and write.
//!
//! ```text
//! # why this position is interesting
//! rules hausregeln seats=4 seven_partner=always
//! board 10 15 g2 / 15f g0 g1 / - / -
//! hands A 7 joker / 2 3 / 5 K / J
//! turn 0
//! 1 34
//! 2 560
//! ```

use std::{collections::BTreeMap, str::FromStr};

use thiserror::Error;

use crate::{
    Board, BySeat, Card, Cards, ParseCardError, Rules, Seat,
    options::RulesTextError,
    position::{self, PositionError},
};

/// A position in the middle of a round, with all hands open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPosition {
    pub rules: Rules,
    pub board: Board,
    pub hands: BySeat<Cards>,
    /// The seat to move; if it holds no cards, the next one that does.
    pub turn: Seat,
}

/// A position and its known numbers of move sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerftCase {
    /// What the case is about, line by line.
    pub comment: Vec<String>,
    pub position: OpenPosition,
    /// The count of each depth.
    pub counts: BTreeMap<u32, u64>,
}

/// Why a text is not a case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct CaseError {
    /// Counted from 1.
    pub line: usize,
    pub problem: CaseErrorKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaseErrorKind {
    #[error("{0}")]
    Rules(#[from] RulesTextError),
    #[error("board: {0}")]
    Board(#[from] PositionError),
    #[error("{0:?}: {1}")]
    Card(String, ParseCardError),
    #[error("the hands hold more of {0} than the deck")]
    TooMany(Card),
    #[error("there must be {expected} hands, not {found}")]
    Hands { expected: u8, found: usize },
    #[error("{0:?} is not a seat of this table")]
    Turn(String),
    #[error("{0:?} is neither rules, board, hands, turn nor a depth with its count")]
    Line(String),
    #[error("depth {0} is counted twice")]
    Twice(u32),
    #[error("{0} expected here: a case is rules, board, hands, turn, counts, in this order")]
    Expected(&'static str),
}

impl CaseErrorKind {
    /// This problem, on this line.
    fn at(self, line: usize) -> CaseError {
        CaseError {
            line,
            problem: self,
        }
    }
}

/// Reads the cases of a file, which are separated by blank lines, each with the number of its first
/// line.
///
/// # Errors
/// Which line is wrong, and why.
pub fn read(text: &str) -> Result<Vec<(usize, PerftCase)>, CaseError> {
    let mut cases = Vec::new();
    let mut block = Block::default();
    for (number, line) in (1..).zip(text.lines().chain([""])) {
        if line.trim().is_empty() {
            let finished = std::mem::take(&mut block);
            // A block of comments alone is about the whole file.
            if let Some(first) = finished.first {
                cases.push((
                    first,
                    finished.finish().map_err(|problem| problem.at(number))?,
                ));
            }
        } else {
            block
                .line(number, line.trim())
                .map_err(|problem| problem.at(number))?;
        }
    }
    Ok(cases)
}

/// A case being read.
#[derive(Default)]
struct Block {
    /// The number of the first line that is not a comment.
    first: Option<usize>,
    comment: Vec<String>,
    rules: Option<Rules>,
    board: Option<Board>,
    hands: Option<BySeat<Cards>>,
    turn: Option<Seat>,
    counts: BTreeMap<u32, u64>,
}

impl Block {
    fn line(&mut self, number: usize, line: &str) -> Result<(), CaseErrorKind> {
        if let Some(comment) = line.strip_prefix('#') {
            self.comment.push(comment.trim().to_owned());
            return Ok(());
        }
        self.first.get_or_insert(number);
        let (key, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let expected = self.expected();
        match (key, &self.rules) {
            ("rules" | "board" | "hands" | "turn", _) if expected != Some(key) => {
                return Err(CaseErrorKind::Expected(
                    expected.unwrap_or("a depth with its count"),
                ));
            }
            ("rules", _) => self.rules = Some(rest.parse()?),
            ("board", Some(rules)) => self.board = Some(position::read(rules, rest)?),
            ("hands", Some(rules)) => self.hands = Some(read_hands(rules, rest)?),
            ("turn", Some(rules)) => self.turn = Some(read_turn(rules, rest)?),
            _ => {
                let (Ok(depth), Ok(count)) = (key.parse(), rest.trim().parse()) else {
                    return Err(CaseErrorKind::Line(line.to_owned()));
                };
                if let Some(missing) = expected {
                    return Err(CaseErrorKind::Expected(missing));
                }
                if self.counts.insert(depth, count).is_some() {
                    return Err(CaseErrorKind::Twice(depth));
                }
            }
        }
        Ok(())
    }

    /// What the case still needs and must come next. Counts are optional.
    fn expected(&self) -> Option<&'static str> {
        let there = [
            ("rules", self.rules.is_some()),
            ("board", self.board.is_some()),
            ("hands", self.hands.is_some()),
            ("turn", self.turn.is_some()),
        ];
        let missing = there.into_iter().find(|(_, there)| !there)?;
        Some(missing.0)
    }

    fn finish(self) -> Result<PerftCase, CaseErrorKind> {
        let missing = CaseErrorKind::Expected(self.expected().unwrap_or("rules"));
        let (Some(rules), Some(board), Some(hands), Some(turn)) =
            (self.rules, self.board, self.hands, self.turn)
        else {
            return Err(missing);
        };
        Ok(PerftCase {
            comment: self.comment,
            position: OpenPosition {
                rules,
                board,
                hands,
                turn,
            },
            counts: self.counts,
        })
    }
}

impl FromStr for PerftCase {
    type Err = CaseError;

    /// Reads a text that holds one case.
    fn from_str(text: &str) -> Result<PerftCase, CaseError> {
        let mut cases = read(text)?.into_iter();
        match (cases.next(), cases.next()) {
            (Some((_, case)), None) => Ok(case),
            (first, second) => {
                let line = second.or(first).map_or(1, |(line, _)| line);
                let problem = CaseErrorKind::Expected("one case");
                Err(CaseError { line, problem })
            }
        }
    }
}

/// What each seat has, in turn order; `-` means nothing.
fn by_seat(text: &str) -> impl Iterator<Item = impl Iterator<Item = &str>> {
    text.split('/')
        .map(|seat| seat.split_whitespace().filter(|&word| word != "-"))
}

/// Each seat's cards, all from one deck.
fn read_hands(rules: &Rules, text: &str) -> Result<BySeat<Cards>, CaseErrorKind> {
    let found = text.split('/').count();
    if found != usize::from(rules.seats) {
        let expected = rules.seats;
        return Err(CaseErrorKind::Hands { expected, found });
    }
    let mut hands = BySeat::<Cards>::default();
    let mut deck = rules.deck();
    for (words, hand) in by_seat(text).zip(hands.iter_mut()) {
        for word in words {
            let card = word
                .parse()
                .map_err(|unknown| CaseErrorKind::Card(word.to_owned(), unknown))?;
            if !deck.remove(card) {
                return Err(CaseErrorKind::TooMany(card));
            }
            hand.add(card);
        }
    }
    Ok(hands)
}

/// The number of a seat.
fn read_turn(rules: &Rules, text: &str) -> Result<Seat, CaseErrorKind> {
    let number = text.trim().parse().ok();
    number
        .and_then(|number| Seat::new(number, rules.seats))
        .ok_or_else(|| CaseErrorKind::Turn(text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perft::perft;

    const TEXT: &str = "\
# a seven in a crowd
#
# of six seats
rules hausregeln jack_own_pair=true seats=6 seven_partner=always
board 0f 7 g2 / 33 g0 g1 / - / - / 60 / -
hands A 7 joker / 2 3 / 5 K / J / - / Q Q
turn 0
1 34
3 560
";

    fn refused(text: &str) -> String {
        read(text).expect_err("no case").to_string()
    }

    #[test]
    fn cases_round_trip() {
        let case: PerftCase = TEXT.parse().unwrap();
        assert_eq!(case.to_string(), TEXT);
        assert_eq!(case.comment, ["a seven in a crowd", "", "of six seats"]);
        assert_eq!(case.counts, BTreeMap::from([(1, 34), (3, 560)]));
        let sloppy = "rules hausregeln  start_block=fresh seats=4\nboard 7 g2 0f/-/-  / -\n\
                      hands K A/ - / 2/-\nturn 3 \n 0 1";
        let case: PerftCase = sloppy.parse().unwrap();
        assert_eq!(
            case.to_string(),
            "rules hausregeln\nboard 0f 7 g2 / - / - / -\nhands A K / - / 2 / -\nturn 3\n0 1\n"
        );
        assert_eq!(perft(&case.position, 0), 1);
        let empty: PerftCase = "rules dogspiel-it\nboard -\nhands / / /\nturn 0"
            .parse()
            .unwrap();
        assert!(empty.to_string().contains("board - / - / - / -\n"));
    }

    #[test]
    fn lists_are_options_too() {
        let sizes = r#"deal_sizes={"first":[6],"then":[5,4]}"#;
        let text = format!("rules dogspiel-it {sizes}\nboard -\nhands / / / -\nturn 1\n");
        let case: PerftCase = text.parse().unwrap();
        assert_eq!(case.position.rules.deal_sizes.then, [5, 4]);
        assert!(case.to_string().contains(sizes));
    }

    #[test]
    fn a_file_has_cases_between_blank_lines() {
        let text = format!("# a file\n\n{TEXT}\n \n{TEXT}");
        let cases = read(&text).unwrap();
        let firsts: Vec<usize> = cases.iter().map(|(first, _)| *first).collect();
        assert_eq!(firsts, [6, 17]);
        assert_eq!(cases[0].1, cases[1].1);
        assert_eq!(read("# nothing\n"), Ok(vec![]));
        assert!("".parse::<PerftCase>().is_err());
        assert_eq!(text.parse::<PerftCase>().expect_err("two").line, 17);
    }

    #[test]
    fn errors_name_the_line() {
        let four = "rules dogspiel-it\nboard - / - / - / -\n";
        let begin = |rest: &str| refused(&format!("{four}{rest}"));
        let rules = |rest: &str| refused(&format!("\nrules {rest}"));
        let board = |rest: &str| refused(&format!("rules dogspiel-it\nboard {rest}"));
        for (error, text) in [
            (rules("tock"), "line 2: there is no preset \"tock\""),
            (
                rules("hausregeln seat=6"),
                "line 2: \"seat=6\" is not an option",
            ),
            (
                rules("hausregeln preset=1"),
                "line 2: \"preset=1\" is not an option",
            ),
            (rules("hausregeln six"), "line 2: \"six\" is not an option"),
            (
                rules("hausregeln seats=5"),
                "line 2: seats must be 4 or 6, not 5",
            ),
            (
                rules("hausregeln seats=x"),
                "line 2: seats: invalid type: string \"x\"",
            ),
            (
                rules("hausregeln start_block=no"),
                "line 2: start_block: unknown variant `no`",
            ),
            (
                rules("dogspiel-it seven_rest=one_piece seven_partner=always"),
                "line 2: seven_rest: one_piece needs",
            ),
            (
                board("64 / - / - / -"),
                "line 2: board: character 1: seat 0 stands on track field 64",
            ),
            (
                begin("hands 1 / - / - / -"),
                "line 3: \"1\": there is no card",
            ),
            (begin("hands - / -"), "line 3: there must be 4 hands, not 2"),
            (
                begin("hands A A A A A / A A A / - / A"),
                "line 3: the hands hold more of A",
            ),
            (begin("hands / / /\nturn 4"), "line 4: \"4\" is not a seat"),
            (begin("turn 0"), "line 3: hands expected here"),
            (begin("1 5"), "line 3: hands expected here"),
            (begin(""), "line 3: hands expected here"),
            (
                begin("hands / / /\nturn 0\n1 5\n1 6"),
                "line 6: depth 1 is counted twice",
            ),
            (
                begin("hands / / /\nturn 0\n1 -5"),
                "line 5: \"1 -5\" is neither",
            ),
            (
                begin("hands / / /\nturn 0\nturn 0"),
                "line 5: a depth with its count expected",
            ),
            (begin("hand"), "line 3: \"hand\" is neither"),
        ] {
            assert!(error.starts_with(text), "{error}\n{text}");
        }
    }
}
