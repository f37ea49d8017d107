//! What the tests of the store share: a file of their own, and games to put in it.

mod archive;
mod checking;
mod faults;
mod idempotency;
mod opening;
mod reading;
mod recent;
mod retention;
mod schedule;
mod sharing;
mod writing;

use std::{
    env, fs,
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use dog_rules::{Action, BySeat, Event, Game, Phase, Player, Preset, Seat, Seed, Setup};

use super::*;

/// A directory that goes when the test is over.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Dir {
        let dir = env::temp_dir().join(format!("dog-store-{}", GameId::random()));
        fs::create_dir(&dir).unwrap();
        Dir(dir)
    }

    /// A file in it.
    fn file(&self) -> PathBuf {
        self.0.join("games.db")
    }

    /// A store in that file.
    fn store(&self) -> Store {
        Store::open(self.file()).unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A game nobody has touched.
fn fresh() -> Record {
    let rules = Preset::DogspielIt.rules();
    let now = now();
    Record {
        id: GameId::random(),
        listed: true,
        imported: false,
        creator: None,
        created_at: now,
        updated_at: now,
        tokens: tokens("first"),
        tempo: Tempo::default(),
        changes: TableChanges::default(),
        deadline: None,
        game: Game::new(Setup {
            players: (0..rules.seats)
                .map(|seat| Player::human(format!("player {seat}")))
                .collect(),
            rules,
            first_dealer: None,
            seed: Seed::new([7; 32]),
            seed_given: false,
        })
        .into(),
    }
}

fn tokens(text: &str) -> Tokens {
    Tokens {
        host: TokenHash::of(text),
        seats: BySeat::from_fn(|seat| (seat < 3).then(|| TokenHash::of(&format!("{text} {seat}")))),
    }
}

/// How that game came to be.
fn creation(record: &Record) -> LogEntry {
    LogEntry {
        version: 1,
        at: record.created_at,
        action: None,
        events: vec![record.game.last_event().clone()],
    }
}

/// Puts a fresh game into the store.
fn create(store: &Store) -> Record {
    add(store, fresh())
}

fn add(store: &Store, record: Record) -> Record {
    let mut added = record;
    store
        .write_blocking(move |tx| {
            let log = [creation(&added)];
            tx.insert(&mut added, &log).map(|()| added)
        })
        .unwrap()
}

/// An action that can be repeated a hundred times.
fn reissue() -> Action {
    Action::ReissueToken {
        seat: Seat::default(),
    }
}

/// Carries out an action on a game that was read before.
fn apply(tx: &mut Transaction<'_>, record: &mut Record, action: Action) -> Result<(), StoreError> {
    let draft = Draft::new(record, &action).expect("a legal action");
    tx.keep(&draft)?;
    *record = draft.record;
    Ok(())
}

/// Reads a game and carries out an action, as the service does.
fn act(tx: &mut Transaction<'_>, id: &GameId, action: Action) -> Result<Record, StoreError> {
    let mut record = tx.game(id)?.expect("the game is there");
    apply(tx, &mut record, action)?;
    Ok(record)
}

/// Waits for a future without a runtime.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
