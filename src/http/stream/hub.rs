//! Where those who wait for games to change are woken, and told what has changed.

use std::{
    collections::{HashMap, VecDeque},
    fmt::Write,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use actix_web::{
    rt::{self, task::JoinHandle, time::sleep},
    web::Bytes,
};
use dog_rules::{Event, Rules, Viewer, seat::MAX_SEATS};
use serde::Serialize;
use tokio::sync::{self, watch};

use crate::{
    http::{
        limits::ClientAddress,
        pool::{LOG_PAGE, LOG_PAGE_COST, WorkerPool},
        problem::Problem,
        wire::history::LogEntryView,
    },
    store::{Change, ChangesSince, Feed, GameId, GameUpdate, LogEntry, Store, Tokens},
};

/// How long the hub waits when the store cannot be read.
const PATIENCE: Duration = Duration::from_millis(100);

/// Entries that a stream takes at once of those that another has read.
const MAX_NEWS: usize = 16;

/// In which form a stream comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Server-sent events, for `EventSource`: each with its version as its id.
    Sse,
    /// A JSON object a line.
    Ndjson,
}

impl Format {
    pub const ALL: [Format; 2] = [Format::Sse, Format::Ndjson];

    /// The media type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Format::Sse => "text/event-stream",
            Format::Ndjson => "application/x-ndjson",
        }
    }

    /// The form of that media type; server-sent events for any other.
    pub fn of(content_type: &str) -> Format {
        let of_type = |format: &Format| format.content_type() == content_type;
        Format::ALL.into_iter().find(of_type).unwrap_or(Format::Sse)
    }

    /// A message of that version: the whole game (`game`), or what changed it (`change`).
    pub fn message(
        self,
        name: &str,
        version: u64,
        body: &impl Serialize,
    ) -> Result<Bytes, Problem> {
        // JSON as it is written here has no line breaks.
        let json = serde_json::to_string(body).map_err(Problem::internal)?;
        let mut text = String::with_capacity(json.len() + 48);
        let written = match self {
            Format::Sse => write!(text, "event: {name}\nid: {version}\ndata: {json}\n\n"),
            Format::Ndjson => writeln!(text, "{json}"),
        };
        written.expect("a text takes everything");
        Ok(text.into())
    }

    /// Something that says nothing, to keep the connection open.
    pub const fn heartbeat(self) -> Bytes {
        Bytes::from_static(match self {
            Format::Sse => b":\n\n",
            Format::Ndjson => b"\n",
        })
    }
}

/// Wakes those who wait for a game when it has changed.
pub struct Hub {
    store: Store,
    /// Reads what was there before.
    pages: Arc<WorkerPool>,
    channels: Mutex<HashMap<GameId, Arc<Channel>>>,
    waiting: AtomicUsize,
    closed: AtomicBool,
}

/// The task that looks for changes. Dropping it ends everyone's waiting.
pub struct FeedTask {
    hub: Arc<Hub>,
    task: JoinHandle<()>,
}

