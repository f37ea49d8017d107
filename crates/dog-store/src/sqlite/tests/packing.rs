//! The stored form of packed logs.

use flate2::{Compression, write::DeflateEncoder};

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
    assert_eq!((rows(&dir, "log"), rows(&dir, "packed_log")), (played, 0));
    let before = over.updated_at - jiff::SignedDuration::from_millis(1);
    wait(store.pack_logs(before, None, 10));
    assert_eq!((rows(&dir, "log"), rows(&dir, "packed_log")), (played, 0));
    for _ in 0..2 {
        wait(store.pack_logs(over.updated_at, None, 10));
        assert_eq!(
            (rows(&dir, "log"), rows(&dir, "packed_log")),
            (1, pages(&log))
        );
    }
    assert_eq!(super::log(&store, &over.id), log);
}

/// Stores a game as a server of the third schema did: its log packed as one page.
fn packed_whole(dir: &Dir, stored: &StoredGame, log: &[LogEntry]) {
    let entries: Vec<_> = log
        .iter()
        .map(|entry| {
            serde_json::json!({
                "version": entry.version,
                "at": entry.at.as_microsecond(),
                "action": entry.action,
                "events": entry.events,
            })
        })
        .collect();
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut packed, &entries).unwrap();
    let file = connect::writer(&dir.file(), &MIGRATIONS[..3]).unwrap();
    let insert = "INSERT INTO games (id, version, phase, listed, created_at, updated_at, tokens, \
                  snapshot, archived) VALUES (?1, ?2, 'finished', 1, ?3, ?4, ?5, ?6, 1)";
    let row = rusqlite::params![
        stored.id,
        stored.game.version() as i64,
        stored.created_at.as_microsecond(),
        stored.updated_at.as_microsecond(),
        stored.tokens,
        serde_json::to_string(&*stored.game).unwrap(),
    ];
    file.execute(insert, row).unwrap();
    let insert = "INSERT INTO archive (game, entries) SELECT key, ?1 FROM games";
    file.execute(insert, [packed.finish().unwrap()]).unwrap();
}

#[test]
fn a_log_packed_as_one_page_is_read_and_packed_again() {
    let old = Dir::new();
    let (over, log, _) = finished_game(&new_game());
    let (id, version) = (over.id, over.game.version());
    packed_whole(&old, &over, &log);
    let store = old.store();
    assert_eq!(rows(&old, "packed_log"), 1);
    for _ in 0..2 {
        assert_eq!(super::log(&store, &id), log);
        assert_eq!(entries(&store, &id, 70, 64), log[70..134]);
        assert_eq!(entries(&store, &id, version, 9), []);
        assert!(old.defects().is_empty());
        wait(store.pack_logs(now(), None, 10));
    }
    assert_eq!(rows(&old, "packed_log"), pages(&log));
    assert_eq!(rows(&old, "games WHERE packed = 1"), 1);
}

#[test]
fn an_unreadable_log_does_not_stop_the_packing_of_others() {
    let dir = Dir::new();
    let store = dir.store();
    let (bad, good) = (
        play_to_end(&store, new_game()).0.id,
        play_to_end(&store, new_game()).0.id,
    );
    let file = Connection::open(dir.file()).unwrap();
    let spoil = "UPDATE log SET events = '[' WHERE version = 9 \
                 AND game = (SELECT row_id FROM games WHERE id = ?1)";
    assert_eq!(file.execute(spoil, [bad]).unwrap(), 1);
    let next = wait(store.pack_logs(now(), None, 1));
    assert!(next.is_some());
    wait(store.pack_logs(now(), next, 1));
    assert!(rows(&dir, "packed_log") > 0);
    assert_eq!(entries(&store, &good, 0, 9).len(), 9);
    wait(store.log(&bad, 0, 9))
        .entries()
        .expect_err("it is spoilt");
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
