//! Wakes those who wait for a game to change, and shares between them what has changed.

use std::{
    collections::{HashMap, VecDeque},
    fmt::Write,
    ops::Range,
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
use dog_rules::{BySeat, Event, Rules, Viewer, seat::MAX_SEATS};
use serde::Serialize;
use tokio::sync::{self, watch};

use crate::{
    access::{AccessError, Role},
    http::routes::rematch::rematch_of,
    http::{
        limits::ClientAddress,
        pool::{LOG_PAGE, LOG_PAGE_COST, SHORT_JOB_COST, WorkerPool},
        problem::Problem,
        wire::{
            change::{ChangeView, Include},
            history::LogEntryView,
        },
    },
    store::{Change, ChangesSince, Feed, GameId, LogEntry, Store, StoredGame, Tokens},
};

/// The time between two tries to read the store.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Maximum bytes of a message that is kept for other streams. A longer one lists the moves of a seat,
/// which hardly anyone else reads, and many of them would take much memory.
const MAX_SHARED_BYTES: usize = 32 << 10;

/// Maximum number of cached entries that a stream sends at once.
const MAX_ENTRIES: usize = 16;

/// The format of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Server-sent events, for `EventSource`: each with its version as its id.
    Sse,
    /// One JSON object per line.
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

    /// The format with that media type; server-sent events for any other.
    pub fn of(content_type: &str) -> Format {
        let of_type = |format: &Format| format.content_type() == content_type;
        Format::ALL.into_iter().find(of_type).unwrap_or(Format::Sse)
    }

    /// A message for a version: the whole game (`game`), or a change (`change`).
    pub fn message(
        self,
        name: &str,
        version: u64,
        body: &impl Serialize,
    ) -> Result<Bytes, Problem> {
        self.write(name, &format!("id: {version}\n"), body)
    }

    /// A message that is no version of the game, and so has no id.
    pub fn notice(self, name: &str, body: &impl Serialize) -> Result<Bytes, Problem> {
        self.write(name, "", body)
    }

    fn write(self, name: &str, id: &str, body: &impl Serialize) -> Result<Bytes, Problem> {
        // Compact JSON has no line breaks.
        let json = serde_json::to_string(body).map_err(Problem::internal)?;
        let mut text = String::with_capacity(json.len() + 48);
        let written = match self {
            Format::Sse => write!(text, "event: {name}\n{id}data: {json}\n\n"),
            Format::Ndjson => writeln!(text, "{json}"),
        };
        written.expect("writing to a string does not fail");
        Ok(text.into())
    }

    /// An empty message that keeps the connection open.
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
    /// The pool that lists moves.
    move_pool: Arc<WorkerPool>,
    /// The pool that reads old entries.
    history_pool: Arc<WorkerPool>,
    channels: Mutex<HashMap<GameId, Arc<Channel>>>,
    waiting: AtomicUsize,
    closed: AtomicBool,
}

/// The task that polls for changes. Dropping it ends all waiting.
pub struct FeedTask {
    hub: Arc<Hub>,
    task: JoinHandle<()>,
}

impl Hub {
    /// Starts the task.
    ///
    /// # Panics
    /// Outside of an async runtime.
    pub fn start(
        store: &Store,
        move_pool: &Arc<WorkerPool>,
        history_pool: &Arc<WorkerPool>,
    ) -> (Arc<Hub>, FeedTask) {
        let hub = Arc::new(Hub {
            store: store.clone(),
            move_pool: Arc::clone(move_pool),
            history_pool: Arc::clone(history_pool),
            channels: Mutex::default(),
            waiting: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let mut feed = store.feed();
        let last = feed.last();
        let task = rt::spawn(Arc::clone(&hub).watch(feed, last));
        let feed_task = FeedTask {
            hub: Arc::clone(&hub),
            task,
        };
        (hub, feed_task)
    }

    async fn watch(self: Arc<Hub>, mut feed: Feed, mut last: i64) {
        loop {
            let now = feed.changed().await;
            if self.waiting() == 0 {
                // A later subscriber reads the game after it has subscribed, and misses nothing.
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
                        log::warn!("streams wait for the store: {error}");
                        sleep(RETRY_DELAY).await;
                    }
                }
            }
        }
    }

