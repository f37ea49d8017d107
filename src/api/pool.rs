//! Threads for work that is too long for an async worker, bounded in number and in queue.

use std::{
    sync::{Arc, Mutex, mpsc},
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

/// Some threads and a queue of limited length before them.
pub struct Pool {
    queue: mpsc::SyncSender<Job>,
    patience: Duration,
    meter: PoolMeter,
}

impl Pool {
    /// Starts `threads` threads that share a queue of `length` jobs, none of which is done if it
    /// has waited longer than `patience`: advice may take seconds, and a queue of it minutes.
    ///
    /// # Errors
    /// If the operating system starts no more threads.
    pub fn start(
        name: &str,
        threads: usize,
        length: usize,
        patience: Duration,
        meter: PoolMeter,
    ) -> std::io::Result<Pool> {
        let (queue, jobs) = mpsc::sync_channel::<Job>(length);
        let jobs = Arc::new(Mutex::new(jobs));
        meter.threads(threads);
        for number in 0..threads {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name(format!("{name}-{number}"))
                .spawn(move || {
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
            patience,
            meter,
        })
    }

    /// Works out an answer on one of the threads, its JSON too: a seven's can have megabytes.
    ///
    /// # Errors
    /// As [`Pool::run`].
    pub async fn answer<T: Serialize>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let json = || serde_json::to_string(&work()?).map_err(Problem::internal);
        let json = self.run(json).await?;
        Ok(HttpResponse::Ok()
            .content_type("application/json")
            .insert_header((header::VARY, "Authorization, Accept, Accept-Encoding"))
            .insert_header((header::CACHE_CONTROL, "private, no-cache"))
            .body(json))
    }

    /// Does something on one of the threads.
    ///
    /// # Errors
    /// `unavailable` at once if the queue is full, or after waiting in it for too long; `internal`
    /// if the work panicked; else what the work says.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        let (asked, patience) = (Instant::now(), self.patience);
        let (waiting, meter) = (self.meter.waiting(), self.meter.clone());
        let job = Box::new(move || {
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
}

fn too_many() -> Problem {
    Problem::new(Code::Unavailable, "too many requests are waiting")
}

#[cfg(test)]
mod tests {
    use actix_web::ResponseError;

    use super::*;

    #[actix_web::test]
    async fn what_has_waited_too_long_is_not_done() {
        let pool = |patience| Pool::start("test", 1, 1, patience, PoolMeter::default()).unwrap();
        let patient = pool(Duration::MAX);
        assert_eq!(patient.run(|| Ok(1)).await.unwrap(), 1);
        let impatient = pool(Duration::ZERO);
        let refused = impatient.run(|| -> Result<u8, Problem> { panic!("it is done") });
        assert_eq!(refused.await.unwrap_err().status_code(), 503);
    }
}
