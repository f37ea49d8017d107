//! What the store holds of a game, how it is read from a row, and the games that are kept in
//! memory as they were last read or written.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dog_rules::{Action, Event, Game, Phase};
use jiff::{SignedDuration, Timestamp};
use rand::{RngExt, rng};
use rusqlite::{Row, types::ValueRef};
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{
    StoreError,
    id::{Creator, GameId},
    tokens::Tokens,
};

/// Versions of play that a game may have. Games of random players have 10,000 at most by the
/// published rules, and 22,000 with six seats, no jokers and one card a deal.
pub const MOST_VERSIONS: u64 = 50_000;

/// Table changes that every game may have.
const FREE_CHANGES: u64 = 100;

/// Versions of play that allow one table change more.
const PLAYED_PER_CHANGE: u64 = 4;

/// The present, as exact as the store keeps it: to the microsecond.
pub fn now() -> Timestamp {
    Timestamp::from_microsecond(Timestamp::now().as_microsecond())
        .expect("a timestamp without its last digits is one too")
}

/// A game and what the service knows of it besides. It holds secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub id: GameId,
    /// Whether it is in the public list.
    pub listed: bool,
    /// Whether it came from a record, so that this server has not seen it played.
    pub imported: bool,
    pub created_at: Timestamp,
    /// When its last version came to be.
    pub updated_at: Timestamp,
    /// Who created or imported it; see [`Creator`].
    pub creator: Option<Creator>,
    pub tokens: Tokens,
    pub tempo: Tempo,
    pub changes: TableChanges,
    /// When the time of those who are to act is up. Whoever writes the game sets it.
    pub deadline: Option<Timestamp>,
    pub game: Arc<Game>,
}

/// How fast a game goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tempo {
    /// Milliseconds from one change to a bot's next at least, so that people can follow.
    pub bot_pace_ms: u32,
    /// Seconds for whoever is to act; then the server acts. None without a turn clock.
    pub turn_seconds: Option<u32>,
}

/// How often something was changed at a table that is not play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableChanges {
    /// As a version of the game: a seat handed over, a token from the host.
    pub versions: u32,
    /// Without one: a token that a seat renewed itself.
    pub renewals: u32,
}

/// Why a game takes no more changes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Exhausted {
    #[error("the game has had {MOST_VERSIONS} versions of play, the most a game may have")]
    Play,
    #[error("the seats of this game were changed too often; play on before the next change")]
    Table,
}

impl Record {
    /// Versions that are play, the creation among them.
    fn played(&self) -> u64 {
        let version = self.game.version();
        version.saturating_sub(self.changes.versions.into())
    }

    /// Makes sure that the game may have another version of play.
    ///
    /// # Errors
    /// It has as many as a game may have.
    pub fn check_play(&self) -> Result<(), Exhausted> {
        if self.played() < MOST_VERSIONS {
            Ok(())
        } else {
            Err(Exhausted::Play)
        }
    }

    /// Makes sure that something besides play may be changed once more.
    ///
    /// # Errors
    /// It was changed too often for a game that has been played for so long.
    pub fn check_table_change(&self) -> Result<(), Exhausted> {
        let TableChanges { versions, renewals } = self.changes;
        let made = u64::from(versions) + u64::from(renewals);
        if made < FREE_CHANGES + self.played() / PLAYED_PER_CHANGE {
            Ok(())
        } else {
            Err(Exhausted::Table)
        }
    }

    /// Which state of the game this is.
    pub(super) fn stamp(&self) -> Stamp {
        Stamp {
            version: int(self.game.version()),
            updated_at: self.updated_at,
        }
    }

    /// Sets the deadline that follows from what happened then.
    pub(super) fn set_deadline(&mut self, at: Timestamp, events: &[Event]) {
        if self.game.phase() == Phase::Finished {
            self.deadline = None;
        } else if events.iter().any(Event::passes_the_turn) {
            let seconds = |seconds: u32| at + SignedDuration::from_secs(seconds.into());
            self.deadline = self.tempo.turn_seconds.map(seconds);
        }
    }

