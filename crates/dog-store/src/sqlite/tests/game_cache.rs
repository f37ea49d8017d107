//! The game cache never returns an outdated game.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{super::game_cache::GameCache, *};

#[test]
fn a_rolled_back_change_is_not_cached() {
    let (_dir, store) = Dir::with_store();
    let id = create(&store).id;
    let (undone, done) = (reissue(), Action::Deal { by: None });
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

/// What another program changes in the file is seen once a write has found out.
#[test]
fn a_refused_or_stale_write_forgets_the_game() {
    let (dir, store) = Dir::with_store();
    let changes = [
        ("UPDATE games SET updated_at = updated_at + 1", None),
        ("DELETE FROM games", None),
        (
            "UPDATE games SET listed = 0; CREATE TRIGGER refuse BEFORE UPDATE ON games \
          BEGIN SELECT RAISE(ABORT, 'refused'); END",
            Some(StoreError::Moved),
        ),
    ];
    for (change, refusal) in changes {
        let stored = create(&store);
        let before = Some(stored.clone());
        assert_eq!(wait(store.game(&stored.id)), before);
        let connection = Connection::open(dir.file()).unwrap();
        connection.execute_batch(change).unwrap();
        assert_eq!(wait(store.game(&stored.id)), before);
        let write = Write::from(draft(&stored, &reissue()));
        let committed = block_on(store.commit(write)).map_err(|error| error.to_string());
        let expected = match refusal {
            Some(error) => Err(error.to_string()),
            None => Ok(CommitResult::Stale),
        };
        assert_eq!(committed, expected, "{change}");
        assert_ne!(wait(store.game(&stored.id)), before, "{change}");
    }
}

/// Adds a game as one that was written.
fn put(cache: &GameCache, stored: &StoredGame) {
    cache.end_commit(vec![(stored.id, Some(stored.clone()))]);
}

#[test]
fn a_game_that_may_have_changed_since_it_was_read_is_not_cached() {
    let cache = GameCache::new(9);
    let (changed, other) = (numbered(1), numbered(2));
    put(&cache, &changed);
    let known = cache.commits();
    cache.begin_commit(&[(changed.id, None)]);
    // Readers find it in the file, before and after the commit.
    for stored in [&changed, &other] {
        cache.insert_read(stored, known);
    }
    assert_eq!(cache.get(changed.id), None);
    assert_eq!(cache.get(other.id), Some(other.clone()));
    let next = act_on(&changed);
    cache.end_commit(vec![(changed.id, Some(next.clone()))]);
    assert_eq!(cache.get(changed.id), Some(next.clone()));
    // A slow reader comes with what it read before.
    cache.insert_read(&changed, known);
    assert_eq!(cache.get(changed.id), Some(next));
}

fn act_on(stored: &StoredGame) -> StoredGame {
    draft(stored, &reissue()).next
}

/// Readers never see a game go back while it is changed.
#[test]
fn a_game_never_goes_back() {
    let (_dir, store) = Dir::with_store();
    let id = create(&store).id;
    let (done, last) = (AtomicBool::new(false), 60);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut known = 1;
                while !done.load(Ordering::Relaxed) {
                    let row = wait(store.version(&id)).unwrap();
                    let game = wait(store.game(&id)).unwrap().game.version();
                    assert!(known <= row && row <= game, "{known}, {row}, {game}");
                    known = game;
                }
            });
        }
        while act(&store, &id, &reissue()).game.version() < last {}
        done.store(true, Ordering::Relaxed);
    });
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

#[test]
fn a_full_cache_never_returns_another_game() {
    let cache = GameCache::new(1_024);
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
    let cache = GameCache::new(1_024);
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
