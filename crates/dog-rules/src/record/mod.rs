//! A game as a text that a person can read and anyone can replay, as chess has in PGN.
//!
//! ```text
//! [Dog "1"]
//! [Rules "hausregeln"]
//! [Seat0 "Anna"]
//! …
//!
//! deal 1 by 3: A 4 5 7 9 K | 2 3 3 6 8 10 | 2 4 8 J Q joker | A 6 7 9 10 Q
//! 0 offers 9
//! 2 asks
//! …
//! 0 K:out
//! 1 fold
//! ```
//!
//! `docs/record.md` tells the whole of it. Such a text is written of a [`Transcript`] and read as a
//! [`Written`] one, which knows its lines, so that whatever is wrong can be named with its line.
//! The times of single turns are not kept.

use thiserror::Error;

use super::{
    card::Cards,
    event::{Action, Event},
    game::{Game, Phase, Setup},
};

mod headers;
mod read;
mod replay;
mod step;
mod write;

pub use read::{MAX_LENGTH, Problem, TextError, Written};
pub use replay::{Entry, Replayed};
pub use write::StepWriter;

/// The format that is written; a reader refuses any other.
const FORMAT: &str = "1";

/// A game from its set-up to its last action, with nothing hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub about: About,
    /// What the game was made of. Who deals first is drawn from the seed if nobody is named.
    pub setup: Setup,
    /// What was published as SHA-256 of the seed, in hex digits.
    pub commitment: String,
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// The winning team; none if the transcript ends before the game.
    pub winner: Option<u8>,
}

/// What a transcript may say of its game besides: texts that mean nothing to the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// What the game is called, such as its id on the server.
    pub game: Option<String>,
    /// When it was created.
    pub created: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
}

/// An action, and the cards that it dealt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub action: Action,
    /// Each seat's hand, of a deal that says so; of no other action.
    pub hands: Option<Vec<Cards>>,
}

/// A game that is not over, so that its seed and its cards are secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the game is not over")]
pub struct Unfinished;

impl Transcript {
    /// The transcript of a finished game, without its steps.
    ///
    /// # Errors
    /// If the game is not over.
    pub fn without_steps(game: &Game, about: About) -> Result<Transcript, Unfinished> {
        if game.phase() != Phase::Finished {
            return Err(Unfinished);
        }
        Ok(Transcript {
            about,
            setup: game.setup(),
            commitment: game.commitment(),
            steps: Vec::new(),
            winner: game.winner(),
        })
    }
}

impl Step {
    /// The step of one version in a game's log, from its action and the events that followed; none
    /// for the creation, which has no action.
    pub fn of(action: Option<&Action>, events: &[Event]) -> Option<Step> {
        Some(Step {
            action: action?.clone(),
            hands: events.iter().find_map(dealt),
        })
    }
}

/// The hands of a deal that is told in full.
fn dealt(event: &Event) -> Option<Vec<Cards>> {
    match event {
        Event::CardsDealt { hands, .. } => hands.iter().copied().collect(),
        _ => None,
    }
}
