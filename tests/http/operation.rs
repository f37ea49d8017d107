//! For operators: `/healthz`, `/readyz`, `dog healthcheck`, startup errors and shutdown.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::support::{Signal, TestGame, TestServer};

#[test]
fn health_and_readiness_are_answered() {
    let server = TestServer::start();
    for path in ["/healthz", "/readyz"] {
        let response = server.get(path).send();
        assert_eq!(response.status, 200, "{path}: {}", response.text());
    }
}

#[test]
fn the_health_check_reports_by_its_exit_status() {
    let server = TestServer::start();
    let healthy = |address: &str| {
        let status = Command::new(env!("CARGO_BIN_EXE_dog"))
            .args(["healthcheck", "--listen", address])
            .output()
            .expect("the dog binary")
            .status;
        status.success()
    };
    assert!(healthy(&server.address()));
    // Nobody listens there.
    assert!(!healthy("127.0.0.1:1"));
}

#[test]
fn sigterm_stops_the_server_cleanly() {
    let server = TestServer::start();
    TestGame::in_play(&server);
    let status = server.stop(Signal::Term);
    assert!(status.success(), "{status}");
}

/// The path of a new file for this test.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    folder.join(format!("{name}-{}.db", std::process::id()))
}

/// The error of a server that cannot start.
fn refused(listen: &str, database: &Path) -> String {
    let said = refused_with(&["--listen", listen], database);
    let _ = fs::remove_file(database);
    said
}

/// The same with these options.
fn refused_with(options: &[&str], database: &Path) -> String {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_dog"))
        .args(["serve", "--database"])
        .arg(database)
        .args(options)
        .output()
        .expect("the dog binary");
    assert!(!output.status.success());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

#[test]
fn a_number_of_threads_has_a_range() {
    let database = file("threads");
    for option in ["--workers", "--bot-threads", "--advice-threads"] {
        for number in ["100000", "513", "-1", "x"] {
            let output: Output = Command::new(env!("CARGO_BIN_EXE_dog"))
                .args(["serve", "--database"])
                .arg(&database)
                .arg(format!("{option}={number}"))
                .output()
                .expect("the dog binary");
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(
                stderr.contains(option) && !stderr.contains("panicked"),
                "{stderr}"
            );
            if number.parse::<u32>().is_ok() {
                assert!(stderr.contains("512"), "{stderr}");
            }
        }
    }
    assert!(!database.exists());
}

#[test]
fn malformed_origins_are_reported_and_fail() {
    let database = file("origins");
    for origin in [
        "not a url",
        "example.org",
        "https://example.org/",
        "https://example.org/page",
        "https://",
        "https://a@example.org",
        "https://a.example,,https://b.example",
    ] {
        let said = refused_with(&["--cors-origins", origin], &database);
        assert!(said.contains("--cors-origins"), "{said}");
        assert!(said.contains("such as https://example.org"), "{said}");
    }
    assert!(!database.exists());
}

#[test]
fn a_folder_is_not_a_database() {
    let folder = file("folder");
    fs::create_dir_all(&folder).expect("a folder");
    let text = folder.to_str().expect("a plain path");
    for arguments in [
        &["serve", "--database", text][..],
        &["check", "--database", text],
        &["backup", "copy.db", "--database", text],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dog"))
            .args(arguments)
            .output();
        let output = output.expect("the dog binary");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.contains("it is a folder") && said.contains(text),
            "{said}"
        );
    }
    fs::remove_dir(&folder).expect("nothing was put into it");
}

#[test]
fn each_cause_is_reported_once() {
    for (listen, database, cause) in [
        (
            "127.0.0.1:0",
            Path::new("/nowhere/dog.db"),
            "No such file or directory",
        ),
        (
            "192.0.2.1:80",
            &file("causes"),
            "Cannot assign requested address",
        ),
    ] {
        let said = refused(listen, database);
        let last = said.lines().last().unwrap_or_default();
        assert_eq!(last.matches(cause).count(), 1, "{said}");
    }
}

#[test]
fn a_port_in_use_is_reported_and_fails() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let said = refused(&address, &file("taken"));
    assert!(said.contains(&address), "{said}");
}

/// A second server that is started by mistake does not migrate the file of the first.
#[test]
fn the_port_is_bound_before_the_database_is_opened() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let database = file("not-opened");
    refused_with(&["--listen", &address], &database);
    assert!(!database.exists());
}

#[test]
fn an_address_has_a_host_and_a_port() {
    let database = file("addresses");
    for listen in [
        "nonsense",
        ":8080",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "[::1]",
    ] {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_dog"))
            .args(["serve", "--listen", listen, "--database"])
            .arg(&database)
            .output()
            .expect("the dog binary");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{listen}: {stderr}");
        assert!(stderr.contains("such as 127.0.0.1:8080"), "{stderr}");
    }
    assert!(!database.exists());
}

