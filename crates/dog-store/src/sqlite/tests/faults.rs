//! Faults of the disk and of the file while a store is open, and unreadable games.

use super::*;

/// Tries to write a new version of a game. Returns its number.
fn write(store: &Store, id: GameId) -> Result<u64, StoreError> {
    let stored = block_on(store.game(&id))?.expect("the game is there");
    let draft = draft(&stored, &reissue());
    let version = draft.next.game.version();
    assert_eq!(block_on(store.commit(draft.into()))?, CommitResult::Done);
    Ok(version)
}

/// Limits the number of pages in the file.
fn set_pages(store: &Store, max: &'static str) {
    wait(file(store).write(move |tx| {
        let sql = format!("PRAGMA max_page_count = {max}");
        Ok(tx.connection.query_row(&sql, [], |_| Ok(()))?)
    }));
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_space() {
    let dir = Dir::new();
    let id = create(&dir.store()).id;
    sql(&dir, "VACUUM");
    let store = dir.store();
    set_pages(&store, "1"); // SQLite raises this to the present number
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
    assert_eq!(wait(store.version(&id)), Some(version));
    assert_eq!(log(&store, &id).len() as u64, version);
    set_pages(&store, "1000000");
    assert_eq!(write(&store, id).unwrap(), version + 1);
    wait(store.ready());
}

#[cfg(unix)]
#[test]
fn a_file_that_is_moved_away_refuses_writes_until_it_is_back() {
    let (dir, store) = Dir::with_store();
    let id = create(&store).id;
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", dir.file().display()));
    let away = dir.0.join("away");
    let mut version = wait(store.version(&id)).unwrap();
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
        assert_eq!(wait(store.version(&id)), Some(version), "reads go on");
        fs::rename(&away, beside(what)).unwrap();
        version += 1;
        assert_eq!(write(&store, id).unwrap(), version, "nothing was kept");
    }
    drop(store);
    assert_eq!(wait(dir.store().version(&id)), Some(version));
}

#[test]
fn a_game_that_contradicts_its_row_is_damaged() {
    let dir = Dir::new();
    let store = uncached_store(&dir);
    let (bad, good) = (create(&store).id, create(&store).id);
    for (change, back) in [
        ("version = 9", "version = 1"),
        ("phase = 'play'", "phase = 'deal'"),
    ] {
        let set = |what: &str| sql(&dir, &format!("UPDATE games SET {what} WHERE id = '{bad}'"));
        set(change);
        let damaged = block_on(store.game(&bad)).expect_err("a contradiction");
        assert!(matches!(damaged, StoreError::Damaged(_)), "{damaged}");
        assert!(!damaged.is_temporary());
        write(&store, bad).expect_err("a contradiction");
        write(&store, good).unwrap();
        assert_eq!(listed(&store, 9).len(), 1, "{change}");
        set(back);
        wait(store.game(&bad));
    }
}

#[test]
fn an_unreadable_row_does_not_hide_other_due_games() {
    let (dir, store) = Dir::with_store();
    let (bad, good) = (create(&store).id, create(&store).id);
    let set = |what: &str, id| sql(&dir, &format!("UPDATE games SET {what} WHERE id = '{id}'"));
    set("due_at = 2", good);
    set("due_at = 1, id = 'nonsense'", bad);
    assert_eq!(wait(store.due(true, 9)), [(good, None)]);
    assert_eq!(wait(store.due_by_creator(true, None, 9)).0, [(good, None)]);
    set("due_at = 9223372036854775807", good);
    let next = wait(store.next_due(now()));
    assert_eq!(next, None, "a time out of range");
}
