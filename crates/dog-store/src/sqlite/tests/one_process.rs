//! One process has a file: its lock, and files of a release that had none.

use std::time::{Duration, Instant};

use jiff::SignedDuration;

use super::{super::lock::DatabaseLock, *};

fn open_within(path: &Path, lock_wait: Duration) -> Result<Store, StoreError> {
    let config = StoreConfig {
        lock_wait,
        ..StoreConfig::default()
    };
    Store::open(path, config)
}

#[cfg(unix)]
#[test]
fn a_second_store_is_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (dir, store) = Dir::with_store();
    let id = create(&store).id;
    let pid = std::process::id().to_string();
    let link = dir.0.join("link.db");
    symlink(dir.file(), &link).unwrap();
    for path in [dir.file(), link] {
        let refused = open_within(&path, Duration::from_millis(50)).expect_err("it is in use");
        let refused = refused.to_string();
        assert!(
            refused.starts_with(&format!("another server (pid {pid}")),
            "{refused}"
        );
        assert!(
            refused.ends_with("several servers share a PostgreSQL database"),
            "{refused}"
        );
    }
    // Those that only read, or that the server lets write, need no lock.
    assert_eq!(dir.defects(), [""; 0]);
    backup(&dir.file(), &dir.0.join("backup.db"), |_, _| {}).unwrap();
    let lock = dir.0.join("games.db-lock");
    assert_eq!(
        fs::metadata(&lock).unwrap().permissions().mode() & 0o777,
        0o600
    );

    let end = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        drop(store);
    });
    let next = open_within(&dir.file(), Duration::from_secs(30)).unwrap();
    end.join().unwrap();
    assert_eq!(wait(next.version(&id)), Some(1));
    assert_eq!(
        fs::read_to_string(&lock).unwrap().split(' ').next(),
        Some(&*pid)
    );
    drop(next);
    assert!(lock.exists(), "a new file would be another lock");
    assert_eq!(wait(dir.store().version(&id)), Some(1));
}

#[test]
fn a_copy_is_not_made_into_a_file_that_is_about_to_be_served() {
    let (from, to) = (Dir::new(), Dir::new());
    create(&from.store());
    let [source, target] = [&from, &to].map(|dir| Location::Sqlite(dir.file()));
    let lock = DatabaseLock::take(&to.file(), Duration::ZERO).unwrap();
    let refused = copy(&source, &target, |_, _| {}).unwrap_err();
    let is_in_use = matches!(refused, CopyError::Target(StoreError::InUse(_)));
    assert!(is_in_use, "{refused}");
    drop(lock);
    assert_eq!(copy(&source, &target, |_, _| {}).unwrap().games, 1);
}

/// A file of the last release without a lock, and in it a process whose lease is so old.
fn shared_file(lease_age: i64) -> Dir {
    let dir = Dir::new();
    let script = SCHEMA.scripts[0];
    sql(
        &dir,
        &format!(
            "{script}; PRAGMA user_version = {}; PRAGMA application_id = 0x444f4731",
            SCHEMA.first_version
        ),
    );
    let renewed = now() - SignedDuration::from_secs(lease_age);
    let until = (renewed + LEASE).as_microsecond();
    sql(&dir, &format!("INSERT INTO processes VALUES (7, {until})"));
    dir
}

#[test]
fn a_server_of_an_earlier_release_is_waited_for() {
    for (age, least) in [(-3600, 0), (3600, 0), (13, 1)] {
        let (dir, started) = (shared_file(age), Instant::now());
        create(&dir.store());
        assert!(started.elapsed() >= Duration::from_secs(least), "{age}");
        assert_eq!(dir.defects(), [""; 0]);
    }
}

#[test]
fn tickets_that_nobody_takes_are_forgotten() {
    let (_dir, store) = Dir::with_store();
    let stored = create(&store);
    let kept = || file(&store).0.memory.tickets.lock().values.len();
    for name in ["one", "two"] {
        commit_done(&store, add_ticket(&stored, name));
    }
    assert_eq!(kept(), 2);
    age(&store, 31);
    commit_done(&store, add_ticket(&stored, "three"));
    assert_eq!(kept(), 1);
}
