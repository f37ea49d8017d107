//! The checker that plays against the server by an implementation of the rules of its own.

use std::process::Command;

use crate::support::{Server, available};

#[test]
fn it_finds_no_difference() {
    if !available(&["python3"]) {
        return;
    }
    let server = Server::start();
    let output = Command::new("python3")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/reference/check_server.py"
        ))
        .arg(server.url())
        .args(["--positions", "300", "--games", "3"])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains(" 0 differences"), "{stdout}");
}
