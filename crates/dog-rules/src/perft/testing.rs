//! Positions and their counts, written as they are read.

use std::fmt;

use super::{OpenPosition, PerftCase};
use crate::position::PositionText;

impl fmt::Display for PerftCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.comment {
            writeln!(f, "{}", format!("# {line}").trim_end())?;
        }
        write!(f, "{}", self.position)?;
        for (depth, count) in &self.counts {
            writeln!(f, "{depth} {count}")?;
        }
        Ok(())
    }
}

impl fmt::Display for OpenPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenPosition { rules, board, .. } = self;
        write!(f, "rules {rules}")?;
        let hands = rules.ring().seats().map(|seat| {
            let cards = self.hands[seat].sorted();
            cards.map(|card| card.to_string()).collect()
        });
        writeln!(f, "\nboard {}", PositionText { rules, board })?;
        writeln!(f, "hands {}", written(hands))?;
        writeln!(f, "turn {}", self.turn.number())
    }
}

/// What each seat has; `-` means nothing.
fn written(seats: impl Iterator<Item = Vec<String>>) -> String {
    seats
        .map(|words| match words.as_slice() {
            [] => "-".to_owned(),
            words => words.join(" "),
        })
        .collect::<Vec<_>>()
        .join(" / ")
}
