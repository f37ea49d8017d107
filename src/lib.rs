//! The game of DOG as a service.
//!
//! * `cli` is the command line.
//! * `server` starts and stops a server; `app` is its state.
//! * `api` is the routes, a file for each resource.
//! * `write` is how each of them changes a game; `access` is about who may do what.
//! * `http` is what HTTP needs besides: headers, bodies, errors.
//! * `live` tells clients of changes, and knows who is present.
//! * `bots` plays for bots and for players whose time is up; `retention` removes expired data.
//! * `reviews` reviews games that are over.
//! * `limits` protects the server from its clients; `pool` runs long work; `metrics` counts.
//! * `fair` shares threads fairly among clients; `quota` counts what each of them stores.
//! * `player_models` infers how the seats of a game play; `version` is that of the program.
//!
//! Games are in [`dog_store`]; their rules are in [`dog_rules`].

#![forbid(unsafe_code)]

mod access;
mod api;
mod app;
mod bots;
pub mod cli;
mod fair;
mod http;
mod limits;
mod live;
mod metrics;
mod player_models;
mod pool;
mod quota;
mod readiness;
mod rematch;
mod retention;
mod reviews;
mod runtime;
mod server;
#[cfg(test)]
mod testing;
mod version;
mod write;

#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub use self::api::fuzz;
pub use self::{api::openapi, http::problem, server::Listeners};
