//! A sequential test: play until it is clear which of two expected scores is the likelier one.
//!
//! The generalised sequential probability ratio test, as chess engines are tested. How often a
//! pair has which score is not known, only its mean is claimed; so each claim is given the
//! frequencies that explain the pairs seen best among those with its mean, and the logarithm of
//! the ratio of both likelihoods, LLR, is held against Wald's bounds.

use thiserror::Error;

use super::score::weighted;

/// Pairs that each end of the scale is taken to have at least, so that a claimed mean can be
/// reached from any pairs seen. So few that they weigh nothing beside them.
const AT_EACH_END: f64 = 1e-3;

/// A test of H0, "A's expected score is `low`", against H1, "it is `high`".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    low: f64,
    high: f64,
    /// H0 is accepted when the LLR falls to the first, H1 when it rises to the second.
    bounds: [f64; 2],
}

/// Why there is no such test.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SprtError {
    #[error("the scores must be 0 < LOW < HIGH < 1, not {0} and {1}")]
    Scores(f64, f64),
    #[error("the chances to err must be above 0 and below 0.5, not {0} and {1}")]
    Errors(f64, f64),
}

/// What a test has found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// H0 is accepted: the score is the low one, or lower.
    Low,
    /// H1 is accepted: the score is the high one, or higher.
    High,
    /// More pairs are needed.
    Undecided,
}

impl Decision {
    /// The name of the hypothesis accepted.
    pub const fn name(self) -> &'static str {
        match self {
            Decision::Low => "H0",
            Decision::High => "H1",
            Decision::Undecided => "undecided",
        }
    }
}

impl Sprt {
    /// A test that, if the expected score is `low`, accepts H1 with a chance of `alpha` and, if it
    /// is `high`, accepts H0 with a chance of `beta`, both approximately.
    ///
    /// # Errors
    /// If not 0 < low < high < 1, or alpha or beta are not between 0 and ½.
    pub fn new(low: f64, high: f64, alpha: f64, beta: f64) -> Result<Sprt, SprtError> {
        if !(0.0 < low && low < high && high < 1.0) {
            return Err(SprtError::Scores(low, high));
        }
        let possible = |chance| 0.0 < chance && chance < 0.5;
        if !possible(alpha) || !possible(beta) {
            return Err(SprtError::Errors(alpha, beta));
        }
        let bounds = [beta / (1.0 - alpha), (1.0 - beta) / alpha].map(f64::ln);
        Ok(Sprt { low, high, bounds })
    }

