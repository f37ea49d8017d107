//! Live streams, as server-sent events.

use std::{
    io::{BufRead, BufReader},
    sync::LazyLock,
    time::{Duration, Instant},
};

use serde_json::Value;
use ureq::{Agent, BodyReader};

use super::{ANSWER_LIMIT, Call, LIMIT};

/// A stream sends something more often than that.
const SILENCE: Duration = Duration::from_secs(60);

static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .timeout_recv_response(Some(ANSWER_LIMIT))
        .timeout_per_read(Some(SILENCE))
        .build()
        .new_agent()
});

/// An open stream of a game.
pub struct NodeStream {
    lines: BufReader<BodyReader<'static>>,
    changed_at: Instant,
}

impl NodeStream {
    /// The stream of changes after this version at the node with this URL; `None` if the node does
    /// not answer, or cannot at present.
    #[track_caller]
    pub fn open(url: &str, events: &Call, after: u64) -> Option<NodeStream> {
        let after = after.to_string();
        let headers = [("Accept", "text/event-stream"), ("Last-Event-ID", &after)];
        let response = events.run(&AGENT, url, &headers).ok()?;
        let status = response.status();
        assert!(
            status == 200 || status == 503,
            "{events:?} at {url}: {status}"
        );
        (status == 200).then(|| NodeStream {
            lines: BufReader::new(response.into_body().into_reader()),
            changed_at: Instant::now(),
        })
    }

    /// The next message of this type, whatever comes before it.
    ///
    /// # Panics
    /// If the stream ends first, or nothing comes.
    #[track_caller]
    pub fn next_of_type(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).expect("a line");
            assert!(read > 0, "the stream ends before {kind:?}");
            if let Some(json) = line.strip_prefix("data: ") {
                let data: Value = serde_json::from_str(json).expect("JSON");
                if data["type"] == kind {
                    return data;
                }
            }
        }
    }

    /// The next change, or `Null` for a heartbeat; `None` at the end, and when the connection is lost.
    ///
    /// # Panics
    /// If nothing comes, not even a heartbeat; or nothing but heartbeats for very long.
    #[track_caller]
    pub fn next(&mut self) -> Option<Value> {
        let mut id = None;
        loop {
            let mut line = String::new();
            match self.lines.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) if error.to_string().contains("timeout") => {
                    panic!("nothing comes over a stream: {error}")
                }
                Err(_) => return None,
            }
            match line.trim_end().split_once(": ") {
                Some(("id", number)) => id = number.parse::<u64>().ok(),
                Some(("data", json)) => {
                    let data: Value = serde_json::from_str(json).expect("JSON");
                    // Others tell of people who come and go.
                    if data["events"].is_array() {
                        assert_eq!(id, data["version"].as_u64(), "{data}");
                        self.changed_at = Instant::now();
                        return Some(data);
                    }
                }
                None if line.trim_end() == ":" => {
                    assert!(self.changed_at.elapsed() < LIMIT, "no change comes");
                    return Some(Value::Null);
                }
                _ => {}
            }
        }
    }
}
