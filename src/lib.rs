#![forbid(unsafe_code)]
pub mod rules;
