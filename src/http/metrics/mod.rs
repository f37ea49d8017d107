//! What the server counts of itself, at `/metrics`, in the OpenMetrics format.
//!
//! Labels come from small sets that the program itself knows, such as the patterns of its routes,
//! so that no client can make new ones, and nothing of any game is in them.

mod requests;
mod snapshot;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use dog_bot::Level;
use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};

pub use self::requests::{InFlightRequest, Requests, SkipLatency};
use self::snapshot::Snapshot;
use crate::{background::bots::BotWorkers, http::limits::memory::BodyMemory, store::Store};

/// The `Content-Type` of the metrics.
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A label and its value.
type Label = [(&'static str, &'static str); 1];

/// Everything that is counted.
pub struct Metrics {
    registry: Registry,
    snapshot: Option<Snapshot>,
    pub requests: Arc<Requests>,
    advice: Family<Label, Counter>,
    advice_samples: Family<Label, Counter>,
    advice_seconds: Family<Label, Counter<f64, AtomicU64>>,
    pools: Pools,
    streams: Gauge,
}

/// Counts as one as long as it lives.
#[derive(Debug)]
pub struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn new(gauge: &Gauge) -> GaugeGuard {
        gauge.inc();
        GaugeGuard(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Everything at zero.
    pub fn new() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::default(),
            snapshot: None,
            requests: Arc::default(),
            advice: Family::default(),
            advice_samples: Family::default(),
            advice_seconds: Family::default(),
            pools: Pools::default(),
            streams: Gauge::default(),
        };
        // Every level is there from the beginning, so that its first advice shows as an increase.
        for level in Level::ALL {
            metrics.count_advice(level, 0, 0, Duration::ZERO);
        }
        let own = metrics.registry.sub_registry_with_prefix("dog");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        own.register("build", "The program that runs", version);
        metrics.requests.register(own);
        let help = "Live streams that are open";
        own.register("streams_open", help, metrics.streams.clone());
        metrics.pools.register(own);
        let help = "Times that advice was given";
        own.register("advice_requests", help, metrics.advice.clone());
        let help = "Playouts made for advice";
        own.register("advice_samples", help, metrics.advice_samples.clone());
        let help = "Time spent thinking about advice";
        let seconds = metrics.advice_seconds.clone();
        own.register_with_unit("advice_think", help, Unit::Seconds, seconds);
        metrics
    }

    /// Shows what the store, bots and the bodies of requests count, too.
    pub fn observe(&mut self, store: &Store, bots: &BotWorkers, memory: &Arc<BodyMemory>) {
        let own = self.registry.sub_registry_with_prefix("dog");
        store.metrics().register(own);
        bots.metrics().register(own);
        self.snapshot = Some(Snapshot::register(&mut self.registry, store, memory));
    }

    /// What the pool of this name counts with.
    pub fn pool(&self, name: &'static str) -> PoolMetrics {
        self.pools.of(name)
    }

    /// Counts a stream as open as long as the answer lives.
    pub fn open_stream(&self) -> GaugeGuard {
        GaugeGuard::new(&self.streams)
    }

    /// Advice of this level was given, after so many playouts and that time.
    pub fn advised(&self, level: Level, samples: u32, time: Duration) {
        self.count_advice(level, 1, samples, time);
    }

    fn count_advice(&self, level: Level, advice: u64, samples: u32, time: Duration) {
        let level = [("level", level.name())];
        self.advice.get_or_create(&level).inc_by(advice);
        let samples = u64::from(samples);
        self.advice_samples.get_or_create(&level).inc_by(samples);
        let seconds = time.as_secs_f64();
        self.advice_seconds.get_or_create(&level).inc_by(seconds);
    }

    /// All of it, as [`OPEN_METRICS`]. It may take the disk some time.
    ///
    /// # Errors
    /// None that can happen: a text takes everything.
    pub async fn text(&self) -> Result<String, fmt::Error> {
        if let Some(snapshot) = &self.snapshot {
            snapshot.refresh().await;
        }
        let mut metrics = String::new();
        text::encode(&mut metrics, &self.registry)?;
        Ok(metrics)
    }
}

/// What all pools of threads count with.
#[derive(Debug, Default)]
struct Pools {
    threads: Family<Label, Gauge>,
    waiting: Family<Label, Gauge>,
    busy: Family<Label, Gauge>,
    jobs: Family<Label, Counter>,
    refused: Family<Label, Counter>,
}

impl Pools {
    fn register(&self, registry: &mut Registry) {
        let help = "Threads of the pool";
        registry.register("pool_threads", help, self.threads.clone());
        let help = "Jobs that wait for a thread of the pool";
        registry.register("pool_jobs_waiting", help, self.waiting.clone());
        let help = "Threads of the pool that are busy";
        registry.register("pool_threads_busy", help, self.busy.clone());
        let help = "Jobs that the pool has done";
        registry.register("pool_jobs", help, self.jobs.clone());
        let help =
            "Jobs that the pool refused, because its queue was full or they had waited too long";
        registry.register("pool_jobs_refused", help, self.refused.clone());
    }

    fn of(&self, pool: &'static str) -> PoolMetrics {
        let pool = [("pool", pool)];
        PoolMetrics {
            threads: self.threads.get_or_create_owned(&pool),
            waiting: self.waiting.get_or_create_owned(&pool),
            busy: self.busy.get_or_create_owned(&pool),
            jobs: self.jobs.get_or_create_owned(&pool),
            refused: self.refused.get_or_create_owned(&pool),
        }
    }
}

/// What one pool of threads counts with.
#[derive(Clone, Debug, Default)]
pub struct PoolMetrics {
    threads: Gauge,
    waiting: Gauge,
    busy: Gauge,
    jobs: Counter,
    refused: Counter,
}

impl PoolMetrics {
    /// The pool has so many threads.
    pub fn threads(&self, threads: usize) {
        self.threads.set(threads as i64);
    }

    /// A job waits as long as the answer lives.
    pub fn waiting(&self) -> GaugeGuard {
        GaugeGuard::new(&self.waiting)
    }

    /// A job is done; it is at work as long as the answer lives.
    pub fn working(&self) -> GaugeGuard {
        self.jobs.inc();
        GaugeGuard::new(&self.busy)
    }

    /// A job was not done because too many wait.
    pub fn refused(&self) {
        self.refused.inc();
    }
}
