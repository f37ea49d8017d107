//! Checks and backups of intact and damaged databases.

use std::{fs::OpenOptions, time::Duration};

use dog_rules::record::ParsedRecord;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;

use super::*;

/// The number of bits to flip, one at a time.
const BIT_FLIPS: usize = 30;

/// Adds games and plays some versions of each; every write is a commit of its own.
fn create_played(store: &Store, games: usize, versions: usize) -> Vec<GameId> {
    let play = |_| {
        let mut stored = create(store);
        for _ in 0..versions {
            let seat = stored.game.timed_out_seat().expect("it is not over");
            let action = stored.game.legal_actions(seat).swap_remove(0);
            stored = act(store, &stored.id, &action);
        }
        stored.id
    };
    (0..games).map(play).collect()
}

/// Flips one bit of a file.
fn flip_bit(path: &Path, byte: u64, bit: u32) {
    let mut bytes = fs::read(path).unwrap();
    bytes[byte as usize] ^= 1 << bit;
    fs::write(path, bytes).unwrap();
}

#[test]
fn an_intact_database_has_no_defects() {
    let (dir, store) = Dir::with_store();
    create_played(&store, 3, 40);
    let text = include_str!("../../../../../tests/records/four.dog");
    let replayed = ParsedRecord::read(text).unwrap().replay().unwrap();
    let now = now();
    let entries = replayed.log.into_iter().map(|entry| LogEntry {
        version: entry.version,
        at: now,
        action: entry.action,
        events: entry.events,
    });
    let log: Vec<LogEntry> = entries.collect();
    let imported = StoredGame {
        created_at: now,
        updated_at: now,
        imported: true,
        game: replayed.game.into(),
        ..new_game()
    };
    let versions = log.len() as u64;
    commit_done(&store, import(&imported, &log));
    let gone = create(&store);
    commit_done(&store, removal(&gone));

    // While the store is open, and after it was closed.
    let beside = check(&dir.file(), |_, _| {}).unwrap();
    drop(store);
    verify_file(&dir.file()).unwrap();
    let mut shown = Vec::new();
    let after = check(&dir.file(), |done, all| shown.push((done, all))).unwrap();
    assert!(shown.into_iter().eq((0..=4).map(|done| (done, 4))));
    assert_eq!(after.defects, []);
    assert_eq!((after.games, after.versions), (4, 3 * 41 + versions));
    assert_eq!(after.bytes, fs::metadata(dir.file()).unwrap().len());
    assert_eq!((beside.games, beside.defects), (4, vec![]));
}

/// A game without names, and its log without times.
type BareGame = (Value, Vec<(u64, Option<Action>, Vec<Event>)>);

/// The part of a game that a check can verify. Names, tokens and times cannot be derived from
/// anything else.
fn bare_game(store: &Store, id: &GameId) -> BareGame {
    let stored = wait(store.game(id)).unwrap();
    let mut game = serde_json::to_value(&*stored.game).unwrap();
    game["players"].take();
    let log = log(store, id)
        .into_iter()
        .map(|entry| (entry.version, entry.action, entry.events));
    (game, log.collect())
}

