//! The logs of finished games, packed: nobody adds to them any more, and they are a tenth as long.

use std::{borrow::Cow, io::Read};

use dog_rules::{Action, Event};
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{StoreError, id::GameId, record::LogEntry};

/// Versions in a page. It takes 4 kB or a little more, which fills pages of SQLite well; pages of 64
/// would waste half of the space.
pub(super) const PAGE: usize = 128;

/// Bytes of a page at most, unpacked. An entry has 4 kB at most, so that a page is far from
/// it, and so are the 10,000 of a log that an earlier release packed whole.
const MOST: u64 = 64 << 20;

/// A finished game's whole log, packed in pages.
#[derive(Debug)]
pub struct PackedLog {
    pub(super) pages: Vec<Page>,
    /// Entries in all.
    pub(super) versions: u64,
}

/// Some entries in a row.
#[derive(Debug)]
pub(super) struct Page {
    pub first: u64,
    pub entries: Vec<u8>,
}

/// An entry as it is packed.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    version: u64,
    at: i64,
    action: Cow<'a, Option<Action>>,
    events: Cow<'a, [Event]>,
}

impl PackedLog {
    /// Packs a log that has one entry for each version.
    ///
    /// # Errors
    /// It has not.
    pub fn new(log: &[LogEntry]) -> Result<PackedLog, StoreError> {
        let versions = log.len() as u64;
        if !log.iter().map(|entry| entry.version).eq(1..=versions) {
            return Err(StoreError::Misuse("a log must have one entry a version"));
        }
        let page = |(entries, first): (&[LogEntry], u64)| {
            let entries = pack(entries)?;
            Ok(Page { first, entries })
        };
        let pages = log.chunks(PAGE).zip((1..).step_by(PAGE)).map(page);
        Ok(PackedLog {
            pages: pages.collect::<Result<_, StoreError>>()?,
            versions,
        })
    }
}

/// # Errors
/// None that can happen: an entry has a JSON form, and memory takes what is written to it.
fn pack(entries: &[LogEntry]) -> Result<Vec<u8>, StoreError> {
    let entries: Vec<Packed<'_>> = entries.iter().map(Packed::from).collect();
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut packed, &entries)
        .map_err(std::io::Error::from)
        .and_then(|()| packed.finish())
        .map_err(|_| StoreError::Misuse("a log cannot be packed"))
}

/// The entries of a page of the game `id`.
///
/// # Errors
/// It cannot be read, or is too long.
pub(super) fn unpack(packed: &[u8], id: GameId) -> Result<Vec<LogEntry>, StoreError> {
    let mut text = Vec::new();
    DeflateDecoder::new(packed)
        .take(MOST)
        .read_to_end(&mut text)
        .map_err(|_| StoreError::Damaged(format!("the log of game {id} cannot be unpacked")))?;
    let entries: Vec<Packed<'_>> =
        serde_json::from_slice(&text).map_err(|error| StoreError::unreadable(id, &error))?;
    entries.into_iter().map(Packed::entry).collect()
}

impl<'a> From<&'a LogEntry> for Packed<'a> {
    fn from(entry: &'a LogEntry) -> Packed<'a> {
        Packed {
            version: entry.version,
            at: entry.at.as_microsecond(),
            action: Cow::Borrowed(&entry.action),
            events: Cow::Borrowed(&entry.events),
        }
    }
}

impl Packed<'_> {
    fn entry(self) -> Result<LogEntry, StoreError> {
        Ok(LogEntry {
            version: self.version,
            at: Timestamp::from_microsecond(self.at)
                .map_err(|_| StoreError::Damaged("a time is out of range".into()))?,
            action: self.action.into_owned(),
            events: self.events.into_owned(),
        })
    }
}
