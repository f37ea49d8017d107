//! What a match has come to, and how sure that is.
//!
//! Scores of pairs are counted in equal steps from 0 to 1: `counts[i]` pairs scored
//! `i / (counts.len() - 1)`.

use super::duplicate::{Pair, Thinking};

/// The two-sided 95% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

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
