//! What the server does without a request: [`bots`] play, and [`retention`] removes expired data.

pub mod bots;
pub mod retention;

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime with which a background thread waits for the store.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}
