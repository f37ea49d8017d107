//! The position of the day.

pub mod answer;
pub mod puzzle;
