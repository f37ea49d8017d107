//! The metrics of the server, at `/metrics`, in the OpenMetrics format.
//!
//! The values of labels come from small sets known to the program, such as the patterns of its
//! routes. So clients cannot create new ones, and they reveal nothing about games.

mod on_demand;
mod pools;
mod registry;
mod requests;

pub use self::{
    pools::PoolMetrics,
    registry::{Metrics, OPEN_METRICS},
    requests::{GaugeGuard, InFlightRequest, RequestMetrics, SkipLatency, method_name},
};
