//! Stored games, and the parameters and results of queries.

use std::{fmt, str::FromStr, sync::Arc};

use dog_rules::{Action, Actor, BySeat, Event, Game, Phase, Seat, SeatKind};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use super::{
    client_data::ClientData,
    id::{Creator, GameId},
    matches::MatchTable,
    seating::{OpenedBy, Seating, StartPolicy},
    tokens::{TokenHash, Tokens},
};

/// The largest number of versions of play in a game. Games of random players have at most 10,000
/// by the published rules, and 22,000 with six seats, no jokers and one card per deal. It cannot be
/// raised: the logs of games that have reached it are packed, and cannot grow.
pub const MAX_PLAY_VERSIONS: u64 = 50_000;

/// The number of administrative changes that every game may have.
const BASE_ADMIN_CHANGES: u64 = 100;

/// The number of versions of play that allow one more administrative change.
const VERSIONS_PER_ADMIN_CHANGE: u64 = 4;

/// The same for changes by the person at one seat.
const BASE_SEAT_CHANGES: u64 = 50;
const VERSIONS_PER_SEAT_CHANGE: u64 = 16;

/// The largest number of administrative changes of a game, after which no seat is changed or taken
/// but those that the host opens. It bounds the log of a table at which people come and go.
pub const MAX_ADMIN_CHANGES: u32 = 100_000;

/// How long a table without a host is kept while nobody sits at it.
const ABANDONED_TIME: SignedDuration = SignedDuration::from_mins(10);

/// How long a person who was absent when the game began has for the first action, at a table
/// without a host.
const FIRST_ACTION_TIME: SignedDuration = SignedDuration::from_secs(15);

/// How far the last change of a game may be ahead of the clock: the clocks of machines that share a
/// database differ a little. Beyond that the clock was put back.
pub const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(5);

/// The current time, truncated to the microseconds that the store keeps.
pub fn now() -> Timestamp {
    Timestamp::from_microsecond(Timestamp::now().as_microsecond())
        .expect("a truncated timestamp is in range")
}

/// A game and the server's data about it. It contains secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGame {
    pub id: GameId,
    /// Whether it is in the public list.
    pub listed: bool,
    /// Whether people may react.
    pub reactions: bool,
    /// Whether it was imported from a record, not played on this server.
    pub imported: bool,
    pub created_at: Timestamp,
    /// The time of its latest version.
    pub updated_at: Timestamp,
    /// Who created or imported it; see [`Creator`].
    pub creator: Option<Creator>,
    pub tokens: Tokens,
    pub seating: Arc<Seating>,
    pub data: Arc<ClientData>,
    /// The table of a match that it is.
    pub table: Option<MatchTable>,
    pub timing: Timing,
    /// Whether bots act without their pace until the next deal, because nobody else has cards.
    pub skips_to_deal: bool,
    pub admin_changes: AdminChanges,
    /// When the turn clock runs out. It is set with each new version.
    pub deadline: Option<Timestamp>,
    pub game: Arc<Game>,
}

/// The pace of bots and the turn clock of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// The least time before a bot acts after a change, in milliseconds, so that people can follow.
    pub bot_pace_ms: u32,
    /// Seconds that a seat has to act before the server acts for it. `None` without a turn clock.
    pub turn_seconds: Option<u32>,
}

/// The numbers of administrative changes of a game, which are not play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdminChanges {
    /// Changes that are a version of the game, such as hand-overs and joins.
    pub versions: u32,
    /// Changes without a version: tokens that seats or the host renewed themselves.
    pub renewals: u32,
}

/// A game has reached its limit of changes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LimitReached {
    #[error("the game has had {MAX_PLAY_VERSIONS} versions of play, the most a game may have")]
    Play,
    #[error("the seats of this game were changed too often; play on before the next change")]
    Admin,
    #[error("this seat was changed too often; play on before the next change")]
    Seat,
    #[error("the game has had {MAX_ADMIN_CHANGES} changes of seats, the most a game may have")]
    Table,
}

fn ensure(is_below: bool, limit: LimitReached) -> Result<(), LimitReached> {
    is_below.then_some(()).ok_or(limit)
}

