//! `/readyz` says whether the server can do its work, `/healthz` no more than that it is alive.

use std::{thread, time::Instant};

use crate::support::{Exposition, TestServer};

fn commits(server: &TestServer) -> f64 {
    Exposition::scrape(server).value("dog_store_commits_total", &[])
}

#[test]
fn concurrent_requests_share_a_check() {
    let server = TestServer::start();
    let before = commits(&server);
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..50).for_each(|_| drop(server.get("/readyz").send().expect(200))));
        }
    });
    let made = commits(&server) - before;
    // At most one check a second, including the first and the last.
    let most = started.elapsed().as_secs_f64() + 1.0;
    assert!((1.0..=most).contains(&made), "{made} of {most}");
}
