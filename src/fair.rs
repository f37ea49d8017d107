//! Fair sharing of a resource among payers: start-time fair queueing (Goyal, Vin and Cheng 1996).
//!
//! The scheduler of the resource always serves the payer with the smallest start tag. The tag grows
//! by the cost of each job. So in the long run, payers that always have jobs waiting get equal
//! time, however many jobs each of them sends. The tag of an idle payer is the virtual time, so a
//! newcomer is served before a payer that has used more than its share.
//!
//! Apart from that, it is known who has used little recently. Each payer has a leaky bucket, out of
//! which [`LIGHT_USE`] runs in [`RECENT`].

use std::{
    collections::HashMap,
    hash::Hash,
    time::{Duration, Instant},
};

/// Payers whose tags are stored. Beyond that number the smallest tags are dropped.
const MAX_PAYERS: usize = 1_024;

/// How long a use of time counts as recent.
const RECENT: Duration = Duration::from_secs(10);

/// What a payer may have used in that time and still have used little.
const LIGHT_USE: Duration = Duration::from_millis(300);

/// The virtual time, and the start tags of the payers that are ahead of it.
#[derive(Clone, Debug)]
pub struct FairShares<K> {
    virtual_time: Duration,
    /// The start tag of each payer's next job; `virtual_time` for a payer without an entry.
    start_tags: HashMap<K, Duration>,
    /// When the bucket of each payer will be empty.
    empty_at: HashMap<K, Instant>,
}

/// The charge for a job that has begun.
#[derive(Debug)]
pub struct Charge<K> {
    pub payer: K,
    estimate: Duration,
    /// Whether the payer was not ahead of the virtual time when the job began.
    was_idle: bool,
}

