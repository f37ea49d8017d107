//! What is copied, and why it may fail.

use std::io;

use thiserror::Error;

use crate::{
    StoreError,
    row::{
        Cell,
        ColumnKind::{self, Bool, Bytes, Int, Text},
        Row,
    },
};

/// The tables in which a moved store takes no writes.
pub(crate) const MARKED_TABLES: [&str; 8] = [
    "games",
    "log",
    "packed_log",
    "idempotency",
    "reviews",
    "matches",
    "match_tables",
    "probe",
];

/// A table that is copied.
pub(crate) struct CopiedTable {
    pub name: &'static str,
    pub columns: &'static [(&'static str, ColumnKind)],
    /// The rows, as the rest of a query.
    rows: &'static str,
    /// The order in which they are copied, which both kinds of stores agree on.
    order: &'static str,
}

/// All that is copied. The games come first, because other rows refer to them.
pub(crate) const TABLES: [CopiedTable; 8] = [
    CopiedTable {
        name: "games",
        columns: &[
            ("row_id", Int),
            ("id", Text),
            ("version", Int),
            ("phase", Text),
            ("listed", Bool),
            ("reactions", Bool),
            ("imported", Bool),
            ("is_for_people", Bool),
            ("anyone_may_join", Bool),
            ("at_limit", Bool),
            ("packed", Bool),
            ("created_at", Int),
            ("updated_at", Int),
            ("bot_pace_ms", Int),
            ("turn_seconds", Int),
            ("deadline", Int),
            ("due_at", Int),
            ("skips_to_deal", Bool),
            ("admin_changes", Int),
            ("token_renewals", Int),
            ("unique_key", Text),
            ("creator", Bytes),
            ("token_hashes", Bytes),
            ("seating", Text),
            ("data", Text),
            ("snapshot", Text),
            ("listed_until", Int),
            ("match_id", Text),
            ("match_table", Int),
            ("match_closed", Bool),
        ],
        rows: "games WHERE games.phase <> 'removed'",
        order: "games.row_id",
    },
    CopiedTable {
        name: "log",
        columns: &[
            ("game", Int),
            ("version", Int),
            ("at", Int),
            ("action", Text),
            ("events", Text),
        ],
        rows: "games JOIN log ON log.game = games.row_id WHERE games.phase <> 'removed'",
        order: "log.game, log.version",
    },
    CopiedTable {
        name: "packed_log",
        columns: &[("game", Int), ("first_version", Int), ("entries", Bytes)],
        rows: "games JOIN packed_log ON packed_log.game = games.row_id \
               WHERE games.phase <> 'removed'",
        order: "packed_log.game, packed_log.first_version",
    },
    CopiedTable {
        name: "idempotency",
        columns: &[
            ("scope", Bytes),
            ("body_hash", Bytes),
            ("response", Bytes),
            ("created_at", Int),
        ],
        rows: "idempotency",
        order: "idempotency.scope",
    },
    CopiedTable {
        name: "reviews",
        columns: &[
            ("game", Int),
            ("creator", Bytes),
            ("asked_at", Int),
            ("status", Text),
            ("content", Bytes),
        ],
        rows: "games JOIN reviews ON reviews.game = games.row_id WHERE games.phase <> 'removed'",
        order: "reviews.game",
    },
    CopiedTable {
        name: "matches",
        columns: &[
            ("id", Text),
            ("created_at", Int),
            ("host_token", Bytes),
            ("ended", Bool),
            ("setup", Text),
        ],
        rows: "matches",
        order: "matches.id",
    },
    CopiedTable {
        name: "match_tables",
        columns: &[
            ("match_id", Text),
            ("number", Int),
            ("game", Text),
            ("seed", Text),
            ("result", Text),
        ],
        rows: "match_tables",
        order: "match_tables.match_id, match_tables.number",
    },
    // One row. With the same key, the hashes of creators stay valid.
    CopiedTable {
        name: CREATOR_KEY,
        columns: &[("key", Bytes)],
        rows: CREATOR_KEY,
        order: "creator_key.key",
    },
];

/// The table of the creators' key. A new store has it too.
pub(crate) const CREATOR_KEY: &str = "creator_key";

impl CopiedTable {
    /// The query of all rows in their order.
    pub fn select(&self) -> String {
        let columns = self
            .columns
            .iter()
            .map(|(column, _)| format!("{}.{column}", self.name));
        let columns = columns.collect::<Vec<_>>().join(", ");
        format!(
            "SELECT {columns} FROM {} ORDER BY {}",
            self.rows, self.order
        )
    }

    /// The query of the number of rows.
    pub fn count(&self) -> String {
        format!("SELECT count(*) FROM {}", self.rows)
    }

    /// The values of a row.
    ///
    /// # Errors
    /// One of them is not of the kind of its column.
    pub fn cells<'r>(&self, row: Row<'r>) -> Result<Vec<Cell<'r>>, StoreError> {
        let columns = self.columns.iter().enumerate();
        let cells = columns.map(|(index, &(_, kind))| row.cell(index, kind));
        cells.collect()
    }

    /// The names of the columns, separated by commas.
    pub fn column_names(&self) -> String {
        let names = self.columns.iter().map(|&(column, _)| column);
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Why a store was not copied.
#[derive(Debug, Error)]
pub enum CopyError {
    #[error("the target has games already, or saved responses; it was not changed")]
    NotEmpty,
    #[error("there is a file already; it was not changed")]
    Exists,
    #[error("the copy cannot be written: {0}")]
    Write(#[from] io::Error),
    #[error("the source: {0}")]
    Source(#[source] StoreError),
    #[error("the target: {0}")]
    Target(#[source] StoreError),
    #[error("the copy differs from the source in the table {0}; nothing was kept of it")]
    Differs(&'static str),
    #[error(
        "the connection was lost at the end, and the copy may be complete or not there at all. The \
         source is not marked as moved. If the target has games, empty it and copy again: {0}"
    )]
    Unknown(#[source] StoreError),
    #[error(
        "the copy is complete, but the source may not be marked as moved, so that servers would go \
         on writing there. If one still starts on the source, remove the copy and copy again: {0}"
    )]
    NotMarked(#[source] StoreError),
}
