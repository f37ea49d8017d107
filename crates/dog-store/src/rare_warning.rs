//! Warnings that repeat themselves, such as those while the database is away.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How often the same warning is logged.
const INTERVAL: Duration = Duration::from_secs(60);

/// When a warning was last logged, and how many were left out since.
#[derive(Debug)]
pub struct RareWarning(Mutex<(Option<Instant>, u64)>);

impl RareWarning {
    #[allow(clippy::new_without_default, reason = "it is for statics")]
    pub const fn new() -> RareWarning {
        RareWarning(Mutex::new((None, 0)))
    }

    /// What to add to a warning that is logged now; `None` if it is left out.
    pub fn suffix(&self) -> Option<String> {
        let mut state = self.0.lock();
        let (last, left_out) = *state;
        if last.is_some_and(|last| last.elapsed() < INTERVAL) {
            state.1 += 1;
            return None;
        }
        *state = (Some(Instant::now()), 0);
        Some(match left_out {
            0 => String::new(),
            _ => format!(" ({left_out} such warnings were left out since the last one)"),
        })
    }
}

/// As `log::warn!`, once a minute at most for each place in the code.
#[macro_export]
macro_rules! warn_rarely {
    ($($text:tt)+) => {{
        static LAST: $crate::RareWarning = $crate::RareWarning::new();
        if let Some(suffix) = LAST.suffix() {
            log::warn!("{}{suffix}", format_args!($($text)+));
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_warning_a_minute_has_the_number_of_those_left_out() {
        let warning = RareWarning::new();
        assert_eq!(warning.suffix().as_deref(), Some(""));
        assert_eq!([warning.suffix(), warning.suffix()], [None, None]);
        warning.0.lock().0 = Instant::now().checked_sub(INTERVAL);
        assert!(warning.suffix().unwrap().contains("2 such warnings"));
        assert_eq!(warning.suffix(), None);
    }
}
