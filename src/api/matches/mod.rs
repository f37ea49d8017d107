//! Duplicate matches: the same cards at two tables, with the sides changed.

pub mod create;
pub mod end;
pub mod result;
