//! The check of a database that both stores share: each game is replayed from its log.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use dog_rules::{Event, EventKind, Game, Phase, TableSettings};
use jiff::Timestamp;

use super::{GameId, LogEntry, StoreError, StoredGame, row::Row};

/// A defect of a database. Its text contains no card and no other secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The game with the defect; `None` for a defect of the database.
    pub game: Option<GameId>,
    /// What is wrong.
    pub description: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.game {
            Some(game) => write!(f, "game {game}: {}", self.description),
            None => write!(f, "database: {}", self.description),
        }
    }
}

/// The contents and the defects of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub games: u64,
    /// The number of log entries of these games.
    pub versions: u64,
    /// The size of the database, with the write-ahead log of a file.
    pub bytes: u64,
    pub defects: Vec<Defect>,
}

impl CheckReport {
    pub(super) fn add_defect(&mut self, game: Option<GameId>, description: impl fmt::Display) {
        let description = description.to_string();
        self.defects.push(Defect { game, description });
    }

    /// Adds a game and what its check finds: the number of its log entries, `None` if it was
    /// removed in the meantime, or the first defect.
    pub(super) fn add_game(
        &mut self,
        id: GameId,
        check: impl FnOnce() -> Result<Option<u64>, String>,
    ) {
        // The rules may panic on a damaged game.
        let defect = match catch_unwind(AssertUnwindSafe(check)) {
            Ok(Ok(None)) => return,
            Ok(Ok(Some(versions))) => {
                self.versions += versions;
                None
            }
            Ok(Err(wrong)) => Some(wrong),
            Err(_) => Some("replaying it panicked".to_owned()),
        };
        self.games += 1;
        if let Some(defect) = defect {
            self.add_defect(Some(id), defect);
        }
    }
}

/// The columns that can be checked against the snapshot.
pub(super) struct CheckedColumns {
    pub is_for_people: bool,
    pub due_at: Option<i64>,
    pub anyone_may_join: bool,
    pub at_limit: bool,
}

impl CheckedColumns {
    /// Those of a row that begins with them.
    ///
    /// # Errors
    /// A column is not valid.
    pub fn read(row: Row<'_>) -> Result<CheckedColumns, StoreError> {
        Ok(CheckedColumns {
            is_for_people: row.get(0)?,
            due_at: row.get(1)?,
            anyone_may_join: row.get(2)?,
            at_limit: row.get(3)?,
        })
    }

    /// # Errors
    /// The first difference.
    pub fn check(&self, stored: &StoredGame) -> Result<(), String> {
        let due_at = stored.due_at(stored.updated_at);
        let due_at = due_at.map(Timestamp::as_microsecond);
        let what = if self.is_for_people != stored.is_for_people() {
            "whether it is for people"
        } else if self.anyone_may_join != stored.anyone_may_join() {
            "whether anyone may join"
        } else if self.at_limit != stored.is_at_limit() {
            "whether it is at its last version"
        } else if self.due_at != due_at {
            "when the server is to act"
        } else {
            return Ok(());
        };
        Err(format!("its row and its snapshot differ in {what}"))
    }
}

/// Replays a game from its log and compares the result. Returns the number of log entries.
///
/// # Errors
/// The first difference.
pub(super) fn replay(
    stored: &StoredGame,
    log: Result<Vec<LogEntry>, StoreError>,
) -> Result<u64, String> {
    let mut played = StoredGame {
        deadline: None,
        game: stored.game.at_creation().into(),
        ..stored.clone()
    };
    let log = log.map_err(|error| format!("its log: {error}"))?;
    // The settings of the creation are not known if they were changed.
    let mut timing_known = !log.iter().any(|entry| changed_settings(entry).is_some());
    let mut deadline_known = timing_known;
    for (entry, version) in log.iter().zip(1..) {
        let before = match version {
            1 => Phase::Seating,
            _ => played.game.phase(),
        };
        replay_entry(Arc::make_mut(&mut played.game), entry, version)?;
        if let Some(settings) = changed_settings(entry) {
            played.timing.turn_seconds = settings.turn_seconds;
            timing_known = true;
        }
        played.set_updated_at(entry.at);
        played.set_deadline(entry.at, &entry.events, before);
        let restarts = played.game.restarts_clock(&entry.events) || before == Phase::Seating;
        deadline_known |= timing_known && restarts;
    }
    let (count, version) = (log.len() as u64, stored.game.version());
    if count != version {
        return Err(format!(
            "its log ends at version {count}, the game is at {version}"
        ));
    }
    if played.game != stored.game {
        return Err("its snapshot differs from the replay of its log".into());
    }
    if deadline_known && played.deadline != stored.deadline {
        return Err("its deadline differs from the replay of its log".into());
    }
    let ends = log.first().zip(log.last());
    let times = ends.map(|(first, last)| (first.at, last.at));
    if times != Some((stored.created_at, stored.updated_at)) {
        return Err("its times differ from those of its log".into());
    }
    Ok(count)
}

/// The settings that this version has changed.
fn changed_settings(entry: &LogEntry) -> Option<TableSettings> {
    match entry.events.first()?.what {
        EventKind::SettingsChanged { settings } => Some(settings),
        _ => None,
    }
}

/// Replays one log entry.
///
/// # Errors
/// The entry is out of order, refused by the rules, or has other events than the rules give.
fn replay_entry(game: &mut Game, entry: &LogEntry, version: u64) -> Result<(), String> {
    if entry.version != version {
        return Err(format!("its log has no version {version}"));
    }
    let events = match (&entry.action, version) {
        (None, 1) => vec![game.last_event().clone()],
        // The refusal is not reported, because it may name a card.
        (Some(action), 2..) => Some(action)
            .filter(|action| {
                let seats = game.rules().seats;
                action.seat().is_none_or(|seat| seat.number() < seats)
            })
            .and_then(|action| {
                let actor = entry.events.first().map(Event::actor);
                game.apply_by(action, actor.unwrap_or_default()).ok()
            })
            .ok_or_else(|| format!("the rules refuse the action of version {version}"))?,
        _ => {
            return Err(format!(
                "version {version} has no action, or is a creation with one"
            ));
        }
    };
    if events == entry.events {
        return Ok(());
    }
    Err(format!(
        "the events of version {version} differ from those of a replay"
    ))
}
