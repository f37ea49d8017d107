//! Live streams: every change of a game goes to all its viewers, as each may see it.
//!
//! A stream subscribes to the game's channel in the [`hub`]. One task polls for commits, of this
//! process or another, and wakes the subscribers. The first one to wake reads the changes for all.

pub mod hub;
pub mod presence;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{rt::time::timeout, web::Bytes};
use dog_rules::{BySeat, Phase, Rules, Viewer};
use futures_util::{Stream, stream};

use self::{
    hub::{CachedEntry, CurrentGame, Format, StreamUpdate, Subscription},
    presence::SeatConnection,
};
use crate::{
    access::{Caller, Role},
    http::{
        limits::ClientAddress,
        pool::wait_before_retry,
        problem::{Code, Problem},
        routes::rematch::{Rematch, role_in},
        wire::{
            change::Include,
            game::{GameView, PresenceView},
        },
    },
    store::{LogEntry, StoredGame},
};

/// How often an empty message is sent when nothing happens, so that no proxy closes the connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a message may wait until the client has read it. Then the stream ends; the client can
/// resume it.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a stream stays open after the end of its game, if it is to.
const MAX_TIME_AFTER_END: Duration = Duration::from_secs(60 * 60);

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the present game.
    Game,
    /// With the changes after this version.
    After(u64),
}

/// What a stream sends.
#[derive(Clone, Copy, Debug)]
pub struct StreamOptions {
    pub format: Format,
    pub include: Option<Include>,
    pub start: Start,
    /// Whether the stream stays open after the end of the game, to tell of the rematch.
    pub after_end: bool,
}

/// The state of an event stream.
pub struct EventStream {
    subscription: Subscription,
    caller: Caller,
    role: Role,
    /// Who that is as long as the token is valid.
    viewer: Viewer,
    /// To whom reading old entries is charged.
    client: ClientAddress,
    rules: Arc<Rules>,
    format: Format,
    include: Option<Include>,
    /// The last version that was sent.
    version: u64,
    /// The first message.
    first: Option<Bytes>,
    /// When the last entry was sent; none before that.
    over_since: Option<Instant>,
    /// See [`StreamOptions`].
    after_end: bool,
    /// Whether it has told of the rematch.
    rematch_sent: bool,
    /// The last that was sent.
    presence: Option<PresenceView>,
    /// Of a seat.
    connection: Option<SeatConnection>,
    /// When the last message was handed over to be sent.
    sent_at: Option<Instant>,
}

impl EventStream {
    /// A stream of the game, as this role may see it; `connection` is that of a seat.
    pub fn new(
        subscription: Subscription,
        record: &StoredGame,
        (caller, role, client): (Caller, Role, ClientAddress),
        connection: Option<SeatConnection>,
        options: StreamOptions,
    ) -> Result<EventStream, Problem> {
        let StreamOptions {
            format,
            include,
            start,
            after_end,
        } = options;
        let now = record.game.version();
        let (version, first) = match start {
            Start::After(version) => (version, None),
            Start::Game => {
                let view = GameView::new(record, role);
                (now, Some(format.message("game", now, &view)?))
            }
        };
        let finished = record.game.phase() == Phase::Finished;
        Ok(EventStream {
            subscription,
            caller,
            role,
            viewer: role.viewer(&record.game),
            client,
            rules: Arc::new(record.game.rules().clone()),
            format,
            include,
            version,
            first,
            over_since: (finished && version == now).then(Instant::now),
            after_end,
            rematch_sent: false,
            presence: None,
            connection,
            sent_at: None,
        })
    }

    /// The stream of messages; `while_open` is dropped at its end.
    pub fn stream<T>(self, while_open: T) -> impl Stream<Item = Result<Bytes, Problem>> {
        stream::unfold((self, while_open), |(mut stream, while_open)| async {
            let message = stream.next().await?;
            stream.sent_at = Some(Instant::now());
            Some((Ok(message), (stream, while_open)))
        })
    }

