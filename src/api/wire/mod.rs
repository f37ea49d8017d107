//! What goes over the wire: the shapes of requests and answers, apart from the domain's types so
//! that either can change without the other.

pub mod advice;
pub mod analysis;
pub mod board;
pub mod event;
pub mod game;
pub mod history;
pub mod log;
pub mod moves;
pub mod picture;
pub mod query;
pub mod request;
pub mod rules;
