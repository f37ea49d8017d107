//! Who is present, in the leases of nodes.

use super::*;

each_store![
    changes_of_presence_are_in_the_feed,
    an_absence_counts_once_the_store_is_settled,
];

on_postgres![
    a_seat_is_present_while_any_node_says_so,
    a_lease_of_the_future_counts_for_nothing,
    a_node_notices_that_the_store_has_lost_its_lease,
];

/// The change that a seat is present at a game or no longer.
fn change(stored: &StoredGame, seat: u8, is_present: bool) -> SeatPresence {
    SeatPresence {
        game: stored.id,
        seat: Seat::new(seat, 4).unwrap(),
        is_present,
    }
}

fn present(store: &Store, stored: &StoredGame) -> Vec<u8> {
    let present = wait(store.present(&stored.id));
    let seats = Seat::all(4).filter(|&seat| present[seat]);
    seats.map(Seat::number).collect()
}

fn a_seat_is_present_while_any_node_says_so(database: &TestStore) {
    let [here, there] = database.two_stores();
    let stored = create(&here);
    let write = |store: &Store, seat, is_present| {
        wait(store.set_present(vec![change(&stored, seat, is_present)]))
    };
    let lease = |is_new| Lease {
        is_new,
        more_to_remove: false,
    };
    assert_eq!(write(&here, 1, true), lease(true));
    assert_eq!(write(&there, 1, true), lease(true));
    assert_eq!(write(&there, 3, true), lease(false));
    assert_eq!(present(&here, &stored), [1, 3]);
    write(&here, 1, false);
    assert_eq!(present(&there, &stored), [1, 3]);
    write(&there, 1, false);
    assert_eq!(present(&here, &stored), [3]);
    // It does not change the game.
    assert_eq!(wait(here.game(&stored.id)), Some(stored));
}

fn changes_of_presence_are_in_the_feed(database: &TestStore) {
    let store = database.store();
    let stored = create(&store);
    let mut feed = store.feed();
    let write = |is_present| {
        let since = last_change(&store);
        wait(store.set_present(vec![change(&stored, 2, is_present)]));
        changes(&store, since)
    };
    let expected = [Change::Presence(stored.id)];
    assert_eq!(write(true), expected);
    assert_eq!(present(&store, &stored), [2]);
    block_on(feed.changed());
    // Nothing that is known already, and no lease that is renewed.
    assert_eq!(write(true), []);
    assert_eq!(write(false), expected);
    assert_eq!(write(false), []);
    assert_eq!(present(&store, &stored), [0; 0]);
}

/// Who was cut off by a restart needs some seconds to come back.
fn an_absence_counts_once_the_store_is_settled(database: &TestStore) {
    for _ in 0..2 {
        let store = database.store();
        let stored = create(&store);
        wait(store.set_present(vec![change(&stored, 2, true)]));
        assert_eq!(wait(store.present_or_returning(&stored.id)), None);
    }
}

fn a_lease_of_the_future_counts_for_nothing(database: &TestStore) {
    let [store, there] = database.two_stores();
    let stored = create(&store);
    wait(store.set_present(vec![change(&stored, 2, true)]));
    let day = 24 * 60 * 60 * 1_000_000_i64;
    database.sql(&format!(
        "UPDATE processes SET lease_until = lease_until + {day}"
    ));
    assert_eq!(present(&store, &stored), [0; 0]);
    let other = || wait(there.set_present(Vec::new()));
    assert!(other().more_to_remove && other().more_to_remove);
    assert!(!other().more_to_remove);
    assert!(wait(store.set_present(Vec::new())).is_new);
}

fn a_node_notices_that_the_store_has_lost_its_lease(database: &TestStore) {
    let store = database.store();
    let stored = create(&store);
    wait(store.set_present(vec![change(&stored, 2, true)]));
    wait(store.set_present(Vec::new()));
    assert_eq!(store.leases(), 1);
    // As after a failover of PostgreSQL.
    database.sql("DELETE FROM presence");
    database.sql("DELETE FROM processes");
    assert_eq!(wait(store.present_or_returning(&stored.id)), None);
    assert!(wait(store.set_present(Vec::new())).is_new);
    assert_eq!(store.leases(), 2);
}
