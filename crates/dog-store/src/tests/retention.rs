//! Expired games are found, and removed unless they have changed since.

use std::time::Duration;

use super::*;

each_store![
    a_scan_ends_at_the_first_batch_of_young_games,
    games_of_the_future_do_not_end_a_scan,
    a_game_that_has_changed_is_kept,
    a_jump_of_the_clock_is_followed_slowly,
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
    let (mut found, mut after) = (Vec::new(), None);
    // Two batches with a game that is old enough, and one without.
    for is_last in [false, false, true] {
        let batch = wait(store.expired_games(TEN_IDLE_DAYS, now(), after, 5));
        found.extend(batch.old.iter().map(|old| old.id));
        after = batch.next;
        assert_eq!(after.is_none(), is_last);
    }
    assert_eq!(found, old);
    let forever = RetentionPolicy {
        finished_days: 10,
        idle_days: 0,
    };
    assert_eq!(wait(store.expired_games(forever, now(), None, 100)).old, []);
    let (over, log, _) = finished_game(&new_game());
    let over = StoredGame {
        updated_at: idle_game(30, 11).updated_at,
        ..over
    };
    commit_done(&store, import(&over, &log));
    let batch = wait(store.expired_games(forever, now(), None, 100));
    let (id, version) = (over.id, over.game.version());
    assert_eq!(batch.old, [ExpiredGame { id, version }]);
}

fn games_of_the_future_do_not_end_a_scan(database: &TestStore) {
    let store = database.store();
    // The clock was put back since.
    for _ in 0..2 {
        add(&store, idle_game(-100, -100));
    }
    let old = add(&store, idle_game(30, 11));
    let first = wait(store.expired_games(TEN_IDLE_DAYS, now(), None, 2));
    assert_eq!(first.old, []);
    let next = wait(store.expired_games(TEN_IDLE_DAYS, now(), first.next, 2));
    assert!(first.next.is_some() && next.old.iter().any(|game| game.id == old.id));
}

fn a_game_that_has_changed_is_kept(database: &TestStore) {
    let store = database.store();
    let [expired, continued] = [(), ()].map(|()| add(&store, idle_game(30, 11)));
    let found = wait(store.expired_games(TEN_IDLE_DAYS, now(), None, 100)).old;
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
    assert!(!wait(store.purge_removed_logs()));
}

fn a_jump_of_the_clock_is_followed_slowly(database: &TestStore) {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let [store, there] = database.two_stores();
    // The last known time is that of the last change.
    let stored = add(&store, idle_game(100, 100));
    let time = wait(store.move_retention_time(Duration::ZERO));
    assert_eq!(time.at, stored.updated_at);
    assert_eq!(time.behind.as_hours(), 100 * 24);
    let expired = |time: RetentionTime| {
        let batch = wait(store.expired_games(TEN_IDLE_DAYS, time.at, None, 100));
        batch.old.len()
    };
    assert_eq!(expired(time), 0);
    // Time in which no server has run does not count.
    assert_eq!(wait(store.move_retention_time(Duration::ZERO)).at, time.at);
    let after = |hours: u32, store: &Store| {
        let passed = hours * HOUR;
        let sql = "UPDATE retention SET moved_at = moved_at -";
        database.sql(&format!("{sql} {}", passed.as_micros()));
        wait(store.move_retention_time(passed))
    };
    let later = after(9, &store);
    let nine_days = time.at + seconds(9 * 24 * 60 * 60);
    assert!(later.at <= nine_days + seconds(60) && later.at >= nine_days);
    assert_eq!(expired(later), 0);
    // The same hours of another node do not count again.
    let again = wait(there.move_retention_time(9 * HOUR));
    assert!(again.at < later.at + seconds(60 * 60));
    assert_eq!(expired(after(2, &store)), 1);
    assert_eq!(after(100, &there).behind, seconds(0));
    // A short jump is believed, and so is a clock that was put back.
    for ago in [20, -20] {
        let seen_at = (now() - seconds(ago * 60 * 60)).as_microsecond();
        database.sql(&format!("UPDATE retention SET seen_at = {seen_at}"));
        let time = wait(store.move_retention_time(Duration::ZERO));
        assert_eq!(time.behind, seconds(0));
        assert!(time.at > now() - seconds(60) && time.at <= now());
    }
}
