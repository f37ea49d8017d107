//! HTTP: the routes, what goes over the wire, errors, and the server that holds them.

mod answer;
mod caller;
#[doc(hidden)]
pub mod fuzz;
mod headers;
mod limits;
mod metrics;
mod middleware;
pub mod openapi;
mod pool;
pub mod problem;
mod request;
mod routes;
mod server;
mod stream;
mod wire;

use std::sync::Arc;

use actix_web::web::Bytes;
use dog_bot::net::nets::Nets;
use utoipa_swagger_ui::Config;

pub use self::{
    limits::Limits,
    routes::CompressedFiles,
    server::{Cors, ServeError, Server, Settings},
};
use self::{
    limits::{Counted, memory::BodyMemory},
    metrics::Metrics,
    pool::Pool,
    routes::Readiness,
    stream::hub::Hub,
};
use crate::store::Store;

/// What the handlers work with. Nothing of a game is kept here: everything is in the store.
struct App {
    store: Store,
    /// Where those wait who wait for games to change.
    hub: Arc<Hub>,
    /// For those who play: lists of moves, lists of games.
    tables: Arc<Pool>,
    /// For long logs: history, streams that catch up, imports.
    pages: Arc<Pool>,
    /// For those who ask: advice and analysis. Its load never holds up the tables.
    advisers: Pool,
    /// What the advisers judge by.
    nets: Arc<Nets>,
    /// What clients may ask for, and have asked for lately.
    limits: Counted,
    /// What large bodies hold.
    memory: Arc<BodyMemory>,
    /// What is counted, for `/metrics`.
    metrics: Metrics,
    /// The last answer of `/readyz`.
    readiness: Readiness,
    openapi: Bytes,
    compressed: CompressedFiles,
    docs: Arc<Config<'static>>,
}
