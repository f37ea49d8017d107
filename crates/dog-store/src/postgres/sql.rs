//! Parts of statements.

use jiff::SignedDuration;

use crate::{CLOCK_TOLERANCE, write::RESPONSE_TTL};

/// The text of a statement with constant parts, as by `format!`. It is made once.
macro_rules! sql {
    ($($text:tt)*) => {{
        static SQL: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| format!($($text)*));
        SQL.as_str()
    }};
}
pub(super) use sql;

/// The time of the statement by the database's clock, in microseconds since 1970.
pub(super) const NOW: &str = "(extract(epoch FROM statement_timestamp()) * 1000000)::bigint";

/// The time up to which saved responses have expired.
pub(super) fn expiry() -> String {
    format!("{NOW} - {}", RESPONSE_TTL.as_micros())
}

/// The latest end of a lease or a claim of this time, or of a ticket, that did not begin in the
/// future. If the clock was put back, those after it have ended. See [`CLOCK_TOLERANCE`].
pub(super) fn latest_end(time: SignedDuration) -> String {
    format!("{NOW} + {}", (CLOCK_TOLERANCE + time).as_micros())
}

/// The same of what has no duration: the latest time that is not in the future.
pub(super) fn latest_now() -> String {
    latest_end(SignedDuration::ZERO)
}
