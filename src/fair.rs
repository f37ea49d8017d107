//! Fair sharing of a resource among payers: start-time fair queueing (Goyal, Vin and Cheng 1996).
//!
//! Whoever schedules the resource serves the payer with the smallest tag. A payer's tag grows by
//! what each service costs, so in the long run payers that always have work waiting get equal
//! time, however many jobs each of them sends. The tag of a payer that was idle is the virtual
//! time, so a newcomer is served before a payer that has used more than its share.

use std::{collections::HashMap, hash::Hash, time::Duration};

/// Payers whose tags are kept. Beyond that the smallest tags are forgotten.
const MAX_PAYERS: usize = 1_024;

/// The virtual time, and the payers that are ahead of it.
#[derive(Clone, Debug)]
pub struct Shares<K> {
    now: Duration,
    /// Where the next service of a payer begins; a payer that is missing begins at `now`.
    ahead: HashMap<K, Duration>,
}

/// A service that has begun.
#[derive(Debug)]
pub struct Service<K> {
    pub payer: K,
    charged: Duration,
    /// Whether the payer was not ahead of the virtual time.
    fresh: bool,
}

impl<K> Default for Shares<K> {
    fn default() -> Shares<K> {
        Shares {
            now: Duration::ZERO,
            ahead: HashMap::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> Shares<K> {
    /// The payer's place in the order of service: the smallest is next.
    pub fn tag(&self, payer: &K) -> Duration {
        self.ahead
            .get(payer)
            .copied()
            .unwrap_or(self.now)
            .max(self.now)
    }

    /// Begins a service that is expected to cost this much.
    pub fn begin(&mut self, payer: K, cost: Duration) -> Service<K> {
        let fresh = self.ahead.get(&payer).is_none_or(|&tag| tag < self.now);
        self.now = self.tag(&payer);
        self.ahead.insert(payer, self.now.saturating_add(cost));
        if self.ahead.len() > MAX_PAYERS {
            self.forget_some();
        }
        Service {
            payer,
            charged: cost,
            fresh,
        }
    }

    /// Ends a service, which has really cost this much, while so many payers have work waiting.
    pub fn end(&mut self, service: Service<K>, cost: Duration, waiting: usize) {
        if let Some(tag) = self.ahead.get_mut(&service.payer) {
            *tag = tag.saturating_sub(service.charged).saturating_add(cost);
        }
        if service.fresh {
            // Otherwise an endless row of newcomers would keep the virtual time where it is, and
            // everyone else waiting.
            let waiting = u32::try_from(waiting).unwrap_or(u32::MAX - 1);
            self.now = self.now.saturating_add(cost / (waiting + 1));
        }
    }

    /// Forgets what a payer has used.
    pub fn forget(&mut self, payer: &K) {
        self.ahead.remove(payer);
    }

    /// Forgets everything: for when nobody waits and nobody is served.
    pub fn clear(&mut self) {
        *self = Shares::default();
    }

    /// Forgets the payers that are not ahead; if there are none, the half that is least ahead.
    fn forget_some(&mut self) {
        let now = self.now;
        self.ahead.retain(|_, tag| *tag > now);
        if self.ahead.len() > MAX_PAYERS {
            let mut tags: Vec<Duration> = self.ahead.values().copied().collect();
            let (_, &mut median, _) = tags.select_nth_unstable(MAX_PAYERS / 2);
            self.ahead.retain(|_, tag| *tag > median);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(2);
    const SHORT: Duration = Duration::from_millis(5);

    /// Serves the payer with the smallest tag, the first of equals, once; says which it was.
    fn serve(shares: &mut Shares<u32>, waiting: &[(u32, Duration)]) -> u32 {
        let next = waiting.iter().min_by_key(|(payer, _)| shares.tag(payer));
        let &(payer, cost) = next.expect("a payer");
        let service = shares.begin(payer, cost);
        shares.end(service, cost, waiting.len());
        payer
    }

    #[test]
    fn payers_get_equal_time_whatever_a_job_costs() {
        let mut shares = Shares::default();
        let payers = [(1, LONG), (2, SHORT), (3, Duration::from_millis(100))];
        let mut used = [Duration::ZERO; 3];
        for _ in 0..100_000 {
            let served = serve(&mut shares, &payers) as usize;
            used[served - 1] += payers[served - 1].1;
        }
        let (least, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
        assert!(*most - *least <= 3 * LONG, "{used:?}");
        assert!(*least > 50 * LONG, "{used:?}");
    }

    #[test]
    fn a_newcomer_is_served_next() {
        let mut shares = Shares::default();
        for _ in 0..10 {
            assert_eq!(serve(&mut shares, &[(1, LONG)]), 1);
        }
        let waiting = [(1, LONG), (2, SHORT)];
        for _ in 0..60 {
            assert_eq!(serve(&mut shares, &waiting), 2);
        }
        assert!((0..1_000).any(|_| serve(&mut shares, &waiting) == 1));
    }

    #[test]
    fn endless_newcomers_do_not_keep_anyone_waiting_for_ever() {
        let mut shares = Shares::default();
        assert_eq!(serve(&mut shares, &[(0, LONG)]), 0);
        let newcomers = 1..10_000;
        let served = newcomers
            .clone()
            .find(|&newcomer| serve(&mut shares, &[(0, LONG), (newcomer, SHORT)]) == 0);
        // About as late as if it shared with three.
        assert!(served.is_some_and(|served| served < 1_600), "{served:?}");
    }

    #[test]
    fn what_a_service_really_cost_is_charged() {
        let mut shares = Shares::default();
        let service = shares.begin(1, LONG);
        assert_eq!(shares.tag(&1), LONG);
        shares.end(service, SHORT, 1);
        assert_eq!(shares.tag(&1), SHORT);
        let service = shares.begin(2, SHORT);
        shares.end(service, LONG, 1);
        assert!(shares.tag(&2) > shares.tag(&1));
    }

    #[test]
    fn memory_is_bounded_and_the_debts_that_count_are_kept() {
        let mut shares = Shares::default();
        let services: Vec<Service<u32>> = (0..10_000)
            .map(|payer| {
                let cost = if payer == 0 { LONG } else { SHORT };
                let service = shares.begin(payer, cost);
                assert!(shares.ahead.len() <= MAX_PAYERS);
                service
            })
            .collect();
        assert!(shares.tag(&0) >= LONG);
        for service in services {
            let cost = service.charged;
            shares.end(service, cost, 0);
        }
    }
}
