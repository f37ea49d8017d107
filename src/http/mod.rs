//! HTTP: the server, its routes, the shapes of requests and responses, and the errors.

pub mod headers;
pub mod idempotency;
pub mod json;
pub mod limits;
pub mod metrics;
pub mod middleware;
pub mod network;
pub mod pool;
pub mod problem;
pub mod readiness;
pub mod request;
pub mod secrets;
pub mod server;
pub mod static_files;
pub mod stream;
pub mod write;

pub use self::{
    limits::Limits,
    server::{Cors, Server, ServerConfig},
};
