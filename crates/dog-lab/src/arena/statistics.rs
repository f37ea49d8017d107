//! The result of a match and its certainty: the confidence interval of the score, and a sequential
//! test that tells which of two expected scores is the likelier one.
//!
//! Scores of pairs are counted in equal steps from 0 to 1: `counts[i]` pairs scored `i /
//! (counts.len() - 1)`.
//!
//! The test is the generalised sequential probability ratio test, as used for chess engines. The
//! hypotheses claim only the mean score, not the frequency of each score. So each hypothesis gets
//! the frequencies that explain the pairs best among those with its mean. The logarithm of the
//! likelihood ratio, LLR, is compared with Wald's bounds.

use std::time::Duration;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::Serialize;
use thiserror::Error;

/// The two-sided 95% quantile of the normal distribution.
pub const Z: f64 = 1.959_963_984_540_054;

/// The result of one pair. Of two entries, the first is player A's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Games won. With three teams, B wins those of either other team.
    pub wins: [u32; 2],
    /// Games that were abandoned.
    pub unfinished: u32,
    /// The sum of A's margins in the games, and of their squares. A margin is the number of pieces
    /// in the goal at the end, each of A's counted once for each other team, less the others'.
    pub margins: [i64; 2],
    pub thinking: [ThinkTimes; 2],
}

/// How long a player thought, by the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkTimes {
    /// The number of decisions, including those with a single choice.
    pub decisions: u64,
    pub total: Duration,
    pub longest: Duration,
}

impl ThinkTimes {
    /// The mean time of a decision; zero if there was none.
    pub fn mean(&self) -> Duration {
        let nanos = self.total.as_nanos() / u128::from(self.decisions.max(1));
        Duration::from_nanos(nanos as u64)
    }

    pub(super) fn decided(&mut self, time: Duration) {
        self.decisions += 1;
        self.total += time;
        self.longest = self.longest.max(time);
    }

    /// Adds the times of another count.
    pub fn add(&mut self, other: &ThinkTimes) {
        self.decisions += other.decisions;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }
}

/// The sum of some pairs. Of two entries, the first is player A's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchTotals {
    teams: u32,
    scores: Vec<u32>,
    /// Of each pair, the sums of A's scores, in steps of 1 / teams, and of their squares; then the
    /// same of the margins.
    sums: [Vec<[i64; 2]>; 2],
    /// Games won. With three teams, B wins those of either other team.
    pub wins: [u64; 2],
    /// Games that were abandoned.
    pub unfinished: u64,
    pub thinking: [ThinkTimes; 2],
}

impl MatchTotals {
    /// No pairs yet, for this many teams and seatings.
    pub fn new(teams: u8, seatings: u8) -> MatchTotals {
        let (teams, seatings) = (u32::from(teams), u32::from(seatings));
        MatchTotals {
            teams,
            scores: vec![0; (seatings * teams * teams + 1) as usize],
            sums: Default::default(),
            wins: [0; 2],
            unfinished: 0,
            thinking: [ThinkTimes::default(); 2],
        }
    }

    /// Counts a pair by the mean of its games: 1 for a game won, 0 for one lost, and 1 / teams, the
    /// expected score of chance, for one abandoned.
    pub fn add(&mut self, pair: &Pair) {
        let score = pair.wins[0] * self.teams + pair.unfinished;
        self.scores[score as usize] += 1;
        let squares = pair.wins[0] * self.teams * self.teams + pair.unfinished;
        self.sums[0].push([score, squares].map(i64::from));
        self.sums[1].push(pair.margins);
        self.unfinished += u64::from(pair.unfinished);
        for side in 0..2 {
            self.wins[side] += u64::from(pair.wins[side]);
            self.thinking[side].add(&pair.thinking[side]);
        }
    }

    /// The number of pairs with each of A's scores, in seatings · teams² steps from 0 to 1.
    pub fn scores(&self) -> &[u32] {
        &self.scores
    }

