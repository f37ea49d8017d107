//! The numbers of advice: the chance of each choice, and how far it is below the best.

use dog_rules::SeatView;
use serde::{Deserialize, Serialize};

use super::{CandidateStats, PlayoutResult, Proof, Searcher, playing::chance};
use crate::rounded;

/// A difference below this is none, however small its error.
const EQUAL: f64 = 0.01;

/// The numbers of a choice, rounded as they are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The chance that the seat's team wins after it, 0 to 1: what is proved, or for the best the
    /// mean of its playouts, or the net's value without playouts. For any other choice the best's
    /// less the difference, so it never rises down a list.
    pub win_probability: f64,
    /// The standard error of that; 0 if it is proved, none with fewer than two playouts.
    pub standard_error: Option<f64>,
    /// How far the chance is below the best's: the mean over the worlds in which both were played
    /// out, or else by the net. At least that of the choice before.
    pub difference: f64,
    /// The standard error of the difference; none with fewer than two worlds in common, and for the
    /// best.
    pub difference_error: Option<f64>,
    /// Whether it is as good as the best as far as the playouts tell, or both are proved wins. False
    /// for the best.
    pub equal: bool,
}

impl Estimate {
    /// A chance that nothing is known of but that it is so far below the best's, and no higher than
    /// the one of the choice before.
    pub(crate) fn below(best: f64, before: Option<&Estimate>, difference: f64) -> Estimate {
        let before = before.map_or(0.0, |before| before.difference);
        let difference = rounded(difference).max(before).min(rounded(best));
        Estimate {
            win_probability: rounded(rounded(best) - difference),
            difference,
            ..Estimate::default()
        }
    }
}

impl Searcher<'_> {
    /// The numbers of these choices of the seat, the best first.
    ///
    /// The net expects that all seats play equally well; how they have played so far multiplies the
    /// odds at the end of each playout.
    pub(crate) fn estimates(
        &self,
        view: &SeatView,
        candidates: &[CandidateStats],
    ) -> Vec<Estimate> {
        let odds = self.models.advantage(view.rules, view.seat).exp();
        let candidates = candidates.iter().map(|stats| stats.with_odds(odds));
        let candidates: Vec<CandidateStats> = candidates.collect();
        let net = |stats: &CandidateStats| with_odds(chance(stats.logit), odds);
        let best = &candidates[0];
        let proved = best.proof.map(Proof::chance);
        let highest = proved.or(best.mean()).unwrap_or_else(|| net(best));
        let error = proved.map(|_| 0.0).or(best.standard_error());
        let mut estimates: Vec<Estimate> = Vec::with_capacity(candidates.len());
        for stats in &candidates {
            let before = estimates.last();
            let common = stats.difference(best).filter(|_| before.is_some());
            let proved = stats.proof.map(Proof::chance);
            let difference = match (proved, common) {
                (Some(chance), _) => highest - chance,
                (None, Some((mean, _))) => mean,
                (None, None) => net(best) - net(stats),
            };
            let difference_error = common.map(|(_, error)| rounded(error));
            let estimate = Estimate::below(highest, before, difference);
            let are_won =
                before.is_some() && [best, stats].map(|stats| stats.proof) == [Some(Proof::Win); 2];
            let is_equal = |error: f64| estimate.difference < EQUAL.max(2.0 * error);
            estimates.push(Estimate {
                standard_error: match (before, proved) {
                    (_, Some(_)) => Some(0.0),
                    (None, None) => error.map(rounded),
                    (Some(_), None) => error
                        .zip(common)
                        .map(|(error, (_, more))| rounded(error.hypot(more))),
                },
                difference_error,
                equal: are_won || difference_error.is_some_and(is_equal),
                ..estimate
            });
        }
        estimates
    }
}

impl CandidateStats {
    /// The values of the playouts with so many times their odds.
    fn with_odds(&self, odds: f64) -> CandidateStats {
        let mut stats = CandidateStats::new(self.candidate, self.logit);
        stats.proof = self.proof;
        for &value in &self.values {
            stats.add(PlayoutResult {
                value: with_odds(value.into(), odds),
                ..PlayoutResult::default()
            });
        }
        stats
    }
}

/// The chance whose odds are so many times those of this one. 0 and 1 stay.
fn with_odds(chance: f64, odds: f64) -> f64 {
    chance * odds / (1.0 - chance + chance * odds)
}
