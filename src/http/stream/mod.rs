//! Live streams: every change of a game, to everyone who watches it, as each may see it.
//!
//! Whoever waits for a game waits at its channel in the [`hub`]; one thread looks for commits, of
//! this process or another, and wakes them. The first to wake reads what is new, for all.

pub mod hub;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{rt::time::timeout, web::Bytes};
use dog_rules::{Phase, Rules};
use futures_util::{Stream, stream};

use self::hub::{CachedEntry, Format, Subscription};
use crate::{
    http::{
        limits::ClientAddress,
        pool::pause,
        problem::{Code, Problem},
        wire::game::GameView,
    },
    service::{Caller, Role},
    store::{LogEntry, StoredGame},
};

/// How often something is sent when nothing happens, so that nobody on the way takes the
/// connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a message may wait for the reader before the reader is too slow. The stream then ends,
/// and goes on where the reader resumes it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the game as it is.
    Game,
    /// With what came after this version.
    After(u64),
}

/// A stream in the making.
pub struct EventStream {
    subscription: Subscription,
    caller: Caller,
    role: Role,
    /// Who pays for reading what was there before.
    client: ClientAddress,
    rules: Arc<Rules>,
    format: Format,
    /// The last version that was sent.
    version: u64,
    /// What comes before everything else.
    first: Option<Bytes>,
    /// Whether the last entry was sent.
    over: bool,
    /// When the last message was handed over.
    handed_over: Option<Instant>,
}

