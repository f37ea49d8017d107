//! Answers that are remembered, so that a request that comes again gets the same one.

use std::fmt;

use jiff::Timestamp;

/// Microseconds for which an answer is kept: 24 hours.
const KEPT: i64 = 24 * 60 * 60 * 1_000_000;

/// What an idempotency record belongs to: a hash of the caller's token, the method, the path and
/// the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(pub [u8; 32]);

/// An answer that was given before.
#[derive(Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The hash of the request's body.
    pub body_hash: [u8; 32],
    /// The answer, in whatever form the caller chose.
    pub answer: Vec<u8>,
}

/// Without the answer, which may be a secret.
impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").finish_non_exhaustive()
    }
}

/// What was remembered then or before has expired.
pub(super) fn expiry(now: Timestamp) -> i64 {
    now.as_microsecond().saturating_sub(KEPT)
}
