//! Packing does not change what is read of a log.

use super::*;

each_store![
    a_packed_log_reads_as_before,
    creators_can_be_compared_within_one_store_only,
    the_creator_is_deleted_when_the_log_is_packed,
    logs_are_packed_in_batches,
    the_log_of_a_game_at_its_last_version_is_packed,
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
        let whole = version as usize;
        let pages = [(0, 1), (5, 2), (120, 64), (127, 1), (128, 1), (128, 64)];
        let at_the_end = [(1, 200), (whole - 1, 9), (whole, 9)];
        for (after, limit) in pages.into_iter().chain(at_the_end) {
            let part = &expected[after..(after + limit).min(expected.len())];
            let read = entries(&store, &id, after as u64, limit);
            assert_eq!(read, part, "{pass}: {limit} after {after}");
        }
        assert_eq!(wait(store.game(&id)), Some(over.clone()), "{pass}");
        assert_eq!(wait(store.pack_logs(now(), None, 10)), None);
    }
    assert_eq!(log(&store, &going_on.id).len(), 1);
    assert_eq!(changes(&store, since), [], "packing is not a change");
    commit_done(&store, removal(&over));
    assert_eq!(log(&store, &id), []);
}

fn creators_can_be_compared_within_one_store_only(database: &TestStore) {
    let store = database.store();
    let creator = store.creator(&[7; 16]);
    assert_ne!(creator, store.creator(&[8; 16]));
    drop(store);
    assert_eq!(creator, database.store().creator(&[7; 16]));
    assert_ne!(creator, database.another().store().creator(&[7; 16]));
}

/// The creator also shows whether the log is packed.
fn the_creator_is_deleted_when_the_log_is_packed(database: &TestStore) {
    let [store, there] = database.two_stores();
    let creator = Some(store.creator(&[7; 16]));
    let (played, log) = play_to_end(&store, game_of(creator));
    let imported = renamed(&played);
    commit_done(&store, import(&imported, &log));
    let going_on = add(&store, game_of(creator));
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
    let over = StoredGame { creator, ..over };
    let imported = [(); 3].map(|()| {
        let stored = renamed(&over);
        commit_done(&store, import(&stored, &log));
        stored.id
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

fn the_log_of_a_game_at_its_last_version_is_packed(database: &TestStore) {
    let store = database.store();
    let creator = Some(store.creator(&[7; 16]));
    let first = add(&store, game_of(creator));
    let going_on = create(&store);
    let dealt = act(&store, &first.id, &Action::Deal { by: None });
    drop(store);
    // As if the deal had been made again and again.
    let (id, before) = (first.id, MAX_PLAY_VERSIONS - 1);
    database.sql(&format!(
        "WITH RECURSIVE more (version) AS \
         (SELECT 3 UNION ALL SELECT version + 1 FROM more WHERE version < {before}) \
         INSERT INTO log SELECT game, more.version, at, action, events FROM more, log \
         WHERE log.version = 2"
    ));
    database.sql(&format!(
        "UPDATE games SET version = {before}, \
         snapshot = replace(snapshot, '\"version\":2', '\"version\":{before}') WHERE id = '{id}'"
    ));
    let store = database.store();
    let seat = dealt.game.timed_out_seat().unwrap();
    let action = &dealt.game.legal_actions(seat)[0];
    let last = act(&store, &id, action);
    assert_eq!(last.game.version(), MAX_PLAY_VERSIONS);
    let expected = log(&store, &id);
    assert_eq!(expected.len() as u64, MAX_PLAY_VERSIONS);

    let known = |id| wait(store.head(id)).unwrap().creator;
    let packed = |at| {
        assert_eq!(wait(store.pack_logs(at, None, 10)), None);
        known(&id).is_none()
    };
    assert!(!packed(last.updated_at - SignedDuration::from_millis(1)));
    for _ in 0..2 {
        assert!(packed(now()));
        assert!(log(&store, &id) == expected, "the log reads as before");
        assert_eq!(wait(store.game(&id)).unwrap().creator, None);
    }
    let rows = |table: &str| {
        let game = format!("SELECT row_id FROM games WHERE id = '{id}'");
        database.number(&format!(
            "SELECT count(*) FROM {table} WHERE game = ({game})"
        ))
    };
    assert_eq!(rows("log"), 0);
    assert!(rows("packed_log") > 0);
    assert_eq!(log(&store, &going_on.id).len(), 1);

    // So the game has no other version.
    let stored = wait(store.game(&id)).unwrap();
    let next = stored.game.timed_out_seat().unwrap();
    for action in [reissue(), stored.game.legal_actions(next)[0].clone()] {
        let refused = Draft::new(&stored, &action, Actor::Player).err();
        let is_limit = matches!(refused, Some(DraftError::LimitReached(LimitReached::Play)));
        assert!(is_limit, "{refused:?}");
    }
    commit_done(&store, removal(&stored));
    assert_eq!(rows("packed_log"), 0);
}
