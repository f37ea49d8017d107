//! The checker that compares the server with the reference rules.

use std::process::Command;

use crate::support::{TestServer, available};

#[test]
fn it_finds_no_difference() {
    check("300", "0");
}

#[test]
#[ignore = "takes half a minute"]
fn it_finds_no_difference_in_whole_games() {
    check("300", "3");
}

/// Runs the checker on this many positions and games.
fn check(positions: &str, games: &str) {
    if !available(&["python3"]) {
        return;
    }
    let server = TestServer::shared();
    let output = Command::new("python3")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/reference/check_server.py"
        ))
        .arg(server.url())
        .args(["--positions", positions, "--games", games])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains(" 0 differences"), "{stdout}");
}
