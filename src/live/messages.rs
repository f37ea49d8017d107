//! The messages of streams.

use actix_web::web::Bytes;
use dog_rules::{EventKind, Rules, Viewer};
use dog_store::{LogEntry, StoredGame};

use crate::{
    access::{AccessError, Caller, Role},
    limits::ClientAddress,
    problem::Problem,
    view::{
        cache::Rendering,
        change::{ChangeView, Include, first_view},
        event::LogEntryView,
        message::Format,
    },
};

/// Who reads a stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamReader {
    pub caller: Caller,
    pub role: Role,
    /// The viewer while the token is valid.
    pub viewer: Viewer,
    /// To whom the work is charged.
    pub client: ClientAddress,
}

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the present game.
    Game,
    /// With the changes after this version.
    After(u64),
}

/// What a stream sends.
#[derive(Clone, Copy, Debug)]
pub struct StreamOptions {
    pub format: Format,
    pub include: Option<Include>,
    pub start: Start,
    /// Whether the stream stays open after the end of the game, to send the rematch and the review.
    pub after_end: bool,
}

impl StreamOptions {
    /// Whether the message for this role lists moves at this state of the game.
    pub fn includes_moves(&self, stored: &StoredGame, role: Role) -> bool {
        let to_move = matches!(role, Role::Seat(seat) if stored.game.turn() == Some(seat));
        to_move && self.include == Some(Include::GameAndMoves)
    }

    /// The game as the first message for this role; work for the pool if it [lists
    /// moves](StreamOptions::includes_moves).
    pub fn first_message(&self, stored: &StoredGame, role: Role) -> Result<Bytes, Problem> {
        let view = first_view(stored, self.include, role)?;
        self.format.message("game", stored.game.version(), &view)
    }

    /// How the last change is rendered for this role.
    pub fn rendering(self, role: Role) -> Rendering {
        Rendering::LastChange(self.format, self.include, role)
    }

    /// The last change as a message for this reader, with the game after it; work for the pool if
    /// it [lists moves](StreamOptions::includes_moves).
    pub fn last_change(
        self,
        stored: &StoredGame,
        entry: &LogEntry,
        reader: StreamReader,
    ) -> Result<Bytes, Problem> {
        let view = LogEntryView::for_game(stored, entry, reader.viewer);
        let change = ChangeView::last(view, stored, self.include, reader.role)?;
        self.format.message("change", entry.version, &change)
    }

    /// An earlier change as a message for this viewer.
    pub fn earlier_change(
        self,
        rules: &Rules,
        entry: &LogEntry,
        viewer: Viewer,
    ) -> Result<Bytes, Problem> {
        let change = ChangeView::earlier(LogEntryView::new(rules, entry, viewer));
        self.format.message("change", entry.version, &change)
    }
}

impl StreamReader {
    /// Checks that the reader still has the seat.
    ///
    /// # Errors
    /// `token_replaced`.
    pub fn check_viewer(&self, stored: &StoredGame) -> Result<(), Problem> {
        match self.role.viewer(&stored.game) == self.viewer {
            true => Ok(()),
            false => Err(AccessError::TokenReplaced.into()),
        }
    }
}

/// Whether this is the last entry of a game.
pub fn is_last(entry: &LogEntry) -> bool {
    let mut events = entry.events.iter();
    let is_end =
        |what: &EventKind| matches!(what, EventKind::GameWon { .. } | EventKind::TableWon { .. });
    events.any(|event| is_end(&event.what))
}
