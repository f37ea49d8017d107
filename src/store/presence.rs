//! Who is present at a game: at which seats somebody is connected, to any process on the store.
//!
//! A process writes when somebody comes or goes, and renews one lease for all that it has written.
//! If it dies, its lease ends, and the next process that writes removes the rest.

use dog_rules::Seat;
use jiff::SignedDuration;

use super::GameId;

/// How long the presence that a process has written counts after its last write.
pub const LEASE: SignedDuration = SignedDuration::from_secs(10);

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