    /// The scores of H0 and H1.
    pub fn scores(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The LLRs at which H0 and H1 are accepted: ln(β / (1 − α)) and ln((1 − β) / α).
    pub fn bounds(&self) -> [f64; 2] {
        self.bounds
    }

    /// What these pairs decide; `counts[i]` of them scored `i / (counts.len() - 1)`. To be asked
    /// after every pair.
    pub fn decide(&self, counts: &[u32]) -> Decision {
        let llr = self.llr(counts);
        match self.bounds {
            [low, _] if llr <= low => Decision::Low,
            [_, high] if llr >= high => Decision::High,
            _ => Decision::Undecided,
        }
    }

    /// The logarithm of how many times likelier these pairs are under H1 than under H0.
    pub fn llr(&self, counts: &[u32]) -> f64 {
        let counts: Vec<(f64, f64)> = weighted(counts)
            .map(|(score, count)| match score {
                0.0 | 1.0 => (score, count.max(AT_EACH_END)),
                _ => (score, count),
            })
            .collect();
        let (tilt_low, tilt_high) = (tilt(&counts, self.low), tilt(&counts, self.high));
        let ratio = |&(score, count): &(f64, f64)| {
            let low = 1.0 + tilt_low * (score - self.low);
            let high = 1.0 + tilt_high * (score - self.high);
            count * (low / high).ln()
        };
        counts.iter().map(ratio).sum()
    }
}

/// The likeliest frequencies with this mean are, for each score, those seen divided by
/// 1 + t · (score − mean). This is t: the root of a function that falls from +∞ to −∞ where all
/// divisors are positive.
fn tilt(counts: &[(f64, f64)], mean: f64) -> f64 {
    let excess = |tilt: f64| -> f64 {
        let part =
            |&(score, count): &(f64, f64)| count * (score - mean) / (1.0 + tilt * (score - mean));
        counts.iter().map(part).sum()
    };
    let (mut from, mut to) = (-1.0 / (1.0 - mean), 1.0 / mean);
    loop {
        let middle = (from + to) / 2.0;
        // Halved until there is no number in between.
        if middle <= from || middle >= to {
            return middle;
        }
        if excess(middle) > 0.0 {
            from = middle;
        } else {
            to = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    use super::*;

    /// Of 400 tests, how often H1 was accepted, how many ended undecided after 20,000 pairs, and
    /// the mean number of pairs; `chances[i]` is the chance of score `i / (chances.len() - 1)`.
    fn accepted(sprt: &Sprt, chances: &[f64], seed: u64) -> (u32, u32, u32) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut high, mut undecided, mut pairs) = (0, 0, 0);
        for _ in 0..400 {
            let mut counts = vec![0; chances.len()];
            let mut decision = Decision::Undecided;
            for _ in 0..20_000 {
                let mut draw: f64 = rng.random();
                let below = |&chance: &f64| {
                    draw -= chance;
                    draw < 0.0
                };
                let score = chances.iter().position(below);
                counts[score.unwrap_or(chances.len() - 1)] += 1;
                pairs += 1;
                decision = sprt.decide(&counts);
                if decision != Decision::Undecided {
                    break;
                }
            }
            high += u32::from(decision == Decision::High);
            undecided += u32::from(decision == Decision::Undecided);
        }
        (high, undecided, pairs / 400)
    }

    #[test]
    fn errors_are_about_as_rare_as_asked_for() {
        let mut seed = 0;
        for (low, high, if_low, if_high) in [
            (0.5, 0.6, vec![0.25, 0.5, 0.25], vec![0.15, 0.5, 0.35]),
            (0.5, 0.6, vec![0.1, 0.8, 0.1], vec![0.05, 0.7, 0.25]),
            (0.5, 0.6, vec![0.5, 0.0, 0.5], vec![0.4, 0.0, 0.6]),
            (0.97, 0.99, vec![0.01, 0.04, 0.95], vec![0.0, 0.02, 0.98]),
            (
                1.0 / 3.0,
                0.45,
                vec![0.3, 0.4, 0.3, 0.0],
                vec![0.2, 0.35, 0.35, 0.1],
            ),
        ] {
            let sprt = Sprt::new(low, high, 0.05, 0.05).unwrap();
            for (chances, wrong) in [(if_low, Decision::High), (if_high, Decision::Low)] {
                seed += 1;
                let (ups, undecided, pairs) = accepted(&sprt, &chances, seed);
                let errors = match wrong {
                    Decision::High => ups,
                    _ => 400 - ups,
                };
                println!("{chances:?}: {errors} of 400, {pairs} pairs, {undecided} undecided");
                assert_eq!(undecided, 0);
                // 20 are to be expected.
                assert!((4..=34).contains(&errors), "{chances:?}: {errors} of 400");
            }
        }
    }

    #[test]
    fn clear_cases_are_clear() {
        let sprt = Sprt::new(0.50, 0.55, 0.05, 0.05).unwrap();
        let [low, high] = sprt.bounds();
        assert!((high - 19f64.ln()).abs() < 1e-12 && (low + high).abs() < 1e-12);
        // Every pair won is 0.55 / 0.50 times likelier under H1.
        let won = |pairs| sprt.llr(&[0, 0, pairs]);
        assert!((won(100) - 100.0 * 1.1f64.ln()).abs() < 0.01);
        assert_eq!(sprt.decide(&[0, 0, 30]), Decision::Undecided);
        assert_eq!(sprt.decide(&[0, 0, 31]), Decision::High);
        assert_eq!(sprt.decide(&[40, 0, 0]), Decision::Low);
        // A player against itself.
        assert_eq!(sprt.decide(&[0, 1000, 0]), Decision::Low);
        assert_eq!(sprt.decide(&[0, 0, 0]), Decision::Undecided);
        assert_eq!(sprt.decide(&[10, 30, 10]), Decision::Undecided);
        // The mean in the middle says nothing, on a scale of any length.
        assert!(sprt.llr(&[190, 0, 0, 0, 210]).abs() < 0.01);
        let middle = Sprt::new(0.4, 0.6, 0.05, 0.05).unwrap();
        assert!(middle.llr(&[7, 5, 7]).abs() < 1e-9);
    }

    #[test]
    fn nonsense_is_refused() {
        for (low, high) in [
            (0.5, 0.5),
            (0.6, 0.5),
            (0.0, 0.5),
            (0.5, 1.0),
            (f64::NAN, 0.5),
        ] {
            assert!(Sprt::new(low, high, 0.05, 0.05).is_err(), "{low}, {high}");
        }
        for (alpha, beta) in [(0.0, 0.05), (0.05, 0.5), (-1.0, 0.05), (0.05, f64::NAN)] {
            assert!(Sprt::new(0.5, 0.6, alpha, beta).is_err(), "{alpha}, {beta}");
        }
    }
}
