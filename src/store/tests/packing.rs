//! Packing does not change what is read of a log.

use super::*;

each_store![
    a_packed_log_reads_as_before,
    creators_can_be_compared_within_one_store_only,
    the_creator_is_deleted_when_the_log_is_packed,
    logs_are_packed_in_batches,
];

fn a_packed_log_reads_as_before(database: &TestStore) {
    let store = database.store();
    let going_on = create(&store);
    let (over, expected) = play_to_end(&store, new_game());
    let (id, version) = (over.id, over.game.version());
    assert!(version > 200, "{version} versions");
    let since = last_change(&store);
    for pass in ["as it was played", "packed", "packed twice"] {
        assert_eq!(log(&store, &id), expected, "{pass}");
        for (after, limit) in [
            (0, 1),
            (5, 2),
            (120, 64),
            (127, 1),
            (128, 1),
            (128, 64),
            (1, 200),
            (version as usize - 1, 9),
            (version as usize, 9),
        ] {
            let part = &expected[after..(after + limit).min(expected.len())];
            let read = entries(&store, &id, after as u64, limit);
            assert_eq!(read, part, "{pass}: {limit} after {after}");
        }
        assert_eq!(wait(store.game(&id)), Some(over.clone()), "{pass}");
        assert_eq!(wait(store.pack_logs(now(), None, 10)), None);
    }
    assert_eq!(log(&store, &going_on.id).len(), 1);
    assert_eq!(changes(&store, since), [], "packing is no change");
    commit_done(&store, WriteOp::Remove(over.expected_state()));
    assert_eq!(log(&store, &id), []);
}

fn creators_can_be_compared_within_one_store_only(database: &TestStore) {
    let store = database.store();
    let creator = store.creator(&[7; 16]);
    assert_eq!(creator, database.store().creator(&[7; 16]));
    assert_ne!(creator, store.creator(&[8; 16]));
    assert_ne!(creator, database.another().store().creator(&[7; 16]));
}

/// The creator also shows whether the log is packed.
fn the_creator_is_deleted_when_the_log_is_packed(database: &TestStore) {
    let (store, there) = (database.store(), database.store());
    let creator = Some(store.creator(&[7; 16]));
    let (played, log) = play_to_end(
        &store,
        StoredGame {
            creator,
            ..new_game()
        },
    );
    let imported = StoredGame {
        id: GameId::random(),
        ..played.clone()
    };
    commit_done(&store, import(&imported, &log));
    let going_on = add(
        &store,
        StoredGame {
            creator,
            ..new_game()
        },
    );
    let known = |stored: &StoredGame| {
        let known = wait(store.head(&stored.id)).unwrap().creator;
        for store in [&store, &there] {
            assert_eq!(wait(store.game(&stored.id)).unwrap().creator, known);
        }
        assert!(known.is_none() || known == creator);
        known.is_some()
    };
    let before = played.updated_at - SignedDuration::from_millis(1);
    let at = played.updated_at;
    for (by, is_known) in [(before, true), (at, false), (now(), false)] {
        assert_eq!(wait(store.pack_logs(by, None, 10)), None);
        for stored in [&played, &imported] {
            assert_eq!(known(stored), is_known);
            assert_eq!(super::log(&store, &stored.id), log);
        }
        assert!(known(&going_on));
    }
}

fn logs_are_packed_in_batches(database: &TestStore) {
    let store = database.store();
    let (over, log, _) = finished_game(&new_game());
    let creator = Some(store.creator(&[7; 16]));
    let imported = [(); 3].map(|()| {
        let id = GameId::random();
        let over = over.clone();
        commit_done(
            &store,
            import(
                &StoredGame {
                    id,
                    creator,
                    ..over
                },
                &log,
            ),
        );
        id
    });
    let packed = || {
        let heads = imported.map(|id| wait(store.head(&id)).unwrap());
        heads.map(|head| head.creator.is_none())
    };
    let next = wait(store.pack_logs(now(), None, 2));
    assert!(next.is_some());
    assert_eq!(packed(), [true, true, false]);
    assert_eq!(wait(store.pack_logs(now(), next, 2)), None);
    assert_eq!(packed(), [true; 3]);
}
