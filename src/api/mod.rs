//! The API: a file for each resource, with its routes, their requests, answers and errors.
//!
//! What several answers share is in `view`, `event`, `moves` and `parameters`; `errors` has groups
//! of errors.

pub mod advice;
pub mod analysis;
pub mod by_address;
pub mod change;
pub mod create;
pub mod errors;
pub mod event;
pub mod events;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../../fuzz/entry_points.rs"]
pub mod fuzz;
pub mod games;
pub mod guide;
pub mod history;
pub mod import;
pub mod join;
mod knowledge;
pub mod layout;
pub mod legal_moves;
pub mod message_type;
pub mod moves;
pub mod openapi;
pub mod operations;
pub mod page;
pub mod parameters;
pub mod pictures;
pub mod play;
pub mod position;
pub mod presence;
pub mod reactions;
pub mod rematch;
pub mod review;
pub mod route;
pub mod routes;
pub mod rules;
pub mod seats;
pub mod settings;
pub mod seven;
pub mod tokens;
pub mod view;
pub mod view_cache;
