//! A game's log: the action and the events of each version. The log of a finished game does not
//! change; it is packed, which makes it ten times smaller.

use dog_rules::{Action, Event};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    StoreError,
    deflate::{deflate, inflate},
    id::GameId,
    row::Row,
};

/// Versions per page. A page takes 4 kB or a little more, which fits SQLite's pages well. Pages of
/// 64 versions would waste half of the space.
pub(super) const PAGE_VERSIONS: usize = 128;

/// The largest size of an unpacked page in bytes. An entry has at most 4 kB.
const MAX_PAGE_BYTES: u64 = 1 << 20;

/// The log entry of one version of a game. It contains secrets. In packed logs it is JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// The version after the action.
    pub version: u64,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub at: Timestamp,
    /// `None` for a creation.
    pub action: Option<Action>,
    /// The events of the action, including what players may not see.
    pub events: Vec<Event>,
}

/// A part of a game's log in its stored form. [`LogPage::entries`] decodes it, which takes a
/// millisecond or two.
#[derive(Debug)]
pub struct LogPage {
    pub(super) game: GameId,
    /// Entries up to this version are skipped.
    pub(super) after: u64,
    /// The largest number of entries to return.
    pub(super) limit: usize,
    pub(super) form: LogForm,
}

/// The two stored forms of a log.
#[derive(Debug)]
pub(super) enum LogForm {
    Packed(Vec<u8>),
    Rows(Vec<LogRow>),
}

/// A row of the table `log`, with the action and events as JSON.
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
    /// An entry cannot be parsed.
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
    /// The row with the columns version, at, action and events from this column on.
    ///
    /// # Errors
    /// A column is not valid.
    pub fn read(row: Row<'_>, first: usize) -> Result<LogRow, StoreError> {
        Ok(LogRow {
            version: row.get(first)?,
            at: row.get(first + 1)?,
            action: row.get(first + 2)?,
            events: row.get(first + 3)?,
        })
    }

    fn entry(self, game: GameId) -> Result<LogEntry, StoreError> {
        Ok(LogEntry {
            version: self.version,
            at: self.at,
            action: self.action.map(|action| parse(&action, game)).transpose()?,
            events: parse(&self.events, game)?,
        })
    }
}

fn parse<T: DeserializeOwned>(column: &str, game: GameId) -> Result<T, StoreError> {
    serde_json::from_str(column).map_err(|error| StoreError::unreadable(game, &error))
}

/// The whole log of a finished game, packed in pages.
#[derive(Clone, Debug)]
pub struct PackedLog {
    pub(super) pages: Vec<PackedPage>,
    /// The number of entries.
    pub(super) versions: u64,
}

/// Consecutive entries, as compressed JSON.
#[derive(Clone, Debug)]
pub(super) struct PackedPage {
    /// The version of the first entry.
    pub first_version: u64,
    pub entries: Vec<u8>,
}

impl PackedLog {
    /// Packs a whole log.
    ///
    /// # Errors
    /// The log does not have exactly one entry per version, from version 1 on.
    pub fn new(log: &[LogEntry]) -> Result<PackedLog, StoreError> {
        let versions = log.len() as u64;
        if !log.iter().map(|entry| entry.version).eq(1..=versions) {
            return Err(StoreError::Misuse("a log must have one entry per version"));
        }
        let mut pages = Vec::with_capacity(log.len().div_ceil(PAGE_VERSIONS));
        for (entries, first_version) in log.chunks(PAGE_VERSIONS).zip((1..).step_by(PAGE_VERSIONS))
        {
            pages.push(PackedPage {
                first_version,
                entries: pack(entries)?,
            });
        }
        Ok(PackedLog { pages, versions })
    }
}

/// Packs the entries of a page.
///
/// # Errors
/// Never in practice: entries can be serialized, and writing to memory does not fail.
fn pack(entries: &[LogEntry]) -> Result<Vec<u8>, StoreError> {
    deflate(|packer| Ok(serde_json::to_writer(packer, entries)?))
        .map_err(|_| StoreError::Misuse("a log cannot be packed"))
}

/// Unpacks a page of the log of the game `id`.
///
/// # Errors
/// The page is damaged, or larger than [`MAX_PAGE_BYTES`].
fn unpack(packed: &[u8], id: GameId) -> Result<Vec<LogEntry>, StoreError> {
    let text = inflate(packed, MAX_PAGE_BYTES)
        .map_err(|_| StoreError::Damaged(format!("the log of game {id} cannot be unpacked")))?;
    serde_json::from_slice(&text).map_err(|error| StoreError::unreadable(id, &error))
}
