//! What is judged: what a seat has done, and the cards that it keeps.

use dog_rules::card::{Card, Cards};

use super::HEADS;

/// What a seat has done, when its view is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has played, or folded.
    Played,
    /// It has laid down this card for its partner.
    Gave(Card),
    /// It has declined the exchange.
    Declined,
    /// It has asked for help and has still to answer.
    Asked,
}

impl Stage {
    /// Which of a net's heads judges what the seat has done, when it keeps so many cards: the last
    /// is for the exchange, the others for at most one card, two or three, and more.
    pub fn head(self, kept: u8) -> usize {
        match self {
            Stage::Played => usize::from(kept / 2).min(HEADS - 2),
            Stage::Gave(_) | Stage::Declined | Stage::Asked => HEADS - 1,
        }
    }
}

/// The cards that a seat keeps, as far as they are to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// As the seat itself sees them.
    Seen(Cards),
    /// As many cards, as anybody at the table sees them.
    Counted(u8),
}

impl Kept {
    /// How many cards.
    pub fn len(self) -> u8 {
        match self {
            Kept::Seen(hand) => hand.len(),
            Kept::Counted(cards) => cards,
        }
    }

    /// Whether no card is kept.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The cards that are seen.
    pub fn seen(self) -> Option<Cards> {
        match self {
            Kept::Seen(hand) => Some(hand),
            Kept::Counted(_) => None,
        }
    }
}
