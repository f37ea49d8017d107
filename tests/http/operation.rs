//! For operators: `/healthz`, `/readyz`, `dog healthcheck`, startup errors and shutdown.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    net::{TcpListener, ToSocketAddrs},
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{Signal, TestGame, TestServer};

/// The program with these arguments.
fn dog(arguments: &[&str]) -> Command {
    let mut dog = Command::new(env!("CARGO_BIN_EXE_dog"));
    dog.args(arguments);
    dog
}

/// The status of a command that must fail, and what it says.
#[track_caller]
fn failed(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().expect("the dog binary");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_refused = !output.status.success() && !said.contains("panicked");
    assert!(is_refused, "{said}");
    (output.status.code(), said)
}

#[test]
fn the_health_check_reports_by_its_exit_status() {
    let server = TestServer::start();
    let is_healthy = |address: &str| {
        let check = dog(&["healthcheck", "--listen", address]).output();
        check.expect("the dog binary").status.success()
    };
    assert!(is_healthy(&server.address()));
    // What a server on every address has as its address.
    assert!(is_healthy(
        &server.address().replace("127.0.0.1", "0.0.0.0")
    ));
    // Nobody listens there.
    assert!(!is_healthy("127.0.0.1:1"));
}

/// The path of a new file for this test.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    folder.join(format!("{name}-{}.db", std::process::id()))
}

/// The error of a server that cannot start with these options.
#[track_caller]
fn refused(options: &[&str], database: &Path) -> (Option<i32>, String) {
    let mut serve = dog(&["serve", "--database"]);
    failed(serve.arg(database).args(options))
}

#[test]
fn a_switch_that_is_neither_on_nor_off_is_refused() {
    let database = file("switches");
    for switch in ["DOG_NO_PAGE", "DOG_SKIP_CHECK"] {
        let mut serve = dog(&["serve", "--database"]);
        let (status, said) = failed(serve.arg(&database).env(switch, "fasle"));
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("fasle"), "{said}");
    }
    assert!(!database.exists());
}

/// Options, wrong values of each, and what the refusal says.
const WRONG_VALUES: [(&str, &str, &str); 5] = [
    ("--workers", "100000|513", "512"),
    ("--bot-threads", "100000|513", "512"),
    ("--advice-threads", "100000|513", "512"),
    (
        "--listen",
        "nonsense|:8080|127.0.0.1:|127.0.0.1:65536|[::1]",
        "such as 127.0.0.1:8080",
    ),
    (
        "--cors-origins",
        "not a url|example.org|https://example.org/|https://example.org/page|https://|\
         https://a@example.org|https://*.example.org|https://example.org:99999|\
         https://a.example,,https://b.example",
        "such as https://example.org",
    ),
];

#[test]
fn wrong_values_of_options_are_reported_and_fail() {
    let database = file("options");
    for (option, values, words) in WRONG_VALUES {
        for value in values.split('|') {
            let (status, said) = refused(&[option, value], &database);
            let expected = status == Some(2) || option == "--cors-origins";
            assert!(expected, "{option} {value}: {said}");
            let is_told = said.contains(option) && said.contains(words);
            assert!(is_told, "{option} {value}: {said}");
        }
    }
    assert!(!database.exists());
}

#[test]
fn a_folder_is_not_a_database() {
    let folder = file("folder");
    fs::create_dir_all(&folder).expect("a folder");
    let text = folder.to_str().expect("a plain path");
    for arguments in [&["serve"][..], &["check"], &["backup", "copy.db"]] {
        let mut command = dog(arguments);
        command.env("RUST_LOG", "warn");
        let (_, said) = failed(command.args(["--database", text]));
        assert_eq!(said.lines().count(), 1, "{said}");
        for words in ["it is a folder", text] {
            assert!(said.contains(words), "{said}");
        }
    }
    fs::remove_dir(&folder).expect("nothing was put into it");
}

#[test]
fn each_cause_is_reported_once() {
    let nowhere = Path::new("/nowhere/dog.db");
    for (listen, database, cause) in [
        ("127.0.0.1:0", nowhere, "No such file or directory"),
        (
            "192.0.2.1:80",
            &file("causes"),
            "Cannot assign requested address",
        ),
    ] {
        let (_, said) = refused(&["--listen", listen], database);
        let last = said.lines().last().unwrap_or_default();
        assert_eq!(last.matches(cause).count(), 1, "{said}");
    }
}

/// A second server that is started by mistake does not migrate the file of the first.
#[test]
fn the_port_is_bound_before_the_database_is_opened() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let database = file("not-opened");
    let (_, said) = refused(&["--listen", &address], &database);
    assert!(said.contains(&address), "{said}");
    assert!(!database.exists());
}

