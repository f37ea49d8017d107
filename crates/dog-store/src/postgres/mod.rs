//! The store in a PostgreSQL database, which the servers of several machines share.
//!
//! A server has a few connections, which are driven by one thread. Reads are sent over shared
//! connections without waiting for earlier answers. Two writers commit what waits in batches. One
//! task reads what all servers have changed. See docs/scaling.md.

mod changes;
mod check;
mod columns;
mod connection;
pub(super) mod copy;
mod database;
mod error;
mod inspect;
mod migrations;
mod moved;
mod reader;
mod row_state;
mod space;
mod sql;
mod statements;
mod tasks;
mod writer;

pub use self::connection::{ConnectionSettings, SettingsError};
pub(super) use self::{check::check, connection::Purpose, database::PgDatabase, inspect::inspect};