impl StoredGame {
    /// A new game, for which nobody has a token yet.
    pub fn new(game: Game, listed: bool, creator: Option<Creator>) -> StoredGame {
        let now = now();
        StoredGame {
            id: GameId::random(),
            listed,
            reactions: true,
            imported: false,
            creator,
            created_at: now,
            updated_at: now,
            tokens: Tokens::default(),
            seating: Arc::default(),
            data: Arc::default(),
            table: None,
            timing: Timing::default(),
            skips_to_deal: false,
            admin_changes: AdminChanges::default(),
            deadline: None,
            game: game.into(),
        }
    }

    /// The number of versions that are play, including the creation.
    fn played(&self) -> u64 {
        let version = self.game.version();
        version.saturating_sub(self.admin_changes.versions.into())
    }

    /// Whether the game is not over, but has had as many versions of play as it may.
    pub fn is_at_limit(&self) -> bool {
        self.game.phase() != Phase::Finished && self.played() >= MAX_PLAY_VERSIONS
    }

    /// Whether the game can have no other version, so that its log can be packed.
    pub fn is_closed(&self) -> bool {
        self.game.phase() == Phase::Finished || self.is_at_limit()
    }

    /// Checks that the game may have another version. Without another version of play it has none
    /// at all.
    ///
    /// # Errors
    /// The game has [`MAX_PLAY_VERSIONS`].
    pub fn check_limit(&self) -> Result<(), LimitReached> {
        ensure(!self.is_at_limit(), LimitReached::Play)
    }

    /// Checks that the game may have another administrative change by the host.
    ///
    /// # Errors
    /// The game has too many such changes for its number of versions.
    pub fn check_admin_change(&self) -> Result<(), LimitReached> {
        let made = u64::from(self.seating.host_changes);
        let allowed = BASE_ADMIN_CHANGES + self.played() / VERSIONS_PER_ADMIN_CHANGE;
        ensure(made < allowed, LimitReached::Admin)
    }

    /// Checks that the person at a seat may make another administrative change. The changes of
    /// earlier people, of other seats and of the host do not count.
    ///
    /// # Errors
    /// The person has made too many such changes for the game's number of versions, or the game has
    /// had [`MAX_ADMIN_CHANGES`].
    pub fn check_seat_change(&self, seat: Seat) -> Result<(), LimitReached> {
        self.check_total()?;
        let made = u64::from(self.seating.seats[seat].changes);
        let allowed = BASE_SEAT_CHANGES + self.played() / VERSIONS_PER_SEAT_CHANGE;
        ensure(made < allowed, LimitReached::Seat)
    }

    /// Checks that somebody may take this seat. What the host has opened anew is always open: its
    /// number is bounded by the host's own limit.
    ///
    /// # Errors
    /// The game has had [`MAX_ADMIN_CHANGES`].
    fn check_join(&self, seat: Seat) -> Result<(), LimitReached> {
        match self.seating.seats[seat].opened_by {
            OpenedBy::Host => Ok(()),
            OpenedBy::Creation | OpenedBy::Holder => self.check_total(),
        }
    }

    fn check_total(&self) -> Result<(), LimitReached> {
        let AdminChanges { versions, renewals } = self.admin_changes;
        let made = versions.saturating_add(renewals);
        ensure(made < MAX_ADMIN_CHANGES, LimitReached::Table)
    }

    /// Counts a change towards the limit that it falls under: that of play, of the person at a seat
    /// or of the host. What the server does for nobody has none.
    ///
    /// # Errors
    /// The limit is reached.
    pub(super) fn count_change(
        &mut self,
        action: &Action,
        actor: Actor,
    ) -> Result<(), LimitReached> {
        self.check_limit()?;
        if action.is_play() {
            return Ok(());
        }
        match *action {
            Action::Join { seat, .. } => {
                self.check_join(seat)?;
                Arc::make_mut(&mut self.seating).seats[seat].changes = 0;
            }
            Action::ChangeSeat { seat, .. }
            | Action::RenewToken { seat }
            | Action::AskRematch { seat }
            | Action::Forfeit { seat, .. } => {
                self.check_seat_change(seat)?;
                Arc::make_mut(&mut self.seating).seats[seat].changes += 1;
            }
            _ if actor == Actor::Server => {}
            _ => {
                self.check_admin_change()?;
                Arc::make_mut(&mut self.seating).host_changes += 1;
            }
        }
        self.admin_changes.versions += 1;
        Ok(())
    }

