//! The game of DOG as a service.
//!
//! The rooms stand in floors, from top to bottom: a room uses those below it, never one beside or
//! above it. `docs/architecture.md` has a picture of them.
//!
//! Games are in [`dog_store`]; their rules are in [`dog_rules`].

// The command line.
pub mod cli;

// Starts and stops a server.
mod server;

// The routes.
mod api;

// The state that handlers get.
mod app;

// What runs without a request.
mod bots;
mod retention;
mod reviews;

// How a request changes a game; how clients are told of changes and know who is present.
mod live;
mod write;

// What answers, streams and pictures share.
mod view;

// Bodies, conditions, answers, retries.
mod http;

// The threads for long work.
mod pool;

// What is counted.
mod metrics;

// Protects the server from its clients.
mod limits;

// Headers that are read in several places.
mod headers;

// What several routes ask of games and of the store.
mod quick_joins;
mod readiness;
mod rematch;

// Files of the operator; systemd.
mod systemd;
mod watched_file;

// The errors.
pub mod problem;

// What knows nothing of the other rooms.
mod access;
mod fair;
mod player_models;
mod puzzles;
mod quota;
mod runtime;
mod version;

#[cfg(test)]
mod testing;

#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub use self::api::fuzz;
pub use self::{api::openapi, server::Listeners};
