//! Many threads and nodes on one store.

use super::*;

each_store![
    threads_lose_no_writes,
    only_one_of_many_conflicting_writes_is_done,
];

on_postgres![nodes_see_each_others_commits, nodes_lose_no_writes];

fn nodes_see_each_others_commits(database: &TestStore) {
    let [here, there] = database.two_stores();
    let mut feed = there.feed();
    let stored = create(&here);
    let id = stored.id;
    block_on(feed.changed());
    assert_eq!(wait(there.game(&id)), Some(stored.clone()));

    // Both have the game in their caches and see each other's commits at once.
    for version in 2..5 {
        let written = act(&there, &id, &reissue());
        assert_eq!(written.game.version(), version);
        assert_eq!(wait(here.version(&id)), Some(version));
        assert_eq!(wait(here.game(&id)), Some(written.clone()));
        commit_done(&here, set_tokens(&written, "next"));
        assert_eq!(wait(there.game(&id)), wait(here.game(&id)));
    }
    let since = last_change(&there);
    commit_stale(&here, update(&stored, &reissue()));
    assert_eq!(changes(&there, since), []);

    let last = wait(here.game(&id)).unwrap();
    commit_done(&here, removal(&last));
    assert_eq!(wait(there.game(&id)), None);
    drop(here);
    create(&there);
    wait(there.ready());
}

/// Eight threads change a game concurrently, and retry when their write is stale.
fn count_together(stores: &[Store], each: u64) {
    let id = create(&stores[0]).id;
    let count = |store: &Store| {
        for _ in 0..each {
            let attempt = || {
                let stored = wait(store.game(&id)).expect("the game is there");
                commit(store, update(&stored, &reissue()))
            };
            while attempt() == CommitResult::Stale {}
        }
    };
    thread::scope(|scope| {
        for number in 0..8 {
            let store = &stores[number % stores.len()];
            scope.spawn(move || count(store));
        }
    });
    let expected = 1 + 8 * each;
    assert_eq!(wait(stores[0].version(&id)), Some(expected));
    let log = log(&stores[0], &id);
    assert!(log.iter().map(|entry| entry.version).eq(1..=expected));
}

fn threads_lose_no_writes(database: &TestStore) {
    count_together(&[database.store()], 12);
}

fn nodes_lose_no_writes(database: &TestStore) {
    count_together(&database.two_stores(), 12);
}

/// Concurrent writes with the same unique key, or for the same request.
fn only_one_of_many_conflicting_writes_is_done(database: &TestStore) {
    let stores = database.two_stores();
    let games: Vec<(StoredGame, usize)> = (0..16).map(|number| (new_game(), number)).collect();
    let add = |(stored, number): &(StoredGame, usize)| {
        let mut new = insert(stored);
        let by_key = number % 4 < 2;
        new.unique_key = by_key.then(|| "the only one".to_owned());
        let write = Write {
            op: WriteOp::from(new),
            save: (!by_key).then(|| save(1, &stored.id.to_string())),
        };
        let committed = wait(stores[number % 2].commit(write));
        (by_key, committed == CommitResult::Done)
    };
    let outcomes: Vec<_> = thread::scope(|scope| {
        let start = |game| scope.spawn(move || add(game));
        let threads: Vec<_> = games.iter().map(start).collect();
        let ends = threads.into_iter().map(|thread| thread.join().unwrap());
        ends.collect()
    });
    for by_key in [true, false] {
        let is_done = |outcome: &&(bool, bool)| **outcome == (by_key, true);
        assert_eq!(outcomes.iter().filter(is_done).count(), 1);
    }
    for ((stored, _), (by_key, is_done)) in games.iter().zip(outcomes) {
        let found = wait(stores[0].game(&stored.id));
        assert_eq!(found.is_some(), is_done);
        if is_done && by_key {
            assert_eq!(wait(stores[1].game_by_unique_key("the only one")), found);
        } else if is_done {
            let response = saved(&stored.id.to_string());
            assert_eq!(saved_response(&stores[1], 1), Some(response));
        }
    }
}