    /// Whether the server makes the table complete when it is time for that: in a game with a
    /// host, if seats have been open since the creation, or are kept for people of the game before;
    /// in one without, if anybody is there.
    fn completes_table(&self) -> bool {
        self.game.phase() == Phase::Seating
            && self.seating.bots_at.is_some()
            && match self.tokens.host {
                Some(_) => self.awaited().or(self.open_since_creation()).is_some(),
                None => self.game.has_human(),
            }
    }

    /// Whether the server makes the table complete without those who are not present.
    pub fn drops_absent(&self) -> bool {
        self.tokens.host.is_none() && self.completes_table()
    }

    /// Whether the server deals the first round of a table without a host, whose people may not be
    /// there.
    pub fn begins_without_host(&self) -> bool {
        self.tokens.host.is_none() && self.server_deals() && self.game.round() == 1
    }

    /// Whether what the server does in the game is for people: one plays who is not away, or an
    /// abandoned table is to be removed, for those who look for one.
    pub fn is_for_people(&self) -> bool {
        self.game.is_attended() || self.is_abandoned()
    }

    /// Whether it is a table without a host, at which nobody sits.
    pub fn is_abandoned(&self) -> bool {
        self.tokens.host.is_none() && self.game.phase() == Phase::Seating && !self.game.has_human()
    }

    /// A seat of the rematch that does not wait for its person any longer when it is time. The host
    /// decides about those who were there at the end of the game before.
    fn awaited(&self) -> Option<Seat> {
        let has_host = self.tokens.host.is_some();
        Seat::all(self.game.rules().seats).find(|&seat| match has_host {
            true => self.game.is_kept(seat),
            false => self.game.awaits_confirmation(seat),
        })
    }

    fn open_since_creation(&self) -> Option<Seat> {
        self.seats_of(SeatKind::Open)
            .find(|&seat| self.seating.seats[seat].opened_by == OpenedBy::Creation)
    }

    fn seats_of(&self, kind: SeatKind) -> impl Iterator<Item = Seat> {
        Seat::all(self.game.rules().seats).filter(move |&seat| self.game.player(seat).kind == kind)
    }

    /// A seat that the server changes to make the table complete, and whether it becomes open or a
    /// bot's.
    ///
    /// Those who have not asked for the rematch are replaced: in a game with a host, those for whom
    /// a seat is kept. In a game without one, those who are not `present` lose their seats. Then
    /// bots take the open seats, if anybody is left.
    pub fn next_to_complete(&self, present: &BySeat<bool>) -> Option<(Seat, SeatKind)> {
        if !self.completes_table() {
            return None;
        }
        if let Some(seat) = self.awaited() {
            return Some((seat, SeatKind::Bot));
        }
        if self.tokens.host.is_some() {
            return self.open_since_creation().map(|seat| (seat, SeatKind::Bot));
        }
        let mut people = self.seats_of(SeatKind::Human);
        if let Some(seat) = people.find(|&seat| !present[seat]) {
            return Some((seat, SeatKind::Open));
        }
        let open = self.seats_of(SeatKind::Open).next();
        open.map(|seat| (seat, SeatKind::Bot))
    }

    /// The open seats that anyone may take, without an invitation.
    pub fn seats_for_anyone(&self) -> impl Iterator<Item = Seat> {
        let (game, seating) = (&self.game, &self.seating);
        let is_closed = self.is_closed();
        Seat::all(game.rules().seats).filter(move |&seat| {
            !is_closed && game.player(seat).kind == SeatKind::Open && seating.lets_anyone_take(seat)
        })
    }

    /// Whether there is a seat that anyone may take.
    pub(super) fn anyone_may_join(&self) -> bool {
        self.seats_for_anyone().next().is_some()
    }

    /// Whether the server has the next round dealt.
    pub fn server_deals(&self) -> bool {
        self.seating.start == StartPolicy::Full && self.game.phase() == Phase::Deal
    }

