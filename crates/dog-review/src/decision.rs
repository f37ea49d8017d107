//! What a decision cost.

use dog_rules::{Action, By, Seat};
use serde::{Deserialize, Serialize};

use crate::rounded;

/// How many standard errors a difference must exceed to be called worse than good.
pub(super) const ERRORS: f64 = 2.0;

/// What a choice at random must lose by the net's first values for the decision to count for the
/// accuracy.
const LEAST_RANDOM_LOSS: f64 = 0.01;

/// The fewest decisions with an accuracy.
const FEWEST_DECISIONS: usize = 10;

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
    /// The chance with `best` less that with a choice at random; none in reviews made before 0.3.0.
    #[serde(default)]
    pub random_loss: Option<f64>,
    /// The same by the net's first values, as a mean over all choices.
    #[serde(default)]
    pub net_random_loss: Option<f64>,
    /// Where the best choice was played but `greedy` prefers another one: the chance with it less
    /// that with the second best, if that exceeds two standard errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find: Option<f64>,
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
}

/// The accuracy of decisions, 0 to 100: the share of what choices at random would have lost that
/// these did not lose. None if there are too few that matter.
pub fn accuracy<'a>(decisions: impl Iterator<Item = &'a JudgedDecision>) -> Option<f64> {
    let (mut count, mut lost, mut random) = (0, 0.0, 0.0);
    for decision in decisions {
        let matters = decision.net_random_loss >= Some(LEAST_RANDOM_LOSS);
        if let Some(random_loss) = decision.random_loss.filter(|_| matters) {
            count += 1;
            lost += decision.difference;
            random += random_loss;
        }
    }
    let accuracy = (100.0 * (1.0 - lost / random)).clamp(0.0, 100.0);
    (count >= FEWEST_DECISIONS && random > 0.0).then(|| rounded(accuracy))
}
