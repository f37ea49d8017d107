//! Writes: all or nothing, and one at a time.

use std::sync::{
    Mutex,
    mpsc::{self, Sender},
};

use super::*;

/// Keeps the writer busy until the sender is used or dropped.
fn occupy(store: &Store) -> Sender<()> {
    let (release, released) = mpsc::channel();
    let (begin, begun) = mpsc::channel();
    let write = store.write(move |_| {
        begin.send(()).unwrap();
        released.recv().ok();
        Ok::<_, StoreError>(())
    });
    thread::spawn(|| block_on(write));
    begun.recv().unwrap();
    release
}

#[test]
fn games_survive_storage() {
    let dir = Dir::new();
    let store = dir.store();
    let record = create(&store);
    assert_eq!(store.game(&record.id).unwrap(), Some(record.clone()));
    assert_eq!(store.version(&record.id).unwrap(), Some(1));
    assert_eq!(store.game(&GameId::random()).unwrap(), None);
    assert_eq!(store.version(&GameId::random()).unwrap(), None);

    let mut draft = Draft::new(&record, &Action::Deal { by: None }).unwrap();
    draft.record.tokens = tokens("second");
    let record = draft.record.clone();
    block_on(store.write(move |tx| tx.keep(&draft))).unwrap();
    assert_eq!(record.game.version(), 2);
    assert_eq!(store.game(&record.id).unwrap(), Some(record.clone()));

    drop(store);
    let store = dir.store();
    assert_eq!(store.game(&record.id).unwrap(), Some(record.clone()));
    let log = store.log(&record.id, 0, 10).unwrap();
    assert_eq!(log[0], creation(&fresh_like(&record)));
    assert_eq!(log[1].at, record.updated_at);
    assert_eq!(log[1].action, Some(Action::Deal { by: None }));
    assert!(matches!(log[1].events[..], [Event::CardsDealt { .. }]));
}

/// The same game as it was created.
fn fresh_like(record: &Record) -> Record {
    Record {
        created_at: record.created_at,
        ..fresh()
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let dir = Dir::new();
    let store = dir.store();
    let record = create(&store);
    let write = |work: fn(&mut Transaction<'_>, Record) -> Result<(), StoreError>| {
        let record = record.clone();
        store
            .write_blocking(move |tx| work(tx, record))
            .expect_err("a write that does not fit")
    };

    let id_taken = write(|tx, mut record| {
        let log = [creation(&record)];
        tx.insert(&mut record, &log)
    });
    assert!(matches!(id_taken, StoreError::Sqlite(_)), "{id_taken}");
    let no_log = write(|tx, mut record| tx.insert(&mut record, &[]));
    assert!(matches!(no_log, StoreError::Misuse(_)), "{no_log}");
    let gone = write(|tx, mut record| {
        record.id = GameId::random();
        apply(tx, &mut record, reissue())
    });
    assert!(matches!(gone, StoreError::Stale(1)), "{gone}");
    let stale = write(|tx, mut record| {
        act(tx, &record.id, reissue())?;
        apply(tx, &mut record, reissue())
    });
    assert!(matches!(stale, StoreError::Stale(1)), "{stale}");
    let revoked = write(|tx, mut record| {
        tx.set_tokens(&record.id, &tokens("second"))?;
        apply(tx, &mut record, reissue())
    });
    assert!(matches!(revoked, StoreError::Stale(1)), "{revoked}");
    assert_eq!(store.game(&record.id).unwrap(), Some(record.clone()));
    assert_eq!(store.log(&record.id, 0, 10).unwrap().len(), 1);
}

#[test]
fn what_fails_changes_nothing() {
    let dir = Dir::new();
    let store = dir.store();
    let record = create(&store);
    let id = record.id;
    let ran = Arc::new(Mutex::new(0));

    let (mut other, counter) = (fresh(), ran.clone());
    let other_id = other.id;
    let refused: Result<(), StoreError> = store.write_blocking(move |tx| {
        act(tx, &id, reissue())?;
        let log = [creation(&other)];
        tx.insert(&mut other, &log)?;
        tx.after_commit(move || *counter.lock().unwrap() += 1);
        assert_eq!(tx.version(&id)?, Some(2));
        Err(StoreError::Misuse("on purpose"))
    });
    assert!(matches!(refused, Err(StoreError::Misuse("on purpose"))));

    let counter = ran.clone();
    let panicked: Result<(), StoreError> = store.write_blocking(move |tx| {
        act(tx, &id, reissue())?;
        tx.after_commit(move || *counter.lock().unwrap() += 1);
        panic!("on purpose");
    });
    assert!(matches!(panicked, Err(StoreError::Panicked)));

    assert_eq!(store.game(&id).unwrap(), Some(record));
    assert_eq!(store.game(&other_id).unwrap(), None);
    assert_eq!(store.log(&id, 0, 10).unwrap().len(), 1);
    assert_eq!(*ran.lock().unwrap(), 0);
    let counter = ran.clone();
    store
        .write_blocking(move |tx| {
            tx.after_commit(move || *counter.lock().unwrap() += 1);
            act(tx, &id, reissue()).map(drop)
        })
        .unwrap();
    assert_eq!(store.version(&id).unwrap(), Some(2));
    assert_eq!(*ran.lock().unwrap(), 1);
}

#[test]
fn a_write_that_fails_takes_none_of_its_batch_with_it() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let release = occupy(&store);
    let writes: Vec<_> = (0..10)
        .map(|number| {
            store.write(move |tx| {
                let record = act(tx, &id, reissue())?;
                match number % 2 {
                    0 => Ok(record.game.version()),
                    _ => Err(StoreError::Misuse("on purpose")),
                }
            })
        })
        .collect();
    release.send(()).unwrap();
    let versions: Vec<_> = writes
        .into_iter()
        .map(|write| block_on(write).ok())
        .collect();
    let expected = [2, 0, 3, 0, 4, 0, 5, 0, 6, 0].map(|version| (version != 0).then_some(version));
    assert_eq!(versions, expected);
    assert_eq!(store.version(&id).unwrap(), Some(6));
    assert_eq!(store.log(&id, 0, 10).unwrap().len(), 6);
}

