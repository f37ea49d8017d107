//! A game's log: how each version came to be. That of a finished game is packed: nobody adds to it
//! any more, and it is a tenth as long.

use std::{borrow::Cow, io::Read};

use dog_rules::{Action, Event};
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{StoreError, id::GameId};

/// Versions in a page. It takes 4 kB or a little more, which fills pages of SQLite well; pages of 64
/// would waste half of the space.
pub(super) const PAGE_VERSIONS: usize = 128;

/// Bytes of a page at most, unpacked. An entry has 4 kB at most, so that a page is far from
/// it, and so are the 10,000 of a log that an earlier release packed whole.
const MAX_PAGE_BYTES: u64 = 64 << 20;

/// How one version of a game came to be. It holds secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The version the action led to.
    pub version: u64,
    pub at: Timestamp,
    /// None for a creation.
    pub action: Option<Action>,
    /// What came of it, in full.
    pub events: Vec<Event>,
}

/// A part of a game's log as it is stored. [`LogPage::entries`] reads it, which is work for a
/// thread that may be busy for a millisecond or two.
#[derive(Debug)]
pub struct LogPage {
    pub(super) game: GameId,
    /// Entries up to this version are left out.
    pub(super) after: u64,
    /// Entries at most.
    pub(super) limit: usize,
    pub(super) form: LogForm,
}

/// How a part of a log is stored.
#[derive(Debug)]
pub(super) enum LogForm {
    Packed(Vec<u8>),
    Rows(Vec<LogRow>),
}

/// An entry in a row of its own, with its action and events as JSON.
#[derive(Debug)]
pub(super) struct LogRow {
    pub version: u64,
    pub at: Timestamp,
    pub action: Option<String>,
    pub events: String,
}

impl LogPage {
    /// The entries, oldest first.
    ///
    /// # Errors
    /// One of them cannot be understood.
    pub fn entries(self) -> Result<Vec<LogEntry>, StoreError> {
        let entries = match self.form {
            LogForm::Packed(packed) => unpack(&packed, self.game)?,
            LogForm::Rows(rows) => {
                let entries = rows.into_iter().map(|row| row.entry(self.game));
                entries.collect::<Result<_, _>>()?
            }
        };
        let new = entries
            .into_iter()
            .filter(|entry| entry.version > self.after);
        Ok(new.take(self.limit).collect())
    }
}

impl LogRow {
    fn entry(self, game: GameId) -> Result<LogEntry, StoreError> {
        let unreadable = |error| StoreError::unreadable(game, &error);
        let action = self.action.as_deref().map(serde_json::from_str).transpose();
        Ok(LogEntry {
            version: self.version,
            at: self.at,
            action: action.map_err(unreadable)?,
            events: serde_json::from_str(&self.events).map_err(unreadable)?,
        })
    }
}

/// A finished game's whole log, packed in pages.
#[derive(Clone, Debug)]
pub struct PackedLog {
    pub(super) pages: Vec<PackedPage>,
    /// Entries in all.
    pub(super) versions: u64,
}

/// Some entries in a row.
#[derive(Clone, Debug)]
pub(super) struct PackedPage {
    pub first: u64,
    pub entries: Vec<u8>,
}

/// An entry as it is packed.
#[derive(Serialize, Deserialize)]
struct PackedEntry<'a> {
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
            Ok(PackedPage { first, entries })
        };
        let pages = log
            .chunks(PAGE_VERSIONS)
            .zip((1..).step_by(PAGE_VERSIONS))
            .map(page);
        Ok(PackedLog {
            pages: pages.collect::<Result<_, StoreError>>()?,
            versions,
        })
    }
}

/// # Errors
/// None that can happen: an entry has a JSON form, and memory takes what is written to it.
fn pack(entries: &[LogEntry]) -> Result<Vec<u8>, StoreError> {
    let entries: Vec<PackedEntry<'_>> = entries.iter().map(PackedEntry::from).collect();
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
fn unpack(packed: &[u8], id: GameId) -> Result<Vec<LogEntry>, StoreError> {
    let mut text = Vec::new();
    DeflateDecoder::new(packed)
        .take(MAX_PAGE_BYTES)
        .read_to_end(&mut text)
        .map_err(|_| StoreError::Damaged(format!("the log of game {id} cannot be unpacked")))?;
    let entries: Vec<PackedEntry<'_>> =
        serde_json::from_slice(&text).map_err(|error| StoreError::unreadable(id, &error))?;
    entries.into_iter().map(PackedEntry::entry).collect()
}

impl<'a> From<&'a LogEntry> for PackedEntry<'a> {
    fn from(entry: &'a LogEntry) -> PackedEntry<'a> {
        PackedEntry {
            version: entry.version,
            at: entry.at.as_microsecond(),
            action: Cow::Borrowed(&entry.action),
            events: Cow::Borrowed(&entry.events),
        }
    }
}

impl PackedEntry<'_> {
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
