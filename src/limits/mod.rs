//! Limits for clients, which are checked before anything else.
//!
//! [`guard()`] refuses requests that are too large or too frequent, and those over a connection
//! beyond the limit. [`streams`] counts what waits. [`connections`] and [`io`] bound the memory of a
//! connection, [`memory`] that of all large bodies.

mod address;
pub mod connections;
pub mod framing;
pub mod gates;
mod guard;
pub mod io;
pub mod memory;
mod rates;
pub mod streams;

pub use self::{
    address::{Address, ClientAddress, is_forwarded},
    guard::{LimitState, MAX_RECORD, guard, guard_preflight},
    rates::{Cost, Limits, seconds},
};