    /// The number of pairs with each of A's scores that finished games can give: with one seating
    /// 0, ½, 1 for two teams and 0, ⅓, ⅔, 1 for three. Pairs with an abandoned game may be missing.
    pub fn full_scores(&self) -> impl Iterator<Item = u32> {
        self.scores.iter().copied().step_by(self.teams as usize)
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u32 {
        self.scores.iter().sum()
    }

    /// A's mean score, 0 to 1. Chance gives 1 / teams.
    pub fn mean(&self) -> f64 {
        mean(&self.scores)
    }

    /// The 95% interval of A's expected score.
    pub fn interval(&self) -> Interval {
        interval(&self.scores)
    }

    /// The ratios for A's score and its margin; nothing if all games have the same.
    pub fn variance_ratios(&self) -> [Option<VarianceRatio>; 2] {
        let games = (self.scores.len() - 1) / self.teams as usize;
        self.sums.each_ref().map(|sums| variance_ratio(sums, games))
    }
}

/// An interval of scores, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// Each score and its count.
fn weighted(counts: &[u32]) -> impl Iterator<Item = (f64, f64)> + Clone {
    let steps = counts.len().saturating_sub(1).max(1) as f64;
    counts
        .iter()
        .enumerate()
        .map(move |(index, &count)| (index as f64 / steps, f64::from(count)))
}

/// The mean score; NaN if there are no pairs.
pub fn mean(counts: &[u32]) -> f64 {
    let pairs: f64 = weighted(counts).map(|(_, count)| count).sum();
    let sum: f64 = weighted(counts).map(|(score, count)| score * count).sum();
    sum / pairs
}

/// The 95% interval of the expected score, after Agresti and Coull: as if z²/2 more pairs had been
/// lost and z²/2 more won, mean ± z · √(variance / pairs), with z = 1.96.
///
/// With many pairs this is the interval of the sample variance. Near 0 and 1 and with few pairs the
/// sample variance is too small, and the added pairs correct that. The interval is never narrower
/// than Wilson's if every pair is 0 or 1, and always contains the mean.
pub fn interval(counts: &[u32]) -> Interval {
    let added = [(0.0, Z * Z / 2.0), (1.0, Z * Z / 2.0)];
    let all = weighted(counts).chain(added);
    let pairs: f64 = all.clone().map(|(_, count)| count).sum();
    let mean = all.clone().map(|(score, count)| score * count).sum::<f64>() / pairs;
    let squares = all.map(|(score, count)| count * (score - mean).powi(2));
    let half = Z * (squares.sum::<f64>() / pairs / pairs).sqrt();
    Interval {
        low: (mean - half).max(0.0),
        high: (mean + half).min(1.0),
    }
}

/// The mean of some values, and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// The variance of the mean of a pair's games, divided by that of the mean of as many games with
/// independent cards. Below 1 luck cancels out: 1 / ratio times as many independent games are
/// needed for an equally precise mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VarianceRatio {
    pub ratio: f64,
    /// The ends of its 95% interval.
    pub low: f64,
    pub high: f64,
}

/// The number of samples of the bootstrap.
const SAMPLES: u32 = 2_000;

/// The ratio for pairs of this many games; nothing if all games have the same value. Of each pair,
/// `pairs` has the sum of the values of its games, and of their squares. The interval is that of a
/// percentile bootstrap: each of its samples has as many pairs, drawn from these with replacement.
fn variance_ratio(pairs: &[[i64; 2]], games: usize) -> Option<VarianceRatio> {
    let ratio = ratio_of(pairs.iter(), games)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut draw = || &pairs[rng.random_range(0..pairs.len())];
    let mut ratios: Vec<f64> = (0..SAMPLES)
        .filter_map(|_| ratio_of(pairs.iter().map(|_| draw()), games))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let tail = ratios.len() / 40;
    let (low, high) = (*ratios.get(tail)?, *ratios.iter().nth_back(tail)?);
    Some(VarianceRatio { ratio, low, high })
}

