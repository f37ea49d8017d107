//! Faults of the database while a node serves: it says that it is unavailable, and goes on by itself
//! when the fault is over.

use std::{
    fs, iter,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use dog_cluster::{Cluster, TestDatabase};
use serde_json::json;

use crate::{
    node::{node_on, own_cluster},
    support::{
        SmallDisk, Stream, TIMEOUT, TestGame, TestRequest, TestResponse, TestServer, TestViewer::*,
        wait_until,
    },
};

/// A key that cannot be guessed.
const KEY: &str = "Zk3vQ9xT1bN7cR5wY8mLpA";

/// A node on a cluster of its own, with a game and a stream of it.
struct FaultScene<'a> {
    game: TestGame<'a>,
    stream: Stream,
    node: &'a TestServer,
    database: &'a TestDatabase,
    cluster: &'a Cluster,
}

/// Shows a node on this cluster, unless there is none.
fn on(
    cluster: Option<Cluster>,
    prepare: impl FnOnce(&Cluster, &TestDatabase),
    show: impl FnOnce(FaultScene<'_>),
) {
    let Some(cluster) = cluster else { return };
    let database = cluster.database();
    prepare(&cluster, &database);
    let node = node_on(&database.url());
    let game = TestGame::fixed(&node);
    let scene = FaultScene {
        stream: game.events_after(Spectator, 0),
        game,
        node: &node,
        database: &database,
        cluster: &cluster,
    };
    scene.next_change_is(1);
    show(scene);
}

/// The same on a cluster of its own.
fn with_node(show: impl FnOnce(FaultScene<'_>)) {
    on(own_cluster(), |_, _| {}, show);
}

/// Whether the store is unavailable. An answer must not be any other failure of the server.
fn is_unavailable(answer: &TestResponse) -> bool {
    let status = answer.status;
    if status == 503 {
        answer.clone().refused("unavailable");
    } else {
        assert!(status < 500, "{}: {status} {}", answer.what, answer.text());
    }
    status == 503
}

impl<'a> FaultScene<'a> {
    /// Runs SQL, and ends the sessions of the node, which then connects again.
    fn change(&self, sql: &str) {
        self.cluster.psql("postgres", sql);
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'dog'";
        self.cluster.psql("postgres", end);
    }

    fn creation(&self) -> TestRequest<'a> {
        self.node.post("/v1/games").json(&json!({}))
    }

    fn renewal(&self) -> TestRequest<'a> {
        self.game.post(Host, "/seats/0/token")
    }

    /// Waits until writes are refused, and the node says so.
    fn writes_are_refused(&self) {
        self.node.wait_until_ready(false);
        for write in [self.creation(), self.renewal()] {
            wait_until("writes are refused", || {
                is_unavailable(&write.clone().send())
            });
        }
        self.node.get("/healthz").send().expect(200);
    }

    /// Waits until reads are refused, too.
    fn reads_are_refused(&self) {
        let reads = [
            self.game.get(Spectator, ""),
            self.game.get(Spectator, "/history"),
            self.node.get("/v1/games"),
        ];
        for read in reads {
            wait_until("reads are refused", || is_unavailable(&read.clone().send()));
        }
    }

    /// Waits until all is well. The stream, which was open all the time, shows it too.
    fn all_is_well(&self) {
        self.node.wait_until_ready(true);
        wait_until("a game is created", || {
            let answer = self.creation().send();
            !is_unavailable(&answer) && answer.status == 201
        });
        wait_until("a token is renewed", || {
            !is_unavailable(&self.renewal().send())
        });
        self.next_change_is(self.game.version());
    }

    /// Reads the stream up to this version.
    fn next_change_is(&self, version: u64) {
        while self.stream.next().expect("the stream goes on").version() != version {}
    }
}

#[test]
fn a_database_that_is_down_is_waited_for() {
    with_node(|scene| {
        for fail in [Cluster::stop, Cluster::kill] {
            fail(scene.cluster);
            scene.writes_are_refused();
            scene.reads_are_refused();
            scene.cluster.start_again();
            scene.all_is_well();
        }
        // A hundred tries to connect do not make a hundred lines.
        let log = scene.node.log();
        let tries = log.lines().filter(|line| line.contains("cannot connect"));
        assert!(tries.count() < 50, "{log}");
    });
}

