//! Nodes, requests to them, and games whose requests go to any node.

mod call;
#[path = "../../http/support/nginx.rs"]
mod nginx;
mod node;
#[path = "../../http/support/programs.rs"]
#[allow(dead_code, reason = "the tests of one node use more of it")]
mod programs;
mod stream;
mod table;

use std::{
    thread,
    time::{Duration, Instant},
};

pub use call::{Call, NodeAnswer};
pub use nginx::Nginx;
pub use node::{DogNode, DogNodes, database, own_cluster, refusal, serve, start};
pub use stream::NodeStream;
pub use table::{NodeTable, Who};

/// How long a test waits for anything. It is long because a machine may be very busy; only a
/// failing test waits that long.
pub const LIMIT: Duration = Duration::from_secs(180);

/// How long a request may take in any condition of the database.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(90);

/// Waits until this holds.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < LIMIT, "it takes too long until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