/// The ratio alone: with two games a pair, 1 + the correlation of a pair's games.
fn ratio_of<'a>(pairs: impl Iterator<Item = &'a [i64; 2]>, games: usize) -> Option<f64> {
    let (mut count, mut sum, mut squares, mut squares_of_pairs) = (0.0, 0.0, 0.0, 0.0);
    for pair in pairs {
        let [value, square] = pair.map(|sum| sum as f64);
        count += 1.0;
        sum += value;
        squares += square;
        squares_of_pairs += value * value;
    }
    let games = games as f64;
    let of_pairs = count * squares_of_pairs - sum * sum;
    let of_games = count * games * squares - sum * sum;
    (of_games > 0.0).then_some(games * of_pairs / of_games)
}

/// Pairs that are added at each end of the scale, so that any claimed mean can be reached. So few
/// that they have no other effect.
const END_PAIRS: f64 = 1e-3;

/// A test of H0, "A's expected score is `low`", against H1, "it is `high`".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    low: f64,
    high: f64,
    /// The LLR at which H0 is accepted, and the one at which H1 is.
    bounds: [f64; 2],
}

/// Why a test is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SprtError {
    #[error("the scores must be 0 < LOW < HIGH < 1, not {0} and {1}")]
    Scores(f64, f64),
    #[error("the error rates must be above 0 and below 0.5, not {0} and {1}")]
    Errors(f64, f64),
}

/// The result of a test so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtDecision {
    /// H0 is accepted: the score is the low one, or lower.
    Low,
    /// H1 is accepted: the score is the high one, or higher.
    High,
    /// More pairs are needed.
    Undecided,
}

impl SprtDecision {
    /// The name of the accepted hypothesis.
    pub const fn name(self) -> &'static str {
        match self {
            SprtDecision::Low => "H0",
            SprtDecision::High => "H1",
            SprtDecision::Undecided => "undecided",
        }
    }
}

