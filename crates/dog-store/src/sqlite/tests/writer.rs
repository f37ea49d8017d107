//! The writer thread: batches, savepoints, and its queue.

use std::{
    pin::Pin,
    task::{Context, Waker},
};

use futures_util::FutureExt;

use super::{
    super::writer::{self, OnFailure},
    *,
};

type Queued<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>>>>;

/// Queues a write, which owns a handle to the store.
fn queue<T, F>(store: &Store, write: impl FnOnce(Store) -> F) -> Queued<T>
where
    F: Future<Output = Result<T, StoreError>> + 'static,
{
    let mut write: Queued<T> = Box::pin(write(store.clone()));
    let polled = write.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    write
}

/// Queues a closure whose changes are rolled back if it fails.
fn work<T: Send + 'static>(
    store: &Store,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Queued<T> {
    queue(store, |store| async move { file(&store).write(work).await })
}

/// Queues a closure that must not fail after its first change.
fn checked_work<T: Send + 'static>(
    store: &Store,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Queued<T> {
    queue(store, |store| async move {
        let writer = &file(&store).0.writer;
        writer.submit(OnFailure::NoChanges, work).await
    })
}

/// Queues a [`Write`] without a saved response.
fn queue_op(store: &Store, op: WriteOp) -> Queued<CommitResult> {
    let write = Write { op, save: None };
    queue(store, |store| async move { store.commit(write).await })
}

/// Queues a closure, and waits until it has begun. It goes on when the sender is used or dropped.
fn begin<T: Send + 'static>(
    store: &Store,
    and_then: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
) -> (Queued<T>, Sender<()>) {
    let (release, released) = channel();
    let (begin, begun) = channel();
    let write = work(store, move |tx| {
        begin.send(()).unwrap();
        released.recv().ok();
        and_then(tx)
    });
    begun.recv().unwrap();
    (write, release)
}

/// Blocks the writer until the sender is used or dropped.
fn block_writer(store: &Store) -> (Queued<()>, Sender<()>) {
    begin(store, |_| Ok(()))
}

fn refuse() -> StoreError {
    StoreError::Misuse("on purpose")
}

#[test]
fn reads_do_not_wait_for_a_write() {
    let (_dir, store) = Dir::with_store();
    let stored = create(&store);
    let id = stored.id;
    let (begin, begun) = channel();
    let (release, released) = channel::<()>();
    let write = work(&store, move |tx| {
        act_in(tx, &id, reissue())?;
        begin.send(()).unwrap();
        released.recv().ok();
        Ok(())
    });
    begun.recv().unwrap();
    assert_eq!(wait(store.game(&id)), Some(stored));
    assert_eq!(log(&store, &id).len(), 1);
    drop(release);
    wait(write);
    assert_eq!(wait(store.version(&id)), Some(2));
}

#[test]
fn a_failed_write_changes_nothing() {
    let (_dir, store) = Dir::with_store();
    let stored = create(&store);
    let (id, other) = (stored.id, new_game());
    let other_id = other.id;
    let mut feed = store.feed();
    let refused = block_on(file(&store).write(move |tx| {
        act_in(tx, &id, reissue())?;
        let op = insert(&other).into();
        let save = Some(save(1, "both"));
        assert_eq!(tx.write(&Write { op, save })?, CommitResult::Done);
        assert_eq!(tx.game(&id)?.unwrap().game.version(), 2);
        Err::<(), _>(refuse())
    }));
    assert!(matches!(refused, Err(StoreError::Misuse("on purpose"))));
    let panicked = block_on(file(&store).write(move |tx| -> Result<(), _> {
        act_in(tx, &id, reissue())?;
        panic!("on purpose");
    }));
    assert!(matches!(panicked, Err(StoreError::Panicked)));

    assert_eq!(wait(store.game(&id)), Some(stored));
    assert_eq!(wait(store.game(&other_id)), None);
    assert_eq!(saved_response(&store, 1), None);
    assert_eq!(log(&store, &id).len(), 1);
    assert_eq!(feed.changed().now_or_never(), None);
    act(&store, &id, &reissue());
    assert_eq!(wait(store.version(&id)), Some(2));
    assert!(feed.changed().now_or_never().is_some());
}

#[test]
fn a_failed_write_does_not_affect_its_batch() {
    let (_dir, store) = Dir::with_store();
    let id = create(&store).id;
    let (busy, release) = block_writer(&store);
    let act = |number| {
        work(&store, move |tx| {
            let stored = act_in(tx, &id, reissue())?;
            match number % 2 {
                0 => Ok(stored.game.version()),
                _ => Err(refuse()),
            }
        })
    };
    let writes: Vec<_> = (0..10).map(act).collect();
    release.send(()).unwrap();
    wait(busy);
    let versions = writes.into_iter().map(|write| block_on(write).ok());
    let expected = [2, 0, 3, 0, 4, 0, 5, 0, 6, 0].map(|version| (version != 0).then_some(version));
    assert!(versions.eq(expected));
    assert_eq!(wait(store.version(&id)), Some(6));
    assert_eq!(log(&store, &id).len(), 6);
}

