//! Threads for work that is too long for an async worker, shared fairly among addresses.

mod queues;
mod worker_pool;

pub use self::{
    queues::PoolConfig,
    worker_pool::{
        LOG_PAGE, LOG_PAGE_COST, SHORT_JOB_COST, WorkerPool, checkpoint, paused, wait_before_retry,
    },
};