impl Hub {
    /// Starts the task.
    ///
    /// # Panics
    /// Outside of an async runtime.
    pub fn start(store: &Store, pages: &Arc<WorkerPool>) -> (Arc<Hub>, FeedTask) {
        let hub = Arc::new(Hub {
            store: store.clone(),
            pages: Arc::clone(pages),
            channels: Mutex::default(),
            waiting: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let mut feed = store.feed();
        let last = feed.last();
        let task = rt::spawn(Arc::clone(&hub).watch(feed, last));
        let watching = FeedTask {
            hub: Arc::clone(&hub),
            task,
        };
        (hub, watching)
    }

    async fn watch(self: Arc<Hub>, mut feed: Feed, mut last: i64) {
        loop {
            let now = feed.changed().await;
            if self.waiting() == 0 {
                // Who comes later reads the game afterwards, so it misses nothing either.
                last = now;
                continue;
            }
            loop {
                match self.store.changes(last).await {
                    Ok((changes, now)) => {
                        last = now;
                        self.wake(changes);
                        break;
                    }
                    Err(error) => {
                        log::warn!("streams wait: {error}");
                        sleep(PATIENCE).await;
                    }
                }
            }
        }
    }

    fn wake(&self, changes: ChangesSince) {
        let channels = self.channels();
        match changes {
            ChangesSince::Of(changes) => {
                for Change { id, .. } in changes {
                    if let Some(channel) = channels.get(&id) {
                        channel.wake();
                    }
                }
            }
            ChangesSince::Any => channels.values().for_each(|channel| channel.wake()),
        }
    }

    /// Waits at this game from now on: whoever looks at the game afterwards misses no change.
    pub fn subscribe(self: &Arc<Hub>, id: GameId) -> Subscription {
        let mut channels = self.channels();
        let channel = Arc::clone(channels.entry(id).or_default());
        self.waiting.fetch_add(1, Ordering::SeqCst);
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

impl FeedTask {
    /// Ends everyone's waiting: streams end, so that the server can.
    pub fn close(&self) {
        self.hub.closed.store(true, Ordering::Relaxed);
        self.hub.wake(ChangesSince::Any);
    }
}

impl Drop for FeedTask {
    fn drop(&mut self) {
        self.close();
        self.task.abort();
    }
}

/// Where those wait who wait for one game.
#[derive(Default)]
struct Channel {
    /// Counts the times that the game has changed.
    wake: watch::Sender<u64>,
    recent: sync::Mutex<RecentLog>,
}

/// What those who were woken have read of the game, for each other.
#[derive(Default)]
struct RecentLog {
    /// The count of wake-ups when it was read; none if it never was.
    read: Option<u64>,
    /// The game's tokens; none if it is gone.
    tokens: Option<Tokens>,
    /// The last version.
    version: u64,
    /// The last entries of its log, one after another, [`LOG_PAGE`] at most.
    entries: VecDeque<Arc<CachedEntry>>,
}

impl Channel {
    fn wake(&self) {
        self.wake.send_modify(|count| *count += 1);
    }
}

/// An entry of a game's log, with the forms in which it was sent.
pub struct CachedEntry {
    pub version: u64,
    /// Whether it is the game's last.
    pub last: bool,
    entry: LogEntry,
    sent: [[OnceLock<Bytes>; MAX_SEATS + 1]; Format::ALL.len()],
}

impl CachedEntry {
    pub fn new(entry: LogEntry) -> CachedEntry {
        let won = |event: &Event| matches!(event, Event::GameWon { .. });
        CachedEntry {
            version: entry.version,
            last: entry.events.iter().any(won),
            entry,
            sent: Default::default(),
        }
    }

    /// The entry in that form as this viewer may see it.
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
        let message = format.message("change", self.version, &view)?;
        Ok(sent.get_or_init(|| message).clone())
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
pub struct StreamUpdate {
    pub tokens: Tokens,
    /// The game's version.
    pub version: u64,
    /// Entries that follow the version that was asked for, one after another. There may be more,
    /// and none if they are older than those that are kept: [`Subscription::page`] reads them.
    pub entries: Vec<Arc<CachedEntry>>,
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
    pub async fn news(&mut self, after: u64) -> Result<Option<StreamUpdate>, Problem> {
        let count = *self.woken.borrow_and_update();
        let mut recent = self.channel.recent.lock().await;
        if recent.read.is_none_or(|read| read < count) {
            recent.refresh(&self.hub, self.id).await?;
            recent.read = Some(count);
        }
        let Some(tokens) = recent.tokens.clone() else {
            return Ok(None);
        };
        let version = recent.version;
        let first = recent.entries.front().map(|entry| entry.version);
        let entries = if first.is_some_and(|first| first <= after + 1) {
            let newer = recent.entries.iter().filter(|entry| entry.version > after);
            newer.take(MAX_NEWS).cloned().collect()
        } else {
            Vec::new()
        };
        Ok(Some(StreamUpdate {
            tokens,
            version,
            entries,
        }))
    }

    /// Reads the entries that follow this version, [`LOG_PAGE`] at most, and makes something of
    /// them, at the cost of this client.
    pub async fn page<T: Send + 'static>(
        &self,
        client: ClientAddress,
        after: u64,
        make: impl FnOnce(Vec<LogEntry>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let page = self.hub.store.log(&self.id, after, LOG_PAGE).await?;
        let read = move || make(page.entries()?);
        self.hub.pages.run(client, LOG_PAGE_COST, read).await
    }
}

impl RecentLog {
    /// Reads what is new. A failure leaves what was there before.
    async fn refresh(&mut self, hub: &Hub, id: GameId) -> Result<(), Problem> {
        let known = self.read.map(|_| self.version);
        let Some(GameUpdate { head, entries }) =
            hub.store.update_since(&id, known, LOG_PAGE).await?
        else {
            self.tokens = None;
            return Ok(());
        };
        let entries = entries.entries()?;
        self.tokens = Some(head.tokens);
        self.version = head.version;
        let last = self.entries.back().map(|entry| entry.version);
        let first = entries.first().map(|entry| entry.version);
        if let (Some(last), Some(first)) = (last, first)
            && first != last + 1
        {
            self.entries.clear();
        }
        let entries = entries.into_iter().map(CachedEntry::new).map(Arc::new);
        self.entries.extend(entries);
        let spare = self.entries.len().saturating_sub(LOG_PAGE as usize);
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
