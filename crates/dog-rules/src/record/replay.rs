//! A transcript played again, by the rules and from its seed.

use thiserror::Error;

use super::{
    Problem, Step, TextError, Unfinished, Written, dealt,
    step::{Hand, Line},
};
use crate::{
    card::Cards,
    event::{Action, Event},
    game::{ActionRefusal, Game, Phase},
    seat::Seat,
};

/// A game that was played again, and how it came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    pub game: Game,
    /// One entry a version.
    pub log: Vec<Entry>,
}

/// How one version of a game came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The version the action led to.
    pub version: u64,
    /// None for the creation.
    pub action: Option<Action>,
    /// What came of it, in full.
    pub events: Vec<Event>,
}

/// How a transcript differs from what its seed and the rules make of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Difference {
    #[error("SHA-256 of the seed is {computed}, not what the commitment says")]
    Commitment { computed: String },
    #[error("{step:?} is refused: {refusal}")]
    Refused {
        step: String,
        refusal: ActionRefusal,
    },
    #[error("by the seed {seat} is dealt {}, not {}", Hand(*.dealt), Hand(*.written))]
    Hand {
        seat: Seat,
        dealt: Cards,
        written: Cards,
    },
    #[error("by the moves team {by_moves} has won, not team {written}")]
    Winner { by_moves: u8, written: u8 },
    #[error("team {0} has won, but no header says so")]
    WinnerNotTold(u8),
    #[error("the record ends here, but no team has won yet, and team {0} is said to have")]
    NotWon(u8),
}

impl Written {
    /// Plays the game again: set up from its seed, every action by [`Game::apply`].
    ///
    /// # Errors
    /// Says at which line the transcript is not what the seed and the rules make of it: the
    /// commitment, a hand, an action that is refused, or the winner.
    pub fn replay(&self) -> Result<Replayed, TextError> {
        let transcript = &self.transcript;
        let computed = transcript.setup.seed.commitment();
        if computed != transcript.commitment {
            let difference = Difference::Commitment { computed };
            return Err(at(self.lines.commitment, difference));
        }
        let mut game = Game::new(transcript.setup.clone());
        let mut log = vec![Entry {
            version: game.version(),
            action: None,
            events: vec![game.last_event().clone()],
        }];
        for (step, &line) in transcript.steps.iter().zip(&self.lines.steps) {
            let events = step.replay(&mut game).map_err(|error| at(line, error))?;
            log.push(Entry {
                version: game.version(),
                action: Some(step.action.clone()),
                events,
            });
        }
        let replayed = Replayed { game, log };
        match self.winner_difference(replayed.game.winner()) {
            Some((line, difference)) => Err(at(line, difference)),
            None => Ok(replayed),
        }
    }

    fn winner_difference(&self, by_moves: Option<u8>) -> Option<(usize, Difference)> {
        match (self.transcript.winner, by_moves) {
            (Some(written), Some(by_moves)) if written != by_moves => {
                let difference = Difference::Winner { by_moves, written };
                Some((self.lines.winner, difference))
            }
            (Some(written), None) => Some((self.lines.last, Difference::NotWon(written))),
            (None, Some(team)) => Some((self.lines.last, Difference::WinnerNotTold(team))),
            _ => None,
        }
    }
}

impl Step {
    /// Carries the step out, and compares the hands.
    fn replay(&self, game: &mut Game) -> Result<Vec<Event>, Difference> {
        let round = game.round() as usize;
        let events = game.apply(&self.action);
        let events = events.map_err(|refusal| Difference::Refused {
            step: Line { step: self, round }.to_string(),
            refusal,
        })?;
        if let (Some(written), Some(dealt)) = (&self.hands, events.iter().find_map(dealt)) {
            let hands = Seat::all(game.rules().seats).zip(dealt).zip(written);
            for ((seat, dealt), &written) in hands {
                if dealt != written {
                    return Err(Difference::Hand {
                        seat,
                        dealt,
                        written,
                    });
                }
            }
        }
        Ok(events)
    }
}

impl Replayed {
    /// Whether the game was played to its end.
    ///
    /// # Errors
    /// If it was not.
    pub fn check_finished(&self) -> Result<(), Unfinished> {
        match self.game.phase() {
            Phase::Finished => Ok(()),
            _ => Err(Unfinished),
        }
    }
}

fn at(line: usize, difference: Difference) -> TextError {
    TextError {
        line,
        problem: Problem::Difference(difference),
    }
}
