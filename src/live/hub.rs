//! Wakes those who wait for a game to change, and shares between them what has changed.
//!
//! One task polls for commits, of this process or another, and wakes the subscribers. The first one
//! to wake reads the changes for all.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use actix_web::{
    rt::{self, task::JoinHandle},
    web::Bytes,
};
use dog_rules::{BySeat, Phase, Seat};
use dog_store::{
    Change, ChangesSince, Feed, GameId, LogEntry, REACTION_TIME, Reaction, RecentReaction,
    ReviewStatus, Store, StoredGame,
};
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{self, watch};

use super::messages::{StreamOptions, StreamReader};
use crate::{
    limits::ClientAddress,
    pool::{LOG_PAGE, LOG_PAGE_COST, SHORT_JOB_COST, WorkerPool},
    problem::Problem,
    rematch::rematch_of,
    view::cache::{Rendering, ViewCache},
};

/// Maximum number of cached entries that a stream sends at once.
const MAX_ENTRIES: usize = 16;

/// Wakes those who wait for a game when it has changed.
pub struct Hub {
    store: Store,
    /// The pool that lists moves.
    move_pool: Arc<WorkerPool>,
    /// The pool that reads old entries.
    history_pool: Arc<WorkerPool>,
    views: Arc<ViewCache>,
    channels: Mutex<Channels>,
    closed: AtomicBool,
}

/// The channels of all games to which somebody is subscribed.
#[derive(Default)]
struct Channels {
    by_game: HashMap<GameId, SharedChannel>,
    /// The number of all subscriptions.
    subscriptions: usize,
}

