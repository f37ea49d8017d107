//! What the server shows of itself to whoever watches it, at `/metrics`.
//!
//! Labels come from small sets that the program itself knows, such as the patterns of its routes,
//! so that no client can make new ones, and nothing of any game is in them.

mod adviser;
mod pool;
mod process;
mod requests;
mod sources;
mod text;

use std::{fmt, sync::Arc};

use prometheus_client::{
    metrics::{gauge::Gauge, info::Info},
    registry::Registry,
};

pub use self::{
    adviser::Advisers,
    pool::PoolMeter,
    requests::{Requests, UnderWay, Untimed},
    sources::Sources,
    text::{FORMS, content_type},
};
use self::{pool::Pools, process::Process};

/// Everything that is counted.
pub struct Metrics {
    registry: Registry,
    pub requests: Arc<Requests>,
    pub advisers: Advisers,
    pools: Pools,
    streams: Gauge,
}

/// Counts as one as long as it lives.
#[derive(Debug)]
pub struct Inside(Gauge);

impl Inside {
    fn new(gauge: &Gauge) -> Inside {
        gauge.inc();
        Inside(gauge.clone())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Everything at zero.
    pub fn new() -> Metrics {
        let mut registry = Registry::default();
        let (requests, advisers) = (Arc::<Requests>::default(), Advisers::default());
        let (pools, streams) = (Pools::default(), Gauge::default());
        registry.register_collector(Box::new(Process::new()));
        let own = registry.sub_registry_with_prefix("dog");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        own.register("build", "The program that runs", version);
        requests.register(own);
        own.register(
            "streams_open",
            "Live streams that are open",
            streams.clone(),
        );
        pools.register(own);
        advisers.register(own);
        Metrics {
            registry,
            requests,
            advisers,
            pools,
            streams,
        }
    }

    /// Shows what these count, too.
    pub fn show(&mut self, sources: Sources) {
        let own = self.registry.sub_registry_with_prefix("dog");
        own.register_collector(Box::new(sources));
    }

    /// What the pool of this name counts with.
    pub fn pool(&self, name: &'static str) -> PoolMeter {
        self.pools.meter(name)
    }

    /// Counts a stream as open as long as the answer lives.
    pub fn open_stream(&self) -> Inside {
        Inside::new(&self.streams)
    }

    /// All of it, in one of the [`FORMS`]. It may wait for the disk.
    ///
    /// # Errors
    /// None that can happen: a text takes everything.
    pub fn text(&self, form: &str) -> Result<String, fmt::Error> {
        text::encode(&self.registry, form)
    }
}
