//! The stored form of packed logs.

use super::*;
use crate::game_log::PAGE_VERSIONS;

/// The number of pages of a packed log.
fn pages(log: &[LogEntry]) -> i64 {
    log.len().div_ceil(PAGE_VERSIONS) as i64
}

#[test]
fn a_log_is_packed_once() {
    let dir = Dir::new();
    let store = dir.store();
    create(&store);
    let (over, log) = play_to_end(&store, new_game());
    assert!(pages(&log) > 2, "{} versions", log.len());
    let played = 1 + log.len() as i64;
    let rows_of_logs = || (rows(&dir, "log"), rows(&dir, "packed_log"));
    assert_eq!(rows_of_logs(), (played, 0));
    let before = over.updated_at - jiff::SignedDuration::from_millis(1);
    wait(store.pack_logs(before, None, 10));
    assert_eq!(rows_of_logs(), (played, 0));
    for _ in 0..2 {
        wait(store.pack_logs(over.updated_at, None, 10));
        assert_eq!(rows_of_logs(), (1, pages(&log)));
    }
    assert_eq!(super::log(&store, &over.id), log);
}

#[test]
fn an_unreadable_log_does_not_stop_the_packing_of_others() {
    let dir = Dir::new();
    let store = dir.store();
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
    let dir = Dir::new();
    let store = dir.store();
    let (over, log, _) = finished_game(&new_game());
    commit_done(&store, import(&over, &log));
    let file = Connection::open(dir.file()).unwrap();
    let spoil = "UPDATE packed_log SET entries = substr(entries, 1, 400)";
    assert!(file.execute(spoil, []).unwrap() > 0);
    let error = wait(store.log(&over.id, 0, 9)).entries().unwrap_err();
    assert!(!error.is_temporary(), "{error}");
}
