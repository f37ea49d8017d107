//! Threads for work that is too long for an async worker, bounded in number and in queue.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use actix_web::{HttpResponse, http::header};
use serde::Serialize;

use super::{
    metrics::PoolMeter,
    problem::{Code, Problem},
};

type Job = Box<dyn FnOnce() + Send>;

/// What work is taken to cost if nobody says, such as a list of moves.
pub const QUICK: Duration = Duration::from_millis(1);

/// Some threads and a queue of limited length before them.
pub struct Pool {
    queue: mpsc::SyncSender<Job>,
    patience: Duration,
    /// Microseconds of work, by its estimates, that wait or are being done.
    load: Arc<AtomicU64>,
    /// The most there may be, so that whoever is let in is served within the patience.
    most_load: u64,
    meter: PoolMeter,
}

/// How a pool is to be.
pub struct Make {
    pub name: &'static str,
    pub threads: usize,
    /// Jobs that may wait.
    pub length: usize,
    /// How long a job may wait.
    pub patience: Duration,
    /// By how much the threads give way to others, as `nice` counts it; on Linux only.
    pub niceness: i32,
}

impl Pool {
    /// Starts threads that share a queue. A job is refused at once if those before it would keep
    /// it waiting longer than the patience, by what they are said to cost, and in the end if they
    /// really have.
    ///
    /// # Errors
    /// If the operating system starts no more threads.
    pub fn start(make: Make, meter: PoolMeter) -> std::io::Result<Pool> {
        let (queue, jobs) = mpsc::sync_channel::<Job>(make.length);
        let jobs = Arc::new(Mutex::new(jobs));
        meter.threads(make.threads);
        for number in 0..make.threads {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name(format!("{}-{number}", make.name))
                .spawn(move || {
                    give_way(make.niceness);
                    loop {
                        let Ok(job) = jobs.lock().map(|jobs| jobs.recv()) else {
                            return;
                        };
                        let Ok(job) = job else { return };
                        // A panic in a job ends that job; its caller sees the answer missing.
                        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                    }
                })?;
        }
        Ok(Pool {
            queue,
            patience: make.patience,
            load: Arc::default(),
            most_load: micros(make.patience).saturating_mul(make.threads as u64),
            meter,
        })
    }

    /// Works out an answer on one of the threads, its JSON too: a seven's can have megabytes.
    ///
    /// # Errors
    /// As [`Pool::run`].
    pub async fn answer<T: Serialize>(
        &self,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let json = || serde_json::to_string(&work()?).map_err(Problem::internal);
        let json = self.run(cost, json).await?;
        Ok(HttpResponse::Ok()
            .content_type("application/json")
            .insert_header((header::VARY, "Authorization, Accept, Accept-Encoding"))
            .insert_header((header::CACHE_CONTROL, "private, no-cache"))
            .body(json))
    }

    /// Does something on one of the threads that takes about so long.
    ///
    /// # Errors
    /// `unavailable`, at once if too much is waiting, or after waiting for too long; `internal` if
    /// the work panicked; else what the work says.
    pub async fn run<T: Send + 'static>(
        &self,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let share = self.share(micros(cost))?;
        let (answer, answered) = oneshot::channel();
        let (asked, patience) = (Instant::now(), self.patience);
        let (waiting, meter) = (self.meter.waiting(), self.meter.clone());
        let job = Box::new(move || {
            let _share = share;
            drop(waiting);
            // Nobody waits any more if the client has gone.
            if answer.is_closed() {
                return;
            }
            let answered = if asked.elapsed() < patience {
                let _working = meter.working();
                work()
            } else {
                meter.refused();
                Err(too_many())
            };
            let _ = answer.send(answered);
        });
        self.queue.try_send(job).map_err(|_| {
            self.meter.refused();
            too_many()
        })?;
        answered
            .await
            .unwrap_or_else(|_| Err(Problem::internal("a job panicked")))
    }

    /// Room for so many microseconds of work.
    ///
    /// # Errors
    /// `unavailable`, if what is there already takes too long.
    fn share(&self, cost: u64) -> Result<Share, Problem> {
        let before = self.load.fetch_add(cost, Ordering::Relaxed);
        let load = Arc::clone(&self.load);
        let share = Share { load, cost };
        if before >= self.most_load {
            self.meter.refused();
            return Err(too_many());
        }
        Ok(share)
    }
}

/// What a job adds to the load, until it is done or dropped.
struct Share {
    load: Arc<AtomicU64>,
    cost: u64,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.load.fetch_sub(self.cost, Ordering::Relaxed);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Lets threads that answer others go first where there are too few cores for all.
fn give_way(niceness: i32) {
    #[cfg(target_os = "linux")]
    if niceness > 0
        && let Err(error) = rustix::process::nice(niceness)
    {
        log::debug!("a pool runs like everybody: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}

fn too_many() -> Problem {
    Problem::new(Code::Unavailable, "too many requests are waiting")
}

#[cfg(test)]
mod tests {
    use actix_web::ResponseError;
    use futures_util::FutureExt;

    use super::*;

    fn pool(patience: Duration) -> Pool {
        let make = Make {
            name: "test",
            threads: 1,
            length: 100,
            patience,
            niceness: 0,
        };
        Pool::start(make, PoolMeter::default()).unwrap()
    }

    #[actix_web::test]
    async fn what_has_waited_too_long_is_not_done() {
        let patient = pool(Duration::MAX);
        assert_eq!(patient.run(QUICK, || Ok(1)).await.unwrap(), 1);
        let impatient = pool(Duration::ZERO);
        let refused = impatient.run(QUICK, || -> Result<u8, Problem> { panic!("it is done") });
        assert_eq!(refused.await.unwrap_err().status_code(), 503);
    }

    #[actix_web::test]
    async fn no_more_is_let_in_than_can_be_served_in_time() {
        let pool = pool(Duration::from_secs(10));
        let (go, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let work = || {
            let gate = Arc::clone(&gate);
            move || Ok(gate.lock().unwrap().recv().is_ok())
        };
        let cost = Duration::from_secs(2);
        let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(pool.run(cost, work()))).collect();
        for job in &mut waiting {
            // Polled once, so that it is in the queue.
            assert!(job.now_or_never().is_none());
        }
        let refused = pool.run(cost, work()).await.unwrap_err();
        assert_eq!(refused.status_code(), 503);
        // Whoever goes away leaves room when the turn comes.
        waiting.pop();
        for _ in 0..5 {
            go.send(()).unwrap();
        }
        for job in waiting {
            assert!(job.await.unwrap());
        }
        assert!(pool.run(cost, work()).await.unwrap());
        // The last one's share is given back on its thread, about when its answer comes.
        while pool.load.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
    }

    #[actix_web::test]
    async fn a_panic_gives_its_share_back() {
        let pool = pool(Duration::from_secs(10));
        let panics = pool.run(QUICK, || -> Result<u8, Problem> { panic!("on purpose") });
        assert_eq!(panics.await.unwrap_err().status_code(), 500);
        while pool.load.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
    }
}
