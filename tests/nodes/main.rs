//! Several `dog` processes on one PostgreSQL database: games across nodes, nodes that are killed,
//! failovers of the database, starts and faults. Each test has its own database or cluster.
//! Without PostgreSQL the tests are skipped.

mod support;

mod across;
mod bots;
mod failover;
mod faults;
mod kills;
mod load;
mod proxy;
mod secrets;
mod start;
