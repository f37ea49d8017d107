//! `deploy/nginx.conf`, with only its ports and its log changed: games, streams and refusals pass
//! through nginx as they do without it.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{Nginx, TIMEOUT, TestGame, TestServer, available};

/// nginx in front of a server; `None` if nginx is missing.
struct Proxy(Nginx);

/// A response that came through nginx.
struct ProxyResponse {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Proxy {
    fn start(server: &TestServer) -> Option<Proxy> {
        Proxy::before(&server.address(), server)
    }

    /// The same in front of any upstream address, with a folder in that of a server.
    fn before(address: &str, server: &TestServer) -> Option<Proxy> {
        let folder = server.folder().join("nginx");
        let upstream = format!("server {address};");
        Nginx::start(folder, "server 127.0.0.1:8080;", &upstream).map(Proxy)
    }

    fn connect(&self) -> TcpStream {
        let address = self.0.url.replace("http://", "");
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream
    }

    /// Sends this head and body, and reads the whole response.
    fn ask(&self, head: &str, body: &[u8]) -> ProxyResponse {
        let mut stream = self.connect();
        let host = "Host: dog\r\nConnection: close\r\n";
        write!(
            stream,
            "{head}\r\n{host}Content-Length: {}\r\n\r\n",
            body.len()
        )
        .expect("sent");
        // nginx may refuse before it has read everything.
        let _ = stream.write_all(body);
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received);
        let end = received.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("{head}: {received:?}"));
        let body = received.split_off(end + 4);
        let head = String::from_utf8_lossy(&received).to_ascii_lowercase();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        ProxyResponse {
            status: status.expect("a status"),
            head,
            body,
        }
    }

    fn get(&self, path: &str, headers: &str) -> ProxyResponse {
        let headers = headers.trim_end();
        let between = if headers.is_empty() { "" } else { "\r\n" };
        self.ask(&format!("GET {path} HTTP/1.1{between}{headers}"), b"")
    }
}

impl ProxyResponse {
    fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &'_ str| line.starts_with(&format!("{name}: "));
        let line = self.head.lines().find(|line| named(line))?;
        line.split_once(": ").map(|(_, value)| value)
    }

    /// The code of a refusal, which is a problem document.
    #[track_caller]
    fn code(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{}",
            self.head
        );
        let problem: Value = serde_json::from_slice(&self.body).expect("JSON");
        assert_eq!(problem["status"], self.status);
        problem["code"].as_str().expect("a code").to_owned()
    }
}

#[test]
fn a_whole_game_goes_through_it() {
    let server = TestServer::start();
    let Some(nginx) = Proxy::start(&server).filter(|_| available(&["bash", "curl", "jq"])) else {
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/play.sh");
    let played = Command::new("bash")
        .args([script, "--quiet", "--seed", "7", "--rules", "dogspiel-de"])
        .arg(&nginx.0.url)
        .stdin(Stdio::null())
        .output()
        .expect("bash starts");
    let [stdout, stderr] =
        [played.stdout, played.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(
        played.status.success() && stdout.contains("has won"),
        "{stdout}{stderr}"
    );
    let finished = server.get("/v1/games?phase=finished").send().expect(200);
    assert_eq!(finished["games"].as_array().map(Vec::len), Some(1));
}

#[test]
fn streams_pass_without_buffering() {
    let server = TestServer::start();
    let Some(nginx) = Proxy::start(&server) else {
        return;
    };
    let game = TestGame::dealt(&server);
    let mut stream = nginx.connect();
    write!(
        stream,
        "GET {} HTTP/1.1\r\nHost: dog\r\n\r\n",
        game.path("/events")
    )
    .expect("sent");
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let until = |wanted: &str| {
        let mut seen = Vec::new();
        loop {
            let line = lines.recv_timeout(TIMEOUT);
            let line = line.unwrap_or_else(|_| panic!("no {wanted} in {seen:?}"));
            if line.starts_with(wanted) {
                return;
            }
            seen.push(line);
        }
    };
    until("id: 2");
    // The stream is still open, so these messages were sent without buffering.
    let hand = game.hand(0);
    game.swap(0, &serde_json::json!({"card": hand[0]}));
    until("id: 3");
    until("data: ");
}

#[test]
fn responses_pass_unchanged() {
    let server = TestServer::start();
    let Some(nginx) = Proxy::start(&server) else {
        return;
    };
    let game = TestGame::dealt(&server);
    let token = format!("Authorization: Bearer {}\r\n", game.tokens[0]);
    let view = nginx.get(&game.path(""), &token);
    assert_eq!((view.status, view.header("etag")), (200, Some("\"2-0\"")));
    let known = nginx.get(
        &game.path(""),
        &format!("{token}If-None-Match: \"2-0\"\r\n"),
    );
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), Some("\"2-0\""));
    // Compressed by the server, with an ETag that If-Match still takes.
    let packed = nginx.get(&game.path(""), &format!("{token}Accept-Encoding: gzip\r\n"));
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.header("etag"), Some("\"2-0\""));
    assert!(packed.body.len() < view.body.len());
    let missing = nginx.get("/v1/games/none", "");
    assert_eq!(
        (missing.status, missing.code()),
        (404, "game_not_found".to_owned())
    );
    assert_eq!(nginx.get("/healthz", "").status, 200);
    let log = fs::read_to_string(nginx.0.folder.join("access.log")).expect("a log");
    assert!(!log.contains(&game.tokens[0]), "{log}");
}