#[test]
fn a_variable_with_a_wrong_value_is_named() {
    // A name need not be Unicode.
    let database = OsStr::from_bytes(b"--database=\xff.db");
    for variable in ["DOG_WORKERS", "DOG_LISTEN"] {
        let mut serve = dog(&["serve"]);
        let (status, said) = failed(serve.arg(database).env(variable, "abc"));
        assert_eq!(status, Some(2), "{said}");
        let named = format!("environment variable {variable}");
        assert!(said.contains(&named), "{said}");
    }
}

#[test]
fn a_misspelt_variable_causes_a_warning() {
    let server = TestServer::start_with(&[("DOG_WORKRES", "2"), ("DOG_WORKERS", "2")]);
    let log = server.log();
    assert!(log.contains("DOG_WORKRES is ignored"), "{log}");
    assert!(!log.contains("DOG_WORKERS is ignored"), "{log}");
    // What is in force, and why.
    assert!(
        log.contains("setting --workers 2 (by DOG_WORKERS)"),
        "{log}"
    );
    assert!(log.contains("by default: --cors-origins *, "), "{log}");
}

#[test]
fn completions_are_printed_for_each_shell() {
    for shell in ["bash", "fish", "zsh"] {
        let printed = dog(&["completions", shell]).output().expect("an end");
        let script = String::from_utf8(printed.stdout).expect("UTF-8");
        assert!(
            printed.status.success() && script.contains("operator-key"),
            "{script}"
        );
    }
}

