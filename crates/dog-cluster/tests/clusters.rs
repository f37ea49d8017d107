//! Real clusters. Without PostgreSQL these tests are skipped, with a message.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use dog_cluster::{Cluster, ClusterOptions, psql};

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed().as_secs() < 60, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Set in the process that is killed.
const OWNER: &str = "DOG_CLUSTER_OWNER";

/// The processes that work in a folder.
fn processes_in(folder: &Path) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let folders = processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
    folders.filter(|path| path.starts_with(folder)).collect()
}

#[test]
fn nothing_is_left_of_a_killed_process() {
    if !dog_cluster::available() {
        return;
    }
    if env::var_os(OWNER).is_some() {
        let cluster = Cluster::shared().expect("a cluster");
        cluster.freeze();
        println!("folder={}", cluster.folder().display());
        loop {
            thread::park();
        }
    }
    let name = "nothing_is_left_of_a_killed_process";
    let mut owner = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture"])
        .env(OWNER, "yes")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(owner.stdout.take().expect("a piped stdout")).lines();
    let mut folders = lines.filter_map(|line| {
        let line = line.expect("a line");
        Some(PathBuf::from(line.split_once("folder=")?.1))
    });
    let folder = folders.next().expect("a folder");
    assert!(processes_in(&folder).len() > 5);
    owner.kill().expect("to kill it");
    owner.wait().expect("its end");
    wait_until("all is gone", || {
        !folder.exists() && processes_in(&folder).is_empty()
    });
}

#[test]
fn a_primary_fails_over_there_and_back() {
    let options = ClusterOptions {
        durable: true,
        tls: true,
        ..ClusterOptions::default()
    };
    let Some(first) = Cluster::start(&options) else {
        return;
    };
    let second = Cluster::standby_of(&first);
    let database = first.database();
    let url = database.url_on(&[&first, &second]);
    let insert = |n: u32| psql(&url, &format!("INSERT INTO t VALUES ({n})")).map(|_| ());
    psql(&url, "CREATE TABLE t (n int)").expect("a table");
    assert_eq!(insert(1), Ok(()));
    assert!(second.is_in_recovery() && !first.is_in_recovery());

    // A frozen standby holds commits up, and only for so long.
    second.freeze();
    let waiting = thread::scope(|scope| {
        let waiting = scope.spawn(|| insert(2));
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        wait_until("a commit waits", || first.psql("postgres", sql) == "1");
        second.thaw();
        waiting.join().expect("no panic")
    });
    assert_eq!(waiting, Ok(()));

    first.kill();
    second.promote();
    assert_eq!(insert(3), Ok(()));
    first.rewind_from(&second);
    assert!(first.is_in_recovery() && !second.is_in_recovery());
    assert_eq!(insert(4), Ok(()));

    second.stop();
    first.promote();
    assert_eq!(insert(5), Ok(()));
    second.rewind_from(&first);
    assert_eq!(insert(6), Ok(()));
    for node in [&first, &second] {
        node.stop();
        node.start_again();
        // A standby may still have to apply what it has.
        let numbers = "SELECT string_agg(n::text, ' ' ORDER BY n) FROM t";
        let numbers = || node.psql(database.name(), numbers);
        wait_until("all rows are there", || numbers() == "1 2 3 4 5 6");
    }
    first.wait_until_synchronous();
}
