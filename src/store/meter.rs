//! Counts of what the store does, for whoever watches the server. Nothing of any game is in them.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// What the store has done since it was opened.
#[derive(Debug)]
pub struct Meter {
    /// Writes that wait for the writer's thread.
    waiting: AtomicU64,
    /// Microseconds that a commit took, from the first statement to the disk.
    commit_micros: Tallies,
    /// Writes that were committed together.
    commit_writes: Tallies,
}

/// How often something was how large.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Upper bounds, each with how many were larger than the bound before and not than this one.
    pub buckets: Vec<(f64, u64)>,
    /// How many there were in all, those above the last bound too.
    pub count: u64,
    pub sum: f64,
}

/// Upper bounds of a commit's time, in microseconds.
const MICROS: &[u64] = &[
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
];

/// Upper bounds of how many writes share a commit.
const WRITES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128];

impl Meter {
    pub(super) fn new() -> Meter {
        Meter {
            waiting: AtomicU64::new(0),
            commit_micros: Tallies::new(MICROS),
            commit_writes: Tallies::new(WRITES),
        }
    }

    /// A write waits for its turn.
    pub(super) fn queued(&self) {
        self.waiting.fetch_add(1, Relaxed);
    }

    /// So many writes wait no longer.
    pub(super) fn taken(&self, writes: usize) {
        self.waiting.fetch_sub(writes as u64, Relaxed);
    }

    /// So many writes were committed together, in that time.
    pub(super) fn committed(&self, writes: usize, time: Duration) {
        self.commit_writes.add(writes as u64);
        self.commit_micros.add(time.as_micros() as u64);
    }

    /// Writes that wait for the writer's thread.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Relaxed)
    }

    /// Seconds that a commit took, from its first statement to the disk.
    pub fn commit_seconds(&self) -> Distribution {
        self.commit_micros.distribution(1e6)
    }

    /// Writes that were committed together.
    pub fn commit_writes(&self) -> Distribution {
        self.commit_writes.distribution(1.0)
    }
}

/// Counts by bound, and what is above them all last.
#[derive(Debug)]
struct Tallies {
    bounds: &'static [u64],
    counts: Vec<AtomicU64>,
    sum: AtomicU64,
}

impl Tallies {
    fn new(bounds: &'static [u64]) -> Tallies {
        Tallies {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    fn add(&self, value: u64) {
        let bucket = self.bounds.partition_point(|&bound| bound < value);
        self.counts[bucket].fetch_add(1, Relaxed);
        self.sum.fetch_add(value, Relaxed);
    }

    /// All of it, in a unit that has so many of those that were counted.
    fn distribution(&self, parts: f64) -> Distribution {
        let counts: Vec<u64> = self
            .counts
            .iter()
            .map(|count| count.load(Relaxed))
            .collect();
        let bounds = self.bounds.iter().map(|&bound| bound as f64 / parts);
        Distribution {
            buckets: bounds.zip(counts.iter().copied()).collect(),
            count: counts.iter().sum(),
            sum: self.sum.load(Relaxed) as f64 / parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_counted_at_the_first_bound_that_it_does_not_exceed() {
        let meter = Meter::new();
        for writes in [1, 2, 3, 4, 200] {
            meter.committed(writes, Duration::from_micros(250));
        }
        let writes = meter.commit_writes();
        assert_eq!(
            writes.buckets[..4],
            [(1.0, 1), (2.0, 1), (4.0, 2), (8.0, 0)]
        );
        assert_eq!((writes.count, writes.sum), (5, 210.0));
        let seconds = meter.commit_seconds();
        assert_eq!(seconds.buckets[0], (0.00025, 5));
        assert!((seconds.sum - 0.00125).abs() < 1e-12);
        assert_eq!(seconds.buckets[6].0, 0.025);
    }

    #[test]
    fn who_waits_is_counted_until_its_turn() {
        let meter = Meter::new();
        (0..5).for_each(|_| meter.queued());
        meter.taken(3);
        assert_eq!(meter.waiting(), 2);
    }
}
