//! Games that were seen before are as they are on the disk, whatever has happened since.

use super::*;
use crate::store::record::Recent;

/// What can become of a fresh game in one step.
fn steps() -> [Action; 2] {
    [reissue(), Action::Deal { by: None }]
}

#[test]
fn what_another_process_writes_is_seen() {
    let dir = Dir::new();
    let (here, there) = (dir.store(), dir.store());
    let record = create(&here);
    let id = record.id;
    for _ in 0..3 {
        assert_eq!(here.game(&id).unwrap(), there.game(&id).unwrap());
        let written = there.write_blocking(move |tx| act(tx, &id, reissue()));
        assert_eq!(here.game(&id).unwrap(), Some(written.unwrap()));
    }
}

#[test]
fn what_was_undone_is_not_seen() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let [undone, done] = steps();
    let failed = store.write_blocking(move |tx| {
        let record = act(tx, &id, undone)?;
        assert_eq!(tx.game(&id)?, Some(record));
        Err::<(), _>(StoreError::Misuse("on purpose"))
    });
    assert!(failed.is_err());
    assert_eq!(store.game(&id).unwrap().unwrap().game.version(), 1);
    let written = store.write_blocking(move |tx| act(tx, &id, done)).unwrap();
    assert_eq!(written.game.version(), 2, "as the one that was undone");
    assert_eq!(store.game(&id).unwrap(), Some(written));
}

#[test]
fn a_file_put_back_to_an_earlier_state_goes_on_differently() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let database = rusqlite::Connection::open(dir.file()).unwrap();
    let run = |sql| database.execute_batch(sql).unwrap();
    run("CREATE TEMP TABLE copy AS SELECT * FROM games");
    let first = steps().map(|action| {
        let written = store.write_blocking(move |tx| act(tx, &id, action));
        assert_eq!(store.game(&id).unwrap(), Some(written.unwrap()));
        run("DELETE FROM games; INSERT INTO games SELECT * FROM copy");
        store.game(&id).unwrap().unwrap().game.version()
    });
    assert_eq!(first, [1, 1]);
}

/// At the same version, and with the same tokens.
#[test]
fn what_was_last_seen_is_not_kept_on_top_of_another_history() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    store.game(&id).unwrap();
    let seen = |version| {
        let record = store.last_seen(&id).unwrap();
        assert_eq!(record.game.version(), version);
        record
    };
    let first = seen(1);
    let database = rusqlite::Connection::open(dir.file()).unwrap();
    let run = |sql| database.execute_batch(sql).unwrap();
    run("CREATE TEMP TABLE copy AS SELECT * FROM games");
    let [reissue, deal] = steps();
    let keep = |record: &Record, action: &Action| {
        let draft = Draft::new(record, action).unwrap();
        store.keep_blocking([draft]).remove(0)
    };
    keep(&first, &reissue).unwrap();
    let second = seen(2);
    run("DELETE FROM games; INSERT INTO games SELECT * FROM copy");
    keep(&first, &deal).unwrap();
    let stored = store.game(&id).unwrap();
    let stale = keep(&second, &deal);
    assert!(matches!(stale, Err(StoreError::Stale(2))), "{stale:?}");
    assert_eq!(store.game(&id).unwrap(), stored);
}

/// A game that no other is like.
fn numbered(number: u32) -> Record {
    let mut record = fresh();
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&number.to_le_bytes());
    record.game = Game::new(Setup {
        rules: Preset::DogspielIt.rules(),
        players: vec![Player::human(""); 4],
        first_dealer: None,
        seed: Seed::new(seed),
        seed_given: false,
    })
    .into();
    record
}

#[test]
fn games_do_not_take_each_others_places() {
    let recent = Recent::new(1_024);
    let games: Vec<Record> = (0..3_000).map(numbered).collect();
    let mut kept = 0;
    for record in &games {
        assert_eq!(recent.get(record.id, record.stamp()), None);
        recent.put(record.clone());
        let game = recent.get(record.id, record.stamp());
        assert_eq!(game.as_ref(), Some(&record.game));
    }
    for record in &games {
        let game = recent.get(record.id, record.stamp());
        kept += usize::from(game.is_some());
        assert!(game.is_none_or(|game| game == record.game));
    }
    assert!((1..=1_024).contains(&kept), "{kept}");
}

#[test]
fn games_that_are_read_once_seldom_drive_one_out_that_is_played() {
    let recent = Recent::new(1_024);
    let played = numbered(0);
    recent.offer(&played);
    let is_there = || recent.last(played.id).is_some();
    assert!(is_there(), "nobody had to go for it");
    let mut driven_out = 0;
    for _ in 0..100 * 1_024 {
        recent.offer(&Record {
            id: GameId::random(),
            ..played.clone()
        });
        driven_out += usize::from(!is_there());
        recent.put(played.clone());
    }
    // Some hundred want its place, and one in eight of them gets it.
    assert!((1..=60).contains(&driven_out), "{driven_out}");
}

#[test]
fn a_store_works_without_games_in_memory() {
    let dir = Dir::new();
    let settings = Settings {
        games_in_memory: 0,
        ..Settings::default()
    };
    let store = Store::open_with(dir.file(), settings).unwrap();
    let id = create(&store).id;
    for action in steps() {
        let written = store.write_blocking(move |tx| act(tx, &id, action));
        assert_eq!(store.game(&id).unwrap(), Some(written.unwrap()));
        assert_eq!(store.last_seen(&id), None);
    }
}