/// Stale writes, writes of an existing id, and closures that fail before their first change.
#[test]
fn a_refused_checked_write_does_not_affect_its_batch() {
    let (_dir, store) = Dir::with_store();
    let stored = create(&store);
    let id = stored.id;
    let (busy, release) = block_writer(&store);
    let done = queue_op(&store, update(&stored, &reissue()));
    let late = queue_op(&store, update(&stored, &reissue()));
    let taken = queue_op(&store, insert(&stored).into());
    let refused = checked_work(&store, |_| Err::<(), _>(refuse()));
    let other = work(&store, move |tx| act_in(tx, &id, reissue()));
    release.send(()).unwrap();
    wait(busy);
    assert_eq!(wait(done), CommitResult::Done);
    assert_eq!(wait(late), CommitResult::Stale);
    assert!(matches!(block_on(taken), Err(StoreError::Failed(_))));
    assert!(matches!(block_on(refused), Err(StoreError::Misuse(_))));
    assert_eq!(wait(other).game.version(), 3);
    assert_eq!(wait(store.version(&id)), Some(3));
    assert_eq!(log(&store, &id).len(), 3);
}

/// The closure fails after a change, so all writes of its batch must fail.
#[test]
fn a_checked_write_that_fails_after_a_change_rolls_back_its_batch() {
    let (_dir, store) = Dir::with_store();
    let stored = create(&store);
    let id = stored.id;
    for panics in [false, true] {
        let (busy, release) = block_writer(&store);
        let before = work(&store, move |tx| act_in(tx, &id, reissue()).map(drop));
        let broken = checked_work(&store, move |tx| {
            act_in(tx, &id, reissue())?;
            assert!(!panics, "on purpose");
            Err(refuse())
        });
        let after = checked_work(&store, move |tx| act_in(tx, &id, reissue()).map(drop));
        release.send(()).unwrap();
        wait(busy);
        for outcome in [before, broken, after].map(block_on) {
            let is_expected = matches!(outcome, Err(StoreError::RolledBack));
            assert!(is_expected, "{outcome:?}");
        }
        assert_eq!(wait(store.game(&id)), Some(stored.clone()));
        assert_eq!(log(&store, &id).len(), 1);
    }
    commit_done(&store, update(&stored, &reissue()));
    assert_eq!(wait(store.version(&id)), Some(2));
}

#[test]
fn a_full_queue_refuses_writes_at_once() {
    let (_dir, store) = Dir::with_store();
    let (busy, release) = block_writer(&store);
    let nothing = |_: &mut Transaction<'_>| Ok(());
    let queued: Vec<_> = (0..writer::QUEUE_CAPACITY)
        .map(|_| work(&store, nothing))
        .collect();
    let refused = block_on(file(&store).write(nothing));
    assert!(matches!(refused, Err(StoreError::Overloaded)));
    let op = insert(&new_game()).into();
    let refused = block_on(store.commit(Write { op, save: None }));
    assert!(matches!(refused, Err(StoreError::Overloaded)));
    release.send(()).unwrap();
    wait(busy);
    queued.into_iter().for_each(wait);
    wait(store.ready());
}

#[test]
fn a_write_can_be_cancelled_before_its_batch() {
    let (_dir, store) = Dir::with_store();
    let (one, two) = (create(&store), create(&store));
    let (busy, release) = block_writer(&store);
    let kept = queue_op(&store, update(&one, &reissue()));
    drop(queue_op(&store, update(&two, &reissue())));
    release.send(()).unwrap();
    wait(busy);
    assert_eq!(wait(kept), CommitResult::Done);
    wait(store.ready());
    assert_eq!(wait(store.version(&one.id)), Some(2));
    assert_eq!(wait(store.game(&two.id)), Some(two));
}

/// The number of files in a directory: the database and its lock if there is no write-ahead log.
fn files(dir: &Dir) -> usize {
    fs::read_dir(&dir.0).unwrap().count()
}

#[test]
fn dropping_the_last_handle_waits_for_writes() {
    let (dir, store) = Dir::with_store();
    let id = create(&store).id;
    let (busy, release) = block_writer(&store);
    let act = |_| work(&store, move |tx| act_in(tx, &id, reissue()));
    let writes: Vec<_> = (0..90).map(act).collect();
    drop((busy, release, store));
    writes.into_iter().map(wait).for_each(drop);
    assert_eq!(files(&dir), 2);
    let store = dir.store();
    assert_eq!(wait(store.version(&id)), Some(91));

    // This write has started already when its future is dropped.
    drop(begin(&store, move |tx| {
        act_in(tx, &id, Action::Deal { by: None })
    }));
    drop(store);
    assert_eq!(files(&dir), 2);
    assert_eq!(wait(dir.store().version(&id)), Some(92));
}

