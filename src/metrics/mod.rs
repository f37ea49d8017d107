//! The metrics of the server, at `/metrics`.
//!
//! The values of labels come from small sets known to the program, such as the patterns of its
//! routes. So clients cannot create new ones, and they reveal nothing about games.

mod format;
mod on_demand;
mod pools;
mod registry;
mod requests;

pub use self::{
    format::MetricsFormat,
    pools::PoolMetrics,
    registry::Metrics,
    requests::{GaugeGuard, InFlightRequest, RequestMetrics, SkipLatency, method_name},
};
