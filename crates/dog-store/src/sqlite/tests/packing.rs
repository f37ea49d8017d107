//! The stored form of packed logs.

use super::*;

#[test]
fn an_unreadable_log_does_not_stop_the_packing_of_others() {
    let (dir, store) = Dir::with_store();
    let [bad, good] = [(), ()].map(|()| play_to_end(&store, new_game()).0.id);
    let file = Connection::open(dir.file()).unwrap();
    let spoil = "UPDATE log SET events = '[' WHERE version = 9 \
                 AND game = (SELECT row_id FROM games WHERE id = ?1)";
    assert_eq!(file.execute(spoil, [bad]).unwrap(), 1);
    let next = wait(store.pack_logs(now(), None, 1));
    assert!(next.is_some());
    wait(store.pack_logs(now(), next, 1));
    assert!(rows(&dir, "packed_log") > 0);
    assert_eq!(entries(&store, &good, 0, 9).len(), 9);
    let spoilt = wait(store.log(&bad, 0, 9)).entries();
    spoilt.expect_err("it is spoilt");
}

#[test]
fn a_damaged_packed_log_is_an_error() {
    let (dir, store) = Dir::with_store();
    let (over, log, _) = finished_game(&new_game());
    commit_done(&store, import(&over, &log));
    let file = Connection::open(dir.file()).unwrap();
    let spoil = "UPDATE packed_log SET entries = substr(entries, 1, 400)";
    assert!(file.execute(spoil, []).unwrap() > 0);
    let error = wait(store.log(&over.id, 0, 9)).entries().unwrap_err();
    assert!(!error.is_temporary(), "{error}");
}
