//! Reviews of finished games: what was luck, what was play, and what would have been better.
//!
//! A review goes through a finished game and knows all of it. What a seat could have known at a
//! decision is a [`dog_rules::SeatView`], and all values are searches of [`dog_bot`], which sees no
//! more than that. `docs/review.md` explains each number.
//!
//! * [`reviewer`]: goes through a game, one action at a time; can be interrupted after each.
//! * [`search`]: the best choice on some worlds, and values on others.
//! * [`decision`]: what a decision cost, and the judgement.
//! * [`summary`]: the sums by seat, round and team.
//! * [`moments`]: the decisions and deals to look at first.
//!
//! The same game, settings and seed give the same review, interrupted or not.

pub mod decision;
pub mod moments;
pub mod reviewer;
pub mod search;
pub mod summary;

pub use decision::{JudgedDecision, Judgement, accuracy};
pub use moments::{Moment, MomentKind};
pub use reviewer::{DealValue, FinishedGame, Review, Reviewer};
pub use search::{ChoiceValues, ReviewSearch, ReviewSettings};
pub use summary::{AccuracyOf, JudgementCounts, RoundReview, SeatReview, TeamReview};

/// Four decimals: more are noise.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}

/// A sum of rounded values, or of halves of them, without the errors of floating-point sums.
fn tidy(sum: f64) -> f64 {
    (sum * 1e6).round() / 1e6 + 0.0
}

#[cfg(test)]
mod tests;
