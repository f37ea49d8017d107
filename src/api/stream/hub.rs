//! Where those who wait for games to change are woken.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

use actix_web::web::Bytes;
use tokio::sync::watch;

use super::Format;
use crate::{
    api::{problem::Problem, wire::log::LogEntryView},
    rules::{
        event::{Event, Viewer},
        options::Rules,
        seat::MAX_SEATS,
    },
    store::{Change, Changes, GameId, LogEntry, Standing, Store, StoreError, Tokens, Watch},
};

/// How often the thread looks whether it is to stop.
const NAP: Duration = Duration::from_millis(500);

/// How long the thread waits when the store cannot be read.
const PATIENCE: Duration = Duration::from_millis(100);

/// Entries of a game's log that are kept for those who are woken.
const RECENT: usize = 64;

/// Wakes those who wait for a game when it has changed.
pub struct Hub {
    store: Store,
    channels: Mutex<HashMap<GameId, Arc<Channel>>>,
    waiting: AtomicUsize,
    closed: AtomicBool,
    /// The thread that looks for changes, which sleeps as long as nobody waits for one.
    watcher: OnceLock<Thread>,
}

/// The thread that looks for changes. Dropping it ends everyone's waiting.
pub struct Watching {
    hub: Arc<Hub>,
    thread: Option<JoinHandle<()>>,
}

impl Hub {
    /// Starts the thread.
    ///
    /// # Errors
    /// The store cannot be read, or the operating system starts no more threads.
    pub fn start(store: &Store) -> io::Result<(Arc<Hub>, Watching)> {
        let hub = Arc::new(Hub {
            store: store.clone(),
            channels: Mutex::default(),
            waiting: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            watcher: OnceLock::new(),
        });
        let watch = store.watch().map_err(io::Error::other)?;
        let last = store
            .read(|reader| reader.last_change())
            .map_err(|error: StoreError| io::Error::other(error))?;
        let watching = Arc::clone(&hub);
        let thread = thread::Builder::new()
            .name("hub".into())
            .spawn(move || watching.watch(watch, last))?;
        let watching = Watching {
            hub: Arc::clone(&hub),
            thread: Some(thread),
        };
        Ok((hub, watching))
    }

    fn watch(&self, mut watch: Watch, mut last: i64) {
        self.watcher.get_or_init(thread::current);
        while !self.closed.load(Ordering::Relaxed) {
            if self.waiting() == 0 {
                // Who comes later reads the game afterwards, so it misses nothing either.
                thread::park_timeout(NAP);
                continue;
            }
            let news = watch.wait(NAP).and_then(|changed| {
                if changed {
                    self.news(last).map(Some)
                } else {
                    Ok(None)
                }
            });
            match news {
                Ok(Some((changes, now))) => {
                    last = now;
                    self.wake(changes);
                }
                Ok(None) => {}
                Err(error) => {
                    log::warn!("streams wait: {error}");
                    thread::sleep(PATIENCE);
                    // What was missed is looked for again, commit or not.
                    if let Ok((changes, now)) = self.news(last) {
                        last = now;
                        self.wake(changes);
                    }
                }
            }
        }
    }

    /// What has changed since that change, and the number of the last one.
    fn news(&self, last: i64) -> Result<(Changes, i64), StoreError> {
        self.store
            .read(|reader| Ok((reader.changes(last)?, reader.last_change()?)))
    }

    fn wake(&self, changes: Changes) {
        let channels = self.channels();
        match changes {
            Changes::Of(changes) => {
                for Change { id, .. } in changes {
                    if let Some(channel) = channels.get(&id) {
                        channel.wake();
                    }
                }
            }
            Changes::Any => channels.values().for_each(|channel| channel.wake()),
        }
    }