#[test]
fn operator_routes_are_not_public() {
    let server = TestServer::start();
    let Some(nginx) = Proxy::start(&server) else {
        return;
    };
    for path in [
        "/metrics",
        "/metrics?x=1",
        "/%6detrics",
        "//metrics",
        "/v1/../metrics",
        "/metrics/",
        "/readyz",
        "/r%65adyz",
        "/./readyz",
    ] {
        let response = nginx.get(path, "Accept: */*\r\n");
        assert_eq!(
            (response.status, response.code()),
            (404, "route_not_found".to_owned()),
            "{path}"
        );
    }
    // The server itself serves it.
    assert_eq!(server.get("/metrics").send().status, 200);
}

#[test]
fn what_nginx_refuses_is_a_problem_too() {
    let server = TestServer::start();
    let Some(nginx) = Proxy::start(&server) else {
        return;
    };
    let game = TestGame::dealt(&server);
    let post = "POST /v1/games HTTP/1.1\r\nContent-Type: application/json";
    // Up to 4 MiB the server itself refuses it.
    for length in [1 << 20, 5 << 20] {
        let response = nginx.ask(post, &vec![b' '; length]);
        assert_eq!(
            (response.status, response.code()),
            (413, "body_too_large".to_owned()),
            "{length}"
        );
    }
    let streams: Vec<_> = (0..64)
        .map(|_| {
            let mut stream = nginx.connect();
            let path = game.path("/events");
            write!(stream, "GET {path} HTTP/1.1\r\nHost: dog\r\n\r\n").expect("sent");
            let mut line = String::new();
            let mut stream = BufReader::new(stream);
            stream.read_line(&mut line).expect("a status");
            assert!(line.contains(" 200 "), "{line}");
            stream
        })
        .collect();
    let response = nginx.get("/healthz", "");
    assert_eq!(
        (response.status, response.code()),
        (429, "too_many_requests".to_owned())
    );
    assert!(response.header("retry-after").is_some());
    drop(streams);
    let begun = Instant::now();
    while nginx.get("/healthz", "").status != 200 {
        assert!(begun.elapsed() < TIMEOUT, "the streams are still counted");
        thread::sleep(Duration::from_millis(50));
    }
    server.stop(crate::support::Signal::Kill);
    let response = nginx.get("/healthz", "");
    assert_eq!(
        (response.status, response.code()),
        (503, "unavailable".to_owned())
    );
    assert!(response.header("retry-after").is_some());
}

#[test]
fn its_client_address_can_be_trusted() {
    // An upstream that returns the request it received, in place of the server.
    let upstream = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = upstream.local_addr().expect("an address").to_string();
    let server = TestServer::start();
    let Some(nginx) = Proxy::before(&address, &server) else {
        return;
    };
    let (sender, asked) = channel();
    thread::spawn(move || {
        // One connection is enough for all requests.
        let (stream, _) = upstream.accept().expect("a connection");
        let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
        let mut stream = stream;
        loop {
            let head = lines.by_ref().map_while(Result::ok);
            let head: Vec<String> = head.take_while(|line| !line.is_empty()).collect();
            if head.is_empty() {
                return;
            }
            let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            stream.write_all(response.as_bytes()).expect("answered");
            let _ = sender.send(head);
        }
    });
    let lies =
        "X-Real-IP: 6.6.6.6\r\nX-Forwarded-For: 6.6.6.6, 7.7.7.7\r\nX-Forwarded-Proto: https\r\n";
    for _ in 0..3 {
        assert_eq!(nginx.get("/v1/rules", lies).status, 200);
        let head = asked.recv_timeout(TIMEOUT).expect("a request");
        let told = |name: &str| -> Vec<String> {
            let named = head.iter().filter_map(|line| line.split_once(": "));
            let named = named.filter(|(other, _)| other.eq_ignore_ascii_case(name));
            named.map(|(_, value)| value.to_owned()).collect()
        };
        assert_eq!(head[0], "GET /v1/rules HTTP/1.1");
        assert_eq!(told("x-real-ip"), ["127.0.0.1"], "{head:?}");
        assert_eq!(told("x-forwarded-for"), ["127.0.0.1"], "{head:?}");
        assert_eq!(told("x-forwarded-proto"), ["http"], "{head:?}");
        assert_eq!(told("host"), ["dog"], "{head:?}");
        assert!(told("connection").is_empty(), "{head:?}");
    }
}