    /// The next message; none at the end. A failure ends the stream too, and the client may resume it.
    /// But while the store is unavailable, the stream only sends heartbeats.
    async fn next(&mut self) -> Option<Bytes> {
        let too_slow = |then: Instant| then.elapsed() > SEND_TIMEOUT;
        if self.sent_at.is_some_and(too_slow) {
            return None;
        }
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        while !self.is_over() && !self.subscription.closed() {
            match self.next_update().await {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(problem) => {
                    problem.log();
                    if problem.code() == Code::TokenReplaced
                        && let Some(connection) = self.connection.take()
                    {
                        connection.lose_seat();
                    }
                    if problem.code() != Code::Unavailable {
                        return None;
                    }
                    wait_before_retry().await;
                    return Some(self.format.heartbeat());
                }
            }
            let changed = timeout(HEARTBEAT, self.subscription.changed()).await;
            if changed.is_err() {
                return Some(self.format.heartbeat());
            }
        }
        None
    }

    fn is_over(&self) -> bool {
        self.over_since
            .is_some_and(|since| !self.after_end || since.elapsed() > MAX_TIME_AFTER_END)
    }

    /// The new messages, joined into one; none if nothing is new.
    async fn next_update(&mut self) -> Result<Option<Bytes>, Problem> {
        let mut update = self.subscription.update(self.version, None).await?;
        if let Some(StreamUpdate { tokens, game, .. }) = &update
            && (game.version() < self.version
                || self.caller.ensure_current(self.role, tokens).is_err())
        {
            // This may be the game of before the last message, or before the token was issued.
            update = self.subscription.update(self.version, Some(game)).await?;
        }
        let update = update.ok_or_else(Problem::game_not_found)?;
        // A token that was replaced while the stream was open shows nothing more.
        self.caller.ensure_current(self.role, &update.tokens)?;
        let game = &update.game;
        if game.version() < self.version {
            let detail = "the game was set back: an earlier state of the database was restored";
            return Err(Problem::new(Code::StaleVersion, detail));
        }
        if update.entries.is_empty() && game.version() > self.version {
            return self.page(game).await;
        }
        let mut messages = Vec::with_capacity(update.entries.len());
        for entry in &update.entries {
            messages.push(if entry.version == game.version() {
                let (form, reader) = (
                    (self.format, self.include),
                    (self.role, self.viewer, self.client),
                );
                self.subscription
                    .last_message(game, entry, form, reader)
                    .await?
            } else {
                entry.message(&self.rules, self.format, self.viewer)?
            });
            self.sent(entry.version, entry.last);
        }
        match messages.len() {
            // What was read is sent before anything else can fail.
            0 => self.notice(&game.stored, update.connected).await,
            1 => Ok(messages.pop()),
            _ => Ok(Some(messages.concat().into())),
        }
    }

    fn sent(&mut self, version: u64, is_last: bool) {
        self.version = version;
        if is_last {
            self.over_since = Some(Instant::now());
        }
    }

    /// What else there is to tell, once all changes are sent.
    async fn notice(
        &mut self,
        stored: &StoredGame,
        connected: BySeat<bool>,
    ) -> Result<Option<Bytes>, Problem> {
        match self.presence(stored, connected)? {
            Some(presence) => Ok(Some(presence)),
            None => self.rematch().await,
        }
    }

    /// Who is present, if that is not what was sent last.
    fn presence(
        &mut self,
        stored: &StoredGame,
        mut connected: BySeat<bool>,
    ) -> Result<Option<Bytes>, Problem> {
        if let (Role::Seat(seat), Some(_)) = (self.role, &self.connection) {
            // The store may not have this connection yet.
            connected[seat] = true;
        }
        let presence = PresenceView::new(&stored.game, &connected);
        let known = match &self.presence {
            Some(sent) => *sent == presence,
            // Viewers of a game of bots need not be told that nobody is there.
            None => !presence.has_people(),
        };
        if known || self.is_over() {
            return Ok(None);
        }
        let message = self.format.notice("presence", &presence)?;
        self.presence = Some(presence);
        Ok(Some(message))
    }