    /// Waits at this game from now on: whoever looks at the game afterwards misses no change.
    pub fn subscribe(self: &Arc<Hub>, id: GameId) -> Subscription {
        let mut channels = self.channels();
        let channel = Arc::clone(channels.entry(id).or_default());
        let first = self.waiting.fetch_add(1, Ordering::SeqCst) == 0;
        if first && let Some(watcher) = self.watcher.get() {
            watcher.unpark();
        }
        Subscription {
            hub: Arc::clone(self),
            id,
            woken: channel.wake.subscribe(),
            channel,
        }
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<GameId, Arc<Channel>>> {
        // Nothing panics while the lock is held.
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watching {
    /// Ends everyone's waiting: streams end, so that the server can.
    pub fn close(&self) {
        self.hub.closed.store(true, Ordering::Relaxed);
        self.hub.wake(Changes::Any);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.close();
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            log::error!("the hub panicked");
        }
    }
}

/// Where those wait who wait for one game.
#[derive(Default)]
struct Channel {
    /// Counts the times that the game has changed.
    wake: watch::Sender<u64>,
    recent: Mutex<Recent>,
}

/// What those who were woken have read of the game, for each other.
#[derive(Default)]
struct Recent {
    /// The count of wake-ups when it was read; none if it never was.
    read: Option<u64>,
    /// The game's tokens; none if it is gone.
    tokens: Option<Tokens>,
    /// The last version.
    version: u64,
    /// The last entries of its log, one after another.
    entries: VecDeque<Arc<Entry>>,
}

impl Channel {
    fn wake(&self) {
        self.wake.send_modify(|count| *count += 1);
    }
}

/// An entry of a game's log, with the forms in which it was sent.
pub struct Entry {
    pub version: u64,
    /// Whether it is the game's last.
    pub last: bool,
    entry: LogEntry,
    sent: [[OnceLock<Bytes>; MAX_SEATS + 1]; Format::ALL.len()],
}

impl Entry {
    pub fn new(entry: LogEntry) -> Entry {
        let won = |event: &Event| matches!(event, Event::GameWon { .. });
        Entry {
            version: entry.version,
            last: entry.events.iter().any(won),
            entry,
            sent: Default::default(),
        }
    }

    /// The entry in that form as this viewer may see it.
    ///
    /// # Errors
    /// None that can happen: an entry has a JSON form.
    pub fn message(&self, rules: &Rules, format: Format, viewer: Viewer) -> Result<Bytes, Problem> {
        let place = match viewer {
            Viewer::Seat(seat) => usize::from(seat.number()),
            Viewer::Spectator => MAX_SEATS,
        };
        let sent = &self.sent[format as usize][place];
        if let Some(message) = sent.get() {
            return Ok(message.clone());
        }
        let view = LogEntryView::new(rules, &self.entry, viewer);
        let message = format
            .message("change", self.version, &view)
            .map_err(Problem::internal)?;
        Ok(sent.get_or_init(|| message.into()).clone())
    }
}

/// Somebody's waiting for one game.
pub struct Subscription {
    hub: Arc<Hub>,
    id: GameId,
    channel: Arc<Channel>,
    woken: watch::Receiver<u64>,
}

/// What is new in a game.
pub struct News {
    pub tokens: Tokens,
    /// The entries after the version asked for, one after another; not all if there are many.
    pub entries: Vec<Arc<Entry>>,
}

impl Subscription {
    /// Waits until the game has changed since this was last asked.
    pub async fn changed(&mut self) {
        // The sender lives as long as the channel, which this holds.
        let _ = self.woken.changed().await;
    }

    /// Whether the server is about to stop.
    pub fn closed(&self) -> bool {
        self.hub.closed.load(Ordering::Relaxed)
    }

    /// What has happened after this version; none if the game is gone.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn news(&mut self, after: u64) -> Result<Option<News>, StoreError> {
        let count = *self.woken.borrow_and_update();
        let (store, id) = (&self.hub.store, self.id);
        let mut recent = self.channel.recent();
        if recent.read != Some(count) {
            recent.refresh(store, id)?;
            recent.read = Some(count);
        }
        let Some(tokens) = recent.tokens.clone() else {
            return Ok(None);
        };
        let version = recent.version;
        let kept = recent.entries.front().map(|entry| entry.version);
        let entries = if kept.is_some_and(|first| first <= after + 1) {
            let newer = recent.entries.iter().filter(|entry| entry.version > after);
            newer.cloned().collect()
        } else if after < version {
            drop(recent);
            let entries = store.log(&id, after, RECENT as u32)?;
            entries.into_iter().map(Entry::new).map(Arc::new).collect()
        } else {
            Vec::new()
        };
        Ok(Some(News { tokens, entries }))
    }
}

impl Channel {
    fn recent(&self) -> MutexGuard<'_, Recent> {
        // A failed refresh leaves what was there before.
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recent {
    /// Reads what is new.
    fn refresh(&mut self, store: &Store, id: GameId) -> Result<(), StoreError> {
        let known = self.read.map(|_| self.version);
        let (standing, entries) = store.read(|reader| {
            let standing = reader.standing(&id)?;
            let entries = match (known, &standing) {
                (Some(known), Some(standing)) if known < standing.version => {
                    reader.log(&id, known, u32::MAX)?
                }
                _ => Vec::new(),
            };
            Ok::<_, StoreError>((standing, entries))
        })?;
        let Some(Standing {
            version, tokens, ..
        }) = standing
        else {
            self.tokens = None;
            return Ok(());
        };
        self.tokens = Some(tokens);
        self.version = version;
        let entries = entries.into_iter().map(Entry::new).map(Arc::new);
        self.entries.extend(entries);
        let spare = self.entries.len().saturating_sub(RECENT);
        self.entries.drain(..spare);
        Ok(())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.waiting.fetch_sub(1, Ordering::Relaxed);
        let mut channels = self.hub.channels();
        // The map's and this one; who subscribes does so under the same lock.
        if Arc::strong_count(&self.channel) == 2 {
            channels.remove(&self.id);
        }
    }
}
