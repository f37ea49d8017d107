//! Reads: the last commit, at once, and the list of games.

use std::sync::mpsc;

use super::*;

#[test]
fn reads_do_not_wait_for_a_write() {
    let dir = Dir::new();
    let store = dir.store();
    let record = create(&store);
    let id = record.id;
    let (begin, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let write = store.write(move |tx| {
        act(tx, &id, reissue())?;
        begin.send(()).unwrap();
        released.recv().ok();
        Ok::<_, StoreError>(())
    });
    begun.recv().unwrap();
    assert_eq!(store.game(&id).unwrap(), Some(record));
    assert_eq!(store.log(&id, 0, 10).unwrap().len(), 1);
    drop(release);
    block_on(write).unwrap();
    assert_eq!(store.version(&id).unwrap(), Some(2));
}

#[test]
fn one_reading_sees_one_state() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let write = || store.write_blocking(move |tx| act(tx, &id, reissue()));
    let seen = store.read(|reader| {
        let before = reader.version(&id)?;
        write()?;
        Ok::<_, StoreError>((before, reader.version(&id)?, store.version(&id)?))
    });
    assert_eq!(seen.unwrap(), (Some(1), Some(1), Some(2)));
    assert_eq!(store.version(&id).unwrap(), Some(2));
}

#[test]
fn readers_cannot_write() {
    let dir = Dir::new();
    let store = dir.store();
    let written = store.read(|reader| Ok(reader.connection.execute("DELETE FROM games", [])?));
    assert!(matches!(written, Err(StoreError::ReadOnly)), "{written:?}");
}

#[test]
fn the_log_is_read_in_parts() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    for _ in 0..5 {
        store
            .write_blocking(move |tx| act(tx, &id, reissue()))
            .unwrap();
    }
    let versions = |after, limit| -> Vec<u64> {
        let entries = store.log(&id, after, limit).unwrap();
        entries.iter().map(|entry| entry.version).collect()
    };
    assert_eq!(versions(0, 2), [1, 2]);
    assert_eq!(versions(2, 99), [3, 4, 5, 6]);
    assert!(versions(6, 99).is_empty());
    assert!(versions(u64::MAX, 99).is_empty());
    assert_eq!(store.log(&GameId::random(), 0, 9).unwrap(), []);
}

#[test]
fn the_list_has_the_newest_first_and_nothing_private() {
    let dir = Dir::new();
    let store = dir.store();
    let mut expected = Vec::new();
    for number in 0..20 {
        let listed = number % 4 != 3;
        let id = add(&store, Record { listed, ..fresh() }).id;
        if listed {
            expected.insert(0, id);
        }
    }
    let pages = |phase, limit| -> Vec<Vec<GameId>> {
        let mut pages = Vec::new();
        let mut after: Option<Cursor> = None;
        loop {
            let page = store
                .games(&ListQuery {
                    phase,
                    after,
                    limit,
                })
                .unwrap();
            pages.push(page.games.iter().map(|record| record.id).collect());
            after = page.next.map(|cursor| cursor.to_string().parse().unwrap());
            if after.is_none() {
                return pages;
            }
        }
    };
    assert_eq!(pages(None, 99), [&expected[..]]);
    assert_eq!(pages(None, 15), [&expected[..]]);
    assert_eq!(
        pages(None, 7),
        [&expected[..7], &expected[7..14], &expected[14..]]
    );
    assert_eq!(pages(None, 0).len(), 15);
    assert_eq!(
        pages(Some(Phase::Deal), 10),
        [&expected[..10], &expected[10..]]
    );
    assert_eq!(pages(Some(Phase::Play), 10), [&[][..]]);

    let dealt = expected[4];
    store
        .write_blocking(move |tx| act(tx, &dealt, Action::Deal { by: None }))
        .unwrap();
    assert_eq!(pages(Some(Phase::Exchange), 10), [[dealt]]);
    assert_eq!(pages(Some(Phase::Deal), 99).concat().len(), 14);
    assert_eq!(pages(None, 99), [&expected[..]]);

    // Games that come and go between two parts move nothing.
    let query = ListQuery {
        limit: 5,
        ..ListQuery::default()
    };
    let next = store.games(&query).unwrap().next;
    assert!(next.is_some());
    let last = expected[4];
    store.write_blocking(move |tx| tx.delete(&last)).unwrap();
    create(&store);
    let page = store
        .games(&ListQuery {
            after: next,
            ..query
        })
        .unwrap();
    assert_eq!(page.games[0].id, expected[5]);
    assert_eq!(page.games.len(), 5);
}

#[test]
fn a_game_that_cannot_be_read_hides_itself_only() {
    let dir = Dir::new();
    let store = dir.store();
    let (bad, good) = (create(&store).id, create(&store));
    store
        .write_blocking(move |tx| {
            let sql =
                "UPDATE games SET snapshot = replace(snapshot, 'deal', 'secret') WHERE id = ?1";
            Ok::<_, StoreError>(tx.connection.execute(sql, [bad])?)
        })
        .unwrap();
    let error = store.game(&bad).expect_err("a spoilt game");
    assert!(
        matches!(error, StoreError::Unreadable { game, .. } if game == bad),
        "{error}"
    );
    assert!(!format!("{error} {error:?}").contains("secret"));
    let page = store
        .games(&ListQuery {
            limit: 9,
            ..ListQuery::default()
        })
        .unwrap();
    assert_eq!(page.games, [good]);
}

#[test]
fn lists_and_logs_are_read_through_an_index() {
    let dir = Dir::new();
    let store = dir.store();
    let plan = |sql: &str| -> String {
        let explain = |reader: &Reader<'_>| -> Result<String, StoreError> {
            let mut statement = reader
                .connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let mut steps = Vec::new();
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                steps.push(row.get::<_, String>(3)?);
            }
            Ok(steps.join("; "))
        };
        store.read(explain).unwrap()
    };
    let list = plan("SELECT * FROM games WHERE listed = 1 AND key < 9 ORDER BY key DESC LIMIT 9");
    assert_eq!(
        list,
        "SEARCH games USING INDEX games_listed (listed=? AND rowid<?)"
    );
    let phase = plan(
        "SELECT * FROM games WHERE listed = 1 AND key < 9 AND phase = 'play' ORDER BY key DESC",
    );
    assert_eq!(
        phase,
        "SEARCH games USING INDEX games_listed_phase (listed=? AND phase=? AND rowid<?)"
    );
    let log = plan("SELECT * FROM log WHERE game = 1 AND version > 7 ORDER BY version");
    assert_eq!(log, "SEARCH log USING PRIMARY KEY (game=? AND version>?)");
    let expired = plan("SELECT key FROM idempotency WHERE created_at <= 5 ORDER BY created_at");
    assert_eq!(
        expired,
        "SEARCH idempotency USING COVERING INDEX idempotency_age (created_at<?)"
    );
}
