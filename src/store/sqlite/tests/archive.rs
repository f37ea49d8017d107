//! The logs of finished games are packed, and nobody notices.

use dog_rules::Generator;
use flate2::{Compression, write::DeflateEncoder};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};

use super::{super::archive::PAGE, connect, migrations::MIGRATIONS, *};

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
    let pages = version.div_ceil(PAGE as u64) as i64;
    assert!(pages > 2, "{version} versions");
    assert_eq!((rows(&dir, "log"), rows(&dir, "archive")), (1, pages));
    assert_eq!(store.log(&id, 0, u32::MAX).unwrap(), log);
    for (after, limit) in [
        (0, 1),
        (5, 2),
        (120, 64),
        (127, 1),
        (128, 1),
        (128, 64),
        (1, 200),
    ] {
        let part = store.log(&id, after, limit).unwrap();
        assert_eq!(
            part,
            log[after as usize..][..limit as usize],
            "{limit} after {after}"
        );
    }
    assert_eq!(
        store.log(&id, version - 1, 9).unwrap(),
        log[log.len() - 1..]
    );
    assert_eq!(store.log(&id, version, 9).unwrap(), []);
    assert_eq!(store.log(&going_on.id, 0, 9).unwrap().len(), 1);
    assert_eq!(store.game(&id).unwrap(), Some(over));
    let changes = store.read(|reader| reader.changes(since)).unwrap();
    assert_eq!(changes, Changes::Of(Vec::new()), "nothing has happened");
    store.archive(now(), None, 10).unwrap();
    assert_eq!(rows(&dir, "archive"), pages, "it is done once");
    store.write_blocking(move |tx| tx.delete(&id)).unwrap();
    assert_eq!(rows(&dir, "archive"), 0, "it goes with its game");
}

/// What a server of the third schema has left of that game: its log in one.
fn packed_whole(dir: &Dir, record: &Record, log: &[LogEntry]) {
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
        record.id,
        record.game.version() as i64,
        record.created_at.as_microsecond(),
        record.updated_at.as_microsecond(),
        record.tokens,
        serde_json::to_string(&record.game).unwrap(),
    ];
    file.execute(insert, row).unwrap();
    let insert = "INSERT INTO archive (game, entries) SELECT key, ?1 FROM games";
    file.execute(insert, [packed.finish().unwrap()]).unwrap();
}

#[test]
fn a_log_that_was_packed_whole_is_read_and_packed_again() {
    let (dir, old) = (Dir::new(), Dir::new());
    let store = dir.store();
    let over = finished(&store);
    let (id, version) = (over.id, over.game.version());
    let log = store.log(&id, 0, u32::MAX).unwrap();
    packed_whole(&old, &over, &log);
    let store = old.store();
    assert_eq!(rows(&old, "archive"), 1);
    for _ in 0..2 {
        assert_eq!(store.log(&id, 0, u32::MAX).unwrap(), log);
        assert_eq!(store.log(&id, 70, 64).unwrap(), log[70..134]);
        assert_eq!(store.log(&id, version, 9).unwrap(), []);
        let checked = check::check(&old.file(), |_, _| {}).unwrap();
        assert_eq!(checked.findings, []);
        store.archive(now(), None, 10).unwrap();
    }
    let pages = version.div_ceil(PAGE as u64) as i64;
    assert_eq!(rows(&old, "archive"), pages);
    assert_eq!(rows(&old, "games WHERE archived = 1"), 1);
}

#[test]
fn who_created_a_game_is_forgotten_when_it_is_packed() {
    let dir = Dir::new();
    let store = dir.store();
    let creator = Some(store.creator(&[7; 16]));
    assert_eq!(creator, Some(dir.store().creator(&[7; 16])));
    assert_ne!(creator, Some(store.creator(&[8; 16])));
    assert_ne!(creator, Some(Dir::new().store().creator(&[7; 16])));
    let played = finished(&store);
    let log = store.log(&played.id, 0, u32::MAX).unwrap();
    let record = Record {
        id: GameId::random(),
        creator,
        ..played
    };
    let (id, packed) = (record.id, PackedLog::new(&log).unwrap());
    store
        .write_blocking(move |tx| tx.insert_packed(&record, &packed))
        .unwrap();
    let known = || store.read(|reader| reader.standing(&id)).unwrap().unwrap();
    assert_eq!(store.log(&id, 0, u32::MAX).unwrap(), log);
    assert_eq!(known().creator, creator);
    assert_eq!(store.game(&id).unwrap().unwrap().creator, creator);
    store.archive(now(), None, 10).unwrap();
    assert_eq!(known().creator, None);
    assert_eq!(store.game(&id).unwrap().unwrap().creator, None);
    assert_eq!(store.log(&id, 0, u32::MAX).unwrap(), log);
}

#[test]
fn what_is_recent_or_goes_on_is_not_packed() {
    let dir = Dir::new();
    let store = dir.store();
    let over = finished(&store);
    create(&store);
    let before = over.updated_at - jiff::SignedDuration::from_millis(1);
    for (by, packed) in [(before, false), (over.updated_at, true), (now(), true)] {
        store.archive(by, None, 10).unwrap();
        assert_eq!(rows(&dir, "archive") > 0, packed);
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
    assert!(rows(&dir, "archive") > 0);
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
    let spoil = "UPDATE archive SET entries = substr(entries, 1, 400)";
    assert!(file.execute(spoil, []).unwrap() > 0);
    let error = store.log(&id, 0, 9).unwrap_err();
    assert!(!error.is_temporary(), "{error}");
}
