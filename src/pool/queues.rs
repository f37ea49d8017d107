//! The queues of waiting jobs, one for each client, and which job is next.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use crate::{
    fair::{Charge, FairShares},
    limits::Address,
    metrics::GaugeGuard,
};

/// The settings of a pool.
#[derive(Clone, Copy)]
pub struct PoolConfig {
    pub name: &'static str,
    pub threads: usize,
    /// Jobs that may wait.
    pub queue_capacity: usize,
    /// How long a job may wait.
    pub queue_timeout: Duration,
    /// The nice value of the threads; on Linux only.
    pub nice: i32,
}

impl PoolConfig {
    /// The threads that one client may occupy: not all, so that its long jobs do not block the
    /// short jobs of others.
    pub(super) fn max_threads_per_client(&self) -> usize {
        self.threads.saturating_sub(1).max(1)
    }

    /// The work that this many threads can do within the queue's timeout.
    fn capacity(&self, threads: usize) -> Duration {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        self.queue_timeout.saturating_mul(threads)
    }
}

/// The work of a job, and where its result goes.
pub(super) trait PoolTask: Send {
    /// Whether nobody waits for the result any longer.
    fn is_abandoned(&self) -> bool;
    fn run(self: Box<Self>);
    fn refuse(self: Box<Self>);
}

/// The jobs that wait or run.
#[derive(Default)]
pub(super) struct JobQueues {
    pub(super) queues: HashMap<QueueKey, ClientQueue>,
    shares: FairShares<QueueKey>,
    /// Waiting jobs in all queues.
    pub(super) waiting: usize,
    /// Jobs added so far.
    pub(super) added: u64,
    pub(super) closed: bool,
}

/// To whom a job is charged.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum QueueKey {
    Address(Address),
    /// A single request, by its number.
    Request(u64),
}

/// The jobs of one client. The queue exists as long as it has a job.
#[derive(Default)]
pub(super) struct ClientQueue {
    pub(super) jobs: VecDeque<QueuedJob>,
    /// The expected cost of the waiting jobs.
    pub(super) waiting: Duration,
    /// The number of running jobs, and their expected cost.
    pub(super) running: usize,
    running_cost: Duration,
}

/// A waiting job.
pub(super) struct QueuedJob {
    pub(super) number: u64,
    pub(super) cost: Duration,
    pub(super) queued_at: Instant,
    pub(super) task: Box<dyn PoolTask>,
    pub(super) waiting: GaugeGuard,
}

impl JobQueues {
    /// Whether one more job of this client would be served within the queue's timeout, by the
    /// expected cost of all jobs.
    pub(super) fn has_room(&self, key: QueueKey, config: &PoolConfig) -> bool {
        let queue = self.queues.get(&key);
        let own = queue.map_or(Duration::ZERO, ClientQueue::cost);
        let waiting = queue.map_or(Duration::ZERO, |queue| queue.waiting);
        let tag = self.shares.tag(&key).saturating_add(waiting);
        let others = self.queues.iter().filter(|(other, _)| **other != key);
        let before: Duration = others
            .map(|(other, queue)| {
                queue.running_cost + queue.cost_before(self.shares.tag(other), tag)
            })
            .sum();
        own < config.capacity(config.max_threads_per_client())
            && own + before < config.capacity(config.threads)
    }

    pub(super) fn push(&mut self, key: QueueKey, job: QueuedJob) {
        let queue = self.queues.entry(key).or_default();
        queue.waiting += job.cost;
        queue.jobs.push_back(job);
        self.waiting += 1;
    }

