//! The messages of a stream: their format, and the member `type` by which clients tell them apart.

use std::fmt::Write;

use actix_web::web::Bytes;
use serde::Serialize;

use crate::problem::Problem;

/// The format of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Server-sent events, for `EventSource`: each with its version as its id.
    Sse,
    /// One JSON object per line.
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

    /// The format with that media type; server-sent events for any other.
    pub fn from_content_type(content_type: &str) -> Format {
        Format::ALL
            .into_iter()
            .find(|format| format.content_type() == content_type)
            .unwrap_or(Format::Sse)
    }

    /// A message for a version: the whole game (`game`), or a change (`change`).
    pub fn message(
        self,
        name: &str,
        version: u64,
        body: &impl Serialize,
    ) -> Result<Bytes, Problem> {
        self.write(name, &format!("id: {version}\n"), body)
    }

    /// A message that is not a version of the game, and so has no id.
    pub fn notice(self, name: &str, body: &impl Serialize) -> Result<Bytes, Problem> {
        self.write(name, "", body)
    }

    fn write(self, name: &str, id: &str, body: &impl Serialize) -> Result<Bytes, Problem> {
        // Compact JSON has no line breaks.
        let json = serde_json::to_string(body).map_err(Problem::internal)?;
        let mut text = String::with_capacity(json.len() + 48);
        let written = match self {
            Format::Sse => write!(text, "event: {name}\n{id}data: {json}\n\n"),
            Format::Ndjson => writeln!(text, "{json}"),
        };
        written.expect("writing to a string does not fail");
        Ok(text.into())
    }

    /// An empty message that keeps the connection open.
    pub const fn heartbeat(self) -> Bytes {
        Bytes::from_static(match self {
            Format::Sse => b":\n\n",
            Format::Ndjson => b"\n",
        })
    }
}

/// Defines the type of a member `type` that always has the same value.
macro_rules! message_type {
    ($name:ident, $($variant:ident),+) => {
        /// A constant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($variant),+
        }
    };
}
pub(crate) use message_type;
