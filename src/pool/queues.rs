//! The queues of waiting jobs, one for each client, and which job is next.

use std::{
    collections::{HashMap, VecDeque},
    sync::mpsc::Sender,
    time::{Duration, Instant},
};

use crate::{
    fair::{Charge, FairShares},
    limits::Address,
    metrics::GaugeGuard,
};

/// How long a job works before others that wait may go first.
pub(super) const SLICE: Duration = Duration::from_millis(50);

/// The settings of a pool.
#[derive(Clone, Copy)]
pub struct PoolConfig {
    pub name: &'static str,
    /// Threads that work at a time.
    pub threads: usize,
    /// Jobs that may have paused at a time, each with a thread that waits. If there are as many, no
    /// other job begins.
    pub max_paused: usize,
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
    fn max_threads_per_client(&self) -> usize {
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

/// The jobs that wait, run or pause.
pub(super) struct JobQueues {
    config: PoolConfig,
    pub(super) queues: HashMap<QueueKey, ClientQueue>,
    shares: FairShares<QueueKey>,
    /// How many more jobs may run now.
    free: usize,
    /// Threads without a job.
    pub(super) idle: usize,
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
    jobs: VecDeque<QueuedJob>,
    /// Jobs that have begun and wait to go on.
    paused: VecDeque<Sender<Charge<QueueKey>>>,
    /// The number of running jobs.
    pub(super) running: usize,
    /// The expected cost of all these jobs.
    cost: Duration,
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
    pub(super) fn new(config: PoolConfig) -> JobQueues {
        JobQueues {
            config,
            queues: HashMap::new(),
            shares: FairShares::default(),
            free: config.threads,
            idle: 0,
            added: 0,
            closed: false,
        }
    }

    /// Whether one more job of this client, of this cost, would be served within the queue's
    /// timeout, by the expected cost of all jobs that go before it.
    pub(super) fn has_room(&self, key: QueueKey, cost: Duration) -> bool {
        let (config, now) = (&self.config, Instant::now());
        let queue = self.queues.get(&key);
        let own = queue.map_or(Duration::ZERO, |queue| queue.cost);
        let stays_light = self.shares.is_light(&key, own + cost, now);
        let last_tag = self.shares.tag(&key).saturating_add(own + cost + SLICE);
        let others = self.queues.iter().filter(|(other, _)| {
            **other != key && (!stays_light || self.shares.is_light(other, Duration::ZERO, now))
        });
        let before: Duration = others
            .map(|(other, queue)| {
                let share = last_tag.saturating_sub(self.shares.tag(other));
                queue.cost.min(share)
            })
            .sum();
        own < config.capacity(config.max_threads_per_client())
            && own + before < config.capacity(config.threads)
    }

    /// Adds a job. If too many wait, besides those that begin at once, removes the last job of the
    /// longest queue, unless this client's queue is about as long: then it returns the job itself.
    pub(super) fn push(&mut self, key: QueueKey, job: QueuedJob) -> Option<QueuedJob> {
        let mut evicted = None;
        let waiting: usize = self.queues.values().map(|queue| queue.jobs.len()).sum();
        if waiting >= self.config.queue_capacity + self.free {
            let own = self.queues.get(&key).map_or(0, |queue| queue.jobs.len());
            let longest = self.queues.values_mut();
            let longest = longest.max_by_key(|queue| queue.jobs.len());
            let Some(longest) = longest.filter(|queue| queue.jobs.len() > own + 1) else {
                return Some(job);
            };
            evicted = longest.jobs.pop_back();
            longest.cost -= evicted.as_ref().map_or(Duration::ZERO, |job| job.cost);
        }
        let queue = self.queues.entry(key).or_default();
        queue.cost += job.cost;
        queue.jobs.push_back(job);
        evicted
    }

    /// The client whose turn it is, of those that may occupy another thread: one that has used
    /// little time recently, if there is one; of these, the one with the smallest tag. A job begins
    /// only if a thread is idle.
    fn next_client(&self) -> Option<QueueKey> {
        let now = Instant::now();
        let most = self.config.max_threads_per_client();
        let able = self.queues.iter().filter(|(_, queue)| queue.running < most);
        let ready = able.filter_map(|(key, queue)| {
            let waiting = queue.jobs.front().filter(|_| self.idle > 0);
            // Of equals, one that has begun comes first.
            let number = if queue.paused.is_empty() {
                waiting?.number
            } else {
                0
            };
            let is_heavy = !self.shares.is_light(key, Duration::ZERO, now);
            Some(((is_heavy, self.shares.tag(key), number), *key))
        });
        let (_, key) = ready.min_by_key(|&(rank, _)| rank)?;
        (self.free > 0).then_some(key)
    }

    /// Lets paused jobs go on while it is their turn. Returns the client that is to begin a job.
    pub(super) fn resume(&mut self) -> Option<QueueKey> {
        loop {
            let key = self.next_client()?;
            let queue = self.queues.get_mut(&key)?;
            let Some(paused) = queue.paused.pop_front() else {
                return Some(key);
            };
            queue.running += 1;
            self.free -= 1;
            // Its thread waits for this.
            let _ = paused.send(self.shares.begin(key, SLICE));
        }
    }

    /// Takes the next job for an idle thread, after those that go on.
    pub(super) fn begin(&mut self) -> Option<(QueuedJob, Charge<QueueKey>)> {
        let key = self.resume()?;
        let queue = self.queues.get_mut(&key)?;
        let job = queue.jobs.pop_front()?;
        queue.running += 1;
        self.free -= 1;
        self.idle -= 1;
        let charge = self.shares.begin(key, job.cost.min(SLICE));
        Some((job, charge))
    }

    /// Charges the client for what a job has done since it began or last went on, which took this
    /// long and used so much of a processor. The job no longer runs.
    pub(super) fn end_slice(
        &mut self,
        charge: Charge<QueueKey>,
        took: Duration,
        used: Duration,
    ) -> QueueKey {
        let key = charge.payer;
        let waiting = self
            .queues
            .values()
            .filter(|queue| queue.is_waiting())
            .count();
        self.shares.end(charge, took, waiting);
        self.shares.add_use(key, used, Instant::now());
        self.free += 1;
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.running -= 1;
        }
        key
    }

    /// Has a job wait to go on. If the pool is closed, the sender is dropped.
    pub(super) fn pause(&mut self, key: QueueKey, job: Sender<Charge<QueueKey>>) {
        if !self.closed {
            self.queues.entry(key).or_default().paused.push_back(job);
        }
    }

    /// Ends a job of this expected cost after its last slice.
    pub(super) fn end(&mut self, key: QueueKey, cost: Duration) {
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.cost -= cost;
        }
        self.forget_idle();
    }

