//! Reactions, for all nodes.

use super::*;

each_store![
    every_node_sees_the_reactions,
    a_seat_has_five_slots_at_all_nodes,
];

on_postgres![reactions_are_forgotten];

fn seat(number: u8) -> Seat {
    Seat::new(number, 4).unwrap()
}

/// The recent reactions in a game: each seat with its word, in order.
fn recent(store: &Store, stored: &StoredGame) -> Vec<(u8, Reaction)> {
    let reactions = wait(store.reactions(&stored.id)).into_iter();
    reactions
        .map(|recent| (recent.seat.number(), recent.reaction))
        .collect()
}

/// Makes all reactions older.
fn age(database: &TestStore, store: &Store, seconds: i64) {
    database.age(store, "UPDATE reactions SET at = at -", seconds);
}

fn every_node_sees_the_reactions(database: &TestStore) {
    let [here, there] = database.two_stores();
    let (stored, other) = (create(&here), create(&here));
    let since = last_change(&there);
    assert_eq!(wait(here.react(&stored.id, seat(1), Reaction::Ouch)), None);
    assert_eq!(changes(&there, since), [Change::Reaction(stored.id)]);
    assert_eq!(wait(there.react(&stored.id, seat(3), Reaction::Dog)), None);
    assert_eq!(wait(here.react(&stored.id, seat(1), Reaction::Ouch)), None);
    let (ouch, dog) = ((1, Reaction::Ouch), (3, Reaction::Dog));
    for store in [&here, &there] {
        assert_eq!(recent(store, &stored), [ouch, dog, ouch]);
        assert_eq!(recent(store, &other), []);
    }
    // It does not change the game.
    assert_eq!(wait(there.game(&stored.id)), Some(stored));
}

fn a_seat_has_five_slots_at_all_nodes(database: &TestStore) {
    let [here, there] = database.two_stores();
    let stored = create(&here);
    let react =
        |store: &Store, number| wait(store.react(&stored.id, seat(number), Reaction::Sorry));
    for store in [&here, &there, &here, &there, &here] {
        assert_eq!(react(store, 0), None);
    }
    let until = react(&there, 0).expect("a refusal");
    assert!(until <= std::time::Duration::from_secs(20), "{until:?}");
    assert_eq!(react(&here, 2), None);
    // They count for longer than they are recent.
    age(database, &here, 11);
    assert_eq!(recent(&here, &stored), []);
    let until = react(&here, 0).expect("a refusal");
    assert!(until <= std::time::Duration::from_secs(9), "{until:?}");
    age(database, &here, 10);
    assert_eq!(react(&here, 0), None);
    assert_eq!(recent(&there, &stored), [(0, Reaction::Sorry)]);
}

fn reactions_are_forgotten(database: &TestStore) {
    let store = database.store();
    let stored = create(&store);
    wait(store.react(&stored.id, seat(0), Reaction::Lucky));
    age(database, &store, 11);
    wait(store.react(&stored.id, seat(0), Reaction::Thanks));
    let rows =
        |which: &str| database.number(&format!("SELECT count(*) FROM reactions WHERE {which}"));
    assert_eq!((rows("true"), rows("reaction IS NULL")), (2, 1));
    age(database, &store, 10);
    // A node that renews its lease forgets them too.
    wait(store.set_present(Vec::new()));
    assert_eq!((rows("true"), rows("reaction IS NULL")), (1, 1));
    // The clock was put back.
    assert_eq!(wait(store.react(&stored.id, seat(0), Reaction::Dog)), None);
    assert_eq!(recent(&store, &stored), [(0, Reaction::Dog)]);
    age(database, &store, -3_600);
    assert_eq!(recent(&store, &stored), []);
    assert_eq!(wait(store.react(&stored.id, seat(0), Reaction::Dog)), None);
    assert_eq!(rows("true"), 1);
}
