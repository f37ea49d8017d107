//! What a connection may cost: abandoned requests, and responses that nobody reads.

use std::{
    fs,
    io::{ErrorKind, Write},
    net::TcpStream,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    limits::{HERE, THERE, behind_a_proxy, from},
    support::{
        Exposition, Raw, TestGame, TestResponse, TestServer, TestViewer::*, available, raw, run,
        wait_until,
    },
};

/// Bytes of memory that the server process uses.
fn memory(server: &TestServer) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process_id()));
    let status = status.expect("the process");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    kib.expect("VmRSS in kB") * 1024
}

/// Sends the same request until the server accepts no more.
fn fill(server: &TestServer, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_nonblocking(true).expect("a mode");
    let bytes = request.repeat((256 << 10) / request.len() + 2);
    let (mut sent, mut blocked) = (0, Instant::now());
    while sent < 16 << 20 && blocked.elapsed() < Duration::from_millis(200) {
        match stream.write(&bytes.as_bytes()[sent % request.len()..]) {
            Ok(length) => (sent, blocked) = (sent + length, Instant::now()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(5));
            }
            // The server closed the connection, which limits it too.
            Err(_) => break,
        }
    }
    stream
}

#[test]
#[cfg(target_os = "linux")]
fn pipelined_requests_without_a_reader_take_little_memory() {
    const CONNECTIONS: usize = 40;
    let server = TestServer::start();
    let etag = server.get("/openapi.json").send();
    assert_eq!(etag.status, 200);
    let before = memory(&server);
    let game = TestGame::fixed(&server);
    let version = game.version();
    let waiting = game.path(&format!("?after_version={version}"));
    let unread = format!(
        "GET {waiting} HTTP/1.1\r\nHost: dog\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        "1\r\na\r\n".repeat(50_000)
    );
    for request in [
        // With a body that the handler does not read.
        &unread,
        // Of these, one connection once held 20 MB.
        "GET /openapi.json HTTP/1.1\r\nHost: dog\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "HEAD /healthz HTTP/1.1\r\nHost: dog\r\n\r\n",
        "POST /v1/games HTTP/1.1\r\nHost: dog\r\nContent-Length: 1\r\n\r\n{",
        // The first request has no body, although its header suggests one.
        "GET / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n",
    ] {
        let waiting: Vec<TcpStream> = std::thread::scope(|scope| {
            let fill = |_| scope.spawn(|| fill(&server, request));
            let threads: Vec<_> = (0..CONNECTIONS).map(fill).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.map(|stream| stream.expect("a thread")).collect()
        });
        let held = memory(&server).saturating_sub(before);
        // 256 KiB, and the response that is being sent.
        let most = CONNECTIONS * (512 << 10);
        assert!(held < most, "{request:?}: {held} bytes");
        server.get("/healthz").send().expect(200);
        drop(waiting);
    }
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let server = TestServer::start();
    let bodies = ["{}", "{\"seats\": []}", "{\"rules\": {\"seats\": 6}}"];
    let statuses = [201, 422, 201];
    let mut requests = String::new();
    let mut expected = Vec::new();
    for round in 0..40 {
        requests += "GET /healthz HTTP/1.1\r\nHost: dog\r\n\r\n";
        requests += "\r\nGET /v1/rules HTTP/1.1\nHost: dog\n\n";
        let (body, status) = (bodies[round % 3], statuses[round % 3]);
        let head = "POST /v1/games HTTP/1.1\r\nHost: dog\r\nContent-Type: application/json\r\n";
        let length = body.len();
        requests += &format!("{head}Content-Length: {length}\r\n\r\n{body}");
        // In two chunks, split anywhere.
        let (one, two) = body.split_at(1);
        let rest = two.len();
        requests += &format!(
            "{head}Transfer-Encoding: chunked\r\n\r\n1\r\n{one}\r\n{rest:x}\r\n{two}\r\n0\r\n\r\n"
        );
        expected.extend([200, 200, status, status]);
    }
    requests += "GET /healthz HTTP/1.1\r\nHost: dog\r\nConnection: close\r\n\r\n";
    expected.push(200);
    for piece in [requests.len(), 700, 13] {
        let mut connection = Raw::connect(&server);
        for part in requests.as_bytes().chunks(piece) {
            connection.send(part);
        }
        let responses = connection.responses();
        let answered: Vec<u16> = responses.iter().map(|response| response.status).collect();
        assert_eq!(answered, expected, "in pieces of {piece}");
    }
}

#[test]
fn a_client_that_leaves_during_a_response_is_noticed() {
    let server = TestServer::start();
    let game = TestGame::fixed(&server);
    let wait_for = |streams: f64| {
        Exposition::wait_for(&server, |told| {
            told.value("dog_streams_open", &[]) == streams
        });
    };
    let stream = Raw::get(&game, Spectator, "/events");
    wait_for(1.0);
    drop(stream);
    // Long before the next heartbeat finds the connection closed.
    wait_for(0.0);
}

/// A position with very many moves: some 2 MB of JSON with their boards.
fn many_moves() -> Value {
    let rules = json!({"preset": "dogspiel-it", "seven_partner": "always"});
    let board = json!([
        {"track": [1, 17, 33, 49]}, {"track": []}, {"track": [9, 25, 41, 57]}, {"track": []}
    ]);
    json!({"rules": rules, "board": board, "seat": 0, "hand": ["7", "joker"]})
}

/// Asks for many moves from this address and does not read the response.
fn unread(server: &TestServer, address: &str, query: &str) -> Raw {
    let request = server.post(&format!("/v1/analysis/legal-moves{query}"));
    Raw::sent(&from(request.json(&many_moves()), address))
}

