//! HTTP: the server, its routes, the shapes of requests and responses, and the errors.

mod answer;
#[doc(hidden)]
pub mod fuzz;
mod headers;
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
mod server;
mod stream;
mod views;
mod wire;

pub use self::{
    limits::Limits,
    server::{Cors, ServeError, Server, ServerConfig},
};
