//! A transcript played again, by the rules and from its seed.

use super::{Difference, Problem, Step, TextError, Unfinished, Written, dealt, write::Line};
use crate::{
    event::{Action, Event},
    game::{Game, Phase},
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
            return Err(Problem::from(difference).at(self.lines.commitment));
        }
        let mut game = Game::new(transcript.setup.clone());
        let mut log = vec![Entry {
            version: game.version(),
            action: None,
            events: vec![game.last_event().clone()],
        }];
        for (step, &line) in transcript.steps.iter().zip(&self.lines.steps) {
            let events = step
                .replay(&mut game)
                .map_err(|difference| Problem::from(difference).at(line))?;
            log.push(Entry {
                version: game.version(),
                action: Some(step.action.clone()),
                events,
            });
        }
        let (line, difference) = match (transcript.winner, game.winner()) {
            (Some(written), Some(by_moves)) if written != by_moves => {
                (self.lines.winner, Difference::Winner { by_moves, written })
            }
            (Some(written), None) => (self.lines.last, Difference::NotWon(written)),
            (None, Some(team)) => (self.lines.last, Difference::WinnerNotTold(team)),
            _ => return Ok(Replayed { game, log }),
        };
        Err(Problem::from(difference).at(line))
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
