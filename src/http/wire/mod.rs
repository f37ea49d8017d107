//! The JSON of requests and responses. The types are separate from those of the rules, so that either
//! can change without the other.

pub mod advice;
pub mod analysis;
pub mod game;
pub mod history;
pub mod layout;
pub mod moves;
pub mod picture;
pub mod request;
pub mod rules;
pub mod seven;
