//! HTTP: the server, its routes, the shapes of requests and responses, and the errors.

#[doc(hidden)]
pub mod fuzz;
mod headers;
mod idempotency;
mod json;
mod limits;
mod metrics;
mod middleware;
mod network;
pub mod openapi;
mod pool;
pub mod problem;
mod request;
mod routes;
mod secrets;
mod server;
mod stream;
mod views;
mod wire;
mod write;

pub use self::{
    limits::Limits,
    server::{Cors, ServeError, Server, ServerConfig},
};
