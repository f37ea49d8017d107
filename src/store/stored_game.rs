//! What the store holds of a game, and what can be asked about games.

use std::{fmt, str::FromStr, sync::Arc};

use dog_rules::{Event, Game, Phase};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use super::{
    game_log::LogPage,
    id::{Creator, GameId},
    tokens::Tokens,
    write::SavedResponse,
};

/// Versions of play that a game may have. Games of random players have 10,000 at most by the
/// published rules, and 22,000 with six seats, no jokers and one card a deal.
pub const MAX_PLAY_VERSIONS: u64 = 50_000;

/// Table changes that every game may have.
const BASE_ADMIN_CHANGES: u64 = 100;

/// Versions of play that allow one table change more.
const VERSIONS_PER_ADMIN_CHANGE: u64 = 4;

/// The present, as exact as the store keeps it: to the microsecond.
pub fn now() -> Timestamp {
    Timestamp::from_microsecond(Timestamp::now().as_microsecond())
        .expect("a timestamp without its last digits is one too")
}

/// A game and what the service knows of it besides. It holds secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGame {
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
    pub timing: Timing,
    pub admin_changes: AdminChanges,
    /// When the time of those who are to act is up. Whoever writes the game sets it.
    pub deadline: Option<Timestamp>,
    pub game: Arc<Game>,
}

/// How fast a game goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Milliseconds from one change to a bot's next at least, so that people can follow.
    pub bot_pace_ms: u32,
    /// Seconds for whoever is to act; then the server acts. None without a turn clock.
    pub turn_seconds: Option<u32>,
}

/// How often something was changed at a table that is not play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdminChanges {
    /// As a version of the game: a seat handed over, a token from the host.
    pub versions: u32,
    /// Without one: a token that a seat renewed itself.
    pub renewals: u32,
}

/// Why a game takes no more changes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LimitReached {
    #[error("the game has had {MAX_PLAY_VERSIONS} versions of play, the most a game may have")]
    Play,
    #[error("the seats of this game were changed too often; play on before the next change")]
    Admin,
}

impl StoredGame {
    /// Versions that are play, the creation among them.
    fn played(&self) -> u64 {
        let version = self.game.version();
        version.saturating_sub(self.admin_changes.versions.into())
    }

    /// Makes sure that the game may have another version of play.
    ///
    /// # Errors
    /// It has as many as a game may have.
    pub fn check_play(&self) -> Result<(), LimitReached> {
        if self.played() < MAX_PLAY_VERSIONS {
            Ok(())
        } else {
            Err(LimitReached::Play)
        }
    }

    /// Makes sure that something besides play may be changed once more.
    ///
    /// # Errors
    /// It was changed too often for a game that has been played for so long.
    pub fn check_admin_change(&self) -> Result<(), LimitReached> {
        let AdminChanges { versions, renewals } = self.admin_changes;
        let made = u64::from(versions) + u64::from(renewals);
        if made < BASE_ADMIN_CHANGES + self.played() / VERSIONS_PER_ADMIN_CHANGE {
            Ok(())
        } else {
            Err(LimitReached::Admin)
        }
    }

    /// The state of the game that a write must find.
    pub fn expected_state(&self) -> ExpectedState {
        ExpectedState {
            id: self.id,
            version: self.game.version(),
            updated_at: self.updated_at,
            tokens: self.tokens.clone(),
        }
    }

    /// Sets the deadline that follows from what happened then.
    pub(super) fn set_deadline(&mut self, at: Timestamp, events: &[Event]) {
        if self.game.phase() == Phase::Finished {
            self.deadline = None;
        } else if events.iter().any(Event::restarts_clock) {
            let seconds = |seconds: u32| at + SignedDuration::from_secs(seconds.into());
            self.deadline = self.timing.turn_seconds.map(seconds);
        }
    }

    /// When the server is to act after a change at that time: for a bot, or when the time of those
    /// who are awaited is up.
    pub fn due_at(&self, changed_at: Timestamp) -> Option<Timestamp> {
        self.check_play().ok()?;
        if self.game.bot_to_act().is_some() {
            let pace = SignedDuration::from_millis(self.timing.bot_pace_ms.into());
            return Some(changed_at + pace);
        }
        self.deadline
    }
}

/// A state of a game, told from all others. The version and the tokens alone would do, were it not
/// for a file that is put back to an earlier state while it is served, and goes on differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedState {
    pub id: GameId,
    pub version: u64,
    pub updated_at: Timestamp,
    pub tokens: Tokens,
}

/// What a write is worked out from, from one state of the store.
#[derive(Clone, Debug)]
pub struct LoadedGame {
    /// The game, if it is there.
    pub game: Option<StoredGame>,
    /// The response that was saved for the same request, if it was carried out before.
    pub saved_response: Option<SavedResponse>,
}

/// What is known of a game without reading the game itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameHead {
    pub version: u64,
    pub tokens: Tokens,
    /// See [`StoredGame::creator`].
    pub creator: Option<Creator>,
}

/// What is new in a game, from one state of the store.
#[derive(Debug)]
pub struct GameUpdate {
    pub head: GameHead,
    /// The last entries of its log, as far as they are new.
    pub entries: LogPage,
}

/// Games that are due with their creators, and the creator after which there may be more.
pub type DueByCreator = (Vec<(GameId, Option<Creator>)>, Option<Creator>);

/// What has happened to a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: GameId,
    /// The version that it came to; none if it was removed.
    pub version: Option<u64>,
}

/// What has changed since a change that was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangesSince {
    /// These games.
    Of(Vec<Change>),
    /// Too long ago to tell: any game may have changed or gone.
    Any,
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
pub struct GamePage {
    pub games: Vec<StoredGame>,
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
