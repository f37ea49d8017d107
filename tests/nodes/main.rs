//! Several `dog` processes on one PostgreSQL database: games across nodes, nodes that are killed,
//! failovers of the database, starts and faults. Each test has its own database or cluster.
//! Without PostgreSQL the tests are skipped.

#[path = "../http/ledger.rs"]
mod ledger;
#[path = "../http/support/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the tests of one server use more of it"
)]
mod support;

mod across;
mod bots;
mod failover;
mod faults;
mod kills;
mod load;
mod node;
mod proxy;
mod secrets;
mod start;
