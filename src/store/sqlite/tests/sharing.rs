//! Many threads and processes on one file. A second store in this process stands for another
//! process: the two share nothing but the file.

use std::time::Duration;

use super::*;

#[test]
fn processes_see_each_others_commits() {
    let dir = Dir::new();
    let (here, there) = (dir.store(), dir.store());
    let mut watch = there.watch().unwrap();
    assert!(!watch.changed().unwrap());
    let record = create(&here);
    let id = record.id;
    assert!(watch.changed().unwrap());
    assert!(!watch.changed().unwrap());
    assert_eq!(there.game(&id).unwrap(), Some(record.clone()));

    there
        .write_blocking(move |tx| act(tx, &id, reissue()))
        .unwrap();
    assert!(
        watch.changed().unwrap(),
        "its own process's commits count too"
    );
    assert_eq!(here.version(&id).unwrap(), Some(2));
    let stale = here.write_blocking(move |tx| apply(tx, &mut record.clone(), reissue()));
    assert!(matches!(stale, Err(StoreError::Stale(1))));
    assert!(!watch.changed().unwrap());

    let deleted = here.write_blocking(move |tx| tx.delete(&id));
    assert!(deleted.unwrap());
    assert_eq!(there.game(&id).unwrap(), None);
    drop(here);
    create(&there);
    block_on(there.ready()).unwrap();
}

#[test]
fn a_write_waits_for_another_process() {
    let dir = Dir::new();
    let store = dir.store();
    let mut other = rusqlite::Connection::open(dir.file()).unwrap();
    let lock = other
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .unwrap();
    thread::scope(|scope| {
        let write = scope.spawn(|| create(&store));
        thread::sleep(Duration::from_millis(50));
        assert!(!write.is_finished());
        drop(lock);
        write.join().unwrap();
    });
}

#[test]
fn readiness_shows_whether_the_file_can_be_written() {
    let dir = Dir::new();
    let store = dir.store();
    let mut watch = store.watch().unwrap();
    block_on(store.ready()).unwrap();
    assert!(watch.changed().unwrap(), "something was committed");
    let newer = "PRAGMA user_version = 99";
    rusqlite::Connection::open(dir.file())
        .unwrap()
        .execute_batch(newer)
        .unwrap();
    let error = block_on(store.ready()).expect_err("a newer program took over");
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
}

/// Eight threads carry out actions on what they last read and try again when they were too late.
fn count_together(stores: &[Store], each: u64) {
    let id = create(&stores[0]).id;
    let count = |store: &Store| {
        for _ in 0..each {
            loop {
                let mut record = store.game(&id).unwrap().expect("the game is there");
                match store.write_blocking(move |tx| apply(tx, &mut record, reissue())) {
                    Ok(()) => break,
                    Err(StoreError::Stale(_)) => continue,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    };
    thread::scope(|scope| {
        for number in 0..8 {
            let store = &stores[number % stores.len()];
            scope.spawn(move || count(store));
        }
    });
    let expected = 1 + 8 * each;
    assert_eq!(stores[0].version(&id).unwrap(), Some(expected));
    let log = stores[0].log(&id, 0, u32::MAX).unwrap();
    assert!(log.iter().map(|entry| entry.version).eq(1..=expected));
}

#[test]
fn threads_lose_nothing() {
    let dir = Dir::new();
    count_together(&[dir.store()], 12);
}

#[test]
fn processes_lose_nothing() {
    let dir = Dir::new();
    count_together(&[dir.store(), dir.store()], 12);
}
