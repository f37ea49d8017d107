//! `dog serve --check`

use std::{fs, path::Path};

use crate::support::{Signal, TestGame, TestServer, dog};

/// What `serve --check` says with these variables, and whether nothing is bad.
fn inspect(database: &Path, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = dog(database.as_os_str(), &[]);
    command.args(["serve", "--check", "--listen", "127.0.0.1:0"]);
    let output = command.envs(variables.iter().copied()).output();
    let output = output.expect("an end");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in text.lines() {
        let verdict = line.split(' ').next().expect("a word");
        assert!(["good", "doubtful", "bad"].contains(&verdict), "{line}");
    }
    let is_bad = text.lines().any(|line| line.starts_with("bad"));
    assert_eq!(output.status.success(), !is_bad, "{text}");
    (!is_bad, text)
}

/// Asserts that one line begins like this, and whether the whole is good enough for a start.
#[track_caller]
fn says(line: &str, starts: bool, (is_good, text): (bool, String)) {
    let found = text.lines().any(|one| one.starts_with(line));
    assert!(found && is_good == starts, "{line}: {text}");
}

#[test]
fn what_a_start_depends_on_is_said_line_by_line() {
    let server = TestServer::start();
    let file = server.database().file().to_owned();
    let fresh = server.folder().join("fresh.db");
    says("good      file", true, inspect(&fresh, &[]));
    says("good      folder", true, inspect(&fresh, &[]));
    says("good      address", true, inspect(&fresh, &[]));
    says("doubtful  proxy: behind ", true, inspect(&fresh, &[]));
    let trusted = [("DOG_TRUSTED_PROXY_HEADER", "X-Real-IP")];
    says("good      proxy", true, inspect(&fresh, &trusted));
    let left: Vec<_> = fs::read_dir(server.folder()).expect("a folder").collect();
    let is_trace = |name: &str| name.starts_with("fresh");
    let names = left.iter().flatten().map(|entry| entry.file_name());
    assert!(
        !names
            .into_iter()
            .any(|name| is_trace(&name.to_string_lossy()))
    );
    let nowhere = server.folder().join("missing").join("dog.db");
    says("bad       folder: ", false, inspect(&nowhere, &[]));
    let keys = [("DOG_CREATE_KEYS", "/nowhere/keys")];
    says(
        "bad       files of the operator: cannot read ",
        false,
        inspect(&fresh, &keys),
    );

    // Beside a server, and after it.
    let game = TestGame::create(&server, &serde_json::json!({}));
    says("doubtful  lock: a server (pid ", true, inspect(&file, &[]));
    server.stop(Signal::Term);
    says("good      lock", true, inspect(&file, &[]));
    says("good      schema", true, inspect(&file, &[]));
    says("good      clock", true, inspect(&file, &[]));
    server
        .database()
        .change_game(&game.id, "updated_at = updated_at + 3600000000");
    says("bad       clock: ", false, inspect(&file, &[]));
    let version = server.database().number("PRAGMA user_version");
    server
        .database()
        .sql(&format!("PRAGMA user_version = {}", version - 1));
    says("doubtful  schema: ", false, inspect(&file, &[]));
    server.database().sql("PRAGMA user_version = 999");
    says("bad       schema: ", false, inspect(&file, &[]));
    server
        .database()
        .sql(&format!("PRAGMA user_version = {version}"));
}
