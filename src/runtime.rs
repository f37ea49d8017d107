//! How background threads wait for the store.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime with which a background thread waits for the store.
///
/// # Errors
/// The operating system refuses it.
pub fn background_runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}
