//! Expired games are found, and removed unless they have changed since.

use super::*;

each_store![
    a_scan_ends_at_the_first_batch_of_young_games,
    a_game_that_has_changed_is_kept,
];

fn a_scan_ends_at_the_first_batch_of_young_games(database: &TestStore) {
    let store = database.store();
    let old: Vec<GameId> = (0..7).map(|_| add(&store, idle_game(30, 11)).id).collect();
    for _ in 0..3 {
        add(&store, idle_game(30, 9));
    }
    for _ in 0..20 {
        create(&store);
    }
    let (mut found, mut scans, mut after) = (Vec::new(), 0, None);
    loop {
        let batch = wait(store.expired_games(TEN_IDLE_DAYS, after, 5));
        found.extend(batch.old.iter().map(|old| old.id));
        scans += 1;
        after = batch.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, old);
    // Two batches with a game that is old enough, and one without.
    assert_eq!(scans, 3);
    let forever = RetentionPolicy {
        finished_days: 10,
        idle_days: 0,
    };
    assert_eq!(wait(store.expired_games(forever, None, 100)).old, []);
    let (over, log, _) = finished_game(&new_game());
    let over = StoredGame {
        updated_at: idle_game(30, 11).updated_at,
        ..over
    };
    commit_done(&store, import(&over, &log));
    let batch = wait(store.expired_games(forever, None, 100));
    let version = over.game.version();
    assert_eq!(
        batch.old,
        [ExpiredGame {
            id: over.id,
            version
        }]
    );
}

fn a_game_that_has_changed_is_kept(database: &TestStore) {
    let store = database.store();
    let (expired, continued) = (
        add(&store, idle_game(30, 11)),
        add(&store, idle_game(30, 11)),
    );
    let found = wait(store.expired_games(TEN_IDLE_DAYS, None, 100)).old;
    assert_eq!(found.len(), 2);
    act(&store, &continued.id, &reissue());
    let since = last_change(&store);
    assert_eq!(wait(store.remove_expired(found.clone())), 1);
    assert_eq!(wait(store.game(&expired.id)), None);
    assert!(wait(store.game(&continued.id)).is_some());
    let gone = Change::Game {
        id: expired.id,
        version: None,
    };
    assert_eq!(changes(&store, since), [gone]);
    assert_eq!(wait(store.remove_expired(found)), 0);
    assert!(!wait(store.remove_rest()));
}
