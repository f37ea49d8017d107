//! The pools of threads: who waits, who works, who was sent away.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use super::Inside;

/// Which pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByPool {
    pool: &'static str,
}

/// What all pools count with.
#[derive(Debug, Default)]
pub(super) struct Pools {
    threads: Family<ByPool, Gauge>,
    waiting: Family<ByPool, Gauge>,
    busy: Family<ByPool, Gauge>,
    jobs: Family<ByPool, Counter>,
    refused: Family<ByPool, Counter>,
}

/// What one pool counts with.
#[derive(Clone, Debug, Default)]
pub struct PoolMeter {
    threads: Gauge,
    waiting: Gauge,
    busy: Gauge,
    jobs: Counter,
    refused: Counter,
}

impl Pools {
    pub(super) fn register(&self, registry: &mut Registry) {
        let threads = self.threads.clone();
        registry.register("pool_threads", "Threads of the pool", threads);
        let help = "Jobs that wait for a thread of the pool";
        registry.register("pool_waiting", help, self.waiting.clone());
        let help = "Threads of the pool that are at work";
        registry.register("pool_busy", help, self.busy.clone());
        let help = "Jobs that the pool has done";
        registry.register("pool_jobs", help, self.jobs.clone());
        let help = "Jobs that the pool refused: its queue was full, or they waited too long in it";
        registry.register("pool_refused", help, self.refused.clone());
    }

    pub(super) fn meter(&self, pool: &'static str) -> PoolMeter {
        let pool = ByPool { pool };
        PoolMeter {
            threads: self.threads.get_or_create_owned(&pool),
            waiting: self.waiting.get_or_create_owned(&pool),
            busy: self.busy.get_or_create_owned(&pool),
            jobs: self.jobs.get_or_create_owned(&pool),
            refused: self.refused.get_or_create_owned(&pool),
        }
    }
}

impl PoolMeter {
    /// The pool has so many threads.
    pub fn threads(&self, threads: usize) {
        self.threads.set(threads as i64);
    }

    /// A job waits as long as the answer lives.
    pub fn waiting(&self) -> Inside {
        Inside::new(&self.waiting)
    }

    /// A job is done; it is at work as long as the answer lives.
    pub fn working(&self) -> Inside {
        self.jobs.inc();
        Inside::new(&self.busy)
    }

    /// A job was not done because too many wait.
    pub fn refused(&self) {
        self.refused.inc();
    }
}