#[test]
fn a_write_may_own_the_last_handle() {
    let (dir, store) = Dir::with_store();
    let id = create(&store).id;
    let (drops, dropped) = channel();
    let own = store.clone();
    let (write, release) = begin(&store, move |tx| {
        let stored = act_in(tx, &id, reissue());
        drop(own);
        drops.send(()).unwrap();
        stored
    });
    drop((write, store));
    drop(release);
    dropped.recv().unwrap();
    // The new writer waits for the lock of the previous one.
    assert_eq!(wait(dir.store().version(&id)), Some(2));
}

#[test]
fn a_write_waits_for_the_lock_of_another_program() {
    let (dir, store) = Dir::with_store();
    let other = Connection::open(dir.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let write = queue_op(&store, insert(&new_game()).into());
    assert_eq!(rows(&dir, "games"), 0);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(wait(write), CommitResult::Done);
    assert_eq!(rows(&dir, "games"), 1);
}

#[test]
fn readiness_shows_whether_the_file_can_be_written() {
    let (dir, store) = Dir::with_store();
    let other = Connection::open(dir.file()).unwrap();
    let commits = || -> i64 {
        let version = other.pragma_query_value(None, "data_version", |row| row.get(0));
        version.unwrap()
    };
    let before = commits();
    wait(store.ready());
    assert_ne!(commits(), before, "the check commits");
    sql(&dir, "PRAGMA user_version = 99");
    let error = block_on(store.ready()).expect_err("a newer program took over");
    let is_newer = matches!(error, StoreError::Newer { found: 99, .. });
    assert!(is_newer, "{error}");
}

#[test]
fn a_removed_game_leaves_no_rows() {
    let (dir, store) = Dir::with_store();
    let (stored, _) = play_to_end(&store, new_game());
    wait(store.pack_logs(now(), None, 10));
    let other = create(&store);
    act(&store, &other.id, &reissue());
    let count = || ["games", "log", "packed_log"].map(|table| rows(&dir, table));
    let [games, log, packed] = count();
    assert_eq!((games, log), (2, 2));
    assert!(packed > 0);
    commit_done(&store, removal(&stored));
    assert_eq!(count(), [1, 2, 0]);
    let other = wait(store.game(&other.id)).unwrap();
    commit_done(&store, removal(&other));
    assert_eq!(count(), [0; 3]);
}

#[test]
fn a_long_log_is_deleted_in_batches_and_the_game_at_once() {
    let (dir, store) = Dir::with_store();
    let under_key = |stored| {
        let mut new = insert(stored);
        new.unique_key = Some("a key".to_owned());
        WriteOp::from(new)
    };
    let (long, other) = (idle_game(30, 11), create(&store));
    let id = long.id;
    commit_done(&store, under_key(&long));
    let since = last_change(&store);
    let file = Connection::open(dir.file()).unwrap();
    let grow = "WITH RECURSIVE n (v) AS (SELECT 2 UNION ALL SELECT v + 1 FROM n WHERE v < 2500) \
                INSERT INTO log SELECT row_id, v, 1, NULL, '[]' FROM games, n WHERE id = ?1";
    assert_eq!(file.execute(grow, [id]).unwrap(), 2499);
    commit_done(&store, removal(&long));
    assert_eq!(rows(&dir, "log"), 1501, "not all of it at once");

    assert_eq!(wait(store.game(&id)), None);
    assert_eq!(wait(store.game_by_unique_key("a key")), None);
    assert_eq!(wait(store.version(&id)), None);
    assert_eq!(log(&store, &id), []);
    commit_stale(&store, removal(&long));
    assert_eq!(listed(&store, 9), [other]);
    let counted = wait(store.game_counts()).games;
    assert_eq!(counted.map(|(_, games)| games).iter().sum::<u64>(), 1);
    let expired = wait(store.expired_games(TEN_IDLE_DAYS, now(), None, 100));
    assert_eq!(expired.old, []);
    let change = Change::Game { id, version: None };
    assert_eq!(changes(&store, since), [change]);
    let checked = check(&dir.file(), |_, _| {}).unwrap();
    assert_eq!((checked.games, checked.defects), (1, vec![]));
    let copied = backup(&dir.file(), &dir.0.join("copy"), |_, _| {}).unwrap();
    assert_eq!(copied.games, 1);
    // The id and the unique key can be used again, although log entries are left.
    commit_done(&store, under_key(&long));
    commit_done(&store, removal(&long));

    let mut batches = 0;
    while wait(store.purge_removed_logs()) {
        batches += 1;
    }
    assert_eq!(batches, 2);
    assert_eq!((rows(&dir, "log"), rows(&dir, "games")), (1, 1));
}
