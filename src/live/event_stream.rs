//! An event stream: the messages for one reader.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{rt::time::timeout, web::Bytes};
use dog_rules::{BySeat, Phase};
use dog_store::{LogEntry, ReviewStatus, StoredGame};
use futures_util::{Stream, stream};

use super::{
    hub::{NumberedReaction, StreamUpdate, Subscription},
    messages::{Start, StreamOptions, StreamReader, is_last},
    presence::SeatConnection,
};
use crate::{
    access::Role,
    pool::wait_before_retry,
    problem::{Code, Problem, request_id::RequestId},
    view::{
        game::{MatchOpened, PresenceView, ReactionView, Rematch, ReviewDone},
        notice::NoticeReader,
    },
};

/// How often an empty message is sent when nothing happens, so that no proxy closes the connection.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a message may wait until the client has read it. Then the stream ends; the client can
/// resume it.
pub(super) const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a stream stays open after the end of its game, if it is to.
pub const MAX_TIME_AFTER_END: Duration = Duration::from_secs(60 * 60);

/// The state of an event stream.
pub struct EventStream {
    subscription: Subscription,
    reader: StreamReader,
    options: StreamOptions,
    /// The last version that was sent.
    version: u64,
    /// The first message.
    first: Option<Bytes>,
    /// When the last entry was sent; none before that.
    over_since: Option<Instant>,
    /// Whether it has sent the rematch.
    rematch_sent: bool,
    /// Whether it has told that the pair of a table has ended.
    match_sent: bool,
    /// The end of the review that it has sent.
    review_sent: Option<ReviewStatus>,
    /// The last that was sent.
    presence: Option<PresenceView>,
    /// When it was opened: it sends no older reactions, which a client may have had before.
    opened: Instant,
    /// The number of the next reaction.
    reaction: u64,
    /// Of a seat.
    connection: Option<SeatConnection>,
    /// None if the reader is not told of notices.
    notice: Option<NoticeReader>,
    /// When the last message was handed over to be sent.
    sent_at: Option<Instant>,
}

/// What a stream does next.
pub(super) enum Step {
    Message(Bytes),
    /// It waits for a change.
    Wait,
    /// The store is not available now.
    Retry,
    /// It ends: because of a problem, or because there is no more to send.
    End(Option<Problem>),
}

impl EventStream {
    /// A stream of the game for this reader; `connection` is that of a seat.
    ///
    /// # Errors
    /// If the first message lists moves, and the pool is full.
    pub async fn new(
        subscription: Subscription,
        stored: &StoredGame,
        reader: StreamReader,
        connection: Option<SeatConnection>,
        options: StreamOptions,
        notice: Option<NoticeReader>,
    ) -> Result<EventStream, Problem> {
        let now = stored.game.version();
        let (version, first) = match options.start {
            Start::After(version) => (version, None),
            Start::Game => {
                let game = subscription.first_message(stored, options, reader);
                (now, Some(game.await?))
            }
        };
        let finished = stored.game.phase() == Phase::Finished;
        Ok(EventStream {
            subscription,
            reader,
            options,
            version,
            first,
            over_since: (finished && version == now).then(Instant::now),
            rematch_sent: false,
            match_sent: false,
            review_sent: None,
            presence: None,
            opened: Instant::now(),
            reaction: 0,
            connection,
            notice,
            sent_at: None,
        })
    }

    /// The stream of messages; `while_open`, in which is the id of its request, is dropped at its
    /// end.
    pub fn stream<T>(
        self,
        while_open: (RequestId, T),
    ) -> impl Stream<Item = Result<Bytes, Problem>> {
        stream::unfold((self, while_open), |(mut stream, while_open)| async {
            let message = stream.next_message(&while_open.0).await?;
            stream.sent_at = Some(Instant::now());
            Some((Ok(message), (stream, while_open)))
        })
    }

    /// The next message; none at the end. A failure ends the stream too, and the client may resume
    /// it. But while the store is unavailable, the stream only sends heartbeats.
    async fn next_message(&mut self, id: &RequestId) -> Option<Bytes> {
        if self
            .sent_at
            .is_some_and(|sent| sent.elapsed() > SEND_TIMEOUT)
        {
            return None;
        }
        loop {
            match self.step(id).await {
                Step::Message(message) => return Some(message),
                Step::End(_) => return None,
                Step::Retry => {
                    wait_before_retry().await;
                    return Some(self.options.format.heartbeat());
                }
                Step::Wait => {
                    if timeout(HEARTBEAT, self.changed()).await.is_err() {
                        return Some(self.options.format.heartbeat());
                    }
                }
            }
        }
    }