impl Sprt {
    /// A test that accepts H1 with probability `alpha` if the expected score is `low`, and H0 with
    /// probability `beta` if it is `high`, both approximately.
    ///
    /// # Errors
    /// If not 0 < low < high < 1, or alpha or beta are not between 0 and ½.
    pub fn new(low: f64, high: f64, alpha: f64, beta: f64) -> Result<Sprt, SprtError> {
        if !(0.0 < low && low < high && high < 1.0) {
            return Err(SprtError::Scores(low, high));
        }
        if [alpha, beta]
            .iter()
            .any(|&chance| chance <= 0.0 || chance >= 0.5 || chance.is_nan())
        {
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

    /// The decision for these pairs; `counts[i]` of them scored `i / (counts.len() - 1)`. Call it
    /// after every pair.
    pub fn decide(&self, counts: &[u32]) -> SprtDecision {
        let llr = self.llr(counts);
        match self.bounds {
            [low, _] if llr <= low => SprtDecision::Low,
            [_, high] if llr >= high => SprtDecision::High,
            _ => SprtDecision::Undecided,
        }
    }

    /// The logarithm of the likelihood of these pairs under H1, divided by that under H0.
    pub fn llr(&self, counts: &[u32]) -> f64 {
        let counts: Vec<(f64, f64)> = weighted(counts)
            .map(|(score, count)| match score {
                0.0 | 1.0 => (score, count.max(END_PAIRS)),
                _ => (score, count),
            })
            .collect();
        let (tilt_low, tilt_high) = (
            likelihood_multiplier(&counts, self.low),
            likelihood_multiplier(&counts, self.high),
        );
        counts
            .iter()
            .map(|(score, count)| {
                let low = 1.0 + tilt_low * (score - self.low);
                let high = 1.0 + tilt_high * (score - self.high);
                count * (low / high).ln()
            })
            .sum()
    }
}

/// The likeliest frequencies with this mean are, for each score, the observed ones divided by 1 + t
/// · (score − mean). This is t, a Lagrange multiplier: the root of a function that falls from +∞ to
/// −∞ where all divisors are positive.
fn likelihood_multiplier(counts: &[(f64, f64)], mean: f64) -> f64 {
    let (mut from, mut to) = (-1.0 / (1.0 - mean), 1.0 / mean);
    loop {
        let middle = (from + to) / 2.0;
        // Bisection, until there is no number in between.
        if middle <= from || middle >= to {
            return middle;
        }
        let excess: f64 = counts
            .iter()
            .map(|(score, count)| count * (score - mean) / (1.0 + middle * (score - mean)))
            .sum();
        if excess > 0.0 {
            from = middle;
        } else {
            to = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_by_their_score() {
        let totals = |teams, pairs: &[([u32; 2], u32)]| {
            let mut totals = MatchTotals::new(teams, 1);
            for &(wins, unfinished) in pairs {
                totals.add(&Pair {
                    wins,
                    unfinished,
                    ..Pair::default()
                });
            }
            totals
        };
        let four = totals(2, &[([2, 0], 0), ([1, 1], 0), ([0, 1], 1), ([0, 0], 2)]);
        assert_eq!(four.scores(), [0, 1, 2, 0, 1]);
        assert_eq!(four.full_scores().collect::<Vec<_>>(), [0, 2, 1]);
        assert_eq!((four.pairs(), four.wins, four.unfinished), (4, [3, 2], 3));
        assert_eq!(four.mean(), 2.25 / 4.0);
        assert_eq!(four.sums[0], [[4, 8], [2, 4], [1, 1], [2, 2]]);
        let six = totals(3, &[([3, 0], 0), ([1, 2], 0), ([1, 1], 1)]);
        assert_eq!(six.full_scores().collect::<Vec<_>>(), [0, 1, 0, 1]);
        assert!((six.mean() - (1.0 + 3.0 / 9.0 + 4.0 / 9.0) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_are_the_formulas() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 2e-4, "{a}, expected {b}");
        // Many pairs: 0.6 ± 1.96 · √(0.1 / 40,000).
        let many = interval(&[5_000, 22_000, 13_000]);
        let variance = 0.55 * 0.01 + 0.125 * 0.36 + 0.325 * 0.16;
        close(many.low, 0.6 - Z * f64::sqrt(variance / 40_000.0));
        close(many.high, 0.6 + Z * f64::sqrt(variance / 40_000.0));
        // 0 of 20: the mean of 23.84 with 1.92 won, ± 1.96 · √(0.0806 · 0.9194 / 23.84).
        let none = interval(&[20, 0]);
        close(none.low, 0.0);
        close(none.high, 0.1898);
        // Never empty, and the mean is inside.
        for counts in [
            [0, 1, 0],
            [0, 0, 1],
            [0, 2_000, 0],
            [1, 0, 5_000],
            [0, 0, 0],
        ] {
            let Interval { low, high } = interval(&counts);
            let mean = mean(&counts);
            assert!(low < high && !(mean < low || mean > high), "{counts:?}");
        }
    }

    /// How often, in percent, the lower end of the interval is above the expected score and the
    /// upper end below it, in 4,000 matches of this many pairs with these probabilities of 0, ½ and
    /// 1.
    fn misses(chances: [f64; 3], pairs: u32) -> [f64; 2] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let expected = chances[1] / 2.0 + chances[2];
        let mut misses = [0.0; 2];
        for _ in 0..4_000 {
            let mut counts = [0; 3];
            for _ in 0..pairs {
                let draw: f64 = rng.random();
                let score = usize::from(draw >= chances[0]) + usize::from(draw >= 1.0 - chances[2]);
                counts[score] += 1;
            }
            let Interval { low, high } = interval(&counts);
            misses[0] += f64::from(low > expected) / 40.0;
            misses[1] += f64::from(high < expected) / 40.0;
        }
        misses
    }

    #[test]
    fn intervals_hold_the_expected_score_as_often_as_they_say() {
        for (chances, pairs) in [
            ([0.25, 0.5, 0.25], 30),
            ([0.25, 0.5, 0.25], 300),
            ([0.1, 0.3, 0.6], 200),
            ([0.0, 0.1, 0.9], 100),
            ([0.0, 0.02, 0.98], 100),
            ([0.0, 0.01, 0.99], 500),
            ([0.0, 0.002, 0.998], 1_000),
            ([0.002, 0.006, 0.992], 500),
            ([0.01, 0.0, 0.99], 200),
            ([0.002, 0.0, 0.998], 1_000),
        ] {
            let [above, below] = misses(chances, pairs);
            println!("{chances:?}, {pairs} pairs: {above:.2}% above, {below:.2}% below");
            // 2.5 and 5, with a margin.
            assert!(above <= 3.1, "{chances:?}, {pairs}: {above}% above");
            assert!(
                above + below <= 5.8,
                "{chances:?}, {pairs}: {above} + {below}%"
            );
        }
    }

    #[test]
    fn ratios_of_variances_are_those_of_correlated_games() {
        // The values 1, 1; 1, 0; 0, 0: the correlation is 1/3.
        let three = variance_ratio(&[[2, 2], [1, 1], [0, 0]], 2).unwrap();
        assert!((three.ratio - 4.0 / 3.0).abs() < 1e-12, "{three:?}");
        assert_eq!(variance_ratio(&[[2, 2], [2, 2]], 2), None);
        assert_eq!(variance_ratio(&[], 2), None);
        // The ratio of independent games is 1, with a standard error of 1/√pairs.
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut won = || i64::from(rng.random_bool(0.5));
        let pairs: Vec<_> = (0..1_000).map(|_| [won() + won(); 2]).collect();
        let VarianceRatio { low, high, .. } = variance_ratio(&pairs, 2).unwrap();
        assert!(low < 1.0 && high > 1.0, "{low} to {high}");
        let expected = 2.0 * Z / f64::sqrt(1_000.0);
        assert!((high - low - expected).abs() < 0.01, "{low} to {high}");
    }

    #[test]
    fn mean_and_error_match_the_formulas() {
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean, 2.5);
        // The variance of the sample is 5/3.
        assert!((error - (5.0f64 / 12.0).sqrt()).abs() < 1e-12, "{error}");
    }

    /// The results of 400 tests: how often H1 was accepted, how many were undecided after 20,000
    /// pairs, and the mean number of pairs. `chances[i]` is the probability of score `i /
    /// (chances.len() - 1)`.
    fn accepted(sprt: &Sprt, chances: &[f64], seed: u64) -> (u32, u32, u32) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut high, mut undecided, mut pairs) = (0, 0, 0);
        for _ in 0..400 {
            let mut counts = vec![0; chances.len()];
            let mut decision = SprtDecision::Undecided;
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
                if decision != SprtDecision::Undecided {
                    break;
                }
            }
            high += u32::from(decision == SprtDecision::High);
            undecided += u32::from(decision == SprtDecision::Undecided);
        }
        (high, undecided, pairs / 400)
    }

    #[test]
    fn error_rates_are_about_as_configured() {
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
            for (chances, wrong) in [(if_low, SprtDecision::High), (if_high, SprtDecision::Low)] {
                seed += 1;
                let (ups, undecided, pairs) = accepted(&sprt, &chances, seed);
                let errors = match wrong {
                    SprtDecision::High => ups,
                    _ => 400 - ups,
                };
                println!("{chances:?}: {errors} of 400, {pairs} pairs, {undecided} undecided");
                assert_eq!(undecided, 0);
                // 20 are expected.
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
        assert_eq!(sprt.decide(&[0, 0, 30]), SprtDecision::Undecided);
        assert_eq!(sprt.decide(&[0, 0, 31]), SprtDecision::High);
        assert_eq!(sprt.decide(&[40, 0, 0]), SprtDecision::Low);
        // A player against itself.
        assert_eq!(sprt.decide(&[0, 1000, 0]), SprtDecision::Low);
        assert_eq!(sprt.decide(&[0, 0, 0]), SprtDecision::Undecided);
        assert_eq!(sprt.decide(&[10, 30, 10]), SprtDecision::Undecided);
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
