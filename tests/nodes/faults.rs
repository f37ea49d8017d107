//! Faults of the database while a node serves: it says that it is unavailable, and goes on by itself
//! when the fault is over.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use dog_cluster::{Cluster, TestDatabase};
use serde_json::{Value, json};

use crate::support::{Call, DogNode, NodeStream, NodeTable, Who::*, own_cluster, wait_until};

/// A key that cannot be guessed.
const KEY: &str = "Zk3vQ9xT1bN7cR5wY8mLpA";

/// A node on a cluster of its own, with a game and a stream of it.
struct FaultScene {
    // It uses the database, which is on the cluster: they end in this order.
    node: DogNode,
    stream: NodeStream,
    game: NodeTable,
    database: TestDatabase,
    cluster: Cluster,
}

fn start() -> Option<FaultScene> {
    Some(FaultScene::on(own_cluster()?, |_, _| {}))
}

impl FaultScene {
    fn on(cluster: Cluster, prepare: impl FnOnce(&Cluster, &TestDatabase)) -> FaultScene {
        let database = cluster.database();
        prepare(&cluster, &database);
        let node = DogNode::start(&[("DOG_DATABASE", &database.url())]);
        let game = NodeTable::create(node.url(), json!({"first_dealer": 0}));
        let stream = game.stream(Spectator, node.url());
        let mut scene = FaultScene {
            node,
            stream,
            game,
            database,
            cluster,
        };
        scene.next_change_is(1);
        scene
    }

    /// Runs SQL, and ends the sessions of the node, which then connects again.
    fn change(&self, sql: &str) {
        self.cluster.psql("postgres", sql);
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'dog'";
        self.cluster.psql("postgres", end);
    }

    fn wait_until_ready(&self, is_ready: bool) {
        wait_until(&format!("ready is {is_ready}"), || {
            let answer = Call::get("/readyz").send(self.node.url());
            answer.is_unavailable() != is_ready
        });
    }

    fn renewal(&self) -> Call {
        self.game.post(Host, "/seats/0/token", Value::Null)
    }

    /// Waits until writes are refused, and the node says so.
    fn writes_are_refused(&self) {
        self.wait_until_ready(false);
        let create = Call::post("/v1/games", json!({}));
        for call in [&create, &self.renewal()] {
            wait_until("writes are refused", || {
                call.send(self.node.url()).is_unavailable()
            });
        }
        Call::get("/healthz").send(self.node.url()).expect(200);
    }

    /// Waits until reads are refused, too.
    fn reads_are_refused(&self) {
        let reads = [
            self.game.get(Spectator, ""),
            self.game.get(Spectator, "/history"),
            Call::get("/v1/games"),
        ];
        for call in &reads {
            wait_until("reads are refused", || {
                call.send(self.node.url()).is_unavailable()
            });
        }
    }

    /// Waits until all is well. The stream, which was open all the time, shows it too.
    fn all_is_well(&mut self) {
        self.wait_until_ready(true);
        let url = self.node.url();
        wait_until("a game is created", || {
            let create = Call::post("/v1/games", json!({})).send(url);
            !create.is_unavailable() && create.status == 201
        });
        let call = self.renewal();
        wait_until("a token is renewed", || !call.send(url).is_unavailable());
        let view = self.game.view(url);
        self.next_change_is(view["version"].as_u64().expect("a version"));
    }

    /// Reads the stream up to this version.
    fn next_change_is(&mut self, version: u64) {
        while self.stream.next().expect("the stream goes on")["version"] != version {}
    }
}

#[test]
fn a_database_that_is_down_is_waited_for() {
    let Some(mut scene) = start() else { return };
    for fail in [Cluster::stop, Cluster::kill] {
        fail(&scene.cluster);
        scene.writes_are_refused();
        scene.reads_are_refused();
        scene.cluster.start_again();
        scene.all_is_well();
    }
    // A hundred tries to connect do not make a hundred lines.
    let log = scene.node.log();
    let tries = log.lines().filter(|line| line.contains("cannot connect"));
    assert!(tries.count() < 50, "{log}");
}

