//! Threads whose end is waited for.

use std::{
    io,
    thread::{self, JoinHandle},
};

use tokio::runtime::{self, Runtime};

use super::error::StoreError;

/// What runs futures on one thread.
///
/// # Errors
/// [`StoreError::Create`].
pub(super) fn runtime() -> Result<Runtime, StoreError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(StoreError::create)
}

/// A thread. Dropping this value waits for its end, so what tells the thread to end must be dropped
/// before: it comes first among the fields of a struct.
#[derive(Debug)]
pub struct JoinedThread(Option<JoinHandle<()>>);

impl JoinedThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system starts no more threads.
    pub fn start(
        name: impl Into<String>,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<JoinedThread> {
        let thread = thread::Builder::new().name(name.into()).spawn(work)?;
        Ok(JoinedThread(Some(thread)))
    }
}

impl Drop for JoinedThread {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        // The thread itself may drop this value. It cannot join itself.
        let thread = handle.thread().clone();
        if thread.id() != thread::current().id() && handle.join().is_err() {
            log::error!("the thread {} panicked", thread.name().unwrap_or_default());
        }
    }
}
