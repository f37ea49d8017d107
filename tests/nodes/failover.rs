//! The primary of a cluster fails under load, and its synchronous standby takes its place. No node is
//! started again.

use std::{
    cell::Cell,
    sync::atomic::Ordering::Relaxed,
    thread,
    time::{Duration, Instant},
};

use dog_cluster::Cluster;

use crate::{
    load::NodeLoad,
    node::{DogNodes, own_cluster},
    support::{Exposition, TestGame, TestServer, wait_until},
};

/// Answered writes before each failure and after each failover.
const ANSWERS: u64 = 200;

/// How long nodes are without a primary.
const OUTAGE: Duration = Duration::from_secs(2);

/// Two clusters, one of which is the primary, and nodes that know both.
struct FailoverScene<'a> {
    load: &'a NodeLoad<'a>,
    clusters: [&'a Cluster; 2],
}

impl FailoverScene<'_> {
    /// Has the primary of this number `fail` while clients play, and the other one take its place.
    fn fail_over(&self, primary: usize, what: &str, fail: impl FnOnce(&Cluster)) {
        let FailoverScene { load, clusters } = self;
        let (old, new) = (clusters[primary], clusters[1 - primary]);
        load.wait_for_answers(ANSWERS);
        load.ledger.take_gap();
        // Each node says that it is not ready until there is a primary again.
        self.wait_until_all_are_ready(true);
        let failed = Instant::now();
        fail(old);
        self.wait_until_all_are_ready(false);
        thread::sleep(OUTAGE);
        new.promote();
        let promoted = Instant::now();
        self.wait_until_all_are_ready(true);
        let ready = promoted.elapsed();
        load.wait_for_answers(ANSWERS);
        println!(
            "{what}: no primary for {:?}, no answered write for {:?}, all nodes ready after {ready:?}",
            promoted - failed,
            load.ledger.take_gap()
        );
    }

    fn wait_until_all_are_ready(&self, ready: bool) {
        for node in &self.load.nodes.servers {
            node.wait_until_ready(ready);
        }
    }
}

/// Plays while `happens` goes on, which returns the number of the last primary. Then all is compared.
fn under_load(seed: u64, happens: impl FnOnce(&FailoverScene<'_>) -> usize) {
    let Some(first) = own_cluster() else { return };
    let second = Cluster::standby_of(&first);
    let clusters = [&first, &second];
    let database = first.database();
    let url = database.url_on(&clusters);
    let nodes = DogNodes::start(2, database, &url);
    let load = NodeLoad::new(&nodes, seed);
    let primary = Cell::new(0);
    load.run(
        || {
            primary.set(happens(&FailoverScene {
                load: &load,
                clusters,
            }))
        },
        |sql| clusters[primary.get()].psql(nodes.database.name(), sql),
    );
    let counts = &load.ledger.counts;
    println!("{counts:?}");
    let [unavailable, cut_off, resumed] =
        [&counts.unavailable, &counts.cut_off, &load.resumed].map(|count| count.load(Relaxed));
    assert!(unavailable > 0, "nobody met the outage");
    assert_eq!(cut_off, 0, "connections that a node closed");
    assert_eq!(resumed, 0, "streams that a node ended");
    let mut servers = nodes.servers.iter();
    assert!(servers.all(TestServer::is_alive), "a node has ended");
}

#[test]
fn no_answered_write_is_lost_when_the_primary_is_killed() {
    under_load(1, |scene| {
        scene.fail_over(0, "kill -9", Cluster::kill);
        1
    });
}

#[test]
fn a_standby_for_which_commits_wait_is_named() {
    let Some(first) = own_cluster() else { return };
    let second = Cluster::standby_of(&first);
    let database = first.database();
    let url = database.url_on(&[&first, &second]);
    let nodes = DogNodes::start(1, database, &url);
    let node = nodes.at(0);
    node.wait_until_ready(true);
    second.kill();
    for what in [
        "WARN  dog_store::postgres::space] commits wait for a synchronous standby",
        "not ready: the database cannot be reached: its commits wait for a synchronous standby",
    ] {
        wait_until(what, || {
            node.get("/readyz").send();
            node.log().contains(what)
        });
    }
    let shows = |expected: [f64; 3]| {
        let names = [
            "dog_writes_possible",
            "dog_reads_only",
            "dog_database_synchronous_standby",
        ];
        Exposition::wait_for(node, |told| {
            names.map(|name| told.value(name, &[])) == expected
        });
    };
    shows([0.0, 1.0, 1.0]);
    second.start_again();
    node.wait_until_ready(true);
    shows([1.0, 0.0, 1.0]);
    // The operator gives the standby up.
    first.psql(
        "postgres",
        "ALTER SYSTEM SET synchronous_standby_names = ''",
    );
    first.psql("postgres", "SELECT pg_reload_conf()");
    shows([1.0, 0.0, 0.0]);
}

#[test]
fn idle_connections_leave_a_primary_that_hangs() {
    let Some(first) = own_cluster() else { return };
    let second = Cluster::standby_of(&first);
    let database = first.database();
    let url = database.url_on(&[&first, &second]);
    let nodes = DogNodes::start(1, database, &url);
    let connections = |cluster: &Cluster| {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dog-server'";
        let count = cluster.psql("postgres", sql);
        count.parse::<u32>().expect("a number")
    };
    let all = connections(&first);
    first.freeze();
    second.promote();
    // That of background work may take long, so it is given more time.
    wait_until("connections are to the new primary", || {
        connections(&second) + 1 >= all
    });
    TestGame::with_bots(nodes.at(0), "greedy", 0);
}

#[test]
#[ignore = "takes a while"]
fn no_answered_write_is_lost_when_the_primary_hangs() {
    under_load(2, |scene| {
        scene.fail_over(0, "SIGSTOP", Cluster::freeze);
        1
    });
}

#[test]
#[ignore = "takes a while"]
fn no_answered_write_is_lost_when_the_primary_is_stopped() {
    under_load(3, |scene| {
        scene.fail_over(0, "stop", Cluster::stop);
        1
    });
}

#[test]
#[ignore = "takes a while"]
fn no_answered_write_is_lost_by_a_failover_there_and_back() {
    under_load(4, |scene| {
        let [first, second] = scene.clusters;
        scene.fail_over(0, "there", Cluster::kill);
        first.rewind_from(second);
        scene.fail_over(1, "back", Cluster::kill);
        0
    });
}