    /// When the server is to act after a change at that time: for a bot, or when the time of those
    /// who are awaited is up.
    pub fn due_at(&self, changed_at: Timestamp) -> Option<Timestamp> {
        self.check_play().ok()?;
        if self.game.bot_to_act().is_some() {
            let pace = SignedDuration::from_millis(self.tempo.bot_pace_ms.into());
            return Some(changed_at + pace);
        }
        self.deadline
    }
}

/// What has happened to a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: GameId,
    /// The version that it came to; none if it was removed.
    pub version: Option<u64>,
}

/// What has changed since a change that was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// These games.
    Of(Vec<Change>),
    /// Too long ago to tell: any game may have changed or gone.
    Any,
}

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

/// Which games to list; newest first, and only those to be listed.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Only games in this phase.
    pub phase: Option<Phase>,
    /// Only games after that place in the list.
    pub after: Option<Cursor>,
    /// How many at most; 0 is taken for 1.
    pub limit: u32,
}

/// A part of the list.
#[derive(Clone, Debug)]
pub struct Page {
    pub games: Vec<Record>,
    /// Where the next part begins, if there is more.
    pub next: Option<Cursor>,
}

/// A place in the list of games that stays where it is when games come and go. Its text means
/// nothing to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub(super) i64);

/// A text that is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("that is no place in the list")]
pub struct CursorError;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Cursor, CursorError> {
        let cursor = i64::from_str_radix(text, 16)
            .map(Cursor)
            .map_err(|_| CursorError)?;
        // A cursor is written in one way only.
        if cursor.to_string() == text {
            Ok(cursor)
        } else {
            Err(CursorError)
        }
    }
}

/// The columns that [`record`] reads, in its order, and whatever follows them in a query.
macro_rules! select_games {
    ($rest:literal) => {
        concat!(
            "SELECT key, id, version, listed, created_at, updated_at, tokens, snapshot, \
             bot_pace_ms, turn_seconds, deadline, imported, phase, due_at, creator, \
             table_changes, renewals FROM games ",
            $rest
        )
    };
}
pub(super) use select_games;

/// The game in a row of [`select_games`]: as it is among the recent ones, or from its JSON.
///
/// # Errors
/// It cannot be understood, or the row's other columns contradict it.
pub(super) fn record(row: &Row<'_>, recent: Option<&Recent>) -> Result<Record, StoreError> {
    let id = row.get(1)?;
    let stamp = Stamp {
        version: row.get(2)?,
        updated_at: time(row.get(5)?)?,
    };
    let seen = recent.and_then(|recent| recent.get(id, stamp));
    let is_new = seen.is_none();
    let game: Arc<Game> = match seen {
        Some(game) => game,
        None => Arc::new(json(row.get_ref(7)?, id)?),
    };
    let contradiction =
        |what| StoreError::Damaged(format!("game {id} and its row differ in {what}"));
    if int(game.version()) != stamp.version {
        return Err(contradiction("the version"));
    }
    let phase = row.get_ref(12)?.as_bytes().map_err(rusqlite::Error::from)?;
    if phase != game.phase().name().as_bytes() {
        return Err(contradiction("the phase"));
    }
    let record = Record {
        id,
        listed: row.get(3)?,
        imported: row.get(11)?,
        created_at: time(row.get(4)?)?,
        updated_at: stamp.updated_at,
        creator: row.get(14)?,
        tokens: row.get(6)?,
        tempo: Tempo {
            bot_pace_ms: row.get(8)?,
            turn_seconds: row.get(9)?,
        },
        changes: TableChanges {
            versions: row.get(15)?,
            renewals: row.get(16)?,
        },
        deadline: row.get::<_, Option<i64>>(10)?.map(time).transpose()?,
        game,
    };
    // Else the server would look again and again for what it is to do in this game.
    let due_at = record.due_at(record.updated_at);
    if row.get::<_, Option<i64>>(13)? != due_at.map(Timestamp::as_microsecond) {
        return Err(contradiction("when the server is to act"));
    }
    if let Some(recent) = recent
        && is_new
    {
        recent.offer(&record);
    }
    Ok(record)
}