    /// The state in which a write computed from this game must find it.
    pub fn expected_state(&self) -> ExpectedState {
        ExpectedState {
            id: self.id,
            version: self.game.version(),
            updated_at: self.updated_at,
            tokens: self.tokens.clone(),
            skips_to_deal: self.skips_to_deal,
            closed: self.is_match_closed(),
        }
    }

    /// Whether the clock was put back since the last change, so that what the game waits for is
    /// further away than it ever was.
    pub(super) fn is_from_future(&self, now: Timestamp) -> bool {
        self.updated_at > now + CLOCK_TOLERANCE
    }

    /// Whether the server must act now. It does if the clock was put back since the last change.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let due_at = self.due_at(self.updated_at);
        due_at.is_some_and(|due_at| due_at <= now || self.is_from_future(now))
    }

    /// The time of a change that is made now. It is after that of the last change, unless the clock
    /// was put back.
    pub(super) fn next_change_at(&self, now: Timestamp) -> Timestamp {
        if self.is_from_future(now) {
            now
        } else {
            now.max(self.updated_at + SignedDuration::from_micros(1))
        }
    }

    /// Sets the time of the last change. If the clock was put back, what the game waits for moves
    /// with it.
    pub(super) fn set_updated_at(&mut self, at: Timestamp) {
        let back = self.updated_at.duration_since(at);
        self.updated_at = at;
        if back.is_positive() {
            self.deadline = self.deadline.map(|deadline| deadline - back);
            if let Some(bots_at) = self.seating.bots_at {
                Arc::make_mut(&mut self.seating).bots_at = Some(bots_at - back);
            }
        }
    }

    /// Updates the deadline after events at the time `at`, before which the game was in the phase
    /// `before`.
    pub(super) fn set_deadline(&mut self, at: Timestamp, events: &[Event], before: Phase) {
        let seating_ended = before == Phase::Seating && self.game.phase() != Phase::Seating;
        if matches!(self.game.phase(), Phase::Seating | Phase::Finished)
            || self.timing.turn_seconds.is_none()
        {
            self.deadline = None;
        } else if seating_ended || self.game.restarts_clock(events) {
            self.deadline = self
                .timing
                .turn_seconds
                .map(|seconds| at + SignedDuration::from_secs(seconds.into()));
        }
    }

    /// When the clock may act next: at the deadline, or earlier for a person who was absent when
    /// the game began.
    fn next_timeout(&self) -> Option<Timestamp> {
        let seats = self.seats_absent_at_start();
        let timeouts = seats.filter_map(|seat| self.absent_timeout(seat));
        timeouts.chain(self.deadline).min()
    }

    /// When the clock acts for a person who was absent when the game began: after the time for the
    /// first action, and from then on at the pace of a bot.
    fn absent_timeout(&self, seat: Seat) -> Option<Timestamp> {
        let turn = SignedDuration::from_secs(self.timing.turn_seconds?.into());
        let time = match self.seating.seats[seat].asked_in_vain {
            true => SignedDuration::from_millis(self.timing.bot_pace_ms.into()),
            false => FIRST_ACTION_TIME,
        };
        Some(self.deadline? - turn + time)
    }

    /// The seats to act whose people were absent when the game began.
    fn seats_absent_at_start(&self) -> impl Iterator<Item = Seat> {
        let seats = self.game.seats_to_act();
        seats.filter(|&seat| self.seating.seats[seat].absent_at_start)
    }

    /// The seat that the clock acts for in a game that is due: the lowest one to act or, before the
    /// deadline, the lowest of those who were absent when the game began and are not `present` now.
    pub fn timed_out_seat(&self, present: &BySeat<bool>) -> Option<Seat> {
        if self.is_before_deadline() {
            let is_late = |seat| self.absent_timeout(seat).is_some_and(|at| at <= now());
            self.seats_absent_at_start()
                .find(|&seat| !present[seat] && is_late(seat))
        } else {
            self.game.timed_out_seat()
        }
    }

    fn is_before_deadline(&self) -> bool {
        let now = now();
        !self.is_from_future(now) && self.deadline.is_some_and(|deadline| deadline > now)
    }

    /// Whether a game that is due is so only because of people who were absent when it began.
    pub fn hurries_absent(&self) -> bool {
        self.is_before_deadline() && !self.server_deals() && self.game.bot_to_act().is_none()
    }

    /// When the server must act, which is stored for queries of due games. A row may have what
    /// another version of the program has computed. If that is earlier, it is corrected when the
    /// game is found; a release in which the server acts where it did not needs a migration.
    ///
    /// After a change at `changed_at` it must act to remove a table at which nobody sits, to make
    /// the table complete, to have a round dealt, for a bot, or because the turn clock has run out. It
    /// does not begin a rematch to which nobody has come.
    pub fn due_at(&self, changed_at: Timestamp) -> Option<Timestamp> {
        if self.is_abandoned() {
            return Some(changed_at + ABANDONED_TIME);
        }
        self.check_limit().ok()?;
        if self.game.awaits_first_person() {
            return None;
        }
        if self.completes_table() {
            return self.seating.bots_at;
        }
        if self.server_deals() || self.game.bot_to_act().is_some() {
            let pace = match self.skips_to_deal {
                true => 0,
                false => self.timing.bot_pace_ms,
            };
            return Some(changed_at + SignedDuration::from_millis(pace.into()));
        }
        self.next_timeout()
    }
}

