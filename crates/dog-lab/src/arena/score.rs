//! What a match has come to, and how sure that is.
//!
//! Scores of pairs are counted in equal steps from 0 to 1: `counts[i]` pairs scored
//! `i / (counts.len() - 1)`.

use std::time::Duration;

/// The two-sided 95% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// What the games of one pair came to. Of two entries, the first is player A's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Games won; with three teams, B wins those of either other team.
    pub wins: [u32; 2],
    /// Games that were given up.
    pub unfinished: u32,
    pub thinking: [Thinking; 2],
}

/// How long a player thought, by the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thinking {
    /// Decisions, those with a single choice included.
    pub decisions: u64,
    pub total: Duration,
    pub longest: Duration,
}

impl Thinking {
    /// The mean of a decision; zero if there was none.
    pub fn mean(&self) -> Duration {
        let nanos = self.total.as_nanos() / u128::from(self.decisions.max(1));
        Duration::from_nanos(nanos as u64)
    }

    pub(super) fn decided(&mut self, time: Duration) {
        self.decisions += 1;
        self.total += time;
        self.longest = self.longest.max(time);
    }

    /// Adds what was thought elsewhere.
    pub fn add(&mut self, other: &Thinking) {
        self.decisions += other.decisions;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }
}

/// The sum of some pairs. Of two entries, the first is player A's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    teams: u32,
    scores: Vec<u32>,
    /// Games won; with three teams, B wins those of either other team.
    pub wins: [u64; 2],
    /// Games that were given up.
    pub unfinished: u64,
    pub thinking: [Thinking; 2],
}

impl Tally {
    /// No pairs yet, for this many teams at the table.
    pub fn new(teams: u8) -> Tally {
        let teams = u32::from(teams);
        Tally {
            teams,
            scores: vec![0; (teams * teams + 1) as usize],
            wins: [0; 2],
            unfinished: 0,
            thinking: [Thinking::default(); 2],
        }
    }

    /// Counts a pair: the mean of its games, of which one won is 1, one lost 0, and one given up
    /// what chance would give, 1 / teams.
    pub fn add(&mut self, pair: &Pair) {
        let score = pair.wins[0] * self.teams + pair.unfinished;
        self.scores[score as usize] += 1;
        self.unfinished += u64::from(pair.unfinished);
        for side in 0..2 {
            self.wins[side] += u64::from(pair.wins[side]);
            self.thinking[side].add(&pair.thinking[side]);
        }
    }

    /// How many pairs had which of A's scores, in teams² steps from 0 to 1.
    pub fn scores(&self) -> &[u32] {
        &self.scores
    }

    /// How many pairs had which of A's scores among those that full games can give: 0, ½, 1 with
    /// two teams; 0, ⅓, ⅔, 1 with three. Pairs with a game given up may be missing.
    pub fn full_scores(&self) -> impl Iterator<Item = u32> {
        self.scores.iter().copied().step_by(self.teams as usize)
    }

    /// Pairs counted.
    pub fn pairs(&self) -> u32 {
        self.scores.iter().sum()
    }

    /// A's mean score, 0 to 1; chance gives 1 / teams.
    pub fn mean(&self) -> f64 {
        mean(&self.scores)
    }

    /// The 95% interval of A's expected score.
    pub fn interval(&self) -> Interval {
        interval(&self.scores)
    }
}

/// An interval of scores, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// The score of each count, and the count.
pub(super) fn weighted(counts: &[u32]) -> impl Iterator<Item = (f64, f64)> + Clone {
    let steps = counts.len().saturating_sub(1).max(1) as f64;
    let score = move |(index, &count): (usize, &u32)| (index as f64 / steps, f64::from(count));
    counts.iter().enumerate().map(score)
}

/// The mean score; not a number if there are no pairs.
pub fn mean(counts: &[u32]) -> f64 {
    let pairs: f64 = weighted(counts).map(|(_, count)| count).sum();
    let sum: f64 = weighted(counts).map(|(score, count)| score * count).sum();
    sum / pairs
}

/// The 95% interval of the expected score, after Agresti and Coull: as if z²/2 pairs more had been
/// lost and z²/2 more won, mean ± z · √(variance / pairs), with z = 1.96.
///
/// With many pairs that is the interval of the sample variance. Near 0 and 1 and with few pairs,
/// where the sample variance is too small or nothing, the pairs added keep it honest: it is never
/// narrower than Wilson's where every pair is 0 or 1, and always holds the mean.
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

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    use super::*;

    #[test]
    fn pairs_are_counted_by_their_score() {
        let mut four = Tally::new(2);
        for (wins, unfinished) in [([2, 0], 0), ([1, 1], 0), ([0, 1], 1), ([0, 0], 2)] {
            four.add(&Pair {
                wins,
                unfinished,
                ..Pair::default()
            });
        }
        assert_eq!(four.scores(), [0, 1, 2, 0, 1]);
        assert_eq!(four.full_scores().collect::<Vec<_>>(), [0, 2, 1]);
        assert_eq!((four.pairs(), four.wins, four.unfinished), (4, [3, 2], 3));
        assert_eq!(four.mean(), 2.25 / 4.0);
        let mut six = Tally::new(3);
        for (wins, unfinished) in [([3, 0], 0), ([1, 2], 0), ([1, 1], 1)] {
            six.add(&Pair {
                wins,
                unfinished,
                ..Pair::default()
            });
        }
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
        // Never nothing, and the mean inside.
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

    /// 4,000 matches of so many pairs with these chances of 0, ½ and 1: how often, in percent, the
    /// lower end of the interval is above the expected score, and the upper end below it.
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
            // 2.5 and 5 with some luck.
            assert!(above <= 3.1, "{chances:?}, {pairs}: {above}% above");
            assert!(
                above + below <= 5.8,
                "{chances:?}, {pairs}: {above} + {below}%"
            );
        }
    }

    #[test]
    fn means_have_their_errors() {
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean, 2.5);
        // The variance of the sample is 5/3.
        assert!((error - (5.0f64 / 12.0).sqrt()).abs() < 1e-12, "{error}");
    }
}
