//! A game's log, one entry a version, as a viewer may see it.

use serde::Serialize;
use utoipa::ToSchema;

use super::event::EventView;
use crate::{
    rules::{event::Viewer, options::Rules},
    store::LogEntry,
};

/// How one version of a game came to be, as this viewer may see it.
#[derive(Serialize, ToSchema)]
#[schema(as = LogEntry)]
pub struct LogEntryView {
    /// The version that the action led to; creation is 1.
    #[schema(minimum = 1)]
    version: u64,
    #[schema(format = DateTime)]
    at: String,
    /// What came of the action.
    events: Vec<EventView>,
}

impl LogEntryView {
    /// The entry as this viewer may see it while the game is on.
    pub fn new(rules: &Rules, entry: &LogEntry, viewer: Viewer) -> LogEntryView {
        let view = |event| EventView::new(rules, event, viewer);
        LogEntryView {
            version: entry.version,
            at: entry.at.to_string(),
            events: entry.events.iter().cloned().map(view).collect(),
        }
    }
}