#[test]
fn a_flipped_bit_is_detected_or_harmless() {
    let (dir, store) = Dir::with_store();
    let games = create_played(&store, 5, 60);
    let before: Vec<_> = games.iter().map(|id| bare_game(&store, id)).collect();
    drop(store);
    let sound = fs::read(dir.file()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut found = 0;
    for _ in 0..BIT_FLIPS {
        let (byte, bit) = (rng.random_range(0..sound.len()), rng.random_range(0..8));
        fs::write(dir.file(), &sound).unwrap();
        flip_bit(&dir.file(), byte as u64, bit);
        let checked = check(&dir.file(), |_, _| {});
        if checked.is_err() || !checked.unwrap().defects.is_empty() {
            found += 1;
            continue;
        }
        let store = dir.store();
        let after: Vec<_> = games.iter().map(|id| bare_game(&store, id)).collect();
        assert!(after == before, "bit {bit} of byte {byte} is not detected");
    }
    assert!(found > BIT_FLIPS / 4, "{found}");
}

#[test]
fn a_swapped_card_is_detected_and_not_named() {
    let (dir, store) = Dir::with_store();
    let id = create_played(&store, 1, 2)[0];
    let other = create(&store);
    drop(store);
    let defect = |change: &str| {
        let before = fs::read(dir.file()).unwrap();
        sql(&dir, change);
        let defects = dir.defects();
        fs::write(dir.file(), before).unwrap();
        assert_eq!(defects.len(), 1, "{change}: {defects:?}");
        defects[0].clone()
    };
    let game = |change: &str| format!("UPDATE games SET {change} WHERE id = '{id}'");
    let log_row =
        |change: &str, version: u32| format!("UPDATE log SET {change} WHERE version = {version}");
    // The hidden stock in another order, and with queens for kings.
    let stock = |cards: &str| format!("snapshot = json_set(snapshot, '$.stock', {cards})");
    let order = "substr(snapshot ->> '$.stock', 2) || substr(snapshot ->> '$.stock', 1, 1)";
    let king = stock("replace(snapshot ->> '$.stock', 'K', 'Q')");
    let round = "snapshot = replace(snapshot, '\"round\":1', '\"round\":2')";
    let no_seat = "action = '{\"action\":\"offer\",\"seat\":9,\"card\":\"joker\"}'";
    let again = "action = (SELECT action FROM log WHERE version = 2)";
    let replay = "its snapshot differs from the replay of its log";
    let events = "the events of version 2 differ from those of a replay";
    let refused = "the rules refuse the action of version 3";
    let delete = |version: u32| format!("DELETE FROM log WHERE version = {version}");
    for (change, expected) in [
        (game(&stock(order)), replay),
        (game(&king), "cannot be read: wrong data"),
        (game(round), replay),
        (game("phase = 'play'"), "differ in the phase"),
        (game("version = 17"), "differ in the version"),
        (game("due_at = 1"), "differ in when the server is to act"),
        (game("is_for_people = 0"), "whether it is for people"),
        (game("anyone_may_join = 1"), "whether anyone may join"),
        (game("at_limit = 1"), "whether it is at its last version"),
        (game("snapshot = 'joker'"), "cannot be read: wrong syntax"),
        (
            game("created_at = 1"),
            "its times differ from those of its log",
        ),
        (log_row("events = replace(events, 'K', 'Q')", 2), events),
        (log_row(no_seat, 3), "version 3"),
        (log_row(again, 3), refused),
        (log_row("action = NULL", 2), "version 2 has no action"),
        (delete(3), "its log ends"),
        (delete(2), "no version 2"),
    ] {
        let text = defect(&change);
        assert!(text.starts_with(&format!("game {id}: ")), "{text}");
        assert!(text.contains(expected), "{change}: {text}");
        assert!(!text.contains("joker"), "{text}");
    }
    let orphan = "PRAGMA foreign_keys = OFF; INSERT INTO log SELECT 99, version, at, action, events \
                 FROM log WHERE version = 3";
    assert_eq!(defect(orphan), "database: 1 rows of log belong to no game");
    let store = dir.store();
    assert_eq!(wait(store.game(&other.id)), Some(other));
}

#[test]
fn a_damaged_file_is_not_served() {
    let (dir, store) = Dir::with_store();
    create_played(&store, 4, 40);
    drop(store);
    let sound = fs::read(dir.file()).unwrap();
    let refused = |what: &str, bytes: &[u8]| {
        fs::write(dir.file(), bytes).unwrap();
        let refusal = verify_file(&dir.file()).expect_err(what);
        assert!(!refusal.is_temporary(), "{what}: {refusal}");
        let found = check(&dir.file(), |_, _| {});
        let is_sound = found.is_ok_and(|report| report.defects.is_empty());
        assert!(!is_sound, "{what}");
        assert_eq!(fs::read(dir.file()).unwrap(), bytes, "{what}");
    };
    refused("half", &sound[..sound.len() / 2]);
    refused("the first page", &sound[..4096]);
    refused("the header", &sound[..100]);
    refused("no page at the end", &sound[..sound.len() - 4096]);
    for page in 0..sound.len() / 4096 {
        // The page type of a b-tree page, or the link of an overflow page.
        let mut damaged = sound.clone();
        let begin = page * 4096 + if page == 0 { 100 } else { 0 };
        damaged[begin..begin + 8].fill(0x55);
        refused(&format!("page {}", page + 1), &damaged);
    }
    let mut damaged = sound.clone();
    damaged[3] ^= 1;
    refused("the name of the format", &damaged);
}

#[test]
fn a_lost_database_is_not_taken_for_a_new_one() {
    let (dir, image) = (Dir::new(), Dir::new());
    let store = dir.store();
    create_played(&store, 1, 3);
    let log = connect::sidecar(&image.file(), "-wal");
    fs::copy(connect::sidecar(&dir.file(), "-wal"), &log).unwrap();
    let before = fs::read(&log).unwrap();
    assert!(!before.is_empty());
    for empty in [false, true] {
        if empty {
            fs::write(image.file(), "").unwrap();
        }
        let lost = |error: StoreError| {
            assert!(matches!(error, StoreError::Lost(_)), "{error}");
            let text = error.to_string();
            assert!(text.contains("games.db-wal is there"), "{text}");
        };
        lost(Store::open(image.file(), StoreConfig::default()).expect_err("lost"));
        lost(verify_file(&image.file()).expect_err("lost"));
        lost(check(&image.file(), |_, _| {}).expect_err("lost"));
        let copy = image.0.join("copy.db");
        match backup(&image.file(), &copy, |_, _| {}) {
            Err(BackupError::Store(error)) => lost(error),
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&log).unwrap(), before);
    }
}

