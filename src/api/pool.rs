//! Threads for work that is too long for an async worker, bounded in number and in queue.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use tokio::sync::oneshot;

use actix_web::{HttpResponse, http::header};
use serde::Serialize;

use super::problem::{Code, Problem};

type Job = Box<dyn FnOnce() + Send>;

/// Some threads and a queue of limited length before them.
pub struct Pool {
    queue: mpsc::SyncSender<Job>,
}

impl Pool {
    /// Starts `threads` threads that share a queue of `length` jobs.
    ///
    /// # Errors
    /// If the operating system starts no more threads.
    pub fn start(name: &str, threads: usize, length: usize) -> std::io::Result<Pool> {
        let (queue, jobs) = mpsc::sync_channel::<Job>(length);
        let jobs = Arc::new(Mutex::new(jobs));
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
        Ok(Pool { queue })
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
    /// `unavailable` at once if the queue is full; `internal` if the work panicked; else what
    /// the work says.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move || {
            // Nobody waits any more if the client has gone.
            if !answer.is_closed() {
                let _ = answer.send(work());
            }
        });
        self.queue
            .try_send(job)
            .map_err(|_| Problem::new(Code::Unavailable, "too many requests are waiting"))?;
        answered
            .await
            .unwrap_or_else(|_| Err(Problem::internal("a job panicked")))
    }
}
