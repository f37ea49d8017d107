//! The metrics of the server, at `/metrics`.
//!
//! The values of labels come from small sets known to the program, such as the patterns of its
//! routes. So clients cannot create new ones, and they reveal nothing about games.

mod format;
mod on_demand;
mod pools;
mod registry;
mod requests;

use prometheus_client::registry::{Metric, Registry};

pub use self::{
    format::in_preferred_format,
    pools::PoolMetrics,
    registry::Metrics,
    requests::{GaugeGuard, InFlightRequest, RequestMetrics, SkipLatency, method_name},
};

/// A new metric, registered under this name.
fn register<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}
