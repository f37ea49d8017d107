//! Private PostgreSQL clusters for tests and benches.
//!
//! A cluster needs nothing but PostgreSQL's programs: it has a temporary folder, a free port and a
//! process of its own. When the process that started it ends, in any way, PostgreSQL stops and the
//! folder is removed. Whatever goes wrong here panics, with the end of PostgreSQL's log.
//!
//! `DOG_TEST_PG_BIN` names the folder of the programs if they are not found by themselves, and
//! `DOG_TEST_PG_FOLDER` a folder for the clusters, which the user `postgres` can reach if tests run
//! as root. Only Linux is supported.

mod cluster;
mod database;
mod failover;
mod node;
mod programs;
mod supervisor;

pub use cluster::{Cluster, ClusterOptions};
pub use database::{PASSWORD, TestDatabase};
pub use programs::{available, psql};