    fn wake(&self, changes: ChangesSince) {
        let channels = self.channels();
        match changes {
            ChangesSince::Of(changes) => {
                for change in changes {
                    let (id, of) = match change {
                        Change::Game { id, .. } => (id, Wake::GAME),
                        Change::Presence(id) => (id, Wake::PRESENCE),
                    };
                    if let Some(channel) = channels.get(&id) {
                        channel.wake(of);
                    }
                }
            }
            ChangesSince::Any => channels
                .values()
                .for_each(|channel| channel.wake(Wake::ALL)),
        }
    }

    /// Subscribes to a game. A caller that reads the game afterwards misses no change.
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

    /// The number of subscriptions.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<GameId, Arc<Channel>>> {
        // Nothing panics while the lock is held.
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FeedTask {
    /// Ends all waiting, and with it all streams, so that the server can stop.
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

/// What may have changed: how often that has been so.
#[derive(Clone, Copy, Default)]
struct Wake {
    game: u64,
    presence: u64,
}

impl Wake {
    const GAME: Wake = Wake {
        game: 1,
        presence: 0,
    };
    const PRESENCE: Wake = Wake {
        game: 0,
        presence: 1,
    };
    const ALL: Wake = Wake {
        game: 1,
        presence: 1,
    };
}

/// The subscriptions to one game.
#[derive(Default)]
struct Channel {
    wake: watch::Sender<Wake>,
    recent: sync::Mutex<RecentLog>,
}

/// The end of a game's log, read once for all subscriptions.
#[derive(Default)]
struct RecentLog {
    /// The number of changes when the game was last read; none before that.
    read: Option<u64>,
    /// The same for who is connected.
    presence_read: Option<u64>,
    connected: BySeat<bool>,
    /// The game's tokens; none if it is gone.
    tokens: Option<Tokens>,
    /// The game at its last version; none if it is gone.
    game: Option<Arc<CurrentGame>>,
    /// The last entries of its log without a gap, at most [`LOG_PAGE`].
    entries: VecDeque<Arc<CachedEntry>>,
}

impl Channel {
    fn wake(&self, of: Wake) {
        self.wake.send_modify(|wake| {
            wake.game += of.game;
            wake.presence += of.presence;
        });
    }
}

/// An entry of a game's log, with the messages made of it.
pub struct CachedEntry {
    pub version: u64,
    /// Whether it is the last entry of the game.
    pub last: bool,
    entry: LogEntry,
    /// Each with its viewer: somebody else may have the seat now, who does not see all of it.
    sent: [[OnceLock<(Viewer, Bytes)>; MAX_SEATS + 1]; Format::ALL.len()],
}

impl CachedEntry {
    pub fn new(entry: LogEntry) -> CachedEntry {
        let wins = |event: &Event| matches!(event, Event::GameWon { .. });
        CachedEntry {
            version: entry.version,
            last: entry.events.iter().any(wins),
            entry,
            sent: Default::default(),
        }
    }

    /// The entry as a message in this format, as this viewer may see it.
    pub fn message(&self, rules: &Rules, format: Format, viewer: Viewer) -> Result<Bytes, Problem> {
        let slot = match viewer {
            Viewer::Seat(seat, _) => usize::from(seat.number()),
            Viewer::Spectator => MAX_SEATS,
        };
        let sent = &self.sent[format as usize][slot];
        if let Some((of, message)) = sent.get()
            && *of == viewer
        {
            return Ok(message.clone());
        }
        let entry = LogEntryView::new(rules, &self.entry, viewer);
        let change = ChangeView::earlier(entry);
        let message = format.message("change", self.version, &change)?;
        let _ = sent.set((viewer, message.clone()));
        Ok(message)
    }
}

/// A game at its last version, with the messages of the change that led to it.
pub struct CurrentGame {
    pub stored: StoredGame,
    sent: [[[OnceLock<Bytes>; ROLES]; 3]; Format::ALL.len()],
}

/// The seats, the host and spectators.
const ROLES: usize = MAX_SEATS + 2;

impl CurrentGame {
    fn new(stored: StoredGame) -> CurrentGame {
        CurrentGame {
            stored,
            sent: Default::default(),
        }
    }

    pub fn version(&self) -> u64 {
        self.stored.game.version()
    }

    /// Whether the message for this role must list moves, and is not made yet.
    fn needs_moves(&self, format: Format, include: Option<Include>, role: Role) -> bool {
        let to_move = matches!(role, Role::Seat(seat) if self.stored.game.turn() == Some(seat));
        include == Some(Include::GameAndMoves)
            && to_move
            && self.slot(format, include, role).get().is_none()
    }

    fn slot(&self, format: Format, include: Option<Include>, role: Role) -> &OnceLock<Bytes> {
        let role = match role {
            Role::Seat(seat) => usize::from(seat.number()),
            Role::Host => MAX_SEATS,
            Role::Spectator => MAX_SEATS + 1,
        };
        &self.sent[format as usize][include.map_or(0, |include| 1 + include as usize)][role]
    }

    /// The last change as a message in this format, as this role may see it, with the game after
    /// it. It is work for the pool if it [lists moves](CurrentGame::needs_moves).
    ///
    /// # Errors
    /// `token_replaced`, if this viewer is no longer the one of that role.
    pub fn message(
        &self,
        entry: &CachedEntry,
        format: Format,
        include: Option<Include>,
        (role, viewer): (Role, Viewer),
    ) -> Result<Bytes, Problem> {
        if role.viewer(&self.stored.game) != viewer {
            return Err(AccessError::TokenReplaced.into());
        }
        let slot = self.slot(format, include, role);
        if let Some(message) = slot.get() {
            return Ok(message.clone());
        }
        let rules = self.stored.game.rules();
        let entry_view = LogEntryView::new(rules, &entry.entry, viewer);
        let change = ChangeView::last(entry_view, &self.stored, include, role)?;
        let message = format.message("change", entry.version, &change)?;
        if message.len() > MAX_SHARED_BYTES {
            return Ok(message);
        }
        Ok(slot.get_or_init(|| message).clone())
    }
}

/// A subscription to one game.
pub struct Subscription {
    hub: Arc<Hub>,
    id: GameId,
    channel: Arc<Channel>,
    woken: watch::Receiver<Wake>,
}

/// The changes of a game.
pub struct StreamUpdate {
    pub tokens: Tokens,
    /// The game at its last version.
    pub game: Arc<CurrentGame>,
    /// The entries after the requested version, without a gap. There may be more of them; there are
    /// none here if they are too old to be cached, and [`Subscription::page`] reads them.
    pub entries: Vec<Arc<CachedEntry>>,
    /// At which seats somebody is connected.
    pub connected: BySeat<bool>,
}

impl Subscription {
    /// Waits until the game has changed since the last call.
    pub async fn changed(&mut self) {
        // The sender lives as long as the channel, which this holds.
        let _ = self.woken.changed().await;
    }

    /// Whether the server is about to stop.
    pub fn closed(&self) -> bool {
        self.hub.closed.load(Ordering::Relaxed)
    }

    /// The changes after this version; none if the game was removed. The game is read again if it
    /// is still the one that the caller has `refused`, because a change reaches the store before
    /// anyone is woken by it. All who have refused the same one share that read.
    pub async fn update(
        &mut self,
        after: u64,
        refused: Option<&Arc<CurrentGame>>,
    ) -> Result<Option<StreamUpdate>, Problem> {
        let wake = *self.woken.borrow_and_update();
        let mut recent = self.channel.recent.lock().await;
        let is_refused = refused
            .zip(recent.game.as_ref())
            .is_some_and(|(refused, game)| Arc::ptr_eq(refused, game));
        if is_refused || recent.read.is_none_or(|read| read < wake.game) {
            recent.refresh(&self.hub, self.id).await?;
            recent.read = Some(wake.game);
        }
        if recent.presence_read.is_none_or(|read| read < wake.presence) {
            recent.connected = self.hub.store.present(&self.id).await?;
            recent.presence_read = Some(wake.presence);
        }
        let (Some(tokens), Some(game)) = (recent.tokens.clone(), recent.game.clone()) else {
            return Ok(None);
        };
        let first = recent.entries.front().map(|entry| entry.version);
        let entries = if first.is_some_and(|first| first <= after + 1) {
            let newer = recent.entries.iter().filter(|entry| entry.version > after);
            newer.take(MAX_ENTRIES).cloned().collect()
        } else {
            Vec::new()
        };
        Ok(Some(StreamUpdate {
            tokens,
            game,
            entries,
            connected: recent.connected,
        }))
    }

    /// The next game of the same people, if somebody has asked for one.
    pub async fn rematch(&self) -> Result<Option<StoredGame>, Problem> {
        Ok(rematch_of(&self.hub.store, &self.id).await?)
    }

    /// The message of the last change, made in the pool if it lists moves. The job is charged to
    /// this client.
    pub async fn last_message(
        &self,
        game: &Arc<CurrentGame>,
        entry: &Arc<CachedEntry>,
        (format, include): (Format, Option<Include>),
        (role, viewer, client): (Role, Viewer, ClientAddress),
    ) -> Result<Bytes, Problem> {
        if !game.needs_moves(format, include, role) {
            return game.message(entry, format, include, (role, viewer));
        }
        let (game, entry) = (Arc::clone(game), Arc::clone(entry));
        let make = move || game.message(&entry, format, include, (role, viewer));
        self.hub.move_pool.run(client, SHORT_JOB_COST, make).await
    }

    /// Reads the entries after the first of these versions up to the other, at most [`LOG_PAGE`] of
    /// them, and passes them to `make` in the pool. The job is charged to this client.
    pub async fn page<T: Send + 'static>(
        &self,
        client: ClientAddress,
        versions: Range<u64>,
        make: impl FnOnce(Vec<LogEntry>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let count = (versions.end - versions.start).min(LOG_PAGE.into()) as u32;
        let page = self.hub.store.log(&self.id, versions.start, count).await?;
        let read = move || make(page.entries()?);
        self.hub.history_pool.run(client, LOG_PAGE_COST, read).await
    }
}

impl RecentLog {
    /// Reads the new entries. A failure changes nothing.
    async fn refresh(&mut self, hub: &Hub, id: GameId) -> Result<(), Problem> {
        let Some(game) = hub.store.game(&id).await? else {
            self.tokens = None;
            self.game = None;
            return Ok(());
        };
        let version = game.game.version();
        let known = self.game.as_ref().map_or(version, |game| game.version());
        let after = known.max(version.saturating_sub(LOG_PAGE.into()));
        let mut entries = Vec::new();
        if after < version {
            // What the log has already after this version comes with the next wake.
            let count = (version - after) as u32;
            entries = hub.store.log(&id, after, count).await?.entries()?;
        }
        self.tokens = Some(game.tokens.clone());
        self.game = Some(Arc::new(CurrentGame::new(game)));
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
        if self
            .entries
            .back()
            .is_some_and(|last| last.version != version)
        {
            // The log was packed meanwhile, and one page of it was read.
            self.entries.clear();
        }
        Ok(())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.waiting.fetch_sub(1, Ordering::Relaxed);
        let mut channels = self.hub.channels();
        // The two owners are the map and this subscription. New ones take the same lock.
        if Arc::strong_count(&self.channel) == 2 {
            channels.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use dog_rules::{Board, Card, Cards, Game, Placement, Seat};
    use serde_json::json;

    use super::*;
    use crate::testing::{creation, new_game};

    /// A new game in which seat 0 is to play one card, with four pieces far from each other.
    fn to_play(card: Card) -> StoredGame {
        let stored = new_game();
        let rules = stored.game.rules();
        let mut placements = vec![Placement::default(); 4];
        placements[0].track = vec![5, 20, 35, 50];
        let board = Board::place(rules, &placements).unwrap();
        let hand: Cards = [card].into_iter().collect();
        let mut game = json!(*stored.game);
        game["phase"] = json!("play");
        game["turn"] = json!(0);
        game["board"] = json!(board);
        game["seats"][0]["hand"] = json!(hand);
        game["stock"] = json!(rules.deck().without(hand));
        let game: Game = serde_json::from_value(game).unwrap();
        StoredGame {
            game: game.into(),
            ..stored
        }
    }

    #[test]
    fn a_message_with_a_long_list_of_moves_is_not_kept() {
        let role = Role::Seat(Seat::default());
        let include = Some(Include::GameAndMoves);
        for (card, is_kept) in [(Card::Five, true), (Card::Seven, false)] {
            let stored = to_play(card);
            let entry = CachedEntry::new(creation(&stored));
            let game = CurrentGame::new(stored);
            let message = |role: Role| {
                let viewer = role.viewer(&game.stored.game);
                game.message(&entry, Format::Ndjson, include, (role, viewer))
            };
            let first = message(role).unwrap();
            assert_eq!(first.len() <= MAX_SHARED_BYTES, is_kept, "{}", first.len());
            let kept = game.slot(Format::Ndjson, include, role).get();
            assert_eq!(kept.is_some(), is_kept);
            assert_eq!(game.needs_moves(Format::Ndjson, include, role), !is_kept);
            assert_eq!(message(role).unwrap(), first);
            // The others get no list.
            message(Role::Spectator).unwrap();
            let slot = game.slot(Format::Ndjson, include, Role::Spectator);
            assert!(slot.get().is_some());
        }
    }
}