/// Drafts come too late, and work refuses, before anything is changed.
#[test]
fn a_checked_write_that_is_refused_takes_none_of_its_batch_with_it() {
    let dir = Dir::new();
    let store = dir.store();
    let record = create(&store);
    let id = record.id;
    let release = occupy(&store);
    let draft = || Draft::new(&record, &reissue()).unwrap();
    let (first, second) = (draft(), draft());
    let kept = store.write_checked(move |tx| tx.keep(&first));
    let late = store.write_checked(move |tx| tx.keep(&second));
    let refused = store.write_checked(|_| Err::<(), StoreError>(StoreError::Misuse("on purpose")));
    let other = store.write(move |tx| act(tx, &id, reissue()));
    release.send(()).unwrap();
    block_on(kept).unwrap();
    assert!(matches!(block_on(late), Err(StoreError::Stale(1))));
    assert!(matches!(block_on(refused), Err(StoreError::Misuse(_))));
    assert_eq!(block_on(other).unwrap().game.version(), 3);
    assert_eq!(store.version(&id).unwrap(), Some(3));
    assert_eq!(store.log(&id, 0, 10).unwrap().len(), 3);
}

/// It breaks its promise, so nobody can be told that anything was kept.
#[test]
fn nothing_is_kept_with_a_checked_write_that_fails_half_done() {
    let dir = Dir::new();
    let store = dir.store();
    let record = create(&store);
    let id = record.id;
    for panics in [false, true] {
        let release = occupy(&store);
        let before = store.write(move |tx| act(tx, &id, reissue()));
        let broken = store.write_checked(move |tx| {
            act(tx, &id, reissue())?;
            assert!(!panics, "on purpose");
            Err::<(), StoreError>(StoreError::Misuse("on purpose"))
        });
        let after = store.write_checked(move |tx| act(tx, &id, reissue()));
        release.send(()).unwrap();
        for outcome in [
            block_on(before).map(drop),
            block_on(broken),
            block_on(after).map(drop),
        ] {
            assert!(
                matches!(outcome, Err(StoreError::RolledBack)),
                "{outcome:?}"
            );
        }
        assert_eq!(store.game(&id).unwrap(), Some(record.clone()));
        assert_eq!(store.log(&id, 0, 10).unwrap().len(), 1);
    }
    let draft = Draft::new(&record, &reissue()).unwrap();
    store.keep_blocking([draft]).remove(0).unwrap();
    assert_eq!(store.version(&id).unwrap(), Some(2));
}

