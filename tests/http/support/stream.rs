//! Reading a live stream, message by message, as it comes.

use std::{
    io::{BufRead, BufReader},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Instant,
};

use serde_json::Value;

use super::{Contract, TIMEOUT, TestRequest};

/// An open stream.
pub struct Stream {
    lines: Receiver<String>,
    sse: bool,
}

/// One message of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The event's name; empty if the format has none.
    pub name: String,
    /// The event's id; 0 if the format has none.
    pub id: u64,
    pub data: Value,
}

impl Stream {
    /// Opens the stream that the request asks for.
    #[track_caller]
    pub fn open(request: TestRequest<'_>) -> Stream {
        let what = request.what();
        Stream::try_open(request).unwrap_or_else(|| panic!("{what} does not begin"))
    }

    /// The same; `None` if the server is killed, or cannot open it at present.
    #[track_caller]
    pub fn try_open(request: TestRequest<'_>) -> Option<Stream> {
        let what = request.what();
        let response = request.attempt().ok()?;
        if response.status() == 503 {
            return None;
        }
        assert_eq!(response.status(), 200, "{what}");
        let header = |name: &str| {
            let value = response.headers().get(name);
            value.map(|value| value.to_str().expect("plain text").to_owned())
        };
        assert_eq!(header("x-accel-buffering").as_deref(), Some("no"), "{what}");
        assert_eq!(header("content-encoding"), None, "{what}");
        let sse = match header("content-type").as_deref() {
            Some("text/event-stream") => true,
            Some("application/x-ndjson") => false,
            other => panic!("{what}: {other:?}"),
        };
        let (sender, lines) = channel();
        thread::spawn(move || {
            let reader = BufReader::new(response.into_body().into_reader());
            for line in reader.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Some(Stream { lines, sse })
    }

    /// The next line; `None` at the end.
    fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(TIMEOUT) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing comes over the stream"),
        }
    }

    /// The next message about a version of the game; `None` at the end.
    pub fn next(&self) -> Option<Message> {
        std::iter::from_fn(|| self.any()).find(|message| message.data["version"].is_u64())
    }

    /// The next message that is not about a version of the game; `None` at the end.
    pub fn notice(&self) -> Option<Message> {
        std::iter::from_fn(|| self.any()).find(|message| message.data["version"].is_null())
    }

    /// The next notice of this type.
    #[track_caller]
    pub fn notice_of(&self, kind: &str) -> Value {
        let mut notices = std::iter::from_fn(|| self.notice());
        let found = notices.find(|notice| notice.data["type"] == kind);
        found.expect(kind).data
    }

    /// Waits until the stream tells that these people are present.
    #[track_caller]
    pub fn wait_for_presence(&self, present: Value) {
        let wanted = |message: Message| message.data["present"] == present;
        while !wanted(self.notice().expect("a message about who is present")) {}
    }

    /// The next message; `None` at the end.
    pub fn any(&self) -> Option<Message> {
        let mut message = Message {
            name: String::new(),
            id: 0,
            data: Value::Null,
        };
        let started = Instant::now();
        loop {
            let line = self.line()?;
            assert!(started.elapsed() < TIMEOUT, "nothing but heartbeats comes");
            if !self.sse {
                if line.is_empty() {
                    continue;
                }
                message.data = serde_json::from_str(&line).expect("a line of JSON");
                return Some(message.checked());
            }
            match line.split_once(": ") {
                Some(("event", name)) => message.name = name.to_owned(),
                Some(("id", id)) => message.id = id.parse().expect("a version"),
                Some(("data", json)) => message.data = serde_json::from_str(json).expect("JSON"),
                // A heartbeat, and the empty line after it.
                None if line == ":" || message.name.is_empty() => {}
                None if line.is_empty() => return Some(message.checked()),
                _ => panic!("{line:?} is not part of an event"),
            }
        }
    }

    /// Waits for a heartbeat line.
    pub fn heartbeat(&self) {
        let beat = if self.sse { ":" } else { "" };
        while self.line().expect("a heartbeat before the end") != beat {}
    }

    /// The raw text of this many messages, without heartbeats.
    pub fn text(&self, messages: usize) -> String {
        let (mut text, mut count) = (String::new(), 0);
        let mut in_notice = false;
        while count < messages {
            let line = self.line().expect("a message before the end");
            in_notice |= line == "event: presence" || line.starts_with("{\"present\"");
            if in_notice {
                // It depends on the time.
                in_notice = self.sse && !line.is_empty();
            } else if line != ":" {
                count += usize::from(line.starts_with(if self.sse { "data: " } else { "{" }));
                text = text + line.as_str() + "\n";
            }
        }
        text
    }

    /// Every message to the end.
    pub fn rest(&self) -> Vec<Message> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// This many messages.
    #[track_caller]
    pub fn take(&self, count: usize) -> Vec<Message> {
        let next = |_| self.next().expect("a message before the end");
        (0..count).map(next).collect()
    }
}

impl Message {
    /// The version of the message.
    pub fn version(&self) -> u64 {
        self.data["version"].as_u64().expect("a version")
    }

    /// The message, checked against the document.
    fn checked(self) -> Message {
        let schema = match self.data["game_id"] {
            Value::Null => "StreamMessage",
            _ => "GameLine",
        };
        Contract::get().check_schema(schema, &self.data);
        if !self.name.is_empty() {
            assert_eq!(self.name, self.data["type"]);
            assert_eq!(self.id, self.data["version"].as_u64().unwrap_or_default());
        }
        self
    }
}