/// Identifies one state of a game. The time is included because a file may be restored to an
/// earlier state while it is served; the same version can then be reached by another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedState {
    pub id: GameId,
    pub version: u64,
    pub updated_at: Timestamp,
    pub tokens: Tokens,
    pub skips_to_deal: bool,
    /// Whether it is a [closed](crate::MatchTable::closed) table.
    pub closed: bool,
}

/// The columns of a game that can be read without its snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameHead {
    pub version: u64,
    pub tokens: Tokens,
    /// See [`StoredGame::creator`].
    pub creator: Option<Creator>,
    pub seating: Arc<Seating>,
}

impl GameHead {
    /// Whether this is the token of a person who joined, or took ownership of the seat's token.
    pub fn has_joined(&self, token: &TokenHash) -> bool {
        let seats = self.tokens.seats.iter().zip(self.seating.seats.iter());
        seats.fold(false, |found, (seat, access)| {
            found | (access.joined && *seat == Some(*token))
        })
    }
}

/// Due games with their creators, and the creator after which there may be more.
pub type DueByCreator = (Vec<(GameId, Option<Creator>)>, Option<Creator>);

/// An entry of the change feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A game, and its version after the change; `None` if it was removed.
    Game { id: GameId, version: Option<u64> },
    /// Who is present at this game. The game itself has not changed.
    Presence(GameId),
    /// Somebody has reacted in this game. The game itself has not changed.
    Reaction(GameId),
    /// The review of this game is done.
    Review(GameId),
}

impl Change {
    /// The change of this kind that a row of the feed has.
    pub(super) fn new(kind: &str, id: GameId, version: Option<u64>) -> Change {
        match kind {
            "presence" => Change::Presence(id),
            "reaction" => Change::Reaction(id),
            "review" => Change::Review(id),
            _ => Change::Game { id, version },
        }
    }
}

/// The changes since a given change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangesSince {
    /// These changes.
    Only(Vec<Change>),
    /// The given change is no longer in the feed: any game may have changed or been removed.
    Any,
}

/// A query of the public list of games, newest first.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Only games in this phase.
    pub phase: Option<Phase>,
    /// Only games with a seat that anyone may take; otherwise all.
    pub open: bool,
    /// Only games after this position in the list.
    pub after: Option<Cursor>,
    /// The largest number of games; 0 means 1.
    pub limit: u32,
}

/// A page of the list.
#[derive(Clone, Debug)]
pub struct GamePage {
    pub games: Vec<StoredGame>,
    /// Where the next page begins; `None` on the last page.
    pub next: Option<Cursor>,
}

/// A position in the list of games. It stays valid when games are added and removed. Its text is
/// opaque to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub(super) i64);

/// The error for a text that is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the cursor is not valid")]
pub struct CursorError;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Cursor, CursorError> {
        let cursor = i64::from_str_radix(text, 16).map(Cursor).ok();
        // Each cursor has exactly one spelling.
        let cursor = cursor.filter(|cursor| cursor.to_string() == text);
        cursor.ok_or(CursorError)
    }
}
