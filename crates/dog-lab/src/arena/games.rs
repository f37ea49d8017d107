//! Games on many threads.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

/// What each of so many games came to, in the order of their numbers: what is made of it does not
/// depend on the threads that played them.
///
/// # Panics
/// If `play` does.
pub fn each_game<T: Send>(
    games: u32,
    threads: NonZeroUsize,
    play: impl Fn(u32) -> T + Sync,
) -> Vec<T> {
    let next = AtomicU32::new(0);
    let played = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= games {
                        break;
                    }
                    let game = play(number);
                    let mut played = played.lock().expect("no thread panicked");
                    played.insert(number, game);
                }
            });
        }
    });
    let played = played.into_inner().expect("no thread panicked");
    played.into_values().collect()
}
