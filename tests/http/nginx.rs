//! `deploy/nginx.conf`, with only its ports and its log changed: games, streams and refusals pass
//! through nginx as they do without it.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
};

use serde_json::Value;

use crate::support::{Nginx, Signal, TIMEOUT, TestGame, TestServer, available, wait_until};

/// nginx in front of a server.
struct Proxy(Nginx);

/// The same; `None` if nginx is missing.
fn proxy(server: &TestServer) -> Option<Proxy> {
    Proxy::before(&server.address(), server)
}

/// A response that came through nginx.
struct ProxyResponse {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Proxy {
    /// nginx in front of any upstream address, with a folder in that of a server.
    fn before(address: &str, server: &TestServer) -> Option<Proxy> {
        let folder = server.folder().join("nginx");
        let upstream = format!("server {address};");
        Nginx::start(folder, &[("server 127.0.0.1:8080;", &upstream)]).map(Proxy)
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
        let length = body.len();
        let head = format!("{head}\r\nHost: dog\r\nConnection: close\r\nContent-Length: {length}");
        write!(stream, "{head}\r\n\r\n").expect("sent");
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
        let status = status.expect("a status");
        ProxyResponse { status, head, body }
    }

    /// Each of the headers begins with the end of the line before it.
    fn get(&self, path: &str, headers: &str) -> ProxyResponse {
        self.ask(&format!("GET {path} HTTP/1.1{headers}"), b"")
    }

    /// Checks that a person gets a page that is loaded again, and a program does not.
    #[track_caller]
    fn comes_back(&self, status: u16) {
        let accept = "\r\nAccept: text/html,*/*;q=0.8";
        let page = self.get("/", accept);
        assert_eq!(page.status, status);
        let kind = page.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("text/html"), "{kind}");
        let text = String::from_utf8_lossy(&page.body);
        assert!(text.contains("http-equiv=\"refresh\""), "{text}");
        let code = match status {
            429 => "too_many_requests",
            _ => "unavailable",
        };
        self.get("/v1/rules", accept).refused(status, code);
    }

    /// Sends this request, whose response has no end.
    fn stream(&self, path: &str) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: dog\r\n\r\n").expect("sent");
        BufReader::new(stream)
    }
}

impl ProxyResponse {
    fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &'_ str| line.starts_with(&format!("{name}: "));
        let line = self.head.lines().find(|line| named(line))?;
        line.split_once(": ").map(|(_, value)| value)
    }

    /// Checks that it is a problem document.
    #[track_caller]
    fn refused(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.head);
        let content_type = self.header("content-type");
        assert_eq!(content_type, Some("application/problem+json"));
        let problem: Value = serde_json::from_slice(&self.body).expect("JSON");
        let told = (problem["status"].as_u64(), problem["code"].as_str());
        assert_eq!(told, (Some(status.into()), Some(code)));
    }
}

#[test]
#[ignore = "plays a game in ten seconds"]
fn a_whole_game_goes_through_it() {
    let server = TestServer::start();
    let Some(nginx) = proxy(&server).filter(|_| available(&["bash", "curl", "jq"])) else {
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
fn a_request_has_one_id_in_every_log() {
    let server = TestServer::start_with(&[
        ("RUST_LOG", "info,dog::problem=debug"),
        ("DOG_TRUSTED_PROXY_HEADER", "X-Real-IP"),
        ("DOG_LOG_CLIENT_ADDRESS", "true"),
    ]);
    let Some(nginx) = proxy(&server) else { return };
    for (sent, is_kept) in [("mine-7", true), ("not mine", false)] {
        let refused = nginx.get("/v1/games/none", &format!("\r\nX-Request-Id: {sent}"));
        let problem: Value = serde_json::from_slice(&refused.body).expect("JSON");
        let id = problem["request_id"].as_str().expect("an id");
        assert_eq!(id == sent, is_kept);
        assert_eq!(refused.header("x-request-id"), Some(id));
        let log = server.log();
        let lines: Vec<_> = log.lines().filter(|line| line.contains(id)).collect();
        assert_eq!(lines.len(), 2, "a refusal, and the access: {log}");
        assert!(
            lines.iter().any(|line| line.ends_with(" 127.0.0.1")),
            "{log}"
        );
        let access = nginx.0.folder.join("access.log");
        wait_until("nginx's log", || {
            fs::read_to_string(&access).is_ok_and(|log| log.contains(id))
        });
    }
}

#[test]
fn streams_pass_without_buffering() {
    let server = TestServer::start();
    let Some(nginx) = proxy(&server) else { return };
    let game = TestGame::dealt(&server);
    let stream = nginx.stream(&game.path("/events"));
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in stream.lines().map_while(Result::ok) {
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
    game.offer(0);
    until("id: 3");
    until("data: ");
}

#[test]
fn responses_pass_unchanged() {
    let server = TestServer::start();
    let Some(nginx) = proxy(&server) else { return };
    let game = TestGame::dealt(&server);
    let get = |headers: &str| {
        let token = format!("\r\nAuthorization: Bearer {}", game.tokens[0]);
        nginx.get(&game.path(""), &(token + headers))
    };
    let (view, tag) = (get(""), Some("\"2-0\""));
    assert_eq!((view.status, view.header("etag")), (200, tag));
    let known = get("\r\nIf-None-Match: \"2-0\"");
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), tag);
    // Compressed by the server, with an ETag that If-Match takes.
    let packed = get("\r\nAccept-Encoding: gzip");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.header("etag"), Some("\"2-0-gzip\""));
    assert!(packed.body.len() < view.body.len());
    let missing = nginx.get("/v1/games/none", "");
    missing.refused(404, "game_not_found");
    assert_eq!(nginx.get("/healthz", "").status, 200);
    let log = fs::read_to_string(nginx.0.folder.join("access.log")).expect("a log");
    assert!(!log.contains(&game.tokens[0]), "{log}");
}