/// A channel with the number of its subscriptions.
#[derive(Default)]
struct SharedChannel {
    channel: Arc<Channel>,
    subscriptions: usize,
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
        views: &Arc<ViewCache>,
    ) -> (Arc<Hub>, FeedTask) {
        let hub = Arc::new(Hub {
            store: store.clone(),
            move_pool: Arc::clone(move_pool),
            history_pool: Arc::clone(history_pool),
            views: Arc::clone(views),
            channels: Mutex::default(),
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
            let (changes, now) = self.store.changes(last);
            last = now;
            self.wake(changes);
        }
    }

    fn wake(&self, changes: ChangesSince) {
        let channels = self.channels.lock();
        match changes {
            ChangesSince::Only(changes) => {
                for change in changes {
                    let (Change::Game { id, .. }
                    | Change::Presence(id)
                    | Change::Reaction(id)
                    | Change::Review(id)) = change;
                    if let Some(SharedChannel { channel, .. }) = channels.by_game.get(&id) {
                        channel.wake.send_modify(|wake| match change {
                            Change::Game { .. } => wake.game += 1,
                            Change::Presence(_) => wake.presence += 1,
                            Change::Reaction(_) => wake.reactions += 1,
                            Change::Review(_) => wake.review += 1,
                        });
                    }
                }
            }
            ChangesSince::Any => {
                for SharedChannel { channel, .. } in channels.by_game.values() {
                    channel.wake.send_modify(|wake| {
                        wake.game += 1;
                        wake.presence += 1;
                        wake.reactions += 1;
                        wake.review += 1;
                    });
                }
            }
        }
    }

    /// Subscribes to a game. A caller that reads the game afterwards misses no change.
    pub fn subscribe(self: &Arc<Hub>, id: GameId) -> Subscription {
        let mut channels = self.channels.lock();
        channels.subscriptions += 1;
        let shared = channels.by_game.entry(id).or_default();
        shared.subscriptions += 1;
        let channel = Arc::clone(&shared.channel);
        Subscription {
            hub: Arc::clone(self),
            id,
            woken: channel.wake.subscribe(),
            channel,
        }
    }

    /// The number of subscriptions.
    pub fn waiting(&self) -> usize {
        self.channels.lock().subscriptions
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

/// How often a game, who is present, and the review may have changed, and how often somebody may
/// have reacted.
#[derive(Clone, Copy, Default)]
struct Wake {
    game: u64,
    presence: u64,
    reactions: u64,
    review: u64,
}

/// The subscriptions to one game.
struct Channel {
    wake: watch::Sender<Wake>,
    recent: sync::Mutex<RecentLog>,
}

impl Default for Channel {
    fn default() -> Channel {
        Channel {
            // Nothing has been read yet. Reactions from before are not sent.
            wake: watch::Sender::new(Wake {
                game: 1,
                presence: 1,
                reactions: 0,
                review: 1,
            }),
            recent: sync::Mutex::default(),
        }
    }
}

/// A reaction as one process sends it.
#[derive(Clone, Copy)]
pub struct NumberedReaction {
    /// In the order in which they came to this process.
    pub number: u64,
    pub seat: Seat,
    pub reaction: Reaction,
    /// About when the person reacted, and not before that.
    pub said_at: Instant,
    /// The same by the store's clock, which differs between the reactions of a seat.
    at: Timestamp,
}

/// The last reactions in a game. They are few, because each person may react only now and then.
#[derive(Default)]
struct RecentReactions {
    reactions: Vec<NumberedReaction>,
    count: u64,
}

impl RecentReactions {
    /// Adds those that are new. They need not come in the order of their times: several processes
    /// write them.
    fn add(&mut self, read: &[RecentReaction]) {
        let now = Instant::now();
        for recent in read {
            let is_known =
                |known: &NumberedReaction| (known.seat, known.at) == (recent.seat, recent.at);
            if self.reactions.iter().any(is_known) {
                continue;
            }
            self.reactions.push(NumberedReaction {
                number: self.count,
                seat: recent.seat,
                reaction: recent.reaction,
                said_at: now.checked_sub(recent.age).unwrap_or(now),
                at: recent.at,
            });
            self.count += 1;
        }
    }

    /// Those that are still recent.
    fn current(&mut self) -> Vec<NumberedReaction> {
        let longest = REACTION_TIME.unsigned_abs();
        self.reactions
            .retain(|reaction| reaction.said_at.elapsed() < longest);
        self.reactions.clone()
    }
}

/// The end of a game's log, read once for all subscriptions.
#[derive(Default)]
struct RecentLog {
    /// The changes that have been read.
    read: Wake,
    connected: BySeat<bool>,
    reactions: RecentReactions,
    /// How the review of the game has ended.
    reviewed: Option<ReviewStatus>,
    /// The game at its last version; none if it is gone.
    game: Option<Arc<StoredGame>>,
    /// The last entries of its log without a gap, at most [`LOG_PAGE`].
    entries: VecDeque<Arc<LogEntry>>,
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
    /// The game at its last version.
    pub game: Arc<StoredGame>,
    /// The entries after the requested version, without a gap. There may be more of them; there are
    /// none here if they are too old to be cached, and [`Subscription::page`] reads them.
    pub entries: Vec<Arc<LogEntry>>,
    /// At which seats somebody is connected.
    pub connected: BySeat<bool>,
    /// The reactions of the last ten seconds.
    pub reactions: Vec<NumberedReaction>,
    /// How the review of the game has ended; none before.
    pub reviewed: Option<ReviewStatus>,
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
        refused: Option<&Arc<StoredGame>>,
    ) -> Result<Option<StreamUpdate>, Problem> {
        let wake = *self.woken.borrow_and_update();
        let mut recent = self.channel.recent.lock().await;
        let is_refused = refused
            .zip(recent.game.as_ref())
            .is_some_and(|(refused, game)| Arc::ptr_eq(refused, game));
        if is_refused || recent.read.game < wake.game {
            recent.refresh(&self.hub, self.id).await?;
            recent.read.game = wake.game;
        }
        if recent.read.presence < wake.presence {
            recent.connected = self.hub.store.present(&self.id).await?;
            recent.read.presence = wake.presence;
        }
        if recent.read.reactions < wake.reactions {
            let read = self.hub.store.reactions(&self.id).await?;
            recent.reactions.add(&read);
            recent.read.reactions = wake.reactions;
        }
        let Some(game) = recent.game.clone() else {
            return Ok(None);
        };
        let is_over = game.game.phase() == Phase::Finished;
        if is_over && recent.read.review < wake.review {
            let review = self.hub.store.review(&self.id).await?;
            let status = review.map(|review| review.status);
            recent.reviewed = status.filter(|status| status.has_ended());
            recent.read.review = wake.review;
        }
        let first = recent.entries.front().map(|entry| entry.version);
        let entries = if first.is_some_and(|first| first <= after + 1) {
            let newer = recent.entries.iter().filter(|entry| entry.version > after);
            newer.take(MAX_ENTRIES).cloned().collect()
        } else {
            Vec::new()
        };
        Ok(Some(StreamUpdate {
            game,
            entries,
            connected: recent.connected,
            reactions: recent.reactions.current(),
            reviewed: recent.reviewed,
        }))
    }

    /// The next game of the same people, if somebody has asked for one.
    pub async fn rematch(&self) -> Result<Option<StoredGame>, Problem> {
        Ok(rematch_of(&self.hub.store, &self.id).await?)
    }

    /// The first message of a stream that begins with this game, made in the pool if it lists
    /// moves.
    pub async fn first_message(
        &self,
        stored: &StoredGame,
        options: StreamOptions,
        reader: StreamReader,
    ) -> Result<Bytes, Problem> {
        if !options.includes_moves(stored, reader.role) {
            return options.first_message(stored, reader.role);
        }
        let stored = stored.clone();
        self.hub
            .move_pool
            .run(reader.client, SHORT_JOB_COST, move || {
                options.first_message(&stored, reader.role)
            })
            .await
    }

    /// The message of a change of this game, made in the pool if it lists moves.
    ///
    /// # Errors
    /// `token_replaced`, if it is the last change and the reader's role is now somebody else's.
    pub async fn message(
        &self,
        game: &Arc<StoredGame>,
        entry: &Arc<LogEntry>,
        options: StreamOptions,
        reader: StreamReader,
    ) -> Result<Bytes, Problem> {
        let views = &self.hub.views;
        if entry.version != game.game.version() {
            let viewer = reader.viewer;
            let rendering =
                Rendering::EarlierChange(options.format, entry.version, entry.at, viewer);
            let render = || options.earlier_change(game.game.rules(), entry, viewer);
            return views.get(game, rendering, render);
        }
        reader.check_viewer(game)?;
        let rendering = options.rendering(reader.role);
        if let Some(message) = views.find(game, rendering) {
            return Ok(message);
        }
        let lists_moves = options.includes_moves(game, reader.role);
        let (views, game, entry) = (Arc::clone(views), Arc::clone(game), Arc::clone(entry));
        let make = move || {
            let render = || options.last_change(&game, &entry, reader);
            views.get(&game, rendering, render)
        };
        match lists_moves {
            true => {
                let pool = &self.hub.move_pool;
                pool.run(reader.client, SHORT_JOB_COST, make).await
            }
            false => make(),
        }
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
        self.hub
            .history_pool
            .run(client, LOG_PAGE_COST, move || make(page.entries()?))
            .await
    }
}

impl RecentLog {
    /// Reads the new entries. A failure changes nothing.
    async fn refresh(&mut self, hub: &Hub, id: GameId) -> Result<(), Problem> {
        let Some(game) = hub.store.game(&id).await? else {
            self.game = None;
            return Ok(());
        };
        let version = game.game.version();
        let known = self
            .game
            .as_ref()
            .map_or(version, |known| known.game.version());
        let after = known.max(version.saturating_sub(LOG_PAGE.into()));
        let mut entries = Vec::new();
        if after < version {
            // What the log has already after this version comes with the next wake.
            let count = (version - after) as u32;
            entries = hub.store.log(&id, after, count).await?.entries()?;
        }
        self.game = Some(Arc::new(game));
        let last = self.entries.back().map(|entry| entry.version);
        let first = entries.first().map(|entry| entry.version);
        if let (Some(last), Some(first)) = (last, first)
            && first != last + 1
        {
            self.entries.clear();
        }
        let entries = entries.into_iter().map(Arc::new);
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
        let mut channels = self.hub.channels.lock();
        channels.subscriptions -= 1;
        if let Entry::Occupied(mut shared) = channels.by_game.entry(self.id) {
            shared.get_mut().subscriptions -= 1;
            // A channel that nobody wakes would keep an old game.
            if shared.get().subscriptions == 0 {
                shared.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests;
