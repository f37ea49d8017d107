//! `/readyz` says whether the server can do its work, `/healthz` no more than that it is alive.

use std::{thread, time::Instant};

use rusqlite::Connection;

use crate::support::{Exposition, TestServer};

/// A second connection to the server's database.
fn connect(server: &TestServer) -> Connection {
    Connection::open(server.database()).expect("the database")
}

fn commits(server: &TestServer) -> f64 {
    Exposition::scrape(server).value("dog_store_commits_total", &[])
}

#[test]
fn concurrent_requests_share_a_check() {
    let server = TestServer::start();
    let before = commits(&server);
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..50).for_each(|_| drop(server.get("/readyz").send().expect(200))));
        }
    });
    let made = commits(&server) - before;
    // At most one check a second, including the first and the last.
    let most = begun.elapsed().as_secs_f64() + 1.0;
    assert!((1.0..=most).contains(&made), "{made} of {most}");
}

#[test]
fn healthz_does_not_touch_the_store() {
    let server = TestServer::start();
    let before = commits(&server);
    let database = connect(&server);
    database.execute_batch("BEGIN EXCLUSIVE").expect("the lock");
    for _ in 0..50 {
        server.get("/healthz").send().expect(200);
    }
    database.execute_batch("ROLLBACK").expect("let go");
    assert_eq!(commits(&server), before);
}

#[test]
fn a_database_of_a_newer_program_is_not_served() {
    let server = TestServer::start();
    server.wait_until_ready(true);
    let database = connect(&server);
    let version: u32 = database
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .expect("a version");
    let set = |version: u32| database.pragma_update(None, "user_version", version);
    set(version + 1).expect("a newer version");
    server.wait_until_ready(false);
    let problem = server.get("/readyz").send().refused("unavailable");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains("schema version"), "{detail}");
    server.get("/healthz").send().expect(200);
    set(version).expect("the old version");
    server.wait_until_ready(true);
}
