//! What a decision cost.

use dog_rules::{Action, By, Seat};
use serde::{Deserialize, Serialize};

/// How many standard errors a difference must exceed to be called worse than good.
const ERRORS: f64 = 2.0;

/// A choice that a seat made where it had others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedDecision {
    /// The version of the game that the choice led to.
    pub version: u64,
    pub seat: Seat,
    /// Who decided, if the seat's person did not.
    pub by: Option<By>,
    pub played: Action,
    /// The best choice, found on other worlds than those of the values. It is `played` if that
    /// leads to the same board with the same card.
    pub best: Action,
    /// The chance of the seat's team with `best`, 0 to 1.
    pub win_probability: f64,
    /// That chance less the one with `played`. It may be negative: where the choices are equally
    /// good, chance decides which one is found the best.
    pub difference: f64,
    /// The standard error of the difference.
    pub standard_error: f64,
}

dog_rules::named! {
    /// The judgement of a decision.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
    pub enum Judgement {
        /// The best choice.
        Best = "best",
        /// Another choice that is as good, or worse by less than can be measured.
        Good = "good",
        Inaccuracy = "inaccuracy",
        Mistake = "mistake",
        Blunder = "blunder",
    }
}

impl Judgement {
    /// The smallest loss that is called this.
    const fn threshold(self) -> f64 {
        match self {
            Judgement::Best | Judgement::Good => 0.0,
            Judgement::Inaccuracy => 0.02,
            Judgement::Mistake => 0.05,
            Judgement::Blunder => 0.10,
        }
    }
}

impl JudgedDecision {
    /// What the choice cost the seat's team, 0 to 1.
    pub fn loss(&self) -> f64 {
        self.difference.max(0.0)
    }

    pub fn judgement(&self) -> Judgement {
        if self.played == self.best {
            return Judgement::Best;
        }
        if self.difference <= ERRORS * self.standard_error {
            return Judgement::Good;
        }
        let mut worst_first = Judgement::ALL.into_iter().rev();
        let found = worst_first.find(|judgement| self.loss() >= judgement.threshold());
        found.map_or(Judgement::Good, |found| found.max(Judgement::Good))
    }

    /// The accuracy of this decision, 0 to 100, by the curve of Lichess for chess.
    pub fn accuracy(&self) -> f64 {
        let percent = 100.0 * self.loss();
        let curve = 103.1668100711649 * (-0.04354415386753951 * percent).exp();
        (curve - 3.166924740191411 + 1.0).clamp(0.0, 100.0)
    }
}