/// The log entry of the game `id` in a row of version, at, action and events.
pub(super) fn log_entry(row: &Row<'_>, id: GameId) -> Result<LogEntry, StoreError> {
    Ok(LogEntry {
        version: version(row.get(0)?)?,
        at: time(row.get(1)?)?,
        action: match row.get_ref(2)? {
            ValueRef::Null => None,
            text => Some(json(text, id)?),
        },
        events: json(row.get_ref(3)?, id)?,
    })
}

/// A version as a column holds it. No game gets as far as 2⁶³; a client may ask for it, though.
pub(super) fn int(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

/// The version in a column.
pub(super) fn version(column: i64) -> Result<u64, StoreError> {
    u64::try_from(column).map_err(|_| StoreError::Damaged("a version is negative".into()))
}

/// The time in a column.
pub(super) fn time(column: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(column)
        .map_err(|_| StoreError::Damaged("a time is out of range".into()))
}

/// The JSON of the game `id` in a column.
fn json<T: DeserializeOwned>(column: ValueRef<'_>, id: GameId) -> Result<T, StoreError> {
    let text = column.as_bytes().map_err(rusqlite::Error::from)?;
    serde_json::from_slice(text).map_err(|error| StoreError::unreadable(id, &error))
}

/// A part of a game as JSON.
pub(super) fn to_json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|_| StoreError::Misuse("a part of a game has no JSON form"))
}

/// One in so many that were only read takes another's place.
const ADMITTED_OF: u32 = 8;

/// Some games. Each has one place where it can be, and goes when another needs it.
pub(super) struct Recent(Box<[Mutex<Option<Record>>]>);

/// What tells one state of a game from all others. The version alone would do, were it not for a
/// file that is put back to an earlier state while it is served, and goes on differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub version: i64,
    pub updated_at: Timestamp,
}

impl Recent {
    /// Room for so many.
    pub fn new(games: usize) -> Recent {
        Recent((0..games).map(|_| Mutex::new(None)).collect())
    }

    /// The game as it was then, if it is here.
    pub fn get(&self, id: GameId, stamp: Stamp) -> Option<Arc<Game>> {
        let place = self.place(id)?;
        let seen = place.as_ref()?;
        (seen.id == id && seen.stamp() == stamp).then(|| Arc::clone(&seen.game))
    }

    /// What was last seen of a game, if it is here. It may be another by now, or gone.
    pub fn last(&self, id: GameId) -> Option<Record> {
        let place = self.place(id)?;
        let seen = place.as_ref()?;
        (seen.id == id).then(|| seen.clone())
    }

    /// Keeps a game that was written and is on the disk.
    pub fn put(&self, seen: Record) {
        let before = match self.place(seen.id) {
            Some(mut place) => place.replace(seen),
            None => return,
        };
        // Not while the place is locked.
        drop(before);
    }

    /// Keeps a game that was read, mostly only if no other has to go for it: who reads a great many
    /// games once must not drive out those that are played.
    pub fn offer(&self, seen: &Record) {
        let Some(place) = self.place(seen.id) else {
            return;
        };
        let is_free = place.as_ref().is_none_or(|other| other.id == seen.id);
        drop(place);
        if is_free || rng().random_ratio(1, ADMITTED_OF) {
            self.put(seen.clone());
        }
    }

    /// Where a game can be, unless there is no room for any.
    fn place(&self, id: GameId) -> Option<MutexGuard<'_, Option<Record>>> {
        let place = self.0.get(id.low_bits().checked_rem(self.0.len())?)?;
        // Nothing panics while it is locked, and it is never half changed.
        Some(place.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Without the games, which are full of secrets.
impl fmt::Debug for Recent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recent").finish_non_exhaustive()
    }
}
