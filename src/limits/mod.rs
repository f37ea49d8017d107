//! Limits for clients, which are checked before anything else.
//!
//! [`guard()`] refuses requests that are too large or too frequent, and those over a connection
//! beyond the limit. [`connections`] and [`io`] bound the memory of a connection, [`memory`] that
//! of all large bodies.

mod address;
pub mod announce;
pub mod connections;
pub mod framing;
mod guard;
pub mod io;
pub mod memory;
mod rates;

pub use self::{
    address::{Address, ClientAddress},
    guard::{LimitState, MAX_RECORD, guard, guard_preflight},
    rates::{Cost, Limits},
};
