//! Thread pools: their threads and their jobs.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use super::register;

/// The name of a pool as a label.
type PoolLabel = [(&'static str, &'static str); 1];

/// The metrics of all thread pools.
pub(super) struct PoolFamilies {
    threads: Family<PoolLabel, Gauge>,
    waiting: Family<PoolLabel, Gauge>,
    busy: Family<PoolLabel, Gauge>,
    jobs: Family<PoolLabel, Counter>,
    refused: Family<PoolLabel, Counter>,
}

impl PoolFamilies {
    pub(super) fn register(own: &mut Registry) -> PoolFamilies {
        PoolFamilies {
            threads: register(own, "pool_threads", "Threads of the pool"),
            waiting: register(
                own,
                "pool_jobs_waiting",
                "Jobs that wait for a thread of the pool",
            ),
            busy: register(
                own,
                "pool_threads_busy",
                "Threads of the pool that are busy",
            ),
            jobs: register(own, "pool_jobs", "Jobs that the pool has begun"),
            refused: register(own, "pool_jobs_refused", "Jobs that the pool has refused"),
        }
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
    pub threads: Gauge,
    /// Jobs that wait.
    pub waiting: Gauge,
    /// Threads that work.
    pub busy: Gauge,
    /// Jobs that were begun.
    pub jobs: Counter,
    /// Jobs that were refused.
    pub refused: Counter,
}