#[test]
fn a_full_disk_is_an_error_that_passes() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let allow = |pages: i64| {
        store
            .write_blocking(move |tx| {
                let pragma = |name: &str, pages| {
                    tx.connection
                        .pragma_update_and_check(None, name, pages, |row| row.get::<_, i64>(0))
                };
                Ok::<_, StoreError>(pragma("max_page_count", pages)?)
            })
            .unwrap()
    };
    allow(1); // which SQLite takes for as many as there are
    let mut written = 1;
    let full = loop {
        match store.write_blocking(move |tx| act(tx, &id, reissue())) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(full, StoreError::Full | StoreError::RolledBack),
        "{full}"
    );
    assert!(full.is_temporary());
    assert_eq!(store.version(&id).unwrap(), Some(written));
    assert_eq!(store.log(&id, 0, 9999).unwrap().len() as u64, written);
    allow(1 << 20);
    store
        .write_blocking(move |tx| act(tx, &id, reissue()))
        .unwrap();
    assert_eq!(store.version(&id).unwrap(), Some(written + 1));
}

#[test]
fn too_many_writes_are_refused_at_once() {
    let dir = Dir::new();
    let store = dir.store();
    let release = occupy(&store);
    let nothing = || store.write(|_| Ok::<_, StoreError>(()));
    let queued: Vec<_> = (0..writer::QUEUE).map(|_| nothing()).collect();
    let refused = block_on(nothing());
    assert!(matches!(refused, Err(StoreError::Overloaded)));
    release.send(()).unwrap();
    for write in queued {
        block_on(write).unwrap();
    }
    block_on(store.ready()).unwrap();
}

#[test]
fn a_write_can_be_taken_back_before_its_turn() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let release = occupy(&store);
    let kept = store.write(move |tx| act(tx, &id, reissue()));
    drop(store.write(move |tx| act(tx, &id, reissue())));
    release.send(()).unwrap();
    block_on(kept).unwrap();
    block_on(store.ready()).unwrap();
    assert_eq!(store.version(&id).unwrap(), Some(2));
}

#[test]
fn the_last_handle_waits_for_the_writes() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let release = occupy(&store);
    let writes: Vec<_> = (0..100)
        .map(|_| store.write(move |tx| act(tx, &id, reissue())))
        .collect();
    drop(release);
    drop(store);
    let left: Vec<_> = fs::read_dir(&dir.0).unwrap().collect();
    assert_eq!(left.len(), 1, "the write-ahead log is gone: {left:?}");
    for write in writes {
        block_on(write).unwrap();
    }
    assert_eq!(dir.store().version(&id).unwrap(), Some(101));
}

#[test]
fn a_write_may_own_the_last_handle() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let (sender, receiver) = mpsc::channel();
    let release = occupy(&store);
    let own = store.clone();
    let write = store.write(move |tx| {
        let record = act(tx, &id, reissue())?;
        tx.after_commit(move || {
            drop(own);
            sender.send(()).unwrap();
        });
        Ok::<_, StoreError>(record)
    });
    drop(store);
    release.send(()).unwrap();
    block_on(write).unwrap();
    receiver.recv().unwrap();
    assert_eq!(dir.store().version(&id).unwrap(), Some(2));
}

#[test]
fn tokens_change_without_a_version() {
    let dir = Dir::new();
    let store = dir.store();
    let record = create(&store);
    let id = record.id;
    let set = |id| store.write_blocking(move |tx| tx.set_tokens(&id, &tokens("second")));
    assert!(set(id).unwrap());
    assert!(!set(GameId::random()).unwrap());
    let changed = Record {
        tokens: tokens("second"),
        changes: TableChanges {
            versions: 0,
            renewals: 1,
        },
        ..record
    };
    assert_eq!(store.game(&id).unwrap(), Some(changed));
}

#[test]
fn a_deleted_game_takes_its_log_with_it() {
    let dir = Dir::new();
    let store = dir.store();
    let (id, other) = (create(&store).id, create(&store).id);
    store
        .write_blocking(move |tx| act(tx, &id, reissue()))
        .unwrap();
    let delete = || store.write_blocking(move |tx| tx.delete(&id));
    assert!(delete().unwrap());
    assert!(!delete().unwrap());
    assert_eq!(store.game(&id).unwrap(), None);
    assert_eq!(store.log(&id, 0, 10).unwrap(), []);
    let count = |reader: &Reader<'_>| -> Result<i64, StoreError> {
        let sql = "SELECT count(*) FROM log";
        Ok(reader.connection.query_row(sql, [], |row| row.get(0))?)
    };
    assert_eq!(store.read(count).unwrap(), 1);
    assert_eq!(store.version(&other).unwrap(), Some(1));
}