#[test]
fn signals_stop_the_server_cleanly() {
    let server = TestServer::start();
    for signal in [Signal::Hangup, Signal::Term] {
        TestGame::in_play(&server);
        let status = server.stop(signal);
        assert!(status.success(), "{status}");
        assert!(server.log().contains("stopped"), "{}", server.log());
        server.restart(Signal::Kill);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_under_nohup_outlives_its_terminal() {
    let nohup = &["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"];
    let server = TestServer::start_on(&[], nohup, |_| {});
    server.signal(Signal::Hangup);
    // If it had an effect, the server would have stopped before the next signal.
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
    let for_reads = server.get("/readyz?writes=false").send();
    for_reads.refused("unavailable");
    server.get("/healthz").send().expect(200);
    TestGame::in_play(&server);
    // The second signal ends the wait.
    let status = server.stop(Signal::Term);
    assert!(status.success(), "{status}");
}

/// What the log and the output say, as objects.
fn logged(server: &TestServer) -> Vec<Value> {
    let log = server.log();
    let lines = log.lines().filter(|line| !line.is_empty());
    let lines = lines.map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}

#[test]
fn the_log_may_be_json() {
    let server = TestServer::start_with(&[("DOG_LOG_FORMAT", "json")]);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let upper = trace.to_uppercase();
    for (parent, known) in [
        (format!("00-{trace}-00f067aa0ba902b7-01"), true),
        (format!("01-{trace}-00f067aa0ba902b7-01-more"), true),
        (format!("00-{trace}-00f067aa0ba902b7"), false),
        (format!("00-{trace}-0000000000000000-01"), false),
        (format!("00-{:032}-00f067aa0ba902b7-01", 0), false),
        (format!("00-{upper}-00f067aa0ba902b7-01"), false),
        ("\"}{".to_owned(), false),
    ] {
        let id = format!("request-{}", rand::random::<u32>());
        let request = server.get("/v1/games/none").header("traceparent", &parent);
        request.header("X-Request-Id", &id).send();
        let lines = logged(&server);
        let line = lines.iter().find(|line| line["request_id"] == id.as_str());
        let line = line.unwrap_or_else(|| panic!("{id} is not in the log: {}", server.log()));
        let told = line["trace_id"].as_str();
        assert_eq!(told, known.then_some(trace), "{parent}");
        let names = ["target", "level", "method", "route", "status"].map(|name| &line[name]);
        let expected = json!(["dog::access", "info", "GET", "/v1/games/{id}", 404]);
        assert_eq!(json!(names), expected);
        assert!(line["ms"].as_f64() > Some(0.0), "{line}");
        let time = line["time"].as_str().expect("a time");
        assert!(time.ends_with('Z'), "{time}");
    }
}

#[test]
fn a_problem_is_found_in_the_log_by_the_id_of_its_request() {
    for format in ["json", "text"] {
        let log = [
            ("DOG_LOG_FORMAT", format),
            ("RUST_LOG", "info,dog::problem=debug"),
        ];
        let server = TestServer::start_with(&log);
        let game = TestGame::imported(&server);
        let find = |id: &str| {
            let log = server.log();
            let lines = log.lines().filter(|line| line.contains("dog::problem"));
            let found: Vec<_> = lines
                .filter(|line| line.contains(id))
                .map(str::to_owned)
                .collect();
            assert_eq!(found.len(), 1, "{id}: {log}");
            found.concat()
        };
        let get = |path: &str, id: &str| server.get(path).header("X-Request-Id", id).send();
        get("/v1/games/none", "first-1").refused("game_not_found");
        assert!(find("first-1").contains("game_not_found"));
        game.damage_log();
        let history = get(&game.path("/history"), "second-2");
        assert_eq!(
            (history.status, history.header("x-request-id")),
            (500, Some("second-2"))
        );
        let line = find("second-2");
        assert!(
            line.contains("internal") && line.contains("damaged"),
            "{line}"
        );
        if format == "json" {
            let line: Value = serde_json::from_str(&line).expect("JSON");
            assert_eq!(
                (&line["request_id"], &line["code"]),
                (&json!("second-2"), &json!("internal"))
            );
        }
    }
}

#[test]
fn the_output_is_json_too() {
    let database = file("json");
    let mut server = dog(&["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
        .arg("--database")
        .arg(&database)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the dog binary");
    let mut line = String::new();
    let stdout = server.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    server.kill().and_then(|()| server.wait()).expect("its end");
    let line: Value = serde_json::from_str(&line).expect("JSON");
    let message = line["message"].as_str().expect("a message");
    assert!(
        message.starts_with("listening on http://127.0.0.1:"),
        "{line}"
    );
    for name in ["time", "level", "target"] {
        assert!(line[name].is_string(), "{line}");
    }
    fs::remove_file(database).expect("the database");
}

/// As if the first lines were enough for whoever reads the output.
#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let program = env!("CARGO_BIN_EXE_dog");
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/four.dog");
    let verify = format!("verify {record}");
    for command in [
        "errors",
        "openapi",
        "perft --hands A/2/3/4 --depth 1",
        &verify,
    ] {
        let script = format!("set -o pipefail; (sleep 0.3; exec '{program}' {command}) | true");
        let ended = Command::new("bash").args(["-c", &script]).output();
        let ended = ended.expect("bash");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{command}: {said}");
    }
}

#[test]
fn keywords_of_a_connection_are_no_file() {
    let folder = file("keywords");
    fs::create_dir_all(&folder).expect("a folder");
    for words in ["host=127.0.0.1 dbname=dog", "dbname = dog", "service=dog"] {
        for arguments in [&["serve"][..], &["check"], &["backup", "copy.db"]] {
            let mut command = dog(arguments);
            let (status, said) = failed(command.args(["--database", words]).current_dir(&folder));
            assert_eq!(status, Some(1), "{said}");
            assert!(said.contains("postgres://USER@HOST/NAME"), "{said}");
        }
    }
    fs::remove_dir(&folder).expect("nothing was put into it");
}

#[test]
fn every_address_of_a_name_is_bound_or_none() {
    let Ok(taken) = TcpListener::bind("[::1]:0") else {
        return;
    };
    let port = taken.local_addr().expect("its address").port();
    let localhost = format!("localhost:{port}");
    let has_both = localhost.to_socket_addrs().expect("addresses").count() > 1;
    if has_both && TcpListener::bind(("127.0.0.1", port)).is_ok() {
        let database = file("localhost");
        let (status, said) = refused(&["--listen", &localhost], &database);
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("Address already in use"), "{said}");
        assert!(!database.exists());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_of_another_user_is_named() {
    // Only root can become another user.
    if Command::new("setpriv")
        .args(["--reuid=65534", "true"])
        .status()
        .is_ok_and(|s| !s.success())
    {
        return;
    }
    let folder = std::env::temp_dir().join(format!("dog-forbidden-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("its mode");
    let database = folder.join("dog.db");
    fs::write(&database, "of root").expect("a file");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o600)).expect("its mode");
    let program = folder.join("dog");
    fs::copy(env!("CARGO_BIN_EXE_dog"), &program).expect("the program");
    let mut serve = Command::new("setpriv");
    serve
        .args(["--reuid=65534", "--clear-groups"])
        .arg(&program);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--database"]);
    let (status, said) = failed(serve.arg(&database));
    fs::remove_dir_all(&folder).expect("the folder");
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("permission denied") && said.contains("chown"),
        "{said}"
    );
}

#[test]
fn the_version_is_that_of_the_package() {
    let output = dog(&["--version"]).output().expect("the dog binary");
    let version = concat!("dog ", env!("CARGO_PKG_VERSION"));
    assert!(output.stdout.starts_with(version.as_bytes()));
}

#[test]
fn a_file_that_is_not_a_database_is_reported_and_fails() {
    let path = file("garbage");
    fs::write(&path, "all work and no play ".repeat(500)).expect("a file");
    for path in [&*path, Path::new("/nowhere/dog.db")] {
        let (_, said) = refused(&["--listen", "127.0.0.1:0"], path);
        let path = path.to_str().expect("a plain path");
        assert!(said.contains(path), "{said}");
    }
    fs::remove_file(path).expect("the file");
}
