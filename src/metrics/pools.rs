//! Thread pools: their threads and their jobs.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use super::requests::GaugeGuard;

/// The name of a pool as a label.
type PoolLabel = [(&'static str, &'static str); 1];

/// The metrics of all thread pools.
#[derive(Debug, Default)]
pub(super) struct PoolFamilies {
    threads: Family<PoolLabel, Gauge>,
    waiting: Family<PoolLabel, Gauge>,
    busy: Family<PoolLabel, Gauge>,
    jobs: Family<PoolLabel, Counter>,
    refused: Family<PoolLabel, Counter>,
}

impl PoolFamilies {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Threads of the pool";
        registry.register("pool_threads", help, self.threads.clone());
        let help = "Jobs that wait for a thread of the pool";
        registry.register("pool_jobs_waiting", help, self.waiting.clone());
        let help = "Threads of the pool that are busy";
        registry.register("pool_threads_busy", help, self.busy.clone());
        let help = "Jobs that the pool has begun";
        registry.register("pool_jobs", help, self.jobs.clone());
        let help =
            "Jobs that the pool refused, because its queue was full or they had waited too long";
        registry.register("pool_jobs_refused", help, self.refused.clone());
    }

    /// The metrics of the pool with this name.
    pub(super) fn pool(&self, pool: &'static str) -> PoolMetrics {
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

/// The metrics of one thread pool.
#[derive(Clone, Debug, Default)]
pub struct PoolMetrics {
    threads: Gauge,
    waiting: Gauge,
    busy: Gauge,
    jobs: Counter,
    refused: Counter,
}

impl PoolMetrics {
    /// Sets the number of threads.
    pub fn threads(&self, threads: usize) {
        self.threads.set(threads as i64);
    }

    /// Counts a job as waiting until the guard is dropped.
    pub fn waiting(&self) -> GaugeGuard {
        GaugeGuard::new(&self.waiting)
    }

    /// Counts a job as begun.
    pub fn begun(&self) {
        self.jobs.inc();
    }

    /// Counts a thread as busy until the guard is dropped.
    pub fn working(&self) -> GaugeGuard {
        GaugeGuard::new(&self.busy)
    }

    /// Counts a job that was refused.
    pub fn refused(&self) {
        self.refused.inc();
    }
}