impl EventStream {
    /// What this role may see of the game from there on.
    pub fn new(
        subscription: Subscription,
        record: &StoredGame,
        caller: (Caller, Role, ClientAddress),
        format: Format,
        start: Start,
    ) -> Result<EventStream, Problem> {
        let (caller, role, client) = caller;
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
            client,
            rules: Arc::new(record.game.rules().clone()),
            format,
            version,
            first,
            over: finished && version == now,
            handed_over: None,
        })
    }

    /// The stream, to be sent as it comes; `while_open` lives as long.
    pub fn stream<T>(self, while_open: T) -> impl Stream<Item = Result<Bytes, Problem>> {
        stream::unfold((self, while_open), |(mut viewing, while_open)| async {
            let message = viewing.next().await?;
            viewing.handed_over = Some(Instant::now());
            Some((Ok(message), (viewing, while_open)))
        })
    }

    /// The next message; none at the end. A failure ends the stream too, and the reader resumes
    /// it; but as long as the store cannot be read just now, the stream waits.
    async fn next(&mut self) -> Option<Bytes> {
        let too_slow = |then: Instant| then.elapsed() > PATIENCE;
        if self.handed_over.is_some_and(too_slow) {
            return None;
        }
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        while !self.over && !self.subscription.closed() {
            match self.news().await {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(problem) => {
                    problem.log();
                    if problem.code() != Code::Unavailable {
                        return None;
                    }
                    pause().await;
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

    /// What is new, in one piece, if anything is.
    async fn news(&mut self) -> Result<Option<Bytes>, Problem> {
        let news = self.subscription.news(self.version).await?;
        let news = news.ok_or_else(Problem::game_not_found)?;
        // A token that was replaced while the stream was open shows nothing more.
        self.caller.ensure_current(self.role, &news.tokens)?;
        if news.entries.is_empty() && news.version > self.version {
            return self.page().await;
        }
        let viewer = self.role.viewer();
        let mut messages = Vec::with_capacity(news.entries.len());
        for entry in &news.entries {
            messages.push(entry.message(&self.rules, self.format, viewer)?);
            self.version = entry.version;
            self.over = entry.last;
        }
        Ok(match messages.len() {
            0 => None,
            1 => messages.pop(),
            _ => Some(messages.concat().into()),
        })
    }

    /// What follows and was there before anyone waited for it: a page, made where it is read.
    async fn page(&mut self) -> Result<Option<Bytes>, Problem> {
        let (rules, format, viewer) = (Arc::clone(&self.rules), self.format, self.role.viewer());
        let make = move |entries: Vec<LogEntry>| {
            let (mut messages, mut last) = (Vec::new(), None);
            for entry in entries.into_iter().map(CachedEntry::new) {
                messages.extend(entry.message(&rules, format, viewer)?);
                last = Some((entry.version, entry.last));
            }
            Ok(last.map(|last| (Bytes::from(messages), last)))
        };
        let page = self
            .subscription
            .page(self.client, self.version, make)
            .await?;
        Ok(page.map(|(messages, (version, over))| {
            self.version = version;
            self.over = over;
            messages
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::FutureExt;

    use super::*;
    use crate::{
        http::{
            metrics::PoolMetrics,
            pool::{PoolConfig, WorkerPool},
            stream::hub::{FeedTask, Hub},
        },
        store::{
            CommitResult, Write, WriteOp,
            tests::{Dir, insert, new_game},
        },
    };

    const POOL: PoolConfig = PoolConfig {
        name: "test",
        threads: 1,
        length: 10,
        patience: Duration::from_secs(10),
        niceness: 0,
    };

    /// A game nobody has touched, in a store of its own, and where to wait for it.
    struct Table {
        _dir: Dir,
        record: StoredGame,
        pool: Arc<WorkerPool>,
        subscription: Option<Subscription>,
        watching: FeedTask,
    }

    impl Table {
        async fn new() -> Table {
            let (record, dir) = (new_game(), Dir::new());
            let store = dir.store();
            let effect = WriteOp::Insert(insert(&record));
            let added = store
                .commit(Write {
                    op: effect,
                    save: None,
                })
                .await;
            assert_eq!(added.unwrap(), CommitResult::Done);
            let pool = Arc::new(WorkerPool::start(POOL, PoolMetrics::default()).unwrap());
            let (hub, watching) = Hub::start(&store, &pool);
            Table {
                _dir: dir,
                subscription: Some(hub.subscribe(record.id)),
                record,
                pool,
                watching,
            }
        }

        /// A spectator's stream that begins there.
        fn viewing(&mut self, start: Start) -> EventStream {
            let subscription = self.subscription.take().unwrap();
            let caller = Caller::new(None);
            let caller = (caller, Role::Spectator, ClientAddress(None));
            EventStream::new(subscription, &self.record, caller, Format::Ndjson, start).unwrap()
        }
    }

    #[actix_web::test]
    async fn a_reader_that_is_too_slow_is_cut_off() {
        let mut table = Table::new().await;
        let mut viewing = table.viewing(Start::After(0));
        let first = viewing.next().await.expect("the creation");
        assert!(first.starts_with(b"{\"version\":1,"), "{first:?}");
        // Had the message waited for its reader for so long, the stream would end here.
        viewing.handed_over = Instant::now().checked_sub(PATIENCE + Duration::from_secs(1));
        if viewing.handed_over.is_some() {
            assert_eq!(viewing.next().await, None);
        }
    }

    #[actix_web::test]
    async fn a_stream_waits_until_the_store_can_be_read_again() {
        let mut table = Table::new().await;
        let mut viewing = table.viewing(Start::After(0));
        // More than can be done within the patience.
        let (go, gate) = mpsc::channel::<()>();
        let (pool, cost) = (Arc::clone(&table.pool), POOL.patience);
        let busy = pool.run(ClientAddress(None), cost, move || Ok(gate.recv().is_ok()));
        let mut busy = Box::pin(busy);
        assert!(busy.as_mut().now_or_never().is_none());
        assert_eq!(viewing.next().await.as_deref(), Some(&b"\n"[..]));
        go.send(()).unwrap();
        assert!(busy.await.unwrap());
        // The pool may answer before it knows that it has time again.
        let mut first = viewing.next().await;
        while first.as_deref() == Some(b"\n") {
            first = viewing.next().await;
        }
        let first = first.expect("the creation");
        assert!(first.starts_with(b"{\"version\":1,"), "{first:?}");
    }

    #[actix_web::test]
    async fn a_stream_ends_when_the_server_stops() {
        let mut table = Table::new().await;
        let mut viewing = table.viewing(Start::Game);
        assert!(viewing.next().await.is_some(), "the game");
        table.watching.close();
        assert_eq!(viewing.next().await, None);
    }
}
