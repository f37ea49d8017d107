//! The page, the documents, and what a client asks about the server and the rules.

pub mod guide;
pub mod layout;
pub mod operations;
pub mod page;
pub mod rules;
