//! A restart without a gap: a server is passed the socket on which it listens.

use std::{
    fs,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use crate::support::{Signal, TestGame, TestServer, wait_until};

/// Starts a server that is passed the socket, as by systemd.
fn serve_on(socket: &TcpListener, server: &TestServer) -> Child {
    let passing = "export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$@\" 3<&0 0</dev/null";
    let socket: OwnedFd = socket.try_clone().expect("a socket").into();
    let program = env!("CARGO_BIN_EXE_dog");
    Command::new("sh")
        .args([
            "-c",
            passing,
            "sh",
            program,
            "serve",
            "--listen",
            "nowhere:1",
        ])
        .env("DOG_DATABASE", server.database().location())
        .stdin(socket)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell")
}

const CLIENTS: u64 = 8;

/// Ends the clients when it is dropped, also if the test fails.
struct StopClients<'a>(&'a AtomicBool);

impl Drop for StopClients<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Clients connect for each request while the server restarts, with so many rows in its file.
fn restart_without_a_gap(rows: u32, signals: &[&str]) {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    server.database().sql(&format!(
        "WITH RECURSIVE n (v) AS (SELECT 100 UNION ALL SELECT v + 1 FROM n WHERE v < {}) \
         INSERT INTO log SELECT row_id, v, 1, NULL, hex(randomblob(110)) FROM games, n",
        100 + rows
    ));
    server.stop(Signal::Term);
    let bytes = fs::metadata(server.database().file())
        .expect("a file")
        .len();
    let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("its address");
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: dog\r\nConnection: close\r\n\r\n",
        game.path("")
    );
    let (over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let cut_off = AtomicU64::new(0);
    let ask = || {
        let mut longest = Duration::ZERO;
        while !over.load(Relaxed) {
            let started = Instant::now();
            let mut connection = TcpStream::connect(address).expect("nobody is refused");
            let mut response = String::new();
            let _ = connection.write_all(request.as_bytes());
            let _ = connection.read_to_string(&mut response);
            match response.starts_with("HTTP/1.1 200") {
                true => answered.fetch_add(1, Relaxed),
                false => cut_off.fetch_add(1, Relaxed),
            };
            longest = longest.max(started.elapsed());
        }
        longest
    };
    let mut cut_by_stops = 0;
    let longest = thread::scope(|scope| {
        let stop_clients = StopClients(&over);
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
        let mut process = serve_on(&socket, &server);
        for signal in signals.iter().copied().chain(["-KILL"]) {
            let before = answered.load(Relaxed);
            cut_by_stops = cut_off.load(Relaxed);
            wait_until("clients are answered", || {
                answered.load(Relaxed) > before + 100
            });
            let kill = Command::new("kill")
                .args([signal, &process.id().to_string()])
                .status();
            assert!(kill.expect("kill").success());
            process.wait().expect("its end");
            process = serve_on(&socket, &server);
        }
        let before = answered.load(Relaxed);
        wait_until("clients are answered", || {
            answered.load(Relaxed) > before + 100
        });
        drop(stop_clients);
        let longest = clients
            .into_iter()
            .map(|client| client.join().expect("a client"))
            .max();
        process.kill().expect("to kill it");
        process.wait().expect("its end");
        longest.expect("a client")
    });
    let (answered, cut_off) = (answered.into_inner(), cut_off.into_inner());
    let _ = writeln!(
        io::stdout(),
        "{bytes} bytes, {} restarts: {answered} answered, {cut_off} cut off, longest {longest:?}",
        signals.len() + 1
    );
    // A client that was not given time to send its request within a moment is cut off. If the server
    // did not wait for the others, it would be six of the eight at each stop.
    assert!(cut_by_stops <= signals.len() as u64, "{cut_by_stops}");
    // Those that the killed server was about to answer.
    assert!(cut_off <= cut_by_stops + CLIENTS, "{cut_off}");
}

#[test]
fn clients_wait_at_a_passed_socket() {
    restart_without_a_gap(0, &["-TERM", "-TERM"]);
}

#[test]
#[ignore = "takes a minute: \
            cargo test --test http -- --ignored --nocapture half_a_gigabyte"]
fn clients_wait_at_a_passed_socket_of_half_a_gigabyte() {
    restart_without_a_gap(2_000_000, &["-TERM"; 5]);
}
