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
    // At most one check a second, including the first and the last, and a sweep of the lists. The
    // first may be the server's own.
    let most = started.elapsed().as_secs_f64() + 2.0;
    assert!((0.0..=most).contains(&made), "{made} of {most}");
    assert!(before + made >= 1.0);
}

#[test]
fn a_server_that_can_only_be_read_is_ready_for_reads() {
    let server = TestServer::start_with(&[("DOG_MAX_DATABASE_BYTES", "1")]);
    assert_eq!(server.get("/readyz").send().status, 503);
    assert_eq!(server.get("/readyz?writes=true").send().status, 503);
    let told = server.get("/readyz?writes=false").send().expect(200);
    assert_eq!(told["status"], "nearly_full");
    for wrong in ["/readyz?writes=maybe", "/readyz?other=1"] {
        server.get(wrong).send().refused("invalid_request");
    }
}
