//! PostgreSQL's own benchmark.

use std::{env, process::Command};

use dog_cluster::TestDatabase;

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
