//! What an operator uses: `/healthz`, `/readyz`, the health check of the binary, its end.

use std::{net::TcpListener, process::Command};

use crate::support::{Game, Server, Signal};

#[test]
fn health_and_readiness_are_answered() {
    let server = Server::start();
    for path in ["/healthz", "/readyz"] {
        let answer = server.get(path).send();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
}

#[test]
fn the_health_check_tells_by_its_exit_status() {
    let server = Server::start();
    let healthy = |address: &str| {
        let status = Command::new(env!("CARGO_BIN_EXE_dog"))
            .args(["healthcheck", "--listen", address])
            .output()
            .expect("the dog binary")
            .status;
        status.success()
    };
    assert!(healthy(&server.address()));
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let nobody = free.local_addr().expect("its address").to_string();
    drop(free);
    assert!(!healthy(&nobody));
}

#[test]
fn the_polite_signal_ends_the_server_well() {
    let server = Server::start();
    Game::in_play(&server);
    let status = server.stop(Signal::Term);
    assert!(status.success(), "{status}");
}

#[test]
fn a_port_in_use_is_said_and_fails() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let database = folder.join(format!("taken-{}.db", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_dog"))
        .args(["serve", "--listen", &address, "--database"])
        .arg(&database)
        .output()
        .expect("the dog binary");
    let _ = std::fs::remove_file(&database);
    assert!(!output.status.success());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(&address), "{stderr}");
}
