//! All metrics, in one registry.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use dog_bot::Level;
use dog_store::Store;
use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};

use super::{
    on_demand::OnDemandGauges,
    pools::{PoolFamilies, PoolMetrics},
    register,
    requests::{GaugeGuard, RequestMetrics},
};
use crate::{
    limits::memory::BodyMemory,
    version::{REVISION, VERSION},
};

/// The level of advice as a label.
type AdviceLabel = [(&'static str, &'static str); 1];

/// All metrics.
pub struct Metrics {
    registry: Registry,
    on_demand: Option<OnDemandGauges>,
    pub requests: Arc<RequestMetrics>,
    advice: Family<AdviceLabel, Counter>,
    advice_samples: Family<AdviceLabel, Counter>,
    advice_seconds: Family<AdviceLabel, Counter<f64, AtomicU64>>,
    pools: PoolFamilies,
    streams: Gauge,
}

impl Metrics {
    /// All metrics at zero.
    pub fn new() -> Metrics {
        let mut registry = Registry::default();
        let own = registry.sub_registry_with_prefix("dog");
        let version = Info::new([
            ("version", VERSION),
            ("revision", REVISION.unwrap_or_default()),
        ]);
        let help = "The version of the program, and the commit it was built from";
        own.register("build", help, version);
        let advice_seconds = Family::<AdviceLabel, Counter<f64, AtomicU64>>::default();
        let help = "Time spent thinking about advice";
        own.register_with_unit("advice_think", help, Unit::Seconds, advice_seconds.clone());
        let metrics = Metrics {
            requests: Arc::new(RequestMetrics::register(own)),
            streams: register(own, "streams_open", "Open event streams"),
            pools: PoolFamilies::register(own),
            advice: register(own, "advice_requests", "Times that advice was given"),
            advice_samples: register(own, "advice_samples", "Playouts made for advice"),
            advice_seconds,
            on_demand: None,
            registry,
        };
        // All levels exist from the start, so that the first advice shows as an increase.
        for level in Level::ALL {
            metrics.count_advice(level, 0, 0, Duration::ZERO);
        }
        metrics
    }

    /// Adds the metrics of the store and of the memory for bodies, and those that `register` adds.
    pub fn register_sources(
        &mut self,
        store: &Store,
        memory: &Arc<BodyMemory>,
        register: impl FnOnce(&mut Registry),
    ) {
        let own = self.registry.sub_registry_with_prefix("dog");
        store.metrics().register(own);
        register(own);
        self.on_demand = Some(OnDemandGauges::register(&mut self.registry, store, memory));
    }

    /// The metrics of the pool with this name.
    pub fn pool(&self, name: &'static str) -> PoolMetrics {
        self.pools.pool(name)
    }

    /// Counts a stream as open until the guard is dropped.
    pub fn open_stream(&self) -> GaugeGuard {
        GaugeGuard::new(&self.streams)
    }

    /// Counts advice of this level, with its playouts and its time.
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

    /// All metrics as text, in OpenMetrics. This may wait for the disk.
    ///
    /// # Errors
    /// None in practice: writing to a `String` does not fail.
    pub async fn text(&self) -> Result<String, fmt::Error> {
        if let Some(on_demand) = &self.on_demand {
            on_demand.refresh().await;
        }
        let mut metrics = String::new();
        text::encode(&mut metrics, &self.registry)?;
        Ok(metrics)
    }
}
