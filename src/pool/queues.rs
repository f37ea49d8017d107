//! The queues of waiting jobs, one for each client, and which job is next.

use std::{
    collections::{HashMap, VecDeque},
    sync::mpsc::Sender,
    time::{Duration, Instant},
};

use crate::{
    fair::{Charge, FairShares, LIGHT_USE, RecentUse},
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

/// The jobs that wait, run or pause.
#[derive(Default)]
pub(super) struct JobQueues {
    pub(super) queues: HashMap<QueueKey, ClientQueue>,
    shares: FairShares<QueueKey>,
    recent: RecentUse<QueueKey>,
    /// How many more jobs may run now.
    pub(super) free: usize,
    /// Threads of the pool, and those of them that wait for a job.
    pub(super) threads: usize,
    pub(super) idle: Vec<Sender<StartedJob>>,
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
    /// Jobs that have begun and wait to go on.
    paused: VecDeque<PausedJob>,
    /// The number of running jobs.
    pub(super) running: usize,
    /// The expected cost of what is left of the running and paused jobs.
    left: Duration,
}

/// A job that has begun and waits to go on.
pub(super) struct PausedJob {
    pub(super) number: u64,
    pub(super) left: Duration,
    pub(super) resume: Sender<Charge<QueueKey>>,
}

/// A job that a thread is to begin.
pub(super) struct StartedJob {
    pub(super) job: QueuedJob,
    pub(super) charge: Charge<QueueKey>,
}

/// The next job.
pub(super) enum NextJob {
    Start(StartedJob, Sender<StartedJob>),
    Resume(PausedJob, Charge<QueueKey>),
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
    /// Whether one more job of this client, of this cost, would be served within the queue's
    /// timeout, by the expected cost of all jobs that go before it.
    pub(super) fn has_room(&self, key: QueueKey, cost: Duration, config: &PoolConfig) -> bool {
        let queue = self.queues.get(&key);
        let own = queue.map_or(Duration::ZERO, ClientQueue::cost);
        let now = Instant::now();
        let stays_light = self.recent.get(&key, now) + own + cost < LIGHT_USE;
        let last_tag = self.shares.tag(&key).saturating_add(own + cost + SLICE);
        let others = self.queues.iter().filter(|(other, _)| {
            **other != key && (!stays_light || self.recent.is_light(other, now))
        });
        let before: Duration = others
            .map(|(other, queue)| {
                let share = last_tag.saturating_sub(self.shares.tag(other));
                queue.cost().min(share)
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

    /// Takes the next job, of a client that may occupy another thread: of one that has used little
    /// time recently, if there is one; of these, of the one with the smallest tag. A job begins only
    /// if a thread is idle.
    pub(super) fn take(&mut self, max_threads_per_client: usize) -> Option<NextJob> {
        let now = Instant::now();
        let ready = self.queues.iter().filter_map(|(key, queue)| {
            let paused = queue.paused.front().map(|job| job.number);
            let waiting = queue.jobs.front().filter(|_| !self.idle.is_empty());
            let number = paused.or(waiting.map(|job| job.number))?;
            let rank = (
                !self.recent.is_light(key, now),
                self.shares.tag(key),
                number,
            );
            (queue.running < max_threads_per_client).then_some((rank, *key))
        });
        let (_, key) = ready.min_by_key(|&(rank, _)| rank)?;
        let queue = self.queues.get_mut(&key)?;
        let next = if let Some(job) = queue.paused.pop_front() {
            let charge = self.shares.begin(key, job.left.min(SLICE));
            NextJob::Resume(job, charge)
        } else {
            let (job, thread) = (queue.pop_first()?, self.idle.pop()?);
            queue.left += job.cost;
            self.waiting -= 1;
            let charge = self.shares.begin(key, job.cost.min(SLICE));
            NextJob::Start(StartedJob { job, charge }, thread)
        };
        queue.running += 1;
        self.free -= 1;
        Some(next)
    }

    /// Charges the client for what a job has done since it last began or went on, which took this
    /// long and used so much of a processor, and makes its place free. It was expected to need another `left`; returns what is left
    /// of that.
    pub(super) fn end_slice(
        &mut self,
        charge: Charge<QueueKey>,
        left: Duration,
        took: Duration,
        used: Duration,
    ) -> Duration {
        let key = charge.payer;
        let waiting = self.queues.values().filter(|queue| queue.is_waiting());
        let waiting = waiting.count();
        self.shares.end(charge, took, waiting);
        self.recent.add(key, used);
        self.free += 1;
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.running -= 1;
            queue.left -= left.min(took);
        }
        left.saturating_sub(took)
    }

    /// Has a job wait to go on. If the pool is closed, the sender is dropped.
    pub(super) fn pause(&mut self, key: QueueKey, job: PausedJob) {
        if !self.closed {
            self.queues.entry(key).or_default().paused.push_back(job);
        }
    }

    /// Ends a job after its last slice.
    pub(super) fn end(&mut self, key: QueueKey, left: Duration) {
        if let QueueKey::Request(_) = key {
            self.shares.forget(&key);
            self.recent.forget(&key);
        }
        if let Some(queue) = self.queues.get_mut(&key) {
            queue.left -= left;
        }
        self.forget_idle();
    }

    /// Ends the threads as soon as they have no job.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.idle.clear();
        for queue in self.queues.values_mut() {
            queue.paused.clear();
        }
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
            .retain(|_, queue| queue.running > 0 || queue.is_waiting());
        if self.queues.is_empty() {
            self.shares.clear();
        }
    }
}

impl ClientQueue {
    /// The expected cost of all its jobs.
    fn cost(&self) -> Duration {
        self.waiting + self.left
    }

    fn is_waiting(&self) -> bool {
        !self.jobs.is_empty() || !self.paused.is_empty()
    }

    fn pop_first(&mut self) -> Option<QueuedJob> {
        let job = self.jobs.pop_front()?;
        self.waiting -= job.cost;
        Some(job)
    }
}
