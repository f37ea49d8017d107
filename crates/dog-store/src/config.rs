//! Options of a store.

use std::time::Duration;

/// Options of a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreConfig {
    /// The largest number of writes in one commit; 1 commits each write by itself.
    pub commit_batch: usize,
    /// The number of games in the cache; each takes 1 to 2 kB.
    pub games_in_memory: usize,
    /// The largest size of the database in bytes; 0 for no limit.
    pub max_bytes: u64,
    /// Whether a file is checked quickly before it is used.
    pub check: bool,
    /// How long to wait for another process that has the file.
    pub lock_wait: Duration,
}

impl Default for StoreConfig {
    fn default() -> StoreConfig {
        StoreConfig {
            commit_batch: 128,
            games_in_memory: 1024,
            max_bytes: 64 << 30,
            check: false,
            // For the predecessor's end, such as that of a container that is replaced.
            lock_wait: Duration::from_secs(10),
        }
    }
}
