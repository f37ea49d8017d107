//! What goes over the wire: the shapes of requests and answers, apart from the domain's types so
//! that either can change without the other.

pub mod advice;
pub mod analysis;
pub mod game;
pub mod history;
pub mod moves;
pub mod picture;
pub mod request;
pub mod rules;
