//! What the server does by itself: [`bots`] play, and [`retention`] removes what is old.

pub mod bots;
pub mod retention;

use std::io;

use tokio::runtime::{Builder, Runtime};

/// What a thread of the background waits with for the store.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}
