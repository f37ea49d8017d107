//! The game cache never returns an outdated game.

use super::{
    super::{
        game_cache::{BatchChanges, GameCache, LastChange},
        wal::WalIndex,
    },
    *,
};

/// Two different actions that a new game allows.
fn steps() -> [Action; 2] {
    [reissue(), Action::Deal { by: None }]
}

#[test]
fn a_rolled_back_change_is_not_cached() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let [undone, done] = steps();
    let failed = block_on(file(&store).write(move |tx| {
        let stored = act_in(tx, &id, undone)?;
        assert_eq!(tx.game(&id)?, Some(stored));
        Err::<(), _>(StoreError::Misuse("on purpose"))
    }));
    assert!(failed.is_err());
    assert_eq!(wait(store.game(&id)).unwrap().game.version(), 1);
    let written = act(&store, &id, &done);
    assert_eq!(written.game.version(), 2, "as the one that was rolled back");
    assert_eq!(wait(store.game(&id)), Some(written));
}

/// Restores the file to an earlier state while it is served.
struct Restorer(Connection);

impl Restorer {
    /// Saves the current state.
    fn new(dir: &Dir) -> Restorer {
        let connection = Connection::open(dir.file()).unwrap();
        let copy = "CREATE TEMP TABLE old_games AS SELECT * FROM games; \
                    CREATE TEMP TABLE old_changes AS SELECT * FROM changes; \
                    CREATE TEMP TABLE old_log AS SELECT * FROM log";
        connection.execute_batch(copy).unwrap();
        Restorer(connection)
    }

    fn restore(&self) {
        let restore = "BEGIN; \
                       DELETE FROM games; INSERT INTO games SELECT * FROM old_games; \
                       DELETE FROM changes; INSERT INTO changes SELECT * FROM old_changes; \
                       DELETE FROM log; INSERT INTO log SELECT * FROM old_log; \
                       COMMIT";
        self.0.execute_batch(restore).unwrap();
    }
}

#[test]
fn a_file_may_be_restored_to_an_earlier_state() {
    let dir = Dir::new();
    let store = dir.store();
    let first = create(&store);
    let id = first.id;
    let earlier = Restorer::new(&dir);
    for action in steps() {
        let written = act(&store, &id, &action);
        assert_eq!(wait(store.game(&id)), Some(written));
        earlier.restore();
        assert_eq!(wait(store.game(&id)), Some(first.clone()));
    }
}

/// After the restoration the game has reached the same version by another action.
#[test]
fn a_cached_game_is_not_written_over_another_history() {
    let dir = Dir::new();
    let (store, there) = (dir.store(), uncached_store(&dir));
    let first = create(&store);
    let earlier = Restorer::new(&dir);
    let [reissue, deal] = steps();
    let second = act(&store, &first.id, &reissue);
    earlier.restore();
    let stored = act(&there, &first.id, &deal);
    assert_eq!(stored.game.version(), second.game.version());
    commit_stale(&store, update(&second, &deal));
    // After the stale write, both stores read the stored game.
    assert_eq!(wait(store.game(&first.id)), Some(stored.clone()));
    assert_eq!(wait(there.game(&first.id)), Some(stored));
}

/// A cache for this many games, next to a store.
fn cache(games: usize) -> (Dir, Store, GameCache) {
    let dir = Dir::new();
    let store = dir.store();
    let index = WalIndex::open(&dir.file()).unwrap();
    (dir, store, GameCache::new(games, index))
}

/// A game that differs from those with other numbers.
fn numbered(number: u32) -> StoredGame {
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&number.to_le_bytes());
    StoredGame {
        game: game(|_| Player::human(""), seed),
        ..new_game()
    }
}

/// Adds a game as one that was written.
fn put(cache: &GameCache, stored: &StoredGame) {
    let connection = Connection::open_in_memory().unwrap();
    let changes = BatchChanges {
        before: LastChange::default(),
        after: LastChange::default(),
        games: vec![(stored.id, Some(stored.clone()))],
    };
    cache.committed(&connection, changes);
}

#[test]
fn a_full_cache_never_returns_another_game() {
    let (_dir, _store, cache) = cache(1_024);
    let games: Vec<StoredGame> = (0..3_000).map(numbered).collect();
    for stored in &games {
        assert_eq!(cache.get(stored.id), None);
        put(&cache, stored);
        assert_eq!(cache.get(stored.id).as_ref(), Some(stored));
    }
    let mut kept = 0;
    for stored in &games {
        let game = cache.get(stored.id);
        kept += usize::from(game.is_some());
        assert!(game.is_none_or(|game| game == *stored));
    }
    assert!((1..=1_024).contains(&kept), "{kept}");
}

#[test]
fn games_read_once_seldom_evict_a_game_in_play() {
    let (_dir, _store, cache) = cache(1_024);
    let played = numbered(0);
    cache.insert_read(&played, 0);
    let is_there = || cache.get(played.id).is_some();
    assert!(is_there(), "the cache was empty");
    let mut evicted = 0;
    for _ in 0..100 * 1_024 {
        cache.insert_read(&renamed(&played), 0);
        evicted += usize::from(!is_there());
        put(&cache, &played);
    }
    assert!(evicted <= 60, "{evicted}");
}

/// Otherwise its creator would stay in memory after it was deleted from the file, because that is
/// not in the change feed.
#[test]
fn a_finished_game_with_a_creator_is_not_cached() {
    let (_dir, _store, cache) = cache(9);
    let (over, ..) = finished_game(&new_game());
    let creator = Some(Creator([1; 16]));
    for (going_on, creator, is_kept) in [
        (true, creator, true),
        (true, None, true),
        (false, creator, false),
        (false, None, true),
    ] {
        let before = new_game();
        let game = if going_on { &before } else { &over };
        let stored = StoredGame {
            id: before.id,
            creator,
            ..game.clone()
        };
        // It was cached before it was finished.
        put(&cache, &before);
        put(&cache, &stored);
        let kept = is_kept.then_some(stored.clone());
        assert_eq!(cache.get(stored.id), kept);
        cache.insert_read(&stored, 0);
        assert_eq!(cache.get(stored.id), kept);
    }
}
