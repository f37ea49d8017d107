//! The API: a folder for each resource, with a file for each route and its requests, answers and
//! errors.
//!
//! `routes` lists all of them, `route` registers one. `parameters` and `errors` are what several of
//! them take and refuse. What answers share with streams and pictures is in [`crate::view`].

pub mod analysis;
pub mod errors;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../../fuzz/entry_points.rs"]
pub mod fuzz;
pub mod games;
pub mod matches;
pub mod openapi;
pub mod parameters;
pub mod play;
pub mod puzzles;
pub mod reviews;
pub mod route;
pub mod routes;
pub mod seats;
pub mod site;
pub mod watch;
