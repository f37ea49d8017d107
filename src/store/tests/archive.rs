//! The logs of finished games are packed, and nobody notices.

use rand::{SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};

use super::*;
use crate::rules::moves::Generator;

/// Plays a game to its end by chance.
fn finished(store: &Store) -> Record {
    let mut record = create(store);
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(1);
    while record.game.phase() != Phase::Finished {
        let action = any_action(&record.game, &mut dice);
        record = store
            .write_blocking(move |tx| {
                apply(tx, &mut record, action)?;
                Ok::<_, StoreError>(record)
            })
            .unwrap();
    }
    record
}

fn any_action(game: &Game, dice: &mut Xoshiro256PlusPlus) -> Action {
    match game.phase() {
        Phase::Deal => Action::Deal { by: None },
        Phase::Exchange => {
            let awaited = |seat: &Seat| game.check_exchange(*seat).is_ok();
            let seat = Seat::all(4).find(awaited).unwrap();
            let card = game.hand(seat).kinds().next().unwrap();
            Action::Offer { seat, card }
        }
        _ => {
            let seat = game.turn().unwrap();
            let hand = game.hand(seat);
            let moves = Generator::new().legal_moves(game.rules(), game.board(), seat, hand);
            let mv = moves.choose(dice).unwrap().mv;
            Action::Play { seat, mv }
        }
    }
}

/// Rows of a table.
fn rows(dir: &Dir, table: &str) -> i64 {
    let file = rusqlite::Connection::open(dir.file()).unwrap();
    let sql = format!("SELECT count(*) FROM {table}");
    file.query_row(&sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_packed_log_reads_like_before() {
    let dir = Dir::new();
    let store = dir.store();
    let (going_on, over) = (create(&store), finished(&store));
    let (id, version) = (over.id, over.game.version());
    let log = store.log(&id, 0, u32::MAX).unwrap();
    assert_eq!(log.len() as u64, version);
    let since = store.read(|reader| reader.last_change()).unwrap();
    store.archive(now(), None, 10).unwrap();
    assert_eq!((rows(&dir, "log"), rows(&dir, "archive")), (1, 1));
    assert_eq!(store.log(&id, 0, u32::MAX).unwrap(), log);
    assert_eq!(store.log(&id, 5, 2).unwrap(), log[5..7]);
    assert_eq!(store.log(&id, version, 9).unwrap(), []);
    assert_eq!(store.log(&going_on.id, 0, 9).unwrap().len(), 1);
    assert_eq!(store.game(&id).unwrap(), Some(over));
    let changes = store.read(|reader| reader.changes(since)).unwrap();
    assert_eq!(changes, Changes::Of(Vec::new()), "nothing has happened");
    store.archive(now(), None, 10).unwrap();
    assert_eq!(rows(&dir, "archive"), 1, "it is done once");
    store.write_blocking(move |tx| tx.delete(&id)).unwrap();
    assert_eq!(rows(&dir, "archive"), 0, "it goes with its game");
}

#[test]
fn what_is_recent_or_goes_on_is_not_packed() {
    let dir = Dir::new();
    let store = dir.store();
    let over = finished(&store);
    create(&store);
    let before = over.updated_at - jiff::SignedDuration::from_millis(1);
    for (by, packed) in [(before, 0), (over.updated_at, 1), (now(), 1)] {
        store.archive(by, None, 10).unwrap();
        assert_eq!(rows(&dir, "archive"), packed);
    }
}

#[test]
fn a_log_that_cannot_be_read_keeps_no_other_from_being_packed() {
    let dir = Dir::new();
    let store = dir.store();
    let (bad, good) = (finished(&store).id, finished(&store).id);
    let file = rusqlite::Connection::open(dir.file()).unwrap();
    let spoil = "UPDATE log SET events = '[' WHERE version = 9 \
                 AND game = (SELECT key FROM games WHERE id = ?1)";
    assert_eq!(file.execute(spoil, [bad]).unwrap(), 1);
    let next = store.archive(now(), None, 1).unwrap();
    assert!(next.is_some());
    store.archive(now(), next, 1).unwrap();
    assert_eq!(rows(&dir, "archive"), 1);
    assert!(store.log(&good, 0, 9).is_ok());
    assert!(store.log(&bad, 0, 9).is_err());
}

#[test]
fn a_damaged_archive_is_an_error() {
    let dir = Dir::new();
    let store = dir.store();
    let id = finished(&store).id;
    store.archive(now(), None, 1).unwrap();
    let file = rusqlite::Connection::open(dir.file()).unwrap();
    let spoil = "UPDATE archive SET entries = substr(entries, 1, 900)";
    assert_eq!(file.execute(spoil, []).unwrap(), 1);
    let error = store.log(&id, 0, 9).unwrap_err();
    assert!(!error.is_temporary(), "{error}");
}