    /// Ends the threads as soon as they have no job.
    pub(super) fn close(&mut self) {
        self.closed = true;
        for queue in self.queues.values_mut() {
            queue.paused.clear();
        }
    }

    /// Removes the jobs that have waited too long, and those whose clients have disconnected.
    pub(super) fn remove_stale(&mut self) -> Vec<QueuedJob> {
        let (now, timeout) = (Instant::now(), self.config.queue_timeout);
        let is_stale = |job: &QueuedJob| now - job.queued_at >= timeout || job.task.is_abandoned();
        let mut removed = Vec::new();
        for queue in self.queues.values_mut() {
            if queue.jobs.iter().any(is_stale) {
                let (stale, kept): (VecDeque<_>, _) = queue.jobs.drain(..).partition(is_stale);
                queue.jobs = kept;
                queue.cost -= stale.iter().map(|job| job.cost).sum::<Duration>();
                removed.extend(stale);
            }
        }
        if !removed.is_empty() {
            self.forget_idle();
        }
        removed
    }

    fn forget_idle(&mut self) {
        self.queues
            .retain(|_, queue| queue.running > 0 || queue.is_waiting());
        if self.queues.is_empty() {
            self.shares.clear();
        }
    }
}

impl ClientQueue {
    fn is_waiting(&self) -> bool {
        !self.jobs.is_empty() || !self.paused.is_empty()
    }
}
