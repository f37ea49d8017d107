//! Deals, exchanges cards and plays for bots, and for players whose time is up.
//!
//! Memory holds only which games the threads of this process work on. The store says in which games
//! the server is to act, so after a crash this process, or another one, continues where it stopped.
//! A decision is made outside any request, from the seat's own view of the game. It is committed a
//! fixed time after the thinking began, and only if the game is still at the same version.

mod commit;
mod context;
mod decide;
mod scheduler;
mod workers;

pub use self::workers::BotWorkers;
