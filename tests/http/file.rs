//! What depends on the SQLite file of a server: its locks, its version and its size. What happens
//! when it fails is in `faults`, and when it is full in `storage`.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::Connection;

use crate::support::{Exposition, Signal, TestGame, TestServer, TestViewer::*, available};

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
    // After the server's own check.
    server.wait_until_ready(true);
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

/// What a server that cannot use its database says. It ends with exit code 1.
#[track_caller]
fn refusal(serve: &mut Command) -> String {
    let output = serve.output().expect("the dog binary");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    said
}

#[test]
fn a_second_server_is_refused() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let said = refusal(&mut server.database().serve());
    let pid = server.process_id();
    assert!(
        said.contains(&format!("another server (pid {pid} on ")),
        "{said}"
    );
    let advice = "several servers share a PostgreSQL database";
    assert!(said.trim_end().ends_with(advice), "{said}");
    game.play_on();
    server.wait_until_ready(true);
}

/// As when a container is replaced.
#[test]
fn a_server_waits_for_the_end_of_its_predecessor() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let before = game.snapshot();
    let predecessor = server.process_id().to_string();
    let end = thread::spawn(move || {
        thread::sleep(Duration::from_secs(1));
        let kill = Command::new("kill").arg(predecessor).status();
        assert!(kill.expect("kill").success());
    });
    server.start_successor();
    end.join().expect("its end");
    assert_eq!(game.snapshot(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_without_locks_is_refused() {
    if !available(&["cc"]) {
        return;
    }
    let server = TestServer::start();
    server.stop(Signal::Term);
    let (source, library) = ["no-locks.c", "no-locks.so"]
        .map(|name| server.folder().join(name))
        .into();
    let code = "#include <errno.h>\nint flock(int file, int how) { errno = ENOLCK; return -1; }\n";
    fs::write(&source, code).expect("a file");
    let cc = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(cc.expect("a compiler").success());
    let said = refusal(server.database().serve().env("LD_PRELOAD", &library));
    assert!(
        said.contains("dog.db-lock cannot be locked (No locks available"),
        "{said}"
    );
    assert!(said.contains("a local file system is needed"), "{said}");
}

/// The server of a file hears of another program's changes by its own writes.
#[test]
fn a_row_that_is_deleted_costs_that_game_only() {
    let server = TestServer::start();
    let (deleted, other) = (TestGame::in_play(&server), TestGame::in_play(&server));
    let (seat, id) = deleted.first_move();
    let sql = format!("DELETE FROM games WHERE id = '{}' RETURNING id", deleted.id);
    assert_eq!(server.database().sql(&sql), [&*deleted.id]);
    deleted.try_play(Seat(seat), &id).refused("game_not_found");
    for path in ["", "/history", "/events"] {
        deleted
            .get(Spectator, path)
            .send()
            .refused("game_not_found");
    }
    other.play_on();
    server.get("/readyz").send().expect(200);
}

/// `dog copy` marks the file, and the operator takes the mark back.
#[test]
fn a_file_is_moved_and_comes_back_beside_its_server() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    server.get("/readyz").send().expect(200);
    let (seat, id) = game.first_move();
    let copy = server.folder().join("copy.db");
    let copied = Command::new(env!("CARGO_BIN_EXE_dog"))
        .arg("copy")
        .env("DOG_COPY_FROM", server.database().location())
        .env("DOG_COPY_TO", &copy)
        .output()
        .expect("the dog binary");
    assert!(copied.status.success(), "{copied:?}");
    let before = game.snapshot();
    game.try_play(Seat(seat), &id).refused("unavailable");
    server.get("/readyz").send().refused("unavailable");
    assert_eq!(game.snapshot(), before);

    server.database().sql("DELETE FROM moved");
    game.play(seat, &id);
    server.wait_until_ready(true);
}

const RELEASED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/releases/0.2.0/dog.db");

/// Writes a lease, as a process of 0.2.0 that has somebody connected.
fn renew(file: &Connection) {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time");
    let until = (now + Duration::from_secs(10)).as_micros() as i64;
    let lease = "INSERT OR REPLACE INTO processes (process, lease_until) VALUES (7, ?1)";
    file.execute(lease, [until]).expect("a lease");
}

#[test]
fn a_server_of_0_2_0_is_waited_for_and_not_disturbed() {
    let server = TestServer::start();
    server.stop(Signal::Term);
    let file = server.database().file();
    fs::copy(RELEASED, file).expect("a copy");
    let released = Connection::open(file).expect("the database");
    let old = version(&released);
    renew(&released);
    let mut serve = server.database().serve();
    let second = serve.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut second = second.expect("the dog binary");
    while second.try_wait().expect("its status").is_none() {
        renew(&released);
        thread::sleep(Duration::from_millis(200));
    }
    let output = second.wait_with_output().expect("its end");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("another server of an earlier release"),
        "{said}"
    );
    assert_eq!(version(&released), old);
    // It is not renewed any more.
    drop(released);
    server.restart(Signal::Kill);
    assert!(version(&connect(&server)) > old);
    assert!(
        server
            .log()
            .contains("waiting for the end of a server of an earlier release")
    );
}
