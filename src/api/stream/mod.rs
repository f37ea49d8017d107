//! Live streams: every change of a game, to everyone who watches it, as each may see it.
//!
//! Whoever waits for a game waits at its channel in the [`hub`]; one thread looks for commits, of
//! this process or another, and wakes them. The first to wake reads what is new, for all.

pub mod hub;
mod viewing;

use std::fmt::Write;

use serde::Serialize;

pub use self::viewing::{Start, Viewing};

/// In which form a stream comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Server-sent events, for `EventSource`: each with its version as its id.
    Sse,
    /// A JSON object a line.
    Ndjson,
}

impl Format {
    pub const ALL: [Format; 2] = [Format::Sse, Format::Ndjson];

    /// The media type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Format::Sse => "text/event-stream",
            Format::Ndjson => "application/x-ndjson",
        }
    }

    /// The form of that media type; server-sent events for any other.
    pub fn of(content_type: &str) -> Format {
        let of_type = |format: &Format| format.content_type() == content_type;
        Format::ALL.into_iter().find(of_type).unwrap_or(Format::Sse)
    }

    /// A message of that version: the whole game (`game`), or what changed it (`change`).
    ///
    /// # Errors
    /// None that can happen: what is sent has a JSON form.
    fn message(
        self,
        name: &str,
        version: u64,
        body: &impl Serialize,
    ) -> Result<String, serde_json::Error> {
        // JSON as it is written here has no line breaks.
        let json = serde_json::to_string(body)?;
        let mut text = String::with_capacity(json.len() + 48);
        let written = match self {
            Format::Sse => write!(text, "event: {name}\nid: {version}\ndata: {json}\n\n"),
            Format::Ndjson => writeln!(text, "{json}"),
        };
        written.expect("a text takes everything");
        Ok(text)
    }

    /// Something that says nothing, to keep the connection open.
    const fn heartbeat(self) -> &'static str {
        match self {
            Format::Sse => ":\n\n",
            Format::Ndjson => "\n",
        }
    }
}