#[test]
fn a_variable_with_a_wrong_value_is_named() {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_dog"))
        .arg("serve")
        // A name need not be Unicode.
        .arg(OsStr::from_bytes(b"--database=\xff.db"))
        .env("DOG_WORKERS", "abc")
        .output()
        .expect("the dog binary");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("environment variable DOG_WORKERS"),
        "{stderr}"
    );
}

#[test]
fn a_misspelt_variable_is_warned_of() {
    let server = TestServer::start_with(&[("DOG_WORKRES", "2"), ("DOG_WORKERS", "2")]);
    let log = server.log();
    assert!(log.contains("DOG_WORKRES is ignored"), "{log}");
    assert!(!log.contains("DOG_WORKERS"), "{log}");
}

#[test]
fn a_closed_terminal_stops_the_server_cleanly() {
    let server = TestServer::start();
    let status = server.stop(Signal::Hangup);
    assert!(status.success(), "{status}");
    assert!(server.log().contains("stopped"), "{}", server.log());
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_under_nohup_outlives_its_terminal() {
    let nohup = &["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"];
    let server = TestServer::start_on(&[], nohup, |_| {});
    server.signal(Signal::Hangup);
    // Had it an effect, this later signal would come when the server has stopped.
    server.get("/healthz").send().expect(200);
    let status = server.stop(Signal::Term);
    assert!(status.success(), "{status}");
}

/// Requests are answered while load balancers learn that no more should be sent.
#[test]
fn a_server_drains_before_it_stops() {
    let server = TestServer::start_with(&[("DOG_DRAIN_SECONDS", "600")]);
    server.wait_until_ready(true);
    server.signal(Signal::Term);
    server.wait_until_ready(false);
    server.get("/healthz").send().expect(200);
    TestGame::in_play(&server);
    // The second signal ends the wait.
    let status = server.stop(Signal::Term);
    assert!(status.success(), "{status}");
}

/// What the log says of requests, as objects.
fn logged(server: &TestServer) -> Vec<Value> {
    let log = server.log();
    let lines = log.lines().filter(|line| line.starts_with('{'));
    let lines = lines.map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}

#[test]
fn the_log_may_be_json() {
    let server = TestServer::start_with(&[("DOG_LOG_FORMAT", "json")]);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    for (parent, known) in [
        (format!("00-{trace}-00f067aa0ba902b7-01"), true),
        (format!("01-{trace}-00f067aa0ba902b7-01-more"), true),
        (format!("00-{trace}-00f067aa0ba902b7"), false),
        (format!("00-{trace}-0000000000000000-01"), false),
        (format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)), false),
        (
            format!("00-{}-00f067aa0ba902b7-01", trace.to_uppercase()),
            false,
        ),
        ("\"}{".to_owned(), false),
    ] {
        let id = format!("request-{}", rand::random::<u32>());
        let request = server.get("/v1/games/none").header("traceparent", &parent);
        request.header("X-Request-Id", &id).send();
        let lines = logged(&server);
        let line = lines.iter().find(|line| line["request_id"] == id.as_str());
        let line = line.unwrap_or_else(|| panic!("{id} is not in the log: {}", server.log()));
        assert_eq!(
            line["trace_id"].as_str(),
            known.then_some(trace),
            "{parent}"
        );
        assert_eq!(line["target"], "dog::access");
        assert_eq!(line["level"], "info");
        assert_eq!(line["method"], "GET");
        assert_eq!(line["route"], "/v1/games/{id}");
        assert_eq!(line["status"], 404);
        assert!(line["ms"].as_f64() > Some(0.0), "{line}");
        assert!(
            line["time"]
                .as_str()
                .is_some_and(|time| time.ends_with('Z')),
            "{line}"
        );
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let output = Command::new(env!("CARGO_BIN_EXE_dog"))
        .arg("--version")
        .output();
    let output = output.expect("the dog binary").stdout;
    let said = String::from_utf8_lossy(&output).into_owned();
    let version = concat!("dog ", env!("CARGO_PKG_VERSION"));
    assert!(said.starts_with(version), "{said}");
}

#[test]
fn a_file_that_is_not_a_database_is_reported_and_fails() {
    let path = file("garbage");
    fs::write(&path, "all work and no play ".repeat(500)).expect("a file");
    let said = refused("127.0.0.1:0", &path);
    assert!(said.contains("garbage"), "{said}");
    let said = refused("127.0.0.1:0", Path::new("/nowhere/dog.db"));
    assert!(said.contains("/nowhere/dog.db"), "{said}");
}

#[test]
fn the_environment_stands_for_the_options() {
    let path = file("environment");
    let mut child = Command::new(env!("CARGO_BIN_EXE_dog"))
        .arg("serve")
        .env("DOG_LISTEN", "127.0.0.1:0")
        .env("DOG_DATABASE", &path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the dog binary");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a piped stdout");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let there = path.exists();
    child.kill().expect("to kill the server");
    child.wait().expect("its end");
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
    assert!(there);
}
