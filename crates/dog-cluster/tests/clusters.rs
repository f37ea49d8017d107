//! Real clusters. Without PostgreSQL these tests are skipped, with a message.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use dog_cluster::{Cluster, ClusterOptions, PASSWORD, TestDatabase, psql};

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed().as_secs() < 60, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn databases_belong_to_dog_who_needs_a_password() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    let sql = "CREATE TABLE t (); SELECT current_user, current_database()";
    let expected = format!("dog|{}", database.name());
    assert_eq!(psql(&database.url(), sql), Ok(expected.clone()));
    assert_eq!(psql(&database.socket_url(), &sql[19..]), Ok(expected));
    let wrong = database.url().replace(PASSWORD, "wrong");
    let refusal = psql(&wrong, "SELECT 1").expect_err("a refusal");
    let says = refusal.contains("password authentication failed");
    assert!(says, "{refusal}");
    let count = "SELECT count(*) FROM pg_database WHERE datname = ";
    let count = format!("{count}'{}'", database.name());
    assert_eq!(cluster.psql("postgres", &count), "1");
    drop(database);
    assert_eq!(cluster.psql("postgres", &count), "0");
}

#[test]
fn copies_of_a_prepared_database_are_made_at_once() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let copy = || {
        cluster.prepared_database(|url| {
            let made = psql(url, "CREATE TABLE t AS SELECT 7 AS n");
            made.expect("a table");
        })
    };
    let copies: Vec<TestDatabase> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(copy)).collect();
        let copies = threads.into_iter().map(|thread| thread.join());
        copies.map(|copy| copy.expect("a copy")).collect()
    });
    for (number, copy) in copies.iter().enumerate() {
        let insert = format!("UPDATE t SET n = n + {number}");
        psql(&copy.url(), &insert).expect("its own table");
        assert_eq!(copy.psql("SELECT n FROM t"), (7 + number).to_string());
    }
}

#[test]
fn settings_change_while_it_runs_and_while_it_is_dead() {
    let Some(cluster) = Cluster::start(&ClusterOptions::default()) else {
        return;
    };
    let show = |name: &str| cluster.psql("postgres", &format!("SHOW {name}"));
    cluster.configure("search_path", "a, 'b'");
    assert_eq!(show("search_path"), "a, 'b'");
    cluster.kill();
    cluster.configure("max_connections", "30");
    cluster.start_again();
    assert_eq!(show("max_connections"), "30");
    assert_eq!(show("search_path"), "a, 'b'");
}

#[test]
fn a_copy_goes_on_by_itself() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    let table = "CREATE TABLE t (n int GENERATED ALWAYS AS IDENTITY, what text);
                 INSERT INTO t (what) VALUES ('one')";
    psql(&database.url(), table).expect("a table");
    let copy = database.copy();
    let add = "INSERT INTO t (what) VALUES ('two') RETURNING n";
    assert_eq!(psql(&copy.url(), add), Ok("2".to_owned()));
    assert_eq!(database.psql("SELECT what FROM t"), "one");
}

#[test]
fn certificates_are_verified() {
    let options = ClusterOptions {
        tls: true,
        ..ClusterOptions::default()
    };
    let Some(cluster) = Cluster::start(&options) else {
        return;
    };
    let url = cluster.url("postgres");
    let ca = cluster.ca_file().display().to_string();
    let verified = format!("{url}?sslmode=verify-full&sslrootcert={ca}");
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    for host in ["127.0.0.1", "localhost"] {
        let url = verified.replace("127.0.0.1", host);
        assert_eq!(psql(&url, sql), Ok("t".to_owned()));
    }
    let plain = psql(&format!("{url}?sslmode=disable"), sql).expect_err("a refusal");
    assert!(plain.contains("no encryption"), "{plain}");
    // Not the authority.
    let wrong = verified.replace("ca.crt", "server.crt");
    let wrong = psql(&wrong, sql).expect_err("a refusal");
    assert!(wrong.contains("certificate verify failed"), "{wrong}");
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
