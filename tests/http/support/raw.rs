//! A client for malformed requests: it sends bytes and reads responses.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
};

use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use super::{TIMEOUT, TestGame, TestRequest, TestResponse, TestServer, TestViewer};

/// Sends these bytes on a new connection and reads one response.
#[track_caller]
pub fn raw(server: &TestServer, request: &[u8]) -> TestResponse {
    let mut connection = Raw::connect(server);
    connection.send(request);
    connection.response().unwrap_or_else(|| {
        let what = &connection.what;
        panic!("{what:?}: the connection ended without an answer")
    })
}

/// A connection that can send any bytes.
pub struct Raw {
    stream: TcpStream,
    received: Vec<u8>,
    /// The beginning of the last bytes sent, for messages.
    what: String,
}

impl Raw {
    pub fn connect(server: &TestServer) -> Raw {
        let stream = TcpStream::connect(server.address()).expect("a connection");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream.set_write_timeout(Some(TIMEOUT)).expect("a timeout");
        stream.set_nodelay(true).expect("no delay");
        Raw {
            stream,
            received: Vec::new(),
            what: String::new(),
        }
    }

    /// A connection on which this request was sent.
    pub fn sent(request: &TestRequest<'_>) -> Raw {
        let mut head = format!("{} HTTP/1.1\r\nHost: dog\r\n", request.what());
        for (name, value) in &request.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = &request.body {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        let body = request.body.as_deref().unwrap_or_default();
        let mut connection = Raw::connect(request.server);
        connection.send(&[head.as_bytes(), b"\r\n", body].concat());
        connection
    }

    /// A connection on which this viewer has sent a GET request about a game.
    pub fn get(game: &TestGame<'_>, viewer: TestViewer, rest: &str) -> Raw {
        Raw::sent(&game.get(viewer, rest))
    }

    /// Sends these bytes. A server that refuses early may close the connection first.
    pub fn send(&mut self, bytes: &[u8]) {
        self.what = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        let _ = self.try_send(bytes);
    }

    /// Sends these bytes; returns whether the server accepted them.
    ///
    /// # Panics
    /// If the server neither accepts them nor closes the connection.
    #[track_caller]
    pub fn try_send(&mut self, bytes: &[u8]) -> bool {
        match self.stream.write_all(bytes) {
            Ok(()) => true,
            Err(error) if is_timeout(error.kind()) => panic!("the server accepts no more: {error}"),
            Err(_) => false,
        }
    }

    /// Closes the sending side.
    pub fn finish_sending(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next response; `None` if the connection ends first.
    ///
    /// # Panics
    /// If neither happens in time, or the bytes are not a response.
    #[track_caller]
    pub fn response(&mut self) -> Option<TestResponse> {
        let head = loop {
            if let Some(end) = find(&self.received, b"\r\n\r\n") {
                break end;
            }
            if !self.read() {
                let rest = String::from_utf8_lossy(&self.received);
                assert!(rest.is_empty(), "{:?}: ended in {rest:?}", self.what);
                return None;
            }
        };
        let rest = self.received.split_off(head + 4);
        let head = std::mem::replace(&mut self.received, rest);
        let (status, headers) = self.head(&head[..head.len() - 4]);
        if status == 100 {
            return self.response();
        }
        // Without a length the body ends when the server closes the connection.
        let length = headers
            .get("content-length")
            .and_then(|length| length.to_str().ok()?.parse().ok())
            .unwrap_or(usize::MAX);
        while self.received.len() < length && self.read() {}
        let length = length.min(self.received.len());
        let rest = self.received.split_off(length);
        let body = std::mem::replace(&mut self.received, rest);
        Some(TestResponse {
            what: self.what.clone(),
            status,
            headers,
            body,
        })
    }

    /// The status of the next response, of which nothing else is read.
    #[track_caller]
    pub fn status(&mut self) -> u16 {
        let end = loop {
            match find(&self.received, b"\r\n\r\n") {
                Some(end) => break end,
                None => assert!(self.read(), "{:?}: the connection ended", self.what),
            }
        };
        self.head(&self.received[..end]).0
    }

    /// Waits until data has arrived, and leaves it unread.
    #[track_caller]
    pub fn wait_for_bytes(&self) {
        let bytes = self.stream.peek(&mut [0]).expect("bytes");
        assert_eq!(bytes, 1, "{:?}: the connection ended", self.what);
    }

    /// The responses until the connection ends.
    #[track_caller]
    pub fn responses(&mut self) -> Vec<TestResponse> {
        std::iter::from_fn(|| self.response()).collect()
    }

    /// Closes the sending side, and reads until the server closes the other one.
    #[track_caller]
    pub fn close(mut self) -> String {
        self.finish_sending();
        while self.read() {}
        String::from_utf8_lossy(&self.received).into_owned()
    }

    /// Reads more; returns whether there was any.
    #[track_caller]
    fn read(&mut self) -> bool {
        let mut chunk = [0; 4096];
        match self.stream.read(&mut chunk) {
            Ok(length) => {
                self.received.extend_from_slice(&chunk[..length]);
                length > 0
            }
            Err(error) if is_timeout(error.kind()) => {
                let what = &self.what;
                panic!("{what:?}: neither an answer nor an end")
            }
            Err(_) => false,
        }
    }

    #[track_caller]
    fn head(&self, head: &[u8]) -> (u16, HeaderMap) {
        let text = String::from_utf8_lossy(head).into_owned();
        let mut lines = text.split("\r\n");
        let status_line = lines.next().unwrap_or_default();
        let status = status_line.split(' ').nth(1);
        let status = status.and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("{:?}: {status_line:?}", self.what));
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(':').expect("NAME: VALUE");
            let name: HeaderName = name.parse().expect("a header's name");
            let value: HeaderValue = value.trim().parse().expect("a header's value");
            headers.append(name, value);
        }
        (status, headers)
    }
}

fn is_timeout(kind: ErrorKind) -> bool {
    [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&kind)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}
