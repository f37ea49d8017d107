//! Parts of statements.

/// The time of the statement by the database's clock, in microseconds since 1970.
macro_rules! now {
    () => {
        "(extract(epoch FROM statement_timestamp()) * 1000000)::bigint"
    };
}
pub(super) use now;

/// See [`now`].
pub(super) const NOW: &str = now!();

/// The latest end of a lease or a claim of this time, or of a ticket, that did not begin in the
/// future. If the clock was put back, those after it have ended. See [`CLOCK_TOLERANCE`].
///
/// [`CLOCK_TOLERANCE`]: crate::CLOCK_TOLERANCE
macro_rules! latest_end {
    ($micros:literal) => {
        concat!(
            "(extract(epoch FROM statement_timestamp()) * 1000000)::bigint + 5000000 + ",
            $micros
        )
    };
}
pub(super) use latest_end;

/// The time up to which saved responses have expired: 24 hours ago.
macro_rules! expiry {
    () => {
        "((extract(epoch FROM statement_timestamp()) - 86400) * 1000000)::bigint"
    };
}
pub(super) use expiry;

/// See [`expiry`].
pub(super) const EXPIRY: &str = expiry!();
