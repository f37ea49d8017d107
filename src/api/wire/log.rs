//! A game's log, one entry a version, as a viewer may see it.

use dog_rules::{
    event::{Event, Viewer},
    game::{Game, Phase},
    options::Rules,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::event::EventView;
use crate::store::LogEntry;

/// How one version of a game came to be.
#[derive(Serialize, ToSchema)]
#[schema(as = LogEntry)]
pub struct LogEntryView {
    /// The version that the action led to; creation is 1.
    #[schema(minimum = 1)]
    version: u64,
    #[schema(format = DateTime)]
    at: String,
    /// What came of the action, as the viewer may see it: in the history of a finished game with
    /// nothing hidden.
    #[schema(min_items = 1)]
    events: Vec<EventView>,
}

impl LogEntryView {
    /// The entry as this viewer may see it while the game is on.
    pub fn new(rules: &Rules, entry: &LogEntry, viewer: Viewer) -> LogEntryView {
        let view = |event: &Event| EventView::new(rules, event.clone(), viewer);
        LogEntryView {
            version: entry.version,
            at: entry.at.to_string(),
            events: entry.events.iter().map(view).collect(),
        }
    }

    /// An entry of this game's log as this viewer may see it: in full once the game is over.
    pub fn of(game: &Game, entry: &LogEntry, viewer: Viewer) -> LogEntryView {
        match game.phase() {
            Phase::Finished => {
                let (at, events) = (entry.at.to_string(), entry.events.clone());
                LogEntryView::in_full(game.rules(), entry.version, at, events)
            }
            _ => LogEntryView::new(game.rules(), entry, viewer),
        }
    }

    /// An entry with nothing hidden.
    pub fn in_full(rules: &Rules, version: u64, at: String, events: Vec<Event>) -> LogEntryView {
        let view = |event| EventView::in_full(rules, event);
        LogEntryView {
            version,
            at,
            events: events.into_iter().map(view).collect(),
        }
    }
}
