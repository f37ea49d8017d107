//! What was kept for long enough is found, and goes unless it has changed since.

use jiff::SignedDuration;

use super::*;

const KEEP: Keep = Keep {
    finished_days: 0,
    idle_days: 10,
};

/// A game that was created so many days ago and has not changed for so many.
fn aged(store: &Store, created: i64, changed: i64) -> Record {
    let ago = |days: i64| now() - SignedDuration::from_hours(24 * days);
    add(
        store,
        Record {
            created_at: ago(created),
            updated_at: ago(changed),
            ..fresh()
        },
    )
}

fn look(store: &Store, keep: Keep, after: Option<Cursor>, limit: u32) -> Piece {
    let piece = store.read(|reader| reader.old_games(keep, now(), after, limit));
    piece.unwrap()
}

#[test]
fn a_search_ends_where_all_are_young() {
    let dir = Dir::new();
    let store = dir.store();
    let old: Vec<GameId> = (0..7).map(|_| aged(&store, 30, 11).id).collect();
    for _ in 0..3 {
        aged(&store, 30, 9);
    }
    for _ in 0..20 {
        create(&store);
    }
    let (mut found, mut looks, mut after) = (Vec::new(), 0, None);
    loop {
        let piece = look(&store, KEEP, after, 5);
        found.extend(piece.old.iter().map(|old| old.id));
        looks += 1;
        after = piece.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, old);
    // Two with somebody who was there before, and one with none.
    assert_eq!(looks, 3);
    let forever = Keep {
        finished_days: 10,
        idle_days: 0,
    };
    assert_eq!(look(&store, forever, None, 100).old, []);
}

#[test]
fn a_game_that_goes_on_stays() {
    let dir = Dir::new();
    let store = dir.store();
    let (left, taken_up) = (aged(&store, 30, 11), aged(&store, 30, 11));
    let found = look(&store, KEEP, None, 100).old;
    let id = taken_up.id;
    let on = store.write_blocking(move |tx| act(tx, &id, reissue()));
    on.unwrap();
    let removed = store.write_blocking(move |tx| {
        let delete = |old| tx.delete_old(old);
        found.into_iter().map(delete).collect::<Result<Vec<_>, _>>()
    });
    assert_eq!(removed.unwrap(), [true, false]);
    assert_eq!(store.game(&left.id).unwrap(), None);
    assert!(store.game(&taken_up.id).unwrap().is_some());
}

/// Rows of a table.
fn rows(dir: &Dir, table: &str) -> i64 {
    let file = rusqlite::Connection::open(dir.file()).unwrap();
    let sql = format!("SELECT count(*) FROM {table}");
    file.query_row(&sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_long_log_goes_in_slices_and_the_game_at_once() {
    let dir = Dir::new();
    let store = dir.store();
    let (long, other) = (aged(&store, 30, 11), create(&store));
    let id = long.id;
    let since = store.read(|reader| reader.last_change()).unwrap();
    let file = rusqlite::Connection::open(dir.file()).unwrap();
    let grow = "WITH RECURSIVE n (v) AS (SELECT 2 UNION ALL SELECT v + 1 FROM n WHERE v < 2500) \
                INSERT INTO log SELECT key, v, 1, NULL, '[]' FROM games, n WHERE id = ?1";
    assert_eq!(file.execute(grow, [id]).unwrap(), 2499);
    assert!(store.write_blocking(move |tx| tx.delete(&id)).unwrap());
    assert_eq!(rows(&dir, "log"), 1501, "not all of it at once");

    assert_eq!(store.game(&id).unwrap(), None);
    assert_eq!(store.version(&id).unwrap(), None);
    assert_eq!(store.log(&id, 0, 9).unwrap(), []);
    assert!(!store.write_blocking(move |tx| tx.delete(&id)).unwrap());
    let listed = store.games(&ListQuery::default()).unwrap();
    assert_eq!(listed.games, [other]);
    let counted: u64 = store
        .census(now())
        .unwrap()
        .games
        .map(|(_, n)| n)
        .iter()
        .sum();
    assert_eq!(counted, 1);
    assert_eq!(look(&store, KEEP, None, 100).old, []);
    let changes = store.read(|reader| reader.changes(since)).unwrap();
    assert_eq!(changes, Changes::Of(vec![Change { id, version: None }]));
    let checked = check::check(&dir.file(), |_, _| {}).unwrap();
    assert_eq!((checked.games, checked.findings), (1, vec![]));
    let copied = backup(&dir.file(), &dir.0.join("copy"), |_, _| {}).unwrap();
    assert_eq!(copied.games, 1);

    let mut slices = 0;
    while store.write_blocking(|tx| tx.delete_rest()).unwrap() {
        slices += 1;
    }
    assert_eq!(slices, 2);
    assert_eq!((rows(&dir, "log"), rows(&dir, "games")), (1, 1));
}
