//! Requests: how many there are, how they were answered and how fast.

use std::{sync::Arc, time::Duration};

use actix_web::http::{Method, StatusCode};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::register;

/// Upper bounds of the histogram's buckets, in seconds.
const BUCKETS: [f64; 15] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// The labels of a response.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResponseLabels {
    method: &'static str,
    route: String,
    status: u16,
}

/// Counts requests.
#[derive(Debug)]
pub struct RequestMetrics {
    responses: Family<ResponseLabels, Counter>,
    seconds: Family<[(&'static str, String); 1], Histogram>,
    in_flight: Gauge,
}

/// An extension of requests whose duration is not counted, because they waited for something to
/// happen.
#[derive(Clone, Copy, Debug)]
pub struct SkipLatency;

/// Counts one in a gauge until it is dropped.
#[derive(Debug)]
pub struct GaugeGuard(Gauge);

impl GaugeGuard {
    pub fn new(gauge: &Gauge) -> GaugeGuard {
        gauge.inc();
        GaugeGuard(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub struct InFlightRequest {
    requests: Arc<RequestMetrics>,
    _gauge: GaugeGuard,
}

impl RequestMetrics {
    pub(super) fn register(own: &mut Registry) -> RequestMetrics {
        let answered = "Requests that were answered, by method, matched route and status";
        let until_head = "Time until the head of the response was ready, by matched route; without \
                          streams and without requests that waited for a change";
        let in_flight = "Requests in progress, including those that wait for a change";
        let responses = register(own, "http_requests", answered);
        let seconds = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> _);
        own.register_with_unit("http_request", until_head, Unit::Seconds, seconds.clone());
        RequestMetrics {
            responses,
            seconds,
            in_flight: register(own, "http_requests_in_flight", in_flight),
        }
    }

    /// Counts a request as in flight.
    pub fn begin(self: &Arc<RequestMetrics>) -> InFlightRequest {
        InFlightRequest {
            requests: Arc::clone(self),
            _gauge: GaugeGuard::new(&self.in_flight),
        }
    }
}

impl InFlightRequest {
    /// Counts the response, and its duration if there is one. `route` is the pattern that matched.
    pub fn answered(
        &self,
        method: &Method,
        route: &str,
        status: StatusCode,
        time: Option<Duration>,
    ) {
        if let Some(time) = time {
            let route = [("route", route.to_owned())];
            let seconds = self.requests.seconds.get_or_create(&route);
            seconds.observe(time.as_secs_f64());
        }
        let labels = ResponseLabels {
            method: method_name(method),
            route: route.to_owned(),
            status: status.as_u16(),
        };
        self.requests.responses.get_or_create(&labels).inc();
    }
}

/// The method's name. Clients may send any word, so unknown methods share one name.
pub fn method_name(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];
    let name = known.into_iter().find(|name| method == name);
    name.unwrap_or("other")
}