    /// The next game of the same people, once, in a stream that stays open after the end.
    async fn rematch(&mut self) -> Result<Option<Bytes>, Problem> {
        if self.over_since.is_none() || !self.after_end || self.rematch_sent {
            return Ok(None);
        }
        let Some(next) = self.subscription.rematch().await? else {
            return Ok(None);
        };
        let rematch = Rematch::new(&next, role_in(&next, self.caller));
        self.rematch_sent = true;
        Ok(Some(self.format.notice("rematch", &rematch)?))
    }

    /// A page of entries that are too old to be cached, as messages made in the pool.
    async fn page(&mut self, game: &Arc<CurrentGame>) -> Result<Option<Bytes>, Problem> {
        let entries = self.version..game.version();
        let (rules, game) = (Arc::clone(&self.rules), Arc::clone(game));
        let (format, include) = (self.format, self.include);
        let (role, viewer) = (self.role, self.viewer);
        let make = move |entries: Vec<LogEntry>| {
            let (mut messages, mut last) = (Vec::new(), None);
            for entry in entries.into_iter().map(CachedEntry::new) {
                messages.extend(if entry.version == game.version() {
                    game.message(&entry, format, include, (role, viewer))?
                } else {
                    entry.message(&rules, format, viewer)?
                });
                last = Some((entry.version, entry.last));
            }
            Ok(last.map(|last| (Bytes::from(messages), last)))
        };
        let page = self.subscription.page(self.client, entries, make).await?;
        Ok(page.map(|(messages, (version, is_last))| {
            self.sent(version, is_last);
            messages
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use dog_rules::Seat;
    use futures_util::FutureExt;
    use rusqlite::Connection;

    use super::*;
    use crate::{
        http::{
            metrics::PoolMetrics,
            pool::{PoolConfig, WorkerPool},
            stream::{
                hub::{FeedTask, Hub},
                presence::PresenceTracker,
            },
        },
        store::{CommitResult, TokenHash, Write, WriteOp},
        testing::{TempDatabase, add, new_game},
    };

    const POOL: PoolConfig = PoolConfig {
        name: "test",
        threads: 1,
        queue_capacity: 10,
        queue_timeout: Duration::from_secs(10),
        nice: 0,
    };

    /// A new game in a store of its own, and a subscription to it.
    struct Fixture {
        database: TempDatabase,
        record: StoredGame,
        pool: Arc<WorkerPool>,
        subscription: Option<Subscription>,
        feed_task: FeedTask,
    }

    impl Fixture {
        async fn new() -> Fixture {
            let (record, database) = (new_game(), TempDatabase::new());
            let store = database.store();
            add(&store, record.clone()).await;
            let pool = Arc::new(WorkerPool::start(POOL, PoolMetrics::default()).unwrap());
            let (hub, feed_task) = Hub::start(&store, &pool, &pool);
            Fixture {
                database,
                subscription: Some(hub.subscribe(record.id)),
                record,
                pool,
                feed_task,
            }
        }

        /// A spectator's stream that begins there.
        fn stream(&mut self, start: Start) -> EventStream {
            let subscription = self.subscription.take().unwrap();
            let caller = Caller::new(None);
            let caller = (caller, Role::Spectator, ClientAddress(None));
            EventStream::new(
                subscription,
                &self.record,
                caller,
                None,
                StreamOptions {
                    format: Format::Ndjson,
                    include: None,
                    start,
                    after_end: false,
                },
            )
            .unwrap()
        }
    }

    #[actix_web::test]
    async fn a_reader_that_is_too_slow_is_cut_off() {
        let mut fixture = Fixture::new().await;
        let mut stream = fixture.stream(Start::After(0));
        let first = stream.next().await.expect("the creation");
        assert!(first.starts_with(b"{\"version\":1,"), "{first:?}");
        // Had the message waited for its reader for so long, the stream would end here.
        stream.sent_at = Instant::now().checked_sub(SEND_TIMEOUT + Duration::from_secs(1));
        if stream.sent_at.is_some() {
            assert_eq!(stream.next().await, None);
        }
    }

    #[actix_web::test]
    async fn a_stream_waits_until_the_store_can_be_read_again() {
        let mut fixture = Fixture::new().await;
        let mut stream = fixture.stream(Start::After(0));
        // A job that fills the queue's timeout.
        let (go, gate) = mpsc::channel::<()>();
        let (pool, cost) = (Arc::clone(&fixture.pool), POOL.queue_timeout);
        let busy = pool.run(ClientAddress(None), cost, move || Ok(gate.recv().is_ok()));
        let mut busy = Box::pin(busy);
        assert!(busy.as_mut().now_or_never().is_none());
        assert_eq!(stream.next().await.as_deref(), Some(&b"\n"[..]));
        go.send(()).unwrap();
        assert!(busy.await.unwrap());
        // The pool replies before it counts the job as ended.
        let mut first = stream.next().await;
        while first.as_deref() == Some(b"\n") {
            first = stream.next().await;
        }
        let first = first.expect("the creation");
        assert!(first.starts_with(b"{\"version\":1,"), "{first:?}");
    }

    #[actix_web::test]
    async fn a_stream_is_not_ahead_of_its_game() {
        let mut fixture = Fixture::new().await;
        let mut stream = fixture.stream(Start::After(0));
        let database = Connection::open(fixture.database.file()).unwrap();
        // As if somebody had committed a change after the game was read.
        let sql = "INSERT INTO log (game, version, at, action, events) \
                   SELECT game, 2, at, action, events FROM log";
        assert_eq!(database.execute(sql, []).unwrap(), 1);
        let first = stream.next().await.expect("the creation");
        assert!(first.starts_with(b"{\"version\":1,"), "{first:?}");
        assert_eq!(first.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(
            stream
                .subscription
                .update(1, None)
                .await
                .unwrap()
                .unwrap()
                .entries
                .is_empty()
        );
    }

    #[actix_web::test]
    async fn whoever_has_lost_the_seat_is_absent_at_once() {
        let mut fixture = Fixture::new().await;
        let store = fixture.database.store();
        // Without its task, nothing is written, and only this process knows of the connection.
        let (tracker, _) = PresenceTracker::start(&store);
        let mut stream = fixture.stream(Start::Game);
        let seat = Seat::default();
        let token = TokenHash::new("first 0");
        (stream.role, stream.caller) = (Role::Seat(seat), Caller::new(Some(token)));
        stream.connection = tracker.connection(fixture.record.id, stream.role);
        let is_present = || async { tracker.connected(&fixture.record.id).await.unwrap()[seat] };
        assert!(is_present().await);
        let record = store.game(&fixture.record.id).await.unwrap().unwrap();
        let mut tokens = record.tokens.clone();
        tokens.seats[seat] = Some(TokenHash::new("another"));
        let op = WriteOp::SetTokens(record.expected_state(), tokens, Arc::default());
        let replaced = store.commit(Write { op, save: None }).await;
        assert_eq!(replaced.unwrap(), CommitResult::Done);
        while stream.next().await.is_some() {}
        assert!(!is_present().await);
    }

    #[actix_web::test]
    async fn a_stream_ends_when_the_server_stops() {
        let mut fixture = Fixture::new().await;
        let mut stream = fixture.stream(Start::Game);
        assert!(stream.next().await.is_some(), "the game");
        fixture.feed_task.close();
        assert_eq!(stream.next().await, None);
    }
}
