//! What was kept for long enough is found, and goes unless it has changed since.

use super::*;

#[test]
fn a_search_ends_where_all_are_young() {
    let dir = Dir::new();
    let store = dir.store();
    let old: Vec<GameId> = (0..7).map(|_| add(&store, idle_game(30, 11)).id).collect();
    for _ in 0..3 {
        add(&store, idle_game(30, 9));
    }
    for _ in 0..20 {
        create(&store);
    }
    let (mut found, mut looks, mut after) = (Vec::new(), 0, None);
    loop {
        let piece = wait(store.expired_games(TEN_IDLE_DAYS, after, 5));
        found.extend(piece.old.iter().map(|old| old.id));
        looks += 1;
        after = piece.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, old);
    // Two with somebody who was there before, and one with none.
    assert_eq!(looks, 3);
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
    let piece = wait(store.expired_games(forever, None, 100));
    let version = over.game.version();
    assert_eq!(
        piece.old,
        [ExpiredGame {
            id: over.id,
            version
        }]
    );
}

#[test]
fn a_game_that_goes_on_stays() {
    let dir = Dir::new();
    let store = dir.store();
    let (left, taken_up) = (
        add(&store, idle_game(30, 11)),
        add(&store, idle_game(30, 11)),
    );
    let found = wait(store.expired_games(TEN_IDLE_DAYS, None, 100)).old;
    assert_eq!(found.len(), 2);
    act(&store, &taken_up.id, &reissue());
    let since = last_change(&store);
    assert_eq!(wait(store.remove_expired(found.clone())), 1);
    assert_eq!(wait(store.game(&left.id)), None);
    assert!(wait(store.game(&taken_up.id)).is_some());
    let gone = Change {
        id: left.id,
        version: None,
    };
    assert_eq!(changes(&store, since), ChangesSince::Of(vec![gone]));
    assert_eq!(wait(store.remove_expired(found)), 0);
    assert!(!wait(store.remove_rest()));
}
