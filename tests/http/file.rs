//! What depends on the SQLite file of a server: its locks, its version and its size. What happens
//! when it fails is in `faults`.

use std::{
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use serde_json::json;

use crate::support::{Exposition, Signal, TestGame, TestServer, TestViewer::*};

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
    let import = || {
        let import = server.post("/v1/games/import").text("text/plain", record);
        import.send().expect(201);
    };
    import();
    let before = used(&server);
    (0..10).for_each(|_| import());
    let each = (used(&server) - before) as usize / 10;
    // It is charged with three times its length, which covers that.
    assert!(each < 3 * record.len(), "{each} of {}", record.len());
}

/// The status in `/readyz`.
fn status(server: &TestServer) -> String {
    let response = server.get("/readyz").send().expect(200);
    response["status"].as_str().expect("a status").to_owned()
}

#[test]
fn a_full_database_refuses_new_games_and_others_go_on() {
    let max: i64 = 1 << 20;
    let server = TestServer::start_with(&[("DOG_MAX_DATABASE_BYTES", &max.to_string())]);
    assert_eq!(status(&server), "ok");
    let game = TestGame::in_play(&server);
    let bots = vec![json!({"kind": "bot", "level": "random"}); 4];
    let bots = TestGame::create(&server, &json!({"seats": bots, "bot_pace_ms": 500}));
    let mut others = Vec::new();
    let refused = loop {
        let created = server.post("/v1/games").send();
        if created.status != 201 {
            break created;
        }
        others.push(TestGame::of(&server, &created.expect(201)));
        assert!(others.len() < 1_000, "a limit");
    };
    refused.refused("database_full");
    let record = include_str!("../records/four.dog");
    let import = || {
        server
            .post("/v1/games/import")
            .text("text/plain", record)
            .send()
    };
    import().refused("database_full");
    let share = |used: i64| 100 * used / max;
    assert!(
        (90..92).contains(&share(used(&server))),
        "{}",
        used(&server)
    );
    let shown = Exposition::scrape(&server);
    assert_eq!(shown.value("dog_database_max_bytes", &[]), max as f64);
    assert_eq!(
        shown.value("dog_database_used_bytes", &[]),
        used(&server) as f64
    );
    let begun = Instant::now();
    while status(&server) != "nearly_full" {
        assert!(begun.elapsed() < Duration::from_secs(30), "it is reported");
    }
    // Bots stop among themselves: after a second at most they know.
    thread::sleep(Duration::from_secs(2));
    let stopped_at = bots.version();
    thread::sleep(Duration::from_secs(2));
    assert_eq!(bots.version(), stopped_at);
    assert_ne!(bots.view(Spectator)["phase"], "finished");
    // Play goes on.
    let (seat, id) = game.first_move();
    game.play(seat, &id);
    // In the end nothing can be written, but everything can be read.
    let body = json!({"kind": "human", "name": "Anna"});
    let refused = (0..2_000).find_map(|number| {
        let game = &others[number % others.len()];
        let rename = game.request("PUT", Host, "/seats/0").json(&body);
        let response = rename.key(&format!("key-{number}")).send();
        (response.status != 200).then_some(response)
    });
    refused.expect("a refusal").refused("database_full");
    assert!(
        (95..=100).contains(&share(used(&server))),
        "{}",
        used(&server)
    );
    let begun = Instant::now();
    loop {
        let response = server.get("/readyz").send();
        if response.status != 200 {
            response.refused("unavailable");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "it is not ready");
    }
    let before = game.snapshot();
    server.restart(Signal::Kill);
    assert_eq!(game.snapshot(), before);
    game.get(Spectator, "/history").send().expect(200);
    server.get("/v1/games").send().expect(200);
    // Removing games frees space, and needs none.
    for game in others.drain(..) {
        game.request("DELETE", Host, "").send().expect(204);
    }
    let (seat, id) = game.first_move();
    game.play(seat, &id);
    server.wait_until_ready(true);
    server.post("/v1/games").send().expect(201);
    import().expect(201);
}