#[test]
fn a_database_that_hangs_is_waited_for() {
    with_node(|scene| {
        scene.cluster.freeze();
        let renewal = scene.renewal().key(KEY);
        let answer = thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let answers = iter::repeat_with(|| renewal.clone().send());
                let started = Instant::now();
                let mut answers = answers.take_while(|_| started.elapsed() < TIMEOUT);
                answers.find(|answer| !is_unavailable(answer))
            });
            scene.node.wait_until_ready(false);
            scene.reads_are_refused();
            scene.cluster.thaw();
            waiting.join().ok().flatten().expect("an answer")
        });
        renewal.send().assert_repeats(&answer);
        assert_eq!(answer.expect(200)["version"], 2, "it was carried out once");
        scene.all_is_well();
    });
}

#[test]
fn a_database_that_becomes_read_only_is_waited_for() {
    with_node(|scene| {
        let name = scene.database.name();
        let set = format!("ALTER DATABASE {name} SET default_transaction_read_only =");
        scene.change(&format!("{set} on"));
        scene.writes_are_refused();
        scene.cluster.psql("postgres", &format!("{set} off"));
        scene.all_is_well();
    });
}

#[test]
fn rights_that_are_taken_away_are_waited_for() {
    with_node(|scene| {
        let all = "ALL ON ALL TABLES IN SCHEMA public";
        scene.database.psql(&format!("REVOKE {all} FROM dog"));
        scene.writes_are_refused();
        scene.reads_are_refused();
        scene.database.psql(&format!("GRANT {all} TO dog"));
        scene.all_is_well();
    });
}

#[test]
fn a_lack_of_connections_is_waited_for() {
    with_node(|scene| {
        scene.change("ALTER ROLE dog CONNECTION LIMIT 3");
        // However few connections remain, each request is answered, some with 503.
        let calls = [
            scene.node.get("/readyz"),
            scene.creation(),
            scene.game.get(Spectator, ""),
            scene.renewal(),
        ];
        let mut refused = 0;
        wait_until("something is refused", || {
            refused += calls
                .iter()
                .filter(|call| is_unavailable(&(*call).clone().send()))
                .count();
            refused > 10
        });
        scene.change("ALTER ROLE dog CONNECTION LIMIT 0");
        scene.writes_are_refused();
        scene.reads_are_refused();
        let unlimited = "ALTER ROLE dog CONNECTION LIMIT -1";
        scene.cluster.psql("postgres", unlimited);
        scene.all_is_well();
    });
}

#[test]
fn a_full_disk_is_waited_for() {
    let Some(cluster) = own_cluster() else { return };
    let folder = cluster.folder().join("small");
    fs::create_dir(&folder).expect("a folder");
    let Some(disk) = SmallDisk::mount(&folder) else {
        return;
    };
    let prepare = |cluster: &Cluster, database: &TestDatabase| {
        let (disk, name) = (disk.0.join("space"), database.name());
        fs::create_dir(&disk).expect("a folder");
        let mut chown = Command::new("chown");
        chown.arg("--reference").arg(cluster.folder().join("data"));
        assert!(chown.arg(&disk).status().expect("chown").success());
        let location = disk.display();
        for sql in [
            format!("CREATE TABLESPACE small LOCATION '{location}'"),
            format!("ALTER DATABASE {name} SET TABLESPACE small"),
        ] {
            cluster.psql("postgres", &sql);
        }
    };
    on(Some(cluster), prepare, |scene| {
        disk.fill();
        // What fits into pages that exist is still written.
        wait_until("there is no room for a game", || {
            let answer = scene.creation().send();
            let status = answer.status;
            if status == 507 {
                answer.refused("database_full");
            }
            status == 507
        });
        scene.game.view(Spectator);
        let log = scene.node.log();
        assert!(log.contains("the disk is full"), "{log}");
        disk.make_room();
        thread::sleep(Duration::from_millis(100));
        scene.all_is_well();
    });
}
