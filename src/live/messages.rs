//! The messages of streams, which all readers with the same view of a change share.

use std::{fmt::Write, sync::OnceLock};

use actix_web::web::Bytes;
use dog_rules::{EventKind, Rules, Viewer, seat::MAX_SEATS};
use dog_store::{LogEntry, StoredGame};
use serde::Serialize;

use crate::{
    access::{AccessError, Caller, Role},
    api::{
        change::{ChangeView, Include, first_view},
        event::LogEntryView,
    },
    http::problem::Problem,
    limits::ClientAddress,
};

/// Maximum bytes of a message that is kept for other streams. A longer one lists the moves of a
/// seat, which hardly anyone else reads, and many of them would take much memory.
const MAX_SHARED_BYTES: usize = 32 << 10;

/// The format of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// An entry of a game's log, with the messages made of it.
pub struct CachedEntry {
    pub version: u64,
    /// Whether it is the last entry of the game.
    pub last: bool,
    entry: LogEntry,
    /// Each with its viewer: somebody else may have the seat now, who does not see all of it.
    sent: [[OnceLock<(Viewer, Bytes)>; MAX_SEATS + 1]; Format::ALL.len()],
}

impl CachedEntry {
    pub fn new(entry: LogEntry) -> CachedEntry {
        CachedEntry {
            version: entry.version,
            last: entry
                .events
                .iter()
                .any(|event| matches!(event.what, EventKind::GameWon { .. })),
            entry,
            sent: Default::default(),
        }
    }

    /// The entry as a message in this format, as this viewer may see it.
    pub fn message(&self, rules: &Rules, format: Format, viewer: Viewer) -> Result<Bytes, Problem> {
        let slot = match viewer {
            Viewer::Seat(seat, _) => usize::from(seat.number()),
            Viewer::Spectator => MAX_SEATS,
        };
        let sent = &self.sent[format as usize][slot];
        if let Some((reader, message)) = sent.get()
            && *reader == viewer
        {
            return Ok(message.clone());
        }
        let entry = LogEntryView::new(rules, &self.entry, viewer);
        let change = ChangeView::earlier(entry);
        let message = format.message("change", self.version, &change)?;
        let _ = sent.set((viewer, message.clone()));
        Ok(message)
    }
}

/// A game at its last version, with the messages of the change that led to it.
pub struct CurrentGame {
    pub stored: StoredGame,
    sent: [[[OnceLock<Bytes>; ROLES]; 3]; Format::ALL.len()],
}

/// The seats, the host and spectators.
const ROLES: usize = MAX_SEATS + 2;

impl CurrentGame {
    pub fn new(stored: StoredGame) -> CurrentGame {
        CurrentGame {
            stored,
            sent: Default::default(),
        }
    }

    pub fn version(&self) -> u64 {
        self.stored.game.version()
    }

    /// Whether the message for this role must list moves, and is not made yet.
    pub fn needs_moves(&self, options: StreamOptions, role: Role) -> bool {
        options.includes_moves(&self.stored, role) && self.slot(options, role).get().is_none()
    }

    fn slot(&self, options: StreamOptions, role: Role) -> &OnceLock<Bytes> {
        let role = match role {
            Role::Seat(seat) => usize::from(seat.number()),
            Role::Host => MAX_SEATS,
            Role::Spectator => MAX_SEATS + 1,
        };
        let include = options.include.map_or(0, |include| 1 + include as usize);
        &self.sent[options.format as usize][include][role]
    }

    /// The last change as a message for this reader, with the game after it. It is work for the
    /// pool if it [lists moves](CurrentGame::needs_moves).
    ///
    /// # Errors
    /// `token_replaced`, if the reader's role is now somebody else's.
    pub fn message(
        &self,
        entry: &CachedEntry,
        options: StreamOptions,
        reader: StreamReader,
    ) -> Result<Bytes, Problem> {
        let StreamReader { role, viewer, .. } = reader;
        if role.viewer(&self.stored.game) != viewer {
            return Err(AccessError::TokenReplaced.into());
        }
        let slot = self.slot(options, role);
        if let Some(message) = slot.get() {
            return Ok(message.clone());
        }
        let rules = self.stored.game.rules();
        let entry_view = LogEntryView::new(rules, &entry.entry, viewer);
        let change = ChangeView::last(entry_view, &self.stored, options.include, role)?;
        let message = options.format.message("change", entry.version, &change)?;
        if message.len() > MAX_SHARED_BYTES {
            return Ok(message);
        }
        Ok(slot.get_or_init(|| message).clone())
    }
}

#[cfg(test)]
mod tests {
    use dog_rules::{Board, Card, Cards, Game, Placement, Seat};
    use serde_json::json;

    use super::*;
    use crate::testing::{creation, new_game};

    /// A new game in which seat 0 is to play one card, with four pieces far from each other.
    fn to_play(card: Card) -> StoredGame {
        let stored = new_game();
        let rules = stored.game.rules();
        let mut placements = vec![Placement::default(); 4];
        placements[0].track = vec![5, 20, 35, 50];
        let board = Board::place(rules, &placements).unwrap();
        let hand: Cards = [card].into_iter().collect();
        let mut game = json!(*stored.game);
        game["phase"] = json!("play");
        game["turn"] = json!(0);
        game["board"] = json!(board);
        game["seats"][0]["hand"] = json!(hand);
        game["stock"] = json!(rules.deck().without(hand));
        let game: Game = serde_json::from_value(game).unwrap();
        StoredGame {
            game: game.into(),
            ..stored
        }
    }

    #[test]
    fn a_message_with_a_long_list_of_moves_is_not_kept() {
        let role = Role::Seat(Seat::default());
        let options = StreamOptions {
            format: Format::Ndjson,
            include: Some(Include::GameAndMoves),
            start: Start::Game,
            after_end: false,
        };
        for (card, is_kept) in [(Card::Five, true), (Card::Seven, false)] {
            let stored = to_play(card);
            let entry = CachedEntry::new(creation(&stored));
            let game = CurrentGame::new(stored);
            let message = |role: Role| {
                let reader = StreamReader {
                    caller: Caller::new(None),
                    role,
                    viewer: role.viewer(&game.stored.game),
                    client: ClientAddress(None),
                };
                game.message(&entry, options, reader)
            };
            let first = message(role).unwrap();
            assert_eq!(first.len() <= MAX_SHARED_BYTES, is_kept, "{}", first.len());
            let kept = game.slot(options, role).get();
            assert_eq!(kept.is_some(), is_kept);
            assert_eq!(game.needs_moves(options, role), !is_kept);
            assert_eq!(message(role).unwrap(), first);
            // The others get no list.
            message(Role::Spectator).unwrap();
            let slot = game.slot(options, Role::Spectator);
            assert!(slot.get().is_some());
        }
    }
}