    /// Takes the next job: the first of the client with the smallest tag among those that may
    /// occupy another thread.
    pub(super) fn take(
        &mut self,
        max_threads_per_client: usize,
    ) -> Option<(QueuedJob, Charge<QueueKey>)> {
        let ready = self.queues.iter().filter_map(|(key, queue)| {
            let first = queue.jobs.front()?;
            let tag = self.shares.tag(key);
            (queue.running < max_threads_per_client).then_some((tag, first.number, *key))
        });
        let (_, _, key) = ready.min_by_key(|&(tag, number, _)| (tag, number))?;
        let queue = self.queues.get_mut(&key)?;
        let job = queue.pop_first()?;
        queue.running += 1;
        queue.running_cost += job.cost;
        self.waiting -= 1;
        let charge = self.shares.begin(key, job.cost);
        Some((job, charge))
    }

    /// Ends a job that was expected to cost `cost` and took `took`.
    pub(super) fn end(&mut self, charge: Charge<QueueKey>, cost: Duration, took: Duration) {
        let key = charge.payer;
        let waiting = self.queues.values().filter(|queue| !queue.jobs.is_empty());
        let waiting = waiting.count();
        self.shares.end(charge, took, waiting);
        if let QueueKey::Request(_) = key {
            self.shares.forget(&key);
        }
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.running -= 1;
            queue.running_cost -= cost;
        }
        self.forget_idle();
    }

    /// Removes the jobs that have waited longer than this, and those before them whose clients have
    /// disconnected.
    pub(super) fn remove_expired(&mut self, queue_timeout: Duration) -> Vec<QueuedJob> {
        let mut removed = Vec::new();
        for queue in self.queues.values_mut() {
            while queue.jobs.front().is_some_and(|job| {
                job.queued_at.elapsed() >= queue_timeout || job.task.is_abandoned()
            }) {
                removed.extend(queue.pop_first());
            }
        }
        self.note_removed(removed)
    }

    /// Removes all jobs for which the test holds.
    pub(super) fn remove(&mut self, is_one: impl Fn(&QueuedJob) -> bool) -> Vec<QueuedJob> {
        let mut removed = Vec::new();
        for queue in self.queues.values_mut() {
            let (gone, kept) = queue.jobs.drain(..).partition(&is_one);
            queue.jobs = kept;
            removed.extend::<VecDeque<QueuedJob>>(gone);
            queue.waiting = queue.jobs.iter().map(|job| job.cost).sum();
        }
        self.note_removed(removed)
    }

    /// Removes the last job of the longest queue, unless this client's queue is about as long.
    pub(super) fn evict_for(&mut self, key: QueueKey) -> Vec<QueuedJob> {
        let own = self.queues.get(&key).map_or(0, |queue| queue.jobs.len());
        let longest = self
            .queues
            .values_mut()
            .max_by_key(|queue| queue.jobs.len());
        let Some(longest) = longest.filter(|queue| queue.jobs.len() > own + 1) else {
            return Vec::new();
        };
        let last = longest.jobs.pop_back();
        longest.waiting -= last.as_ref().map_or(Duration::ZERO, |job| job.cost);
        self.note_removed(last.into_iter().collect())
    }

    fn note_removed(&mut self, removed: Vec<QueuedJob>) -> Vec<QueuedJob> {
        if !removed.is_empty() {
            self.waiting -= removed.len();
            self.forget_idle();
        }
        removed
    }

    fn forget_idle(&mut self) {
        self.queues
            .retain(|_, queue| queue.running > 0 || !queue.jobs.is_empty());
        if self.queues.is_empty() {
            self.shares.clear();
        }
    }
}

impl ClientQueue {
    /// The expected cost of its waiting and running jobs.
    fn cost(&self) -> Duration {
        self.waiting + self.running_cost
    }

    /// The expected cost of its jobs that are served before a job with the tag `other`, if its own
    /// tag is `own`.
    fn cost_before(&self, own: Duration, other: Duration) -> Duration {
        match self.jobs.front() {
            Some(first) if own <= other => self.waiting.min(other - own + first.cost),
            _ => Duration::ZERO,
        }
    }

    fn pop_first(&mut self) -> Option<QueuedJob> {
        let job = self.jobs.pop_front()?;
        self.waiting -= job.cost;
        Some(job)
    }
}
