//! What depends on the SQLite file of a server: its locks, its version and its size. What happens
//! when it fails is in `faults`, and when it is full in `storage`.

use rusqlite::Connection;

use crate::support::{Exposition, TestGame, TestServer};

/// A second connection to the server's database.
fn connect(server: &TestServer) -> Connection {
    Connection::open(server.database().file()).expect("the database")
}

/// The version of the schema.
fn version(database: &Connection) -> u32 {
    let version = database.pragma_query_value(None, "user_version", |row| row.get(0));
    version.expect("a version")
}

#[test]
fn the_file_is_in_the_metrics() {
    let server = TestServer::start();
    TestGame::fixed(&server);
    let metrics = Exposition::scrape(&server);
    assert!(metrics.value("dog_database_bytes", &[]) > 0.0);
    assert!(metrics.value("dog_database_wal_bytes", &[]) > 0.0);
    assert_eq!(
        metrics.value("dog_database_schema_version", &[]),
        f64::from(version(&connect(&server)))
    );
}

#[test]
fn healthz_does_not_touch_the_store() {
    let server = TestServer::start();
    let commits = || Exposition::scrape(&server).value("dog_store_commits_total", &[]);
    let before = commits();
    let database = connect(&server);
    database.execute_batch("BEGIN EXCLUSIVE").expect("the lock");
    for _ in 0..50 {
        server.get("/healthz").send().expect(200);
    }
    database.execute_batch("ROLLBACK").expect("let go");
    assert_eq!(commits(), before);
}

#[test]
fn a_database_of_a_newer_program_is_not_served() {
    let server = TestServer::start();
    server.wait_until_ready(true);
    let database = connect(&server);
    let version = version(&database);
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

/// Bytes of the database that are in use.
fn used(server: &TestServer) -> i64 {
    let sql = "SELECT (page_count - freelist_count) * page_size \
               FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    server.database().number(sql)
}

#[test]
fn an_import_takes_little_space() {
    let server = TestServer::start();
    let record = include_str!("../records/six.dog");
    server.import(record).expect(201);
    let before = used(&server);
    for _ in 0..10 {
        server.import(record).expect(201);
    }
    let each = (used(&server) - before) as usize / 10;
    // It is charged with three times its length, which covers that.
    assert!(each < 3 * record.len(), "{each} of {}", record.len());
}