#[test]
fn operator_routes_are_not_public() {
    let server = TestServer::start();
    let Some(nginx) = proxy(&server) else { return };
    let hidden = "/metrics /metrics?x=1 /%6detrics //metrics /v1/../metrics /metrics/ \
        /readyz /r%65adyz /./readyz";
    for path in hidden.split(' ') {
        let response = nginx.get(path, "\r\nAccept: */*\r\nOrigin: https://example.org");
        response.refused(404, "route_not_found");
        // Pages of other origins may read it.
        let allowed = response.header("access-control-allow-origin");
        assert_eq!(allowed, Some("*"));
    }
    let long = format!("/v1/games?cursor={}", "0".repeat(10_000));
    nginx.get(&long, "").refused(414, "uri_too_long");
    let large = format!("\r\nX-Large: {}", "x".repeat(70_000));
    nginx.get("/v1/games", &large).refused(400, "bad_request");
    // The server itself serves it.
    assert_eq!(server.get("/metrics").send().status, 200);
}

#[test]
fn what_nginx_refuses_is_a_problem_too() {
    let server = TestServer::start();
    let Some(nginx) = proxy(&server) else { return };
    let game = TestGame::dealt(&server);
    let post = "POST /v1/games HTTP/1.1\r\nContent-Type: application/json";
    // Up to 4 MiB the server itself refuses it.
    for length in [1 << 20, 5 << 20] {
        let response = nginx.ask(post, &vec![b' '; length]);
        response.refused(413, "body_too_large");
    }
    let open = |_| {
        let mut stream = nginx.stream(&game.path("/events"));
        let mut line = String::new();
        stream.read_line(&mut line).expect("a status");
        assert!(line.contains(" 200 "), "{line}");
        stream
    };
    let streams: Vec<_> = (0..64).map(open).collect();
    let response = nginx.get(&game.path("/events"), "");
    response.refused(429, "too_many_streams");
    assert_eq!(response.header("retry-after"), Some("10"));
    // Other requests have room beside them, to a limit.
    let wait = game.path("?after_version=2");
    let waiting: Vec<_> = (0..32).map(|_| nginx.stream(&wait)).collect();
    wait_until("all are counted", || {
        nginx.get("/healthz", "").status == 429
    });
    let response = nginx.get("/healthz", "");
    response.refused(429, "too_many_requests");
    assert!(response.header("retry-after").is_some());
    nginx.comes_back(429);
    drop((streams, waiting));
    wait_until("the streams are no longer counted", || {
        nginx.get("/healthz", "").status == 200
    });
    server.stop(Signal::Kill);
    let response = nginx.get("/healthz", "");
    response.refused(503, "unavailable");
    assert!(response.header("retry-after").is_some());
    nginx.comes_back(503);
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
        let (mut stream, _) = upstream.accept().expect("a connection");
        let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
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
    let lies = "\r\nX-Real-IP: 6.6.6.6\r\nX-Forwarded-For: 6.6.6.6, 7.7.7.7\r\n\
        X-Forwarded-Proto: https";
    for _ in 0..3 {
        assert_eq!(nginx.get("/v1/rules", lies).status, 200);
        let head = asked.recv_timeout(TIMEOUT).expect("a request");
        let told = |name: &str| -> Vec<String> {
            let named = head.iter().filter_map(|line| line.split_once(": "));
            let named = named.filter(|(other, _)| other.eq_ignore_ascii_case(name));
            named.map(|(_, value)| value.to_owned()).collect()
        };
        assert_eq!(head[0], "GET /v1/rules HTTP/1.1");
        for (name, value) in [
            ("x-real-ip", "127.0.0.1"),
            ("x-forwarded-for", "127.0.0.1"),
            ("x-forwarded-proto", "http"),
            ("host", "dog"),
        ] {
            assert_eq!(told(name), [value], "{head:?}");
        }
        assert!(told("connection").is_empty(), "{head:?}");
    }
}
