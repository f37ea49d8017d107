//! Who is present at a game: at which seats somebody is connected, to any process on the store.
//!
//! A process writes when somebody comes or goes, and renews one lease for all that it has written.
//! If it dies, its lease ends, and the next process that writes removes the rest.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use dog_rules::Seat;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use super::{GameId, now};

/// How long the presence that a process has written counts after its last write.
pub const LEASE: SignedDuration = SignedDuration::from_secs(10);

/// How long a process must have held its lease without a gap before an absence counts: after a
/// start, a pause or an outage, those who were cut off need that long to come back. The presence
/// that another process has written counts for as long after the end of its lease.
pub const RETURN_TIME: SignedDuration = SignedDuration::from_secs(15);

/// How old a lease may be before it is renewed: a few times before it ends.
pub const RENEWAL: Duration = Duration::from_secs(3);

/// A process that writes who is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessId(pub(super) i64);

impl ProcessId {
    /// A new one.
    pub fn random() -> ProcessId {
        ProcessId(rand::random())
    }
}

/// Whether somebody is connected as this seat to one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatPresence {
    pub game: GameId,
    pub seat: Seat,
    pub is_present: bool,
}

/// The state of a process' lease after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Whether it is a new lease, so that nothing is known that the process has written before.
    pub is_new: bool,
    /// Whether there is more to remove of processes whose lease has ended.
    pub more_to_remove: bool,
}

/// The lease of this process, as it knows it.
#[derive(Debug)]
pub(super) struct OwnLease {
    pub process: ProcessId,
    /// How many there were.
    pub leases: AtomicU64,
    held: Mutex<Option<HeldLease>>,
}

/// A lease that was renewed without a gap.
#[derive(Clone, Copy, Debug)]
struct HeldLease {
    since: Instant,
    renewed: RenewalStart,
}

/// When a renewal was begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct RenewalStart {
    instant: Instant,
    /// By the clock that leases end by, which may jump, and goes on while a computer is suspended.
    at: Timestamp,
}

impl RenewalStart {
    pub fn now() -> RenewalStart {
        RenewalStart {
            instant: Instant::now(),
            at: now(),
        }
    }
}

impl HeldLease {
    /// The time since the last renewal; none if the lease has ended, by either clock.
    fn age(&self) -> Option<Duration> {
        let lease = LEASE.unsigned_abs();
        let by_clock = Duration::try_from(now().duration_since(self.renewed.at)).ok()?;
        let age = self.renewed.instant.elapsed();
        (age < lease && by_clock < lease).then_some(age)
    }
}

impl OwnLease {
    pub fn new() -> OwnLease {
        OwnLease {
            process: ProcessId::random(),
            leases: AtomicU64::new(0),
            held: Mutex::default(),
        }
    }

    /// Notes a renewal. Returns whether it began a new lease. It also did if the last one had ended
    /// before: another process may have removed a part of what this one has written.
    pub fn renewed(&self, start: RenewalStart, is_new: bool) -> bool {
        let mut held = self.held.lock();
        let without_gap = held.filter(|held| !is_new && held.age().is_some());
        if without_gap.is_none() {
            self.leases.fetch_add(1, Ordering::AcqRel);
        }
        *held = Some(HeldLease {
            since: without_gap.map_or(start.instant, |held| held.since),
            renewed: start,
        });
        without_gap.is_none()
    }

    /// Whether the lease is to be renewed, if it is needed.
    pub fn is_due(&self) -> bool {
        let age = self.held.lock().and_then(|held| held.age());
        age.is_none_or(|age| age >= RENEWAL)
    }

    /// Whether the lease was held without a gap for [`RETURN_TIME`].
    pub fn is_settled(&self) -> bool {
        let held = *self.held.lock();
        held.is_some_and(|held| {
            held.age().is_some() && held.since.elapsed() >= RETURN_TIME.unsigned_abs()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_gap_the_lease_is_a_new_one_though_the_store_has_kept_it() {
        let lease = OwnLease::new();
        let long_ago = RenewalStart {
            instant: Instant::now() - 2 * LEASE.unsigned_abs(),
            at: now() - 2 * LEASE,
        };
        assert!(lease.renewed(long_ago, true));
        assert!(lease.renewed(RenewalStart::now(), false));
        assert!(!lease.renewed(RenewalStart::now(), false));
        assert_eq!(lease.leases.load(Ordering::Acquire), 2);
    }
}
