//! What a server tells systemd about itself.

use std::{
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
    process::Stdio,
    time::Duration,
};

use crate::support::{Signal, TestServer, dog};

const EXTEND: &str = "EXTEND_TIMEOUT_USEC=30000000";

/// The next assignment.
#[track_caller]
fn told(socket: &UnixDatagram) -> String {
    let mut text = [0; 100];
    let length = socket.recv(&mut text).expect("an assignment");
    String::from_utf8_lossy(&text[..length]).into_owned()
}

fn receive(address: &SocketAddr) -> UnixDatagram {
    let socket = UnixDatagram::bind_addr(address).expect("a socket");
    let timeout = Some(Duration::from_secs(90));
    socket.set_read_timeout(timeout).expect("a timeout");
    socket
}

#[test]
fn systemd_is_told_of_the_start_and_the_end() {
    let name = format!("dog-{}", std::process::id());
    let path = std::env::temp_dir().join(&name);
    for (address, named) in [
        (SocketAddr::from_pathname(&path), path.display().to_string()),
        (SocketAddr::from_abstract_name(&name), format!("@{name}")),
    ] {
        let socket = receive(&address.expect("an address"));
        let server = TestServer::start_with(&[("NOTIFY_SOCKET", &named)]);
        assert_eq!(told(&socket), EXTEND);
        assert_eq!(told(&socket), "READY=1");
        server.get("/healthz").send().expect(200);
        let _ = server.stop(Signal::Term);
        assert_eq!(told(&socket), "STOPPING=1");
    }
    std::fs::remove_file(path).expect("the socket");
    // Nobody listens there: the server starts all the same.
    let server = TestServer::start_with(&[("NOTIFY_SOCKET", "/nowhere/notify")]);
    server.get("/healthz").send().expect(200);
    assert!(server.log().contains("cannot tell systemd READY=1"));
}

#[test]
fn a_server_that_waits_for_its_predecessor_is_given_time_and_is_not_ready() {
    let server = TestServer::start();
    let name = format!("dog-next-{}", std::process::id());
    let socket = receive(&SocketAddr::from_abstract_name(&name).expect("an address"));
    let mut next = dog(&server.database().location(), &[])
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("NOTIFY_SOCKET", format!("@{name}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the dog binary");
    assert_eq!(told(&socket), EXTEND);
    let _ = server.stop(Signal::Term);
    while told(&socket) != "READY=1" {}
    next.kill().and_then(|()| next.wait()).expect("its end");
}
