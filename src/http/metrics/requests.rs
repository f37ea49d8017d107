//! Requests: how many, of what kind, how they were answered and how fast.

use std::{sync::Arc, time::Duration};

use actix_web::http::{Method, StatusCode};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::GaugeGuard;

/// Upper bounds of the times, in seconds.
const SECONDS: [f64; 15] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// What a client asked for and got.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: String,
    status: u16,
}

/// What a client asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

/// Counts requests.
#[derive(Debug)]
pub struct Requests {
    answered: Family<Answered, Counter>,
    seconds: Family<RouteLabels, Histogram>,
    in_flight: Gauge,
}

/// Says of an answer that its time tells nothing, if the request has it among its extensions: the
/// client waited for something to happen.
#[derive(Clone, Copy, Debug)]
pub struct SkipLatency;

/// A request that is being answered.
#[derive(Debug)]
pub struct InFlightRequest {
    requests: Arc<Requests>,
    _inside: GaugeGuard,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests {
            answered: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            in_flight: Gauge::default(),
        }
    }
}

impl Requests {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Requests that were answered, by method, matched route and status";
        registry.register("http_requests", help, self.answered.clone());
        let help = "Time until the head of the answer was ready, by matched route; without streams \
                    and without requests that waited for a change";
        let seconds = self.seconds.clone();
        registry.register_with_unit("http_request", help, Unit::Seconds, seconds);
        let help = "Requests that are being answered, those that wait for a change too";
        registry.register("http_requests_in_flight", help, self.in_flight.clone());
    }

    /// A request has come.
    pub fn begin(self: &Arc<Requests>) -> InFlightRequest {
        InFlightRequest {
            requests: Arc::clone(self),
            _inside: GaugeGuard::new(&self.in_flight),
        }
    }
}

impl InFlightRequest {
    /// The request was answered so, and in that time if it tells anything; `route` is the pattern
    /// that matched.
    pub fn answered(
        &self,
        method: &Method,
        route: &str,
        status: StatusCode,
        time: Option<Duration>,
    ) {
        if let Some(time) = time {
            let asked = RouteLabels {
                route: route.to_owned(),
            };
            let seconds = self.requests.seconds.get_or_create(&asked);
            seconds.observe(time.as_secs_f64());
        }
        let answered = Answered {
            method: name(method),
            route: route.to_owned(),
            status: status.as_u16(),
        };
        self.requests.answered.get_or_create(&answered).inc();
    }
}

/// The method's name; clients may send any word, so those that no route takes share one.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "other",
    }
}
