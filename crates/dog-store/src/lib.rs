//! Storage of games. Queries and writes are values: no database type leaves this module.
//!
//! A caller loads a game, computes a change, and [commits](Store::commit) it. If the game has
//! changed in the meantime, the write is [stale](CommitResult::Stale): it changes nothing, and the
//! caller loads the game again. A write that is reported as done is on disk.
//!
//! There are two kinds of stores with the same guarantees: an SQLite file, for the processes of one
//! machine, and a PostgreSQL database, for those of several. Reads are `async` because PostgreSQL
//! answers them over a network. Those of SQLite run on the caller's thread and never wait for a
//! write. Reading a game takes some microseconds.

mod check;
mod client_data;
mod config;
mod copied_tables;
mod copy;
mod deflate;
mod error;
mod feed;
mod finding;
mod game_log;
mod game_row;
mod id;
mod list;
mod location;
mod matches;
mod metrics;
mod postgres;
mod presence;
mod rare_warning;
mod reaction;
mod retention;
mod review;
mod row;
mod schema;
mod seating;
mod sqlite;
mod store;
mod stored_game;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod thread;
mod tokens;
mod write;

pub use self::{
    check::{CheckReport, Defect},
    client_data::{ClientData, SeatData},
    config::StoreConfig,
    copied_tables::CopyError,
    copy::{CopyReport, copy},
    error::StoreError,
    feed::Feed,
    finding::{Findings, Verdict},
    game_log::{LogEntry, LogPage, PackedLog},
    id::{Creator, GameId, GameIdError},
    location::Location,
    matches::{MatchPair, MatchSetup, MatchSide, MatchTable, NewMatch, StoredMatch, TableResult},
    metrics::{GameCounts, Sizes, SpaceUsage, StoreMetrics},
    postgres::{ConnectionSettings, SettingsError},
    presence::{LEASE, Lease, ProcessId, RENEWAL, RETURN_TIME, SeatPresence},
    rare_warning::RareWarning,
    reaction::{MAX_REACTIONS, REACTION_TIME, REACTION_WINDOW, Reaction, RecentReaction},
    retention::{ExpiredBatch, ExpiredGame, RetentionPolicy, RetentionTime},
    review::{
        ClaimedReview, REVIEW_CLAIM, ReviewLimits, ReviewRequest, ReviewStatus, StoredReview,
    },
    seating::{JoinPolicy, OpenedBy, SeatAccess, Seating, StartPolicy, WAIT_FOR_OTHERS},
    sqlite::{BackupError, BackupReport, backup, dated, restore, verify_file},
    store::Store,
    stored_game::{
        AdminChanges, CLOCK_TOLERANCE, Change, ChangesSince, Cursor, DueByCreator, ExpectedState,
        GameHead, GamePage, LimitReached, ListQuery, MAX_ADMIN_CHANGES, MAX_PLAY_VERSIONS,
        StoredGame, Timing, now,
    },
    thread::JoinedThread,
    tokens::{TokenHash, Tokens},
    write::{
        CommitResult, Draft, DraftError, LoadedGame, NewGame, NewTicket, SavedResponse, Scope,
        TICKET_TTL, Write, WriteOp,
    },
};