#[test]
fn a_database_that_hangs_is_waited_for() {
    let Some(mut scene) = start() else { return };
    scene.cluster.freeze();
    let (call, url) = (scene.renewal().key(KEY), scene.node.url().to_owned());
    let (again, same_url) = (call.clone(), url.clone());
    let waiting = thread::spawn(move || {
        let mut answer = call.send(&url);
        wait_until("the write is answered", || {
            let is_answered = !answer.is_unavailable();
            if !is_answered {
                answer = call.send(&url);
            }
            is_answered
        });
        answer
    });
    scene.wait_until_ready(false);
    scene.reads_are_refused();
    scene.cluster.thaw();
    let answer = waiting.join().expect("an answer");
    assert_eq!(answer.expect(200)["version"], 2, "it was carried out once");
    let repeated = again.send(&same_url);
    assert_eq!(repeated.repeated_parts(), answer.repeated_parts());
    scene.all_is_well();
}

#[test]
fn a_database_that_becomes_read_only_is_waited_for() {
    let Some(mut scene) = start() else { return };
    let name = scene.database.name();
    let set = format!("ALTER DATABASE {name} SET default_transaction_read_only =");
    scene.change(&format!("{set} on"));
    scene.writes_are_refused();
    scene.cluster.psql("postgres", &format!("{set} off"));
    scene.all_is_well();
}

#[test]
fn rights_that_are_taken_away_are_waited_for() {
    let Some(mut scene) = start() else { return };
    let all = "ALL ON ALL TABLES IN SCHEMA public";
    scene.database.psql(&format!("REVOKE {all} FROM dog"));
    scene.writes_are_refused();
    scene.reads_are_refused();
    scene.database.psql(&format!("GRANT {all} TO dog"));
    scene.all_is_well();
}

#[test]
fn a_lack_of_connections_is_waited_for() {
    let Some(mut scene) = start() else { return };
    scene.change("ALTER ROLE dog CONNECTION LIMIT 3");
    // However few connections remain, each request is answered, some with 503.
    let calls = [
        Call::get("/readyz"),
        Call::post("/v1/games", json!({})),
        scene.game.get(Spectator, ""),
        scene.renewal(),
    ];
    let mut refused = 0;
    wait_until("something is refused", || {
        let answers = calls.iter().map(|call| call.send(scene.node.url()));
        refused += answers.filter(|answer| answer.is_unavailable()).count();
        refused > 10
    });
    scene.change("ALTER ROLE dog CONNECTION LIMIT 0");
    scene.writes_are_refused();
    scene.reads_are_refused();
    let unlimited = "ALTER ROLE dog CONNECTION LIMIT -1";
    scene.cluster.psql("postgres", unlimited);
    scene.all_is_well();
}

/// A small file system in memory, which only root can mount.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<SmallDisk> {
        fs::create_dir(at).expect("a folder");
        let mount = ["-t", "tmpfs", "-o", "size=32m,mode=777", "tmpfs"];
        let mounted = Command::new("mount").args(mount).arg(at).output();
        let is_mounted = mounted.is_ok_and(|output| output.status.success());
        is_mounted.then(|| SmallDisk(at.to_owned()))
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Leaves no free block.
    fn fill(&self) {
        let full = fs::write(self.filler(), vec![0; 64 << 20]);
        full.expect_err("there is no room for that");
    }

    fn make_room(&self) {
        fs::remove_file(self.filler()).expect("the filler");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because files may be open.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_waited_for() {
    let Some(cluster) = own_cluster() else { return };
    let Some(disk) = SmallDisk::mount(&cluster.folder().join("small")) else {
        eprintln!("!!! SKIPPED: only root can mount a small file system !!!");
        return;
    };
    let mut scene = FaultScene::on(cluster, |cluster, database| {
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
    });
    disk.fill();
    // What fits into pages that exist is still written.
    let create = Call::post("/v1/games", json!({}));
    wait_until("there is no room for a game", || {
        let answer = create.send(scene.node.url());
        if answer.status == 507 {
            answer.refused("database_full");
        }
        answer.status == 507
    });
    scene.game.view(scene.node.url());
    let log = scene.node.log();
    assert!(log.contains("the disk is full"), "{log}");
    disk.make_room();
    thread::sleep(Duration::from_millis(100));
    scene.all_is_well();
}
