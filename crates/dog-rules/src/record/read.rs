//! A transcript read from text, with an error that names the line.

use thiserror::Error;

use super::{FORMAT, Step, Transcript, headers::Headers, replay::Difference};
use crate::{
    card::Card, event::Action, notation::NotationError, options::RulesTextError, shuffle::SeedError,
};

/// Bytes of a text at most: fifty times as many as a long game needs.
pub const MAX_LENGTH: usize = 1 << 20;

/// Bytes of a line at most.
const MAX_LINE: usize = 4096;

/// A transcript and the lines that its parts were read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub transcript: Transcript,
    pub(super) lines: Lines,
}

/// Numbers of lines, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) commitment: usize,
    /// The winner's or, if no header names one, the last.
    pub(super) winner: usize,
    /// One a step.
    pub(super) steps: Vec<usize>,
    /// The last line that is not blank.
    pub(super) last: usize,
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct TextError {
    /// Counted from 1.
    pub line: usize,
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    #[error("the text is too long: a record has {MAX_LENGTH} bytes at most")]
    TooLong,
    #[error("the line is too long: it may have {MAX_LINE} bytes")]
    LineTooLong,
    #[error("a record begins with [Dog \"{FORMAT}\"]")]
    NoRecord,
    #[error("this is a record of format {0:?}, and only {FORMAT:?} is known")]
    Format(String),
    #[error("a header is written [Name \"value\"]")]
    Header,
    #[error("there is no header {0:?}")]
    UnknownHeader(String),
    #[error("the header {0} is there twice")]
    HeaderTwice(&'static str),
    #[error("the headers end here, and {0} is missing")]
    HeaderMissing(&'static str),
    #[error("headers stand before the first step")]
    HeaderLate,
    #[error("{header} must be {expected}")]
    Value {
        header: &'static str,
        expected: &'static str,
    },
    #[error("{0}")]
    Rules(#[from] RulesTextError),
    #[error("{0}")]
    Seed(#[from] SeedError),
    #[error("{0:?} begins no step: that is deal, host or a seat's number")]
    Step(String),
    #[error("there is no seat {0} at this table")]
    Seat(u8),
    #[error("a deal is written \"deal 1 by 0: \" or \"deal 1 by host: \" and a hand for each seat")]
    Deal,
    #[error("this is deal {round}, not {number}")]
    DealNumber { number: String, round: usize },
    #[error("there is no card {0:?}")]
    Card(String),
    #[error("the hands hold more of {0} than the deck")]
    TooMany(Card),
    #[error("{found} hands, but {seats} seats play")]
    Hands { found: usize, seats: u8 },
    #[error("the host \"reissues token 0\" or \"hands 0 to bot fast\" and a name in quotes")]
    Host,
    #[error("{id:?}: {problem}")]
    Move { id: String, problem: NotationError },
    #[error("{0}")]
    Difference(#[from] Difference),
}

impl Written {
    /// Reads a transcript. Whether the game can have been played so is another question, which
    /// [`Written::replay`] answers.
    ///
    /// # Errors
    /// Says which line is wrong and why.
    pub fn read(text: &str) -> Result<Written, TextError> {
        let lines = contents(text)?;
        let last = lines.last().map_or(1, |&(number, _)| number);
        let is_header = |&(_, line): &(usize, &str)| line.starts_with('[');
        let begin = lines.iter().position(|line| !is_header(line));
        let (headers, steps) = lines.split_at(begin.unwrap_or(lines.len()));
        let headers = Headers::read(headers, steps.first().map_or(last, |&(number, _)| number))?;
        let mut transcript = headers.transcript()?;
        let rules = &transcript.setup.rules;
        let mut round = 1;
        for &(line, text) in steps {
            let step = match text.starts_with('[') {
                true => Err(Problem::HeaderLate),
                false => Step::read(rules, round, text),
            };
            let step = step.map_err(|problem| TextError { line, problem })?;
            round += usize::from(matches!(step.action, Action::Deal { .. }));
            transcript.steps.push(step);
        }
        Ok(Written {
            lines: Lines {
                commitment: headers.line("Commitment"),
                winner: transcript.winner.map_or(last, |_| headers.line("Winner")),
                steps: steps.iter().map(|&(number, _)| number).collect(),
                last,
            },
            transcript,
        })
    }
}

/// The lines that say something, without their comments.
fn contents(text: &str) -> Result<Vec<(usize, &str)>, TextError> {
    let mut contents = Vec::new();
    let mut length = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        length += line.len() + 1;
        let at = |problem| TextError {
            line: number,
            problem,
        };
        if length > MAX_LENGTH + 1 {
            return Err(at(Problem::TooLong));
        }
        if line.len() > MAX_LINE {
            return Err(at(Problem::LineTooLong));
        }
        let content = uncommented(line).trim();
        if !content.is_empty() {
            contents.push((number, content));
        }
    }
    Ok(contents)
}

/// The line up to a semicolon that is not in quotes.
fn uncommented(line: &str) -> &str {
    let (mut quoted, mut escaped) = (false, false);
    let comment = line.find(|letter| {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = quoted,
            '"' => quoted = !quoted,
            ';' => return !quoted,
            _ => {}
        }
        false
    });
    &line[..comment.unwrap_or(line.len())]
}

/// The text whose opening quote was read, and what follows its closing one.
pub(super) fn unquote(text: &str) -> Option<(String, &str)> {
    let mut unquoted = String::new();
    let mut letters = text.chars();
    loop {
        match letters.next()? {
            '"' => return Some((unquoted, letters.as_str())),
            '\\' => unquoted.push(match letters.next()? {
                'n' => '\n',
                'r' => '\r',
                letter @ ('"' | '\\') => letter,
                _ => return None,
            }),
            letter => unquoted.push(letter),
        }
    }
}
