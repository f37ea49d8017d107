//! Nodes that start, and nodes that cannot.

use std::thread;

use dog_cluster::{Cluster, ClusterOptions, PASSWORD};

use crate::support::{Call, DogNode, NodeTable, refusal, wait_until};

/// Why a node does not start on the database with this URL.
#[track_caller]
fn why_not(url: &str) -> String {
    refusal(&[("DOG_DATABASE", url)])
}

#[track_caller]
fn assert_says(log: &str, text: &str) {
    assert!(log.contains(text), "{text:?} is not in {log}");
}

#[test]
fn eight_nodes_start_at_once_on_an_empty_database() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    let url = database.url();
    let nodes: Vec<DogNode> = thread::scope(|scope| {
        let start = || DogNode::start(&[("DOG_DATABASE", &url)]);
        let starting: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        let started = starting.into_iter();
        started
            .map(|node| node.join().expect("a node that serves"))
            .collect()
    });
    let migrated = |node: &&DogNode| node.log().contains("database schema: version");
    assert_eq!(nodes.iter().filter(migrated).count(), 1);
    assert_eq!(database.psql("SELECT count(*) FROM schema_version"), "1");
    assert_eq!(database.psql("SELECT count(*) FROM creator_key"), "1");
    for node in &nodes {
        NodeTable::of_bots(node.url(), 0);
        Call::get("/readyz").send(node.url()).expect(200);
    }
}

#[test]
fn a_newer_schema_is_refused() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    drop(DogNode::start(&[("DOG_DATABASE", &database.url())]));
    database.psql("UPDATE schema_version SET version = 99");
    assert_says(&why_not(&database.url()), "schema version 99");
    assert_eq!(database.psql("SELECT version FROM schema_version"), "99");
}

#[test]
fn wrong_names_and_passwords_are_refused() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    let url = database.url();
    let wrong = why_not(&url.replace(PASSWORD, "guessed"));
    assert_says(&wrong, "password authentication failed for user \"dog\"");
    assert!(!wrong.contains("guessed"), "{wrong}");
    let no_password = why_not(&url.replace(&format!(":{PASSWORD}"), ""));
    assert_says(&no_password, "password");
    let no_role = why_not(&url.replace("//dog:", "//nobody:"));
    assert_says(
        &no_role,
        "password authentication failed for user \"nobody\"",
    );
    let no_database = why_not(&url.replace(database.name(), "missing"));
    assert_says(&no_database, "database \"missing\" does not exist");
    let no_host = why_not(&url.replace("127.0.0.1", "db.invalid"));
    assert_says(&no_host, "at db.invalid: the database cannot be reached");
    // Nothing listens at that port.
    let no_server = why_not(&url.replace(&cluster.port().to_string(), "1"));
    assert_says(&no_server, "Connection refused");
}

#[test]
fn a_role_with_too_few_rights_is_refused() {
    let Some(cluster) = Cluster::start(&ClusterOptions::default()) else {
        return;
    };
    let database = cluster.database();
    database.psql(&format!("CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'"));
    let url = database.url().replace("//dog:", "//guest:");
    assert_says(&why_not(&url), "permission denied for schema public");
    drop(DogNode::start(&[("DOG_DATABASE", &database.url())]));
    assert_says(&why_not(&url), "permission denied for table schema_version");
}

#[test]
fn a_database_that_cannot_be_written_is_refused() {
    let Some(cluster) = Cluster::start(&ClusterOptions::default()) else {
        return;
    };
    let standby = Cluster::standby_of(&cluster);
    let database = cluster.database();
    wait_until("the standby has the database", || {
        standby.try_psql(database.name(), "SELECT").is_ok()
    });
    let on_standby = why_not(&database.url_on(&[&standby]));
    assert_says(&on_standby, "read-only");
    let name = database.name();
    let set = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    cluster.psql("postgres", &set);
    assert_says(&why_not(&database.url()), "read-only");
}

#[test]
fn a_database_of_another_encoding_is_refused() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    let latin = format!("{}_latin", database.name());
    cluster.psql(
        "postgres",
        &format!(
            "CREATE DATABASE {latin} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 OWNER dog"
        ),
    );
    let why = why_not(&database.url().replace(database.name(), &latin));
    cluster.psql("postgres", &format!("DROP DATABASE {latin}"));
    assert_says(&why, "its encoding is LATIN1, and must be UTF8");
}

#[test]
fn the_timeouts_of_a_role_or_database_do_not_apply() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    for timeout in [
        "statement",
        "idle_in_transaction_session",
        "idle_session",
        "lock",
    ] {
        let set = format!(
            "ALTER DATABASE {} SET {timeout}_timeout = 200",
            database.name()
        );
        cluster.psql("postgres", &set);
    }
    let node = DogNode::start(&[("DOG_DATABASE", &database.url())]);
    // A write that waits for longer.
    let lock = "LOCK TABLE games IN EXCLUSIVE MODE; SELECT pg_sleep(1)";
    let lock = format!("SET statement_timeout = 0; BEGIN; {lock}; COMMIT");
    let is_locked = "SELECT count(*) > 0 FROM pg_locks \
                     WHERE mode = 'ExclusiveLock' AND relation = 'games'::regclass";
    thread::scope(|scope| {
        scope.spawn(|| database.psql(&lock));
        wait_until("the table is locked", || database.psql(is_locked) == "t");
        NodeTable::of_bots(node.url(), 0);
    });
}

#[test]
fn too_few_connections_are_refused() {
    let Some(cluster) = Cluster::start(&ClusterOptions::default()) else {
        return;
    };
    let database = cluster.database();
    cluster.psql("postgres", "ALTER ROLE dog CONNECTION LIMIT 3");
    let by_role = why_not(&database.url());
    assert_says(&by_role, "too many connections for role \"dog\"");
    cluster.psql("postgres", "ALTER ROLE dog CONNECTION LIMIT -1");
    cluster.stop();
    cluster.configure("max_connections", "10");
    cluster.start_again();
    let by_server = why_not(&database.url());
    assert_says(&by_server, "connection slots are reserved");
}
