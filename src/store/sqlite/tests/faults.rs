//! The disk, or somebody on it, lets a running store down; and a game that cannot be read.

use rusqlite::Connection;

use super::*;

/// Tries to write to this game.
fn write(store: &Store, id: GameId) -> Result<u64, StoreError> {
    let written = store.write_blocking(move |tx| act(tx, &id, reissue()));
    written.map(|record| record.game.version())
}

/// Bounds the pages that the file may have.
fn set_pages(store: &Store, most: &'static str) {
    store
        .write_blocking(move |tx| {
            let sql = format!("PRAGMA max_page_count = {most}");
            tx.connection.query_row(&sql, [], |_| Ok(()))?;
            Ok::<_, StoreError>(())
        })
        .unwrap();
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    set_pages(&store, "1");
    let mut version = 1;
    let full = loop {
        match write(&store, id) {
            Ok(now) => version = now,
            Err(error) => break error,
        }
    };
    let known = matches!(full, StoreError::Full | StoreError::RolledBack);
    assert!(known, "{full}");
    assert!(full.is_temporary());
    assert_eq!(store.version(&id).unwrap(), Some(version));
    assert_eq!(store.log(&id, 0, 1000).unwrap().len() as u64, version);
    set_pages(&store, "1000000");
    assert_eq!(write(&store, id).unwrap(), version + 1);
    block_on(store.ready()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_file_that_is_moved_away_refuses_writes_until_it_is_back() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", dir.file().display()));
    let away = dir.0.join("away");
    let mut version = store.version(&id).unwrap().unwrap();
    for (what, replacement) in [
        ("", None),
        ("", Some("")),
        ("", Some("something else")),
        ("-wal", None),
        ("-wal", Some("")),
    ] {
        fs::rename(beside(what), &away).unwrap();
        if let Some(text) = replacement {
            fs::write(beside(what), text).unwrap();
        }
        let gone = write(&store, id).expect_err("nowhere to write to");
        assert!(matches!(gone, StoreError::Gone), "{gone}");
        assert!(gone.is_temporary());
        block_on(store.ready()).expect_err("nowhere to write to");
        assert_eq!(store.version(&id).unwrap(), Some(version), "reads go on");
        fs::rename(&away, beside(what)).unwrap();
        version += 1;
        assert_eq!(write(&store, id).unwrap(), version, "nothing was kept");
    }
    drop(store);
    assert_eq!(dir.store().version(&id).unwrap(), Some(version));
}

#[test]
fn a_store_locked_by_another_process_is_busy_until_it_lets_go() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let other = Connection::open(dir.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = write(&store, id).expect_err("a locked store");
    assert!(matches!(busy, StoreError::Busy), "{busy}");
    assert!(busy.is_temporary());
    assert_eq!(store.version(&id).unwrap(), Some(1), "reads go on");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(write(&store, id).unwrap(), 2);
}

#[test]
fn a_game_that_contradicts_its_row_is_damaged() {
    let dir = Dir::new();
    let store = dir.store();
    let (bad, good) = (create(&store).id, create(&store).id);
    let sql = Connection::open(dir.file()).unwrap();
    for (change, back) in [
        ("version = 9", "version = 1"),
        ("phase = 'play'", "phase = 'deal'"),
        ("due_at = 1", "due_at = NULL"),
    ] {
        let set = |what: &str| {
            let update = format!("UPDATE games SET {what} WHERE id = ?1");
            sql.execute(&update, [bad]).unwrap();
        };
        set(change);
        let damaged = store.game(&bad).expect_err("a contradiction");
        assert!(matches!(damaged, StoreError::Damaged(_)), "{damaged}");
        assert!(!damaged.is_temporary());
        write(&store, bad).expect_err("a contradiction");
        write(&store, good).unwrap();
        let query = ListQuery {
            limit: 9,
            ..ListQuery::default()
        };
        let listed = store.games(&query).unwrap().games;
        assert_eq!(listed.len(), 1, "{change}");
        set(back);
        store.game(&bad).unwrap();
    }
}

#[test]
fn a_row_that_cannot_be_read_keeps_the_server_from_no_other() {
    let dir = Dir::new();
    let store = dir.store();
    let (bad, good) = (create(&store).id, create(&store).id);
    let sql = Connection::open(dir.file()).unwrap();
    let set = |what: &str, id: GameId| {
        let update = format!("UPDATE games SET {what} WHERE id = ?1");
        sql.execute(&update, [id]).unwrap();
    };
    set("due_at = 2", good);
    set("due_at = 1, id = 'nonsense'", bad);
    let now = now();
    let due = store.read(|reader| reader.due(true, now, 9)).unwrap();
    assert_eq!(due, [(good, None)]);
    set("due_at = 9223372036854775807", good);
    let next = store.read(|reader| reader.next_due(now)).unwrap();
    assert_eq!(next, None, "after the end of time");
}
