//! A client for what a proper client cannot send: bytes in, one answer out.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use super::{Answer, Server};

/// Sends these bytes on a connection of their own and reads one answer.
#[track_caller]
pub fn raw(server: &Server, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    // A server that refuses early may close before all is written.
    let _ = stream.write_all(request);
    let what = String::from_utf8_lossy(&request[..request.len().min(60)]).into_owned();
    let mut received = Vec::new();
    let mut chunk = [0; 4096];
    let head = loop {
        if let Some(end) = find(&received, b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut chunk) {
            Ok(0) => panic!("{what:?}: the connection ended after {received:?}"),
            Ok(length) => received.extend_from_slice(&chunk[..length]),
            Err(error) => panic!("{what:?}: {error}"),
        }
    };
    let text = String::from_utf8_lossy(&received[..head]).into_owned();
    let mut lines = text.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("{what:?}: {status_line:?}"));
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').expect("NAME: VALUE");
        let name: HeaderName = name.parse().expect("a header's name");
        let value: HeaderValue = value.trim().parse().expect("a header's value");
        headers.append(name, value);
    }
    // Without a length it goes on until the server closes the connection.
    let length = headers
        .get("content-length")
        .and_then(|length| length.to_str().ok()?.parse().ok())
        .unwrap_or(usize::MAX);
    let mut body = received.split_off(head + 4);
    while body.len() < length {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(read) => body.extend_from_slice(&chunk[..read]),
        }
    }
    Answer {
        what,
        status,
        headers,
        body,
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}