#[test]
fn a_damaged_commit_in_the_log_is_detected() {
    let (dir, image) = (Dir::new(), Dir::new());
    let store = dir.store();
    let games = create_played(&store, 2, 12);
    let versions = |store: &Store| -> Vec<u64> {
        let version = |id| wait(store.version(id)).unwrap_or_default();
        games.iter().map(version).collect()
    };
    let before = versions(&store);
    let suffixes = ["", "-wal", "-shm"];
    let file = |dir: &Dir, suffix: &str| connect::sidecar(&dir.file(), suffix);
    let killed = suffixes.map(|suffix| fs::read(file(&dir, suffix)).unwrap());
    drop(store);
    let length = killed[1].len();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut refused = 0;
    for trial in 0..BIT_FLIPS {
        // After a power failure there is no index.
        let kept = 3 - trial % 2;
        for suffix in suffixes {
            let _ = fs::remove_file(file(&image, suffix));
        }
        for (suffix, bytes) in suffixes.iter().zip(&killed).take(kept) {
            fs::write(file(&image, suffix), bytes).unwrap();
        }
        let byte = match trial {
            0..8 => rng.random_range(0..64),
            _ => rng.random_range(0..length),
        };
        flip_bit(&file(&image, "-wal"), byte as u64, rng.random_range(0..8));
        if let Err(error) = verify_file(&image.file()) {
            assert!(matches!(error, StoreError::Damaged(_)), "{error}");
            refused += 1;
            continue;
        }
        let after = versions(&image.store());
        if kept == 3 {
            assert_eq!(after, before, "byte {byte}");
        } else {
            // A damaged last commit looks like an interrupted one, which was not acknowledged.
            let lost = before.iter().sum::<u64>() - after.iter().sum::<u64>();
            assert!(lost <= 1, "byte {byte}: {before:?} became {after:?}");
        }
    }
    assert!(refused > BIT_FLIPS / 2, "{refused}");
    // Truncated, as by a file system that has lost the end.
    for (suffix, bytes) in suffixes.iter().zip(&killed) {
        fs::write(file(&image, suffix), bytes).unwrap();
    }
    let log = OpenOptions::new().write(true).open(file(&image, "-wal"));
    log.unwrap().set_len(length as u64 / 2).unwrap();
    let error = verify_file(&image.file()).expect_err("half of the log");
    assert!(error.to_string().contains("write-ahead log"), "{error}");
    // A backup would lack the commits that cannot be read.
    let copy = image.0.join("copy.db");
    let again = backup(&image.file(), &copy, |_, _| {}).expect_err("half of the log");
    assert_eq!(again.to_string(), error.to_string());
    assert!(!copy.exists());
    // The original files are intact.
    for (suffix, bytes) in suffixes.iter().zip(&killed) {
        fs::write(file(&image, suffix), bytes).unwrap();
    }
    verify_file(&image.file()).unwrap();
    assert_eq!(versions(&image.store()), before);
}

