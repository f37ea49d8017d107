//! Nodes that start, and nodes that cannot.

use std::thread;

use dog_cluster::{Cluster, PASSWORD};

use crate::{
    node::{database, node_on, own_cluster, refusal},
    support::{TestGame, TestServer, wait_until},
};

/// Asserts that a node does not start on the database with this URL, and says why.
#[track_caller]
fn is_refused(url: &str, reason: &str) {
    let log = refusal(&[("DOG_DATABASE", url)]);
    assert!(log.contains(reason), "{reason:?} is not in {log}");
}

#[test]
fn eight_nodes_start_at_once_on_an_empty_database() {
    let Some(database) = database() else { return };
    let url = database.url();
    let nodes: Vec<TestServer> = thread::scope(|scope| {
        let starting = [(); 8].map(|()| scope.spawn(|| node_on(&url)));
        starting.map(|node| node.join().expect("a node")).into()
    });
    let migrated = |node: &&TestServer| node.log().contains("database schema: version");
    assert_eq!(nodes.iter().filter(migrated).count(), 1);
    assert_eq!(database.psql("SELECT count(*) FROM schema_version"), "1");
    assert_eq!(database.psql("SELECT count(*) FROM creator_key"), "1");
    for node in &nodes {
        TestGame::with_bots(node, "greedy", 0);
        node.get("/readyz").send().expect(200);
    }
}

#[test]
fn a_newer_schema_is_refused() {
    let Some(database) = database() else { return };
    drop(node_on(&database.url()));
    database.psql("UPDATE schema_version SET version = 99");
    is_refused(&database.url(), "schema version 99");
    assert_eq!(database.psql("SELECT version FROM schema_version"), "99");
}

#[test]
fn wrong_names_and_passwords_are_refused() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    let refused = |there: &str, wrong: &str, reason: &str| {
        is_refused(&database.url().replace(there, wrong), reason);
    };
    refused(PASSWORD, "guessed", "failed for user \"dog\"");
    refused(&format!(":{PASSWORD}"), "", "password");
    refused("//dog:", "//nobody:", "failed for user \"nobody\"");
    refused(database.name(), "missing", "\"missing\" does not exist");
    refused("127.0.0.1", "db.invalid", "at db.invalid: the database");
    // Nothing listens at that port.
    refused(&cluster.port().to_string(), "1", "Connection refused");
}

#[test]
fn a_role_with_too_few_rights_is_refused() {
    let Some(cluster) = own_cluster() else { return };
    let database = cluster.database();
    database.psql(&format!("CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'"));
    let url = database.url().replace("//dog:", "//guest:");
    is_refused(&url, "permission denied for schema public");
    drop(node_on(&database.url()));
    is_refused(&url, "permission denied for table schema_version");
}

#[test]
fn a_database_that_cannot_be_written_is_refused() {
    let Some(cluster) = own_cluster() else { return };
    let standby = Cluster::standby_of(&cluster);
    let database = cluster.database();
    wait_until("the standby has the database", || {
        standby.try_psql(database.name(), "SELECT").is_ok()
    });
    is_refused(&database.url_on(&[&standby]), "read-only");
    let name = database.name();
    let set = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    cluster.psql("postgres", &set);
    is_refused(&database.url(), "read-only");
}

#[test]
fn a_database_of_another_encoding_is_refused() {
    let Some(database) = database() else { return };
    let latin = format!("{}_latin", database.name());
    let options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 OWNER dog";
    database.psql(&format!("CREATE DATABASE {latin} {options}"));
    let url = database.url().replace(database.name(), &latin);
    is_refused(&url, "its encoding is LATIN1, and must be UTF8");
    database.psql(&format!("DROP DATABASE {latin}"));
}

#[test]
fn the_timeouts_of_a_role_or_database_do_not_apply() {
    let Some(database) = database() else { return };
    let timeouts = [
        "statement",
        "idle_in_transaction_session",
        "idle_session",
        "lock",
    ];
    let alter = format!("ALTER DATABASE {} SET", database.name());
    let set = timeouts.map(|one| format!("{alter} {one}_timeout = 200;"));
    database.psql(&set.concat());
    let node = node_on(&database.url());
    // A write that waits for longer.
    let lock = "LOCK TABLE games IN EXCLUSIVE MODE; SELECT pg_sleep(1)";
    let lock = format!("SET statement_timeout = 0; BEGIN; {lock}; COMMIT");
    let is_locked = "SELECT count(*) > 0 FROM pg_locks \
                     WHERE mode = 'ExclusiveLock' AND relation = 'games'::regclass";
    thread::scope(|scope| {
        scope.spawn(|| database.psql(&lock));
        wait_until("the table is locked", || database.psql(is_locked) == "t");
        TestGame::with_bots(&node, "greedy", 0);
    });
}

#[test]
fn too_few_connections_are_refused() {
    let Some(cluster) = own_cluster() else { return };
    let database = cluster.database();
    cluster.psql("postgres", "ALTER ROLE dog CONNECTION LIMIT 3");
    is_refused(&database.url(), "too many connections for role \"dog\"");
    cluster.psql("postgres", "ALTER ROLE dog CONNECTION LIMIT -1");
    cluster.stop();
    cluster.configure("max_connections", "10");
    cluster.start_again();
    is_refused(&database.url(), "connection slots are reserved");
}