    /// What it does next. A problem is logged as that of the request with this id.
    pub(super) async fn step(&mut self, id: &RequestId) -> Step {
        if let Some(first) = self.first.take() {
            return Step::Message(first);
        }
        if self.is_over() || self.stops() {
            return Step::End(None);
        }
        match self.next_update().await {
            Ok(Some(message)) => Step::Message(message),
            Ok(None) => Step::Wait,
            Err(problem) => {
                problem.log(id);
                if problem.code() == Code::TokenReplaced
                    && let Some(connection) = self.connection.take()
                {
                    connection.lose_seat();
                }
                match problem.code() {
                    Code::Unavailable => Step::Retry,
                    _ => Step::End(Some(problem)),
                }
            }
        }
    }

    /// Waits until the game has changed.
    pub(super) async fn changed(&mut self) {
        self.subscription.changed().await;
    }

    /// Whether the server is about to stop.
    pub(super) fn stops(&self) -> bool {
        self.subscription.closed()
    }

    fn is_over(&self) -> bool {
        self.over_since
            .is_some_and(|since| !self.options.after_end || since.elapsed() > MAX_TIME_AFTER_END)
    }

    /// The new messages, joined into one; none if nothing is new.
    async fn next_update(&mut self) -> Result<Option<Bytes>, Problem> {
        let StreamReader { caller, role, .. } = self.reader;
        let mut update = self.subscription.update(self.version, None).await?;
        if let Some(StreamUpdate { game, .. }) = &update
            && (game.game.version() < self.version || caller.ensure_current(role, game).is_err())
        {
            // This may be the game from before the last message, or from before the token was
            // issued.
            update = self.subscription.update(self.version, Some(game)).await?;
        }
        let update = update.ok_or_else(Problem::game_not_found)?;
        let game = &update.game;
        // A token that was replaced while the stream was open shows nothing more.
        caller.ensure_current(role, game)?;
        if game.game.version() < self.version {
            let detail = "the game was set back: an earlier state of the database was restored";
            return Err(Problem::new(Code::StaleVersion, detail));
        }
        if update.entries.is_empty() && game.game.version() > self.version {
            return self.page(game).await;
        }
        let mut messages = Vec::with_capacity(update.entries.len());
        for entry in &update.entries {
            let (options, reader) = (self.options, self.reader);
            match self
                .subscription
                .message(game, entry, options, reader)
                .await
            {
                Ok(message) => messages.push(message),
                // What was made is sent before this entry is tried again.
                Err(_) if !messages.is_empty() => break,
                Err(problem) => return Err(problem),
            }
            self.sent(entry.version, is_last(entry));
        }
        messages.extend(self.reactions(&update.reactions)?);
        match messages.len() {
            // What was read is sent before anything else can fail.
            0 => self.notice(game, update.connected, update.reviewed).await,
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

    /// The reactions that were not sent yet. A stream that was stalled for longer sends none.
    fn reactions(&mut self, recent: &[NumberedReaction]) -> Result<Vec<Bytes>, Problem> {
        let opened = self.opened;
        let new = recent
            .iter()
            .filter(|reaction| reaction.number >= self.reaction && reaction.said_at >= opened);
        let messages = new.map(|reaction| {
            let view = ReactionView::new(reaction.seat, reaction.reaction);
            self.options.format.notice("reaction", &view)
        });
        let messages = messages.collect::<Result<_, _>>()?;
        if let Some(last) = recent.last() {
            self.reaction = last.number + 1;
        }
        Ok(messages)
    }

    /// What else there is to send, once all changes are sent.
    async fn notice(
        &mut self,
        stored: &StoredGame,
        connected: BySeat<bool>,
        reviewed: Option<ReviewStatus>,
    ) -> Result<Option<Bytes>, Problem> {
        if let Some(presence) = self.presence(stored, connected)? {
            return Ok(Some(presence));
        }
        if let Some(opened) = self.match_opened(stored)? {
            return Ok(Some(opened));
        }
        if let Some(rematch) = self.rematch().await? {
            return Ok(Some(rematch));
        }
        if let Some(review) = self.review(reviewed)? {
            return Ok(Some(review));
        }
        let notice = self.notice.as_mut().and_then(NoticeReader::next);
        let message = notice.map(|notice| self.options.format.notice("notice", &notice));
        message.transpose()
    }

    /// The message that the review is done or has failed, once, in a stream that stays open after
    /// the end.
    fn review(&mut self, reviewed: Option<ReviewStatus>) -> Result<Option<Bytes>, Problem> {
        let is_asked = self.over_since.is_some() && self.options.after_end;
        if !is_asked || self.review_sent == reviewed {
            return Ok(None);
        }
        self.review_sent = reviewed;
        let message = reviewed.map(|status| {
            let notice = ReviewDone::new(status == ReviewStatus::Done);
            self.options.format.notice("review", &notice)
        });
        message.transpose()
    }

    /// Who is present, if that is not what was sent last.
    fn presence(
        &mut self,
        stored: &StoredGame,
        mut connected: BySeat<bool>,
    ) -> Result<Option<Bytes>, Problem> {
        if let (Role::Seat(seat), Some(_)) = (self.reader.role, &self.connection) {
            // The store may not have this connection yet.
            connected[seat] = true;
        }
        let presence = PresenceView::new(&stored.game, &connected);
        let known = match &self.presence {
            Some(sent) => *sent == presence,
            // Viewers of a game of bots need not learn that nobody is there.
            None => !presence.has_people(),
        };
        if known || self.is_over() {
            return Ok(None);
        }
        let message = self.options.format.notice("presence", &presence)?;
        self.presence = Some(presence);
        Ok(Some(message))
    }

    /// The message that a table of a match is laid open, once, in a stream that stays open after the
    /// end.
    fn match_opened(&mut self, stored: &StoredGame) -> Result<Option<Bytes>, Problem> {
        let is_asked = self.over_since.is_some() && self.options.after_end;
        let Some(opened) = MatchOpened::new(stored).filter(|_| is_asked && !self.match_sent) else {
            return Ok(None);
        };
        self.match_sent = true;
        Ok(Some(self.options.format.notice("match", &opened)?))
    }

    /// The next game of the same people, once, in a stream that stays open after the end.
    async fn rematch(&mut self) -> Result<Option<Bytes>, Problem> {
        if self.over_since.is_none() || !self.options.after_end || self.rematch_sent {
            return Ok(None);
        }
        let Some(next) = self.subscription.rematch().await? else {
            return Ok(None);
        };
        let rematch = Rematch::new(
            &next,
            self.reader.caller.role(&next).unwrap_or(Role::Spectator),
        );
        self.rematch_sent = true;
        Ok(Some(self.options.format.notice("rematch", &rematch)?))
    }

    /// A page of entries that are too old to be cached, as messages made in the pool.
    async fn page(&mut self, game: &Arc<StoredGame>) -> Result<Option<Bytes>, Problem> {
        let entries = self.version..game.game.version();
        let game = Arc::clone(game);
        let (options, reader) = (self.options, self.reader);
        let page = self
            .subscription
            .page(reader.client, entries, move |entries: Vec<LogEntry>| {
                let (mut messages, mut last) = (Vec::new(), None);
                for entry in entries {
                    messages.extend(if entry.version == game.game.version() {
                        reader.check_viewer(&game)?;
                        options.last_change(&game, &entry, reader)?
                    } else {
                        options.earlier_change(game.game.rules(), &entry, reader.viewer)?
                    });
                    last = Some((entry.version, is_last(&entry)));
                }
                Ok(last.map(|last| (Bytes::from(messages), last)))
            })
            .await?;
        Ok(page.map(|(messages, (version, is_last))| {
            self.sent(version, is_last);
            messages
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::Pin, sync::mpsc};

    use actix_web::http::header::HeaderValue;
    use dog_rules::{Seat, Viewer};
    use dog_store::{CommitResult, Store, TokenHash, Write, WriteOp};
    use futures_util::FutureExt;
    use parking_lot::Mutex;
    use rusqlite::Connection;
    use serde_json::Value;

    use super::*;
    use crate::{
        access::Caller,
        limits::ClientAddress,
        live::{FeedTask, Hub, PresenceTracker},
        metrics::PoolMetrics,
        pool::WorkerPool,
        testing::{POOL, TempDatabase, add, new_game, played_to_end},
        view::{change::Include, message::Format},
    };

    /// A new game in a store of its own, and a subscription to it.
    struct Fixture {
        database: TempDatabase,
        store: Store,
        stored: StoredGame,
        pool: Arc<WorkerPool>,
        subscription: Option<Subscription>,
        feed_task: FeedTask,
    }

    impl Fixture {
        async fn new() -> Fixture {
            let (mut stored, database) = (new_game(), TempDatabase::new());
            for seat in stored.game.rules().ring().seats() {
                stored.tokens.seats[seat] = Some(token_of(seat));
            }
            let store = database.store();
            add(&store, stored.clone()).await;
            let pool = Arc::new(WorkerPool::start(POOL, PoolMetrics::default()).unwrap());
            let (hub, feed_task) = Hub::start(&store, &pool, &pool, &Arc::default());
            Fixture {
                database,
                store,
                subscription: Some(hub.subscribe(stored.id)),
                stored,
                pool,
                feed_task,
            }
        }

        /// A spectator's stream that begins there.
        async fn stream(&mut self, start: Start) -> EventStream {
            let subscription = self.subscription.take().unwrap();
            let reader = StreamReader {
                caller: Caller::new(None),
                role: Role::Spectator,
                viewer: Viewer::Spectator,
                client: ClientAddress(None),
            };
            let options = StreamOptions {
                format: Format::Ndjson,
                include: None,
                start,
                after_end: false,
            };
            let stream = EventStream::new(subscription, &self.stored, reader, None, options, None);
            stream.await.unwrap()
        }
    }

    impl EventStream {
        async fn next(&mut self) -> Option<Bytes> {
            let id = RequestId(HeaderValue::from_static("mine-1"));
            self.next_message(&id).await
        }
    }

    fn token_of(seat: Seat) -> TokenHash {
        TokenHash::new(&format!("first {}", seat.number()))
    }

    /// The versions of the changes in a message.
    fn versions_in(message: &[u8]) -> Vec<u64> {
        let lines = message.split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        lines.filter_map(|line| line["version"].as_u64()).collect()
    }

    fn is_creation(message: &[u8]) -> bool {
        message.starts_with(b"{\"type\":\"change\",\"version\":1,")
    }

    type BusyJob<'p> = Pin<Box<dyn Future<Output = Result<bool, Problem>> + 'p>>;

    /// Jobs that fill the pool's queue until the sender is dropped.
    fn fill_queue(pool: &WorkerPool) -> (mpsc::Sender<()>, Vec<BusyJob<'_>>) {
        let (go, gate) = mpsc::channel();
        let gate = Arc::new(Mutex::new(gate));
        let jobs = (0..=POOL.queue_capacity).map(|_| {
            let gate = Arc::clone(&gate);
            let work = move || Ok(gate.lock().recv().is_err());
            let mut job: BusyJob = Box::pin(pool.run(ClientAddress(None), Duration::ZERO, work));
            assert!(job.as_mut().now_or_never().is_none());
            job
        });
        let jobs = jobs.collect();
        (go, jobs)
    }

    #[actix_web::test]
    async fn a_reader_that_is_too_slow_is_cut_off() {
        let mut fixture = Fixture::new().await;
        let mut stream = fixture.stream(Start::After(0)).await;
        let first = stream.next().await.expect("the creation");
        assert!(is_creation(&first), "{first:?}");
        // Had the message waited that long for its reader, the stream would end here.
        stream.sent_at = Instant::now().checked_sub(SEND_TIMEOUT + Duration::from_secs(1));
        if stream.sent_at.is_some() {
            assert_eq!(stream.next().await, None);
        }
    }

    #[actix_web::test]
    async fn a_stream_waits_until_the_store_can_be_read_again() {
        let mut fixture = Fixture::new().await;
        let mut stream = fixture.stream(Start::After(0)).await;
        let pool = Arc::clone(&fixture.pool);
        let (go, busy) = fill_queue(&pool);
        assert_eq!(stream.next().await.as_deref(), Some(&b"\n"[..]));
        drop(go);
        for job in busy {
            assert!(job.await.unwrap());
        }
        // The pool replies before it counts the job as ended.
        let mut first = stream.next().await;
        while first.as_deref() == Some(b"\n") {
            first = stream.next().await;
        }
        let first = first.expect("the creation");
        assert!(is_creation(&first), "{first:?}");
    }

    #[actix_web::test]
    async fn a_message_that_cannot_be_made_keeps_none_back() {
        let mut fixture = Fixture::new().await;
        let store = fixture.store.clone();
        let mut stream = fixture.stream(Start::After(0)).await;
        assert!(is_creation(&stream.next().await.expect("the creation")));
        for draft in played_to_end(&fixture.stored) {
            let game = draft.next.game.clone();
            let committed = store.commit(Write::from(draft)).await;
            assert_eq!(committed.unwrap(), CommitResult::Done);
            if let Some(turn) = game.turn() {
                stream.reader.role = Role::Seat(turn);
                stream.reader.viewer = stream.reader.role.viewer(&game);
                stream.reader.caller = Caller::new(Some(token_of(turn)));
                break;
            }
        }
        // Its seat gets the moves of the last version, for which the pool has no time now.
        stream.options.include = Some(Include::GameAndMoves);
        let pool = Arc::clone(&fixture.pool);
        let (go, busy) = fill_queue(&pool);
        let newest = store.game(&fixture.stored.id).await.unwrap().unwrap();
        let newest = newest.game.version();
        let mut versions = Vec::new();
        while versions.is_empty() {
            versions.extend(versions_in(&stream.next().await.expect("a message")));
        }
        assert_eq!(versions, (2..newest).collect::<Vec<_>>());
        drop(go);
        for job in busy {
            assert!(job.await.unwrap());
        }
        while versions.len() < newest as usize - 1 {
            versions.extend(versions_in(&stream.next().await.expect("a message")));
        }
        assert_eq!(versions.last(), Some(&newest));
    }

    #[actix_web::test]
    async fn a_stream_is_not_ahead_of_its_game() {
        let mut fixture = Fixture::new().await;
        let mut stream = fixture.stream(Start::After(0)).await;
        let database = Connection::open(fixture.database.file()).unwrap();
        // As if somebody had committed a change after the game was read.
        let sql = "INSERT INTO log (game, version, at, action, events) \
                   SELECT game, 2, at, action, events FROM log";
        assert_eq!(database.execute(sql, []).unwrap(), 1);
        let first = stream.next().await.expect("the creation");
        assert!(is_creation(&first), "{first:?}");
        assert_eq!(first.iter().filter(|byte| **byte == b'\n').count(), 1);
        let update = stream.subscription.update(1, None).await;
        assert!(update.unwrap().unwrap().entries.is_empty());
    }

    #[actix_web::test]
    async fn whoever_has_lost_the_seat_is_absent_at_once() {
        let mut fixture = Fixture::new().await;
        let store = fixture.store.clone();
        // Without its task, nothing is written, and only this process knows of the connection.
        let (tracker, _) = PresenceTracker::start(&store);
        let mut stream = fixture.stream(Start::Game).await;
        let seat = Seat::default();
        let token = token_of(seat);
        stream.reader.role = Role::Seat(seat);
        stream.reader.caller = Caller::new(Some(token));
        stream.connection = tracker.connection(fixture.stored.id, stream.reader.role);
        let is_present = || async { tracker.connected(&fixture.stored.id).await.unwrap()[seat] };
        assert!(is_present().await);
        let stored = store.game(&fixture.stored.id).await.unwrap().unwrap();
        let mut tokens = stored.tokens.clone();
        tokens.seats[seat] = Some(TokenHash::new("another"));
        let op = WriteOp::SetTokens(stored.expected_state(), tokens, Arc::default());
        let replaced = store.commit(Write { op, save: None }).await;
        assert_eq!(replaced.unwrap(), CommitResult::Done);
        while stream.next().await.is_some() {}
        assert!(!is_present().await);
    }

    #[actix_web::test]
    async fn a_stream_ends_when_the_server_stops() {
        let mut fixture = Fixture::new().await;
        let mut stream = fixture.stream(Start::Game).await;
        assert!(stream.next().await.is_some(), "the game");
        fixture.feed_task.close();
        assert_eq!(stream.next().await, None);
    }
}
