//! A small proxy before a server. A test answers some of the requests, or changes what passes.

use std::{
    io::{BufRead, BufReader, Read, Write, copy},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use super::TestServer;

/// The head of a request or an answer: its first line, then one for each header.
pub type HeadLines = Vec<String>;

/// What a test does with the requests.
pub trait Between: Send + Sync + 'static {
    /// Answers a request, if it is not for the server. May change it.
    fn ask(&self, _path: &str, _head: &mut HeadLines) -> Option<Vec<u8>> {
        None
    }

    /// Changes the head of the server's answer.
    fn answer(&self, _path: &str, _head: &mut HeadLines) {}
}

/// Starts a proxy, and returns its address. It works as long as the tests.
pub fn start_proxy(server: &TestServer, between: Arc<impl Between>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let upstream = server.address();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (between, upstream) = (Arc::clone(&between), upstream.clone());
            // Browsers hang up when they like.
            thread::spawn(move || pass(client, &upstream, &*between));
        }
    });
    url
}

/// Passes one request and its answer.
fn pass(client: TcpStream, upstream: &str, between: &impl Between) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut writer = client;
    let mut head = read_head(&mut reader)?;
    let path = head[0].split(' ').nth(1)?.to_owned();
    let length = header(&head, "content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    if let Some(answer) = between.ask(&path, &mut head) {
        return writer.write_all(&answer).ok();
    }
    let mut server = TcpStream::connect(upstream).ok()?;
    send_head(&mut server, head)?;
    server.write_all(&body).ok()?;
    let mut answer = BufReader::new(server);
    let mut head = read_head(&mut answer)?;
    between.answer(&path, &mut head);
    send_head(&mut writer, head)?;
    copy(&mut answer, &mut writer).ok().map(drop)
}

fn read_head(reader: &mut impl BufRead) -> Option<HeadLines> {
    let lines = reader.lines().map_while(Result::ok);
    let head: HeadLines = lines.take_while(|line| !line.is_empty()).collect();
    (!head.is_empty()).then_some(head)
}

/// Sends a head. Each connection is for one request.
fn send_head(writer: &mut TcpStream, mut head: HeadLines) -> Option<()> {
    remove_header(&mut head, "connection");
    head.push("Connection: close\r\n\r\n".to_owned());
    writer.write_all(head.join("\r\n").as_bytes()).ok()
}

/// The value of a header; its name is in small letters.
pub fn header<'a>(head: &'a [String], name: &str) -> Option<&'a str> {
    let mut headers = head.iter().filter_map(|line| line.split_once(": "));
    headers
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// Takes a header out, and returns its value.
pub fn remove_header(head: &mut HeadLines, name: &str) -> Option<String> {
    let value = header(head, name)?.to_owned();
    head.retain(|line| header(std::slice::from_ref(line), name).is_none());
    Some(value)
}

/// A whole answer. Each of the headers ends its line.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A refusal of the server.
pub fn problem(status: u16, code: &str) -> Vec<u8> {
    let document = serde_json::json!({
        "type": format!("/docs/guide/errors#{code}"), "title": "", "status": status, "detail": "", "code": code,
    });
    let headers = "Content-Type: application/problem+json\r\nCache-Control: no-store\r\n";
    answer(
        &format!("{status} Refused"),
        headers,
        document.to_string().as_bytes(),
    )
}
