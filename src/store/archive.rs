//! The logs of finished games, packed: nobody adds to them any more, and they are a tenth as long.

use std::io::{Read, Write};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{StoreError, id::GameId, record::LogEntry};
use crate::rules::event::{Action, Event};

/// Bytes that the entries of one log may be long, unpacked: many times what the longest is.
const MOST: u64 = 1 << 30;

/// An entry as it is packed.
#[derive(Serialize, Deserialize)]
struct Packed {
    version: u64,
    at: i64,
    action: Option<Action>,
    events: Vec<Event>,
}

/// A whole log in one.
///
/// # Errors
/// None that can happen: an entry has a JSON form, and memory takes what is written to it.
pub(super) fn pack(log: Vec<LogEntry>) -> Result<Vec<u8>, StoreError> {
    let entries: Vec<Packed> = log.into_iter().map(Packed::from).collect();
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    let failed = |_| StoreError::Misuse("a log cannot be packed");
    serde_json::to_writer(&mut packed, &entries)
        .map_err(std::io::Error::from)
        .and_then(|()| packed.flush())
        .and_then(|()| packed.finish())
        .map_err(failed)
}

/// The log of the game `id` that was packed so.
///
/// # Errors
/// It cannot be read.
pub(super) fn unpack(packed: &[u8], id: GameId) -> Result<Vec<LogEntry>, StoreError> {
    let mut text = Vec::new();
    DeflateDecoder::new(packed)
        .take(MOST)
        .read_to_end(&mut text)
        .map_err(|_| StoreError::Damaged(format!("the log of game {id} cannot be unpacked")))?;
    let entries: Vec<Packed> =
        serde_json::from_slice(&text).map_err(|error| StoreError::unreadable(id, &error))?;
    entries.into_iter().map(Packed::entry).collect()
}

impl From<LogEntry> for Packed {
    fn from(entry: LogEntry) -> Packed {
        Packed {
            version: entry.version,
            at: entry.at.as_microsecond(),
            action: entry.action,
            events: entry.events,
        }
    }
}

impl Packed {
    fn entry(self) -> Result<LogEntry, StoreError> {
        Ok(LogEntry {
            version: self.version,
            at: Timestamp::from_microsecond(self.at)
                .map_err(|_| StoreError::Damaged("a time is out of range".into()))?,
            action: self.action,
            events: self.events,
        })
    }
}
