//! Reasons as English sentences.

use std::fmt;

use dog_rules::{Card, Field};

use super::{AdviceReason, AdviceReasonCode};

impl fmt::Display for AdviceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use AdviceReasonCode::*;
        let AdviceReason {
            seat,
            place,
            card,
            probability,
            ..
        } = *self;
        let seat = seat.map_or_else(|| "a seat".to_owned(), |seat| seat.to_string());
        let place = match place {
            Some(Field::Track(field)) => format!("field {field}"),
            Some(Field::Goal(field)) => format!("goal field {field}"),
            None => "its field".to_owned(),
        };
        let card = card.map_or("card", Card::name);
        match self.code {
            OnlyMove => f.write_str("It is the only move."),
            Wins => f.write_str("It wins the game."),
            WinsNext => write!(
                f,
                "The {card} then wins the game at the next turn, in {:.0} of 100 playouts.",
                100.0 * probability.unwrap_or_default()
            ),
            StopsWin => write!(
                f,
                "One card of {seat} would have won the game; now none would."
            ),
            SavesPartner => write!(
                f,
                "The next best move captures the partner's piece on {place}."
            ),
            StopsHome => write!(
                f,
                "One card of {seat} would have brought the piece on {place} home; now none would."
            ),
            ThenHome => write!(f, "The {card} then brings the piece on {place} home."),
            BringsHome => write!(f, "A piece of {seat} comes home, to {place}."),
            Captures => write!(f, "The piece of {seat} on {place} is captured."),
            CapturesPartner => write!(f, "The partner's piece on {place} is captured."),
            CapturesOwn => write!(f, "The seat's own piece on {place} is captured."),
            LeavesKennel => write!(f, "A piece of {seat} leaves its kennel."),
            ClearsGoal => write!(f, "A piece of {seat} goes deeper into its goal."),
            Escapes => write!(
                f,
                "A card of {seat} could have captured the piece on {place}; now none can."
            ),
            Exposes => write!(
                f,
                "A piece that it moves is captured before the seat's next turn in {:.0} of 100 playouts.",
                100.0 * probability.unwrap_or_default()
            ),
            Blocks => write!(
                f,
                "A block appears on {place}, in front of a piece of {seat}."
            ),
            Unblocks => write!(
                f,
                "The block on {place}, in front of a piece of {seat}, disappears."
            ),
            NearGoal => write!(f, "The piece on {place} is now one card from its goal."),
            BackwardShortcut => f.write_str("A four backward is a short way to the goal."),
            KeepsCard => write!(f, "The {card} is kept; to play it now is no better."),
            Farthest => {
                f.write_str("No other choice brings the team's pieces nearer to their goals.")
            }
            OnlyUse => f.write_str("Any other use of this card is clearly worse."),
            HelpsPartner => f.write_str("The partner's pieces come nearer to their goal."),
            HarmsPartner => f.write_str("The partner's pieces get farther from their goal."),
            DelaysOpponent => write!(f, "The pieces of {seat} get farther from their goal."),
            GivesExit => write!(f, "With the {card} the partner can leave the kennel."),
            GivesFittingCard => write!(
                f,
                "With the {card} the partner could come home or capture on this board."
            ),
            NoBetter => f.write_str("Nothing in particular speaks for it or against it."),
        }
    }
}