#[test]
fn unread_large_responses_have_a_bound() {
    let server = behind_a_proxy(&[("DOG_BODY_MEMORY", "16"), ("DOG_ADVICE_PER_ADDRESS", "0")]);
    let ask = |address: &str| {
        let request = server.post("/v1/analysis/legal-moves");
        from(request.json(&many_moves()), address).send()
    };
    let large = ask(HERE);
    let length = large.body.len();
    assert!((1 << 20..4 << 20).contains(&length), "{length} bytes");
    // One address may use a quarter of the memory.
    let few: Vec<Raw> = (0..8).map(|_| unread(&server, HERE, "")).collect();
    let refused = |address: &str| -> bool {
        let response: TestResponse = ask(address);
        if response.status == 200 {
            return false;
        }
        response.refused("unavailable");
        true
    };
    wait_until("one address is refused", || refused(HERE));
    assert!(!refused(THERE), "another's share");
    // Others take the rest.
    let address = |n| format!("203.0.113.{n}");
    let many: Vec<Raw> = (0..60)
        .map(|n| unread(&server, &address(n % 8), ""))
        .collect();
    wait_until("others are refused", || refused(THERE));
    // Nothing is left for new streams either.
    let game = TestGame::in_play(&server);
    let rest: Vec<Raw> = (0..60)
        .map(|n| unread(&server, &address(8 + n % 8), "?board=false"))
        .collect();
    let stream = || from(game.get(Spectator, "/events"), THERE).run().status();
    wait_until("streams are refused", || stream() == 503);
    // Plays are not affected.
    let (seat, id) = game.first_move();
    let play = game.post(Seat(seat), "/play").json(&json!({"move": id}));
    from(play, THERE).send().expect(200);
    drop((few, many, rest));
    wait_until("there is room", || !refused(HERE) && !refused(THERE));
}

#[test]
fn large_request_bodies_have_a_bound() {
    let server = behind_a_proxy(&[("DOG_BODY_MEMORY", "8")]);
    let head = |address: &str, length: usize| {
        format!(
            "POST /v1/games/import HTTP/1.1\r\nHost: dog\r\nX-Forwarded-For: {address}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    let list = |numbers: usize| format!("[{}0]", "0,".repeat(numbers));
    // A megabyte counts four times, which is more than one address may use.
    let ask = |address: &str, body: &str| {
        let request = server.post("/v1/games/import");
        let request = request.bytes("application/json", body.as_bytes());
        from(request, address).send()
    };
    ask(HERE, &list(1 << 19)).refused("unavailable");
    // A shorter body that is never finished uses most of the share of its address only.
    let short = list(150 << 10);
    assert_eq!(ask(HERE, &short).status, 422);
    let mut first = Raw::connect(&server);
    first.send((head(HERE, short.len()) + &short[..1000]).as_bytes());
    // Wait first: a request sent before might take the rest itself.
    Exposition::wait_for(&server, |told| {
        told.value("dog_body_memory_bytes", &[]) > 0.0
    });
    assert_eq!(ask(HERE, &short).status, 503);
    assert_eq!(ask(THERE, &short).status, 422, "another's share");
    // Short requests need none of it.
    let game = TestGame::in_play(&server);
    let (seat, id) = game.first_move();
    let play = game.post(Seat(seat), "/play").json(&json!({"move": id}));
    from(play, HERE).send().expect(200);
}

#[test]
fn responses_are_compressed_on_request() {
    if !available(&["gzip"]) {
        return;
    }
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let picture = format!("GET {} HTTP/1.1", game.path("/board.svg"));
    let path = game.path("/legal-moves");
    let moves = format!(
        "GET {path} HTTP/1.1\r\nAuthorization: Bearer {}",
        game.tokens[1]
    );
    let body = many_moves().to_string();
    let many_moves = format!(
        "POST /v1/analysis/legal-moves HTTP/1.1\r\nContent-Type: application/json\r\n\
         Content-Length: {}",
        body.len()
    );
    for (request, body) in [
        ("GET /openapi.json HTTP/1.1", ""),
        ("GET /docs/swagger-ui.css HTTP/1.1", ""),
        (&*picture, ""),
        (&*moves, ""),
        (&*many_moves, &*body),
    ] {
        let ask = |encoding: &str| {
            let request = format!(
                "{request}\r\nHost: a\r\nConnection: close\r\n\
                 Accept-Encoding: {encoding}\r\n\r\n{body}"
            );
            let response = raw(&server, request.as_bytes());
            assert_eq!(response.status, 200, "{request}");
            assert!(
                response
                    .list("vary")
                    .contains(&"accept-encoding".to_owned())
            );
            response
        };
        let plain = ask("identity").unchunked();
        for _ in 0..2 {
            let packed = ask("gzip");
            assert_eq!(packed.header("content-encoding"), Some("gzip"));
            let packed = packed.unchunked();
            let unpacked = run(Command::new("gzip").arg("-dc"), &packed);
            assert!(unpacked.stdout == plain, "{request}");
            assert!(packed.len() < plain.len() * 2 / 3, "{request}");
        }
        // No client can choose an encoding that blocks others.
        let other = ask("deflate");
        assert_eq!(other.header("content-encoding"), None);
        assert!(other.unchunked() == plain);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn connections_are_limited_by_open_files() {
    let few = &["sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"];
    let server = TestServer::start_on(&[("DOG_WORKERS", "1")], few, |_| {});
    let log = server.log();
    assert!(log.contains("the limit of open files is 64"), "{log}");
    let game = TestGame::create(&server, &json!({}));
    let idle: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(server.address()).expect("the system accepts it"))
        .collect();
    // No request fails for lack of a file, and later connections are served in turn.
    drop(idle);
    game.view(Host);
    server.get("/readyz").send().expect(200);
    let log = server.log();
    assert!(!log.contains("Too many open files"), "{log}");
}
