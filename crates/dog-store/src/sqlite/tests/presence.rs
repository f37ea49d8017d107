//! Leases that have ended.

use dog_rules::Seat;

use super::*;

#[test]
fn a_lease_that_has_ended_counts_for_nothing_and_is_removed_in_parts() {
    let dir = Dir::new();
    let (dead, store) = (dir.store(), dir.store());
    let stored = create(&store);
    let everywhere = |seat: Seat| {
        let present = |game| SeatPresence {
            game,
            seat,
            is_present: true,
        };
        let others = (0..300).map(|_| present(GameId::random()));
        others.chain([present(stored.id)]).collect::<Vec<_>>()
    };
    let seats: Vec<Seat> = Seat::all(2).collect();
    for &seat in &seats {
        wait(dead.set_present(everywhere(seat)));
    }
    sql(&dir, "UPDATE processes SET lease_until = 0");
    assert_eq!(wait(store.present(&stored.id)), BySeat::default());
    let since = wait(store.changes(0)).1;
    let more = || wait(store.set_present(Vec::new())).more_to_remove;
    assert!(more());
    assert_eq!(rows(&dir, "presence"), 102);
    assert!(more() && more());
    assert!(!more());
    assert_eq!((rows(&dir, "presence"), rows(&dir, "processes")), (0, 1));
    let ChangesSince::Only(changes) = wait(store.changes(since)).0 else {
        panic!("the changes are few");
    };
    assert!(changes.contains(&Change::Presence(stored.id)));
    // A process that was only slow begins anew.
    assert!(wait(dead.set_present(Vec::new())).is_new);
}
