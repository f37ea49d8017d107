//! Reasons as English sentences.

use dog_rules::{Card, Field};

use super::{AdviceReason, AdviceReasonCode};

impl AdviceReason {
    /// The reason as a sentence.
    pub(crate) fn sentence(&self) -> String {
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
        let of_100 = 100.0 * probability.unwrap_or_default();
        match self.code {
            OnlyMove => "It is the only move.".to_owned(),
            Wins => "It wins the game.".to_owned(),
            WinsNext => format!(
                "The {card} then wins the game at the next turn, in {of_100:.0} of 100 playouts."
            ),
            StopsWin => format!("One card of {seat} would have won the game; now none would."),
            SavesPartner => format!("The next best move captures the partner's piece on {place}."),
            StopsHome => format!(
                "One card of {seat} would have brought the piece on {place} home; now none would."
            ),
            ThenHome => format!("The {card} then brings the piece on {place} home."),
            BringsHome => format!("A piece of {seat} comes home, to {place}."),
            Captures => format!("The piece of {seat} on {place} is captured."),
            CapturesPartner => format!("The partner's piece on {place} is captured."),
            CapturesOwn => format!("The seat's own piece on {place} is captured."),
            LeavesKennel => format!("A piece of {seat} leaves its kennel."),
            ClearsGoal => format!("A piece of {seat} goes deeper into its goal."),
            Escapes => {
                format!("A card of {seat} could have captured the piece on {place}; now none can.")
            }
            Exposes => format!(
                "A piece that it moves is captured before the seat's next turn in {of_100:.0} of 100 playouts."
            ),
            Blocks => format!("A block appears on {place}, in front of a piece of {seat}."),
            Unblocks => format!("The block on {place}, in front of a piece of {seat}, disappears."),
            NearGoal => format!("The piece on {place} is now one card from its goal."),
            BackwardShortcut => "A four backward is a short way to the goal.".to_owned(),
            KeepsCard => format!("The {card} is kept; to play it now is no better."),
            Farthest => {
                "No other choice brings the team's pieces nearer to their goals.".to_owned()
            }
            OnlyUse => "Any other use of this card is clearly worse.".to_owned(),
            HelpsPartner => "The partner's pieces come nearer to their goal.".to_owned(),
            HarmsPartner => "The partner's pieces get farther from their goal.".to_owned(),
            DelaysOpponent => format!("The pieces of {seat} get farther from their goal."),
            GivesExit => format!("With the {card} the partner can leave the kennel."),
            GivesFittingCard => {
                format!("With the {card} the partner could come home or capture on this board.")
            }
            NoBetter => "Nothing in particular speaks for it or against it.".to_owned(),
        }
    }
}