#[test]
fn a_backup_is_complete_and_replaces_no_file() {
    let (dir, store) = Dir::with_store();
    create_played(&store, 20, 20);
    let copy = dir.0.join("copy.db");
    let mut shown = Vec::new();
    let copied = backup(&dir.file(), &copy, |done, all| shown.push((done, all))).unwrap();
    assert_eq!(copied.games, 20);
    assert_eq!(copied.bytes, fs::metadata(&copy).unwrap().len());
    assert!(shown.last().is_some_and(|(done, all)| done == all));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&copy).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let found = check(&copy, |_, _| {}).unwrap();
    assert_eq!((found.games, found.defects), (20, vec![]));
    let bytes = fs::read(&copy).unwrap();
    let again = backup(&dir.file(), &copy, |_, _| {}).expect_err("the file exists");
    assert!(matches!(again, BackupError::Exists), "{again}");
    assert_eq!(fs::read(&copy).unwrap(), bytes);
    let nowhere = backup(&dir.0.join("none.db"), &dir.0.join("c"), |_, _| {});
    assert!(matches!(nowhere, Err(BackupError::Store(StoreError::Gone))));
    assert!(!dir.0.join("c").exists() && !dir.0.join("none.db").exists());
    // Whoever opened the copy would add the log to it.
    fs::write(dir.0.join("c-wal"), "of another database").unwrap();
    let beside = backup(&dir.file(), &dir.0.join("c"), |_, _| {});
    assert!(matches!(
        beside,
        Err(BackupError::Store(StoreError::Lost(_)))
    ));
    assert!(!dir.0.join("c").exists());
    drop(store);

    // A backup of a damaged database fails and leaves no file.
    let mut damaged = fs::read(dir.file()).unwrap();
    let page = damaged.len() / 4096 / 2 * 4096;
    damaged[page..page + 8].fill(0x55);
    fs::write(dir.file(), damaged).unwrap();
    let damaged = backup(&dir.file(), &dir.0.join("d"), |_, _| {}).expect_err("a damaged page");
    assert!(matches!(damaged, BackupError::Damaged(_)), "{damaged}");
    let names = fs::read_dir(&dir.0).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.any(|name| name.starts_with('d')), "a partial file");
}

#[test]
fn a_restore_that_was_cut_off_is_noticed_and_can_be_repeated() {
    let (dir, store) = Dir::with_store();
    let id = create(&store).id;
    let copy = dir.0.join("copy.db");
    backup(&dir.file(), &copy, |_, _| {}).unwrap();
    drop(store);
    // When the old file has gone, and the new one is not there yet.
    fs::remove_file(dir.file()).unwrap();
    fs::write(dir.0.join("games.db-wal"), "").unwrap();
    let error = Store::open(dir.file(), StoreConfig::default()).expect_err("no database");
    assert!(matches!(error, StoreError::Lost(_)), "{error}");
    let restored = restore(&copy, &dir.file(), |_, _| {}).unwrap();
    assert_eq!(restored.games, 1);
    assert!(!dir.0.join("games.db-wal").exists());
    assert_eq!(wait(dir.store().version(&id)), Some(1));
    assert_eq!(dir.defects(), [""; 0]);
}

/// A backup made during writes contains one state of all games.
#[test]
fn a_backup_is_one_state() {
    let (dir, store) = Dir::with_store();
    let games = create_played(&store, 8, 3);
    let (first, last) = (games[0], games[7]);
    thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let writing = store.clone();
        scope.spawn(move || {
            // Both games always have the same version. A game may have 100 such changes.
            for _ in 0..90 {
                let pause = stopped.recv_timeout(Duration::from_millis(2));
                if pause != Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    return;
                }
                wait(file(&writing).write(move |tx| {
                    act_in(tx, &first, reissue())?;
                    act_in(tx, &last, reissue())
                }));
            }
        });
        for number in 0..5 {
            let copy = dir.0.join(format!("{number}.db"));
            backup(&dir.file(), &copy, |_, _| {}).unwrap();
            let found = check(&copy, |_, _| {}).unwrap();
            assert_eq!(found.defects, []);
            let copy = Store::open(copy, StoreConfig::default()).unwrap();
            assert_eq!(wait(copy.version(&first)), wait(copy.version(&last)));
        }
        drop(stop);
    });
}
