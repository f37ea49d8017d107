//! Threads of the server that work on their own, and how they wait for the store.

use std::{
    io,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::Duration,
};

use dog_store::JoinedThread;
use tokio::runtime::{Builder, Runtime};

/// A runtime with which a background thread waits for the store.
///
/// # Errors
/// The operating system refuses it.
pub fn background_runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}

/// A thread that works until this value is dropped, which waits for its end.
#[derive(Debug)]
pub struct BackgroundThread {
    _stop: Sender<()>,
    _thread: JoinedThread,
}

impl BackgroundThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system starts no more threads.
    pub fn start(
        name: &'static str,
        work: impl FnOnce(Waiter) + Send + 'static,
    ) -> io::Result<BackgroundThread> {
        let (_stop, waiter) = Waiter::new()?;
        let _thread = JoinedThread::start(name, move || work(waiter))?;
        Ok(BackgroundThread { _stop, _thread })
    }
}

/// What a [`BackgroundThread`] waits with.
pub struct Waiter {
    runtime: Runtime,
    stopped: Receiver<()>,
}

impl Waiter {
    /// A waiter whose thread is to stop when the sender is dropped.
    ///
    /// # Errors
    /// The operating system refuses a runtime.
    pub fn new() -> io::Result<(Sender<()>, Waiter)> {
        let (stop, stopped) = channel();
        let runtime = background_runtime()?;
        Ok((stop, Waiter { runtime, stopped }))
    }

    /// Waits for the store.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Waits this long. Returns true, and at once, if the thread is to stop.
    pub fn stops_within(&self, time: Duration) -> bool {
        self.stopped.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
    }
}

/// The processor time that this thread has used; on other systems than Linux the time since the
/// first call.
pub fn thread_time() -> Duration {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).unwrap_or_default()
    }
    #[cfg(not(target_os = "linux"))]
    {
        static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        FIRST.get_or_init(std::time::Instant::now).elapsed()
    }
}

/// Lowers the priority of this thread to this nice value; on Linux only.
pub fn lower_priority(nice: i32) {
    #[cfg(target_os = "linux")]
    if nice > 0
        && let Err(error) = rustix::process::nice(nice)
    {
        log::debug!("cannot lower the priority of a thread: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}
