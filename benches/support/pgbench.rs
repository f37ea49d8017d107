//! A PostgreSQL cluster to measure on, and PostgreSQL's own benchmark.

use std::{env, process::Command};

use dog_cluster::{Cluster, ClusterOptions, TestDatabase};

/// A cluster whose commits are on the disk; `None`, with a message, on a machine without PostgreSQL.
pub fn durable_cluster() -> Option<Cluster> {
    Cluster::start(&ClusterOptions {
        durable: true,
        settings: vec![("shared_buffers", "256MB".to_owned())],
        ..ClusterOptions::default()
    })
}

/// Runs pgbench with these options, and returns what it prints.
pub fn pgbench(database: &TestDatabase, options: &[&str]) -> String {
    let program = env::var("DOG_TEST_PGBENCH").unwrap_or("pgbench".to_owned());
    let output = Command::new(program)
        .args(options)
        .arg(database.url())
        .output();
    let output = output.expect("pgbench runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{output:?}");
    printed
}