impl<K> Default for FairShares<K> {
    fn default() -> FairShares<K> {
        FairShares {
            virtual_time: Duration::ZERO,
            start_tags: HashMap::new(),
            empty_at: HashMap::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> FairShares<K> {
    /// The payer's start tag. The payer with the smallest one is served next.
    pub fn tag(&self, payer: &K) -> Duration {
        self.start_tags
            .get(payer)
            .copied()
            .unwrap_or(self.virtual_time)
            .max(self.virtual_time)
    }

    /// Charges a job that begins and is expected to cost this much.
    pub fn begin(&mut self, payer: K, cost: Duration) -> Charge<K> {
        let was_idle = self
            .start_tags
            .get(&payer)
            .is_none_or(|&tag| tag < self.virtual_time);
        self.virtual_time = self.tag(&payer);
        self.start_tags
            .insert(payer, self.virtual_time.saturating_add(cost));
        let virtual_time = self.virtual_time;
        trim(&mut self.start_tags, virtual_time);
        Charge {
            payer,
            estimate: cost,
            was_idle,
        }
    }

    /// Corrects the charge to the actual cost of the job. This many payers have jobs waiting.
    pub fn end(&mut self, charge: Charge<K>, cost: Duration, waiting: usize) {
        if let Some(tag) = self.start_tags.get_mut(&charge.payer) {
            *tag = tag.saturating_sub(charge.estimate).saturating_add(cost);
        }
        if charge.was_idle {
            // Otherwise endless newcomers would stop the virtual time, and everyone else would
            // starve.
            let waiting = u32::try_from(waiting).unwrap_or(u32::MAX - 1);
            self.virtual_time = self.virtual_time.saturating_add(cost / (waiting + 1));
        }
    }

    /// Forgets all tags, for when no job waits or runs.
    pub fn clear(&mut self) {
        self.virtual_time = Duration::ZERO;
        self.start_tags.clear();
    }

    /// Fills the bucket of a payer that has used this much by now.
    pub fn add_use(&mut self, payer: K, used: Duration, now: Instant) {
        let empty_at = self.empty_at.entry(payer).or_insert(now);
        *empty_at = now.max(*empty_at) + used.mul_f64(RECENT.div_duration_f64(LIGHT_USE));
        trim(&mut self.empty_at, now);
    }

    /// Whether the payer has used little, and still has if it uses this much `more`.
    pub fn is_light(&self, payer: &K, more: Duration, now: Instant) -> bool {
        let empty_at = self.empty_at.get(payer).copied().unwrap_or(now);
        let emptying = empty_at.saturating_duration_since(now);
        emptying.mul_f64(LIGHT_USE.div_duration_f64(RECENT)) + more < LIGHT_USE
    }
}

/// If there are too many payers, drops those that are not ahead of this time, or else the half with
/// the smallest tags.
fn trim<K: Eq + Hash, T: Copy + Ord>(tags: &mut HashMap<K, T>, time: T) {
    if tags.len() > MAX_PAYERS {
        tags.retain(|_, tag| *tag > time);
    }
    if tags.len() > MAX_PAYERS {
        let mut sorted: Vec<T> = tags.values().copied().collect();
        let (_, &mut median, _) = sorted.select_nth_unstable(MAX_PAYERS / 2);
        tags.retain(|_, tag| *tag > median);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_JOB: Duration = Duration::from_secs(2);
    const SHORT_JOB: Duration = Duration::from_millis(5);

    /// Serves the payer with the smallest tag once, the first among equals, and returns it.
    fn serve(shares: &mut FairShares<u32>, waiting: &[(u32, Duration)]) -> u32 {
        let next = waiting.iter().min_by_key(|(payer, _)| shares.tag(payer));
        let &(payer, cost) = next.expect("a payer");
        let charge = shares.begin(payer, cost);
        shares.end(charge, cost, waiting.len());
        payer
    }

    #[test]
    fn payers_get_equal_time_whatever_a_job_costs() {
        let mut shares = FairShares::default();
        let payers = [
            (1, LONG_JOB),
            (2, SHORT_JOB),
            (3, Duration::from_millis(100)),
        ];
        let mut used = [Duration::ZERO; 3];
        for _ in 0..100_000 {
            let served = serve(&mut shares, &payers) as usize;
            used[served - 1] += payers[served - 1].1;
        }
        let (least, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
        assert!(*most - *least <= 3 * LONG_JOB, "{used:?}");
        assert!(*least > 50 * LONG_JOB, "{used:?}");
    }

    #[test]
    fn a_newcomer_is_served_next() {
        let mut shares = FairShares::default();
        for _ in 0..10 {
            assert_eq!(serve(&mut shares, &[(1, LONG_JOB)]), 1);
        }
        let waiting = [(1, LONG_JOB), (2, SHORT_JOB)];
        for _ in 0..60 {
            assert_eq!(serve(&mut shares, &waiting), 2);
        }
        assert!((0..1_000).any(|_| serve(&mut shares, &waiting) == 1));
    }

    #[test]
    fn endless_newcomers_starve_nobody() {
        let mut shares = FairShares::default();
        assert_eq!(serve(&mut shares, &[(0, LONG_JOB)]), 0);
        let newcomers = 1..10_000;
        let served = newcomers
            .clone()
            .find(|&newcomer| serve(&mut shares, &[(0, LONG_JOB), (newcomer, SHORT_JOB)]) == 0);
        // About as late as if it shared with three.
        assert!(served.is_some_and(|served| served < 1_600), "{served:?}");
    }

    #[test]
    fn the_actual_cost_is_charged() {
        let mut shares = FairShares::default();
        let charge = shares.begin(1, LONG_JOB);
        assert_eq!(shares.tag(&1), LONG_JOB);
        shares.end(charge, SHORT_JOB, 1);
        assert_eq!(shares.tag(&1), SHORT_JOB);
        let charge = shares.begin(2, SHORT_JOB);
        shares.end(charge, LONG_JOB, 1);
        assert!(shares.tag(&2) > shares.tag(&1));
    }

    #[test]
    fn recent_use_counts_for_a_while() {
        let (mut shares, now) = (FairShares::default(), Instant::now());
        let is_light = |shares: &FairShares<u32>, payer: u32, now: Instant| {
            shares.is_light(&payer, Duration::ZERO, now)
        };
        shares.add_use(1, LIGHT_USE - SHORT_JOB, now);
        assert!(is_light(&shares, 1, now) && !shares.is_light(&1, 2 * SHORT_JOB, now));
        shares.add_use(1, 2 * SHORT_JOB, now);
        shares.clear();
        assert!(!is_light(&shares, 1, now) && is_light(&shares, 2, now));
        assert!(is_light(&shares, 1, now + RECENT / 2));
        let almost = LIGHT_USE - Duration::from_nanos(1);
        assert!(shares.is_light(&1, almost, now + 2 * RECENT));
        for payer in 2..10_000 {
            shares.add_use(payer, SHORT_JOB, now);
            assert!(shares.empty_at.len() <= MAX_PAYERS);
        }
    }

    #[test]
    fn memory_is_bounded_and_the_largest_tags_are_kept() {
        let mut shares = FairShares::default();
        let charges: Vec<Charge<u32>> = (0..10_000)
            .map(|payer| {
                let cost = if payer == 0 { LONG_JOB } else { SHORT_JOB };
                let charge = shares.begin(payer, cost);
                assert!(shares.start_tags.len() <= MAX_PAYERS);
                charge
            })
            .collect();
        assert!(shares.tag(&0) >= LONG_JOB);
        for charge in charges {
            let cost = charge.estimate;
            shares.end(charge, cost, 0);
        }
    }
}
