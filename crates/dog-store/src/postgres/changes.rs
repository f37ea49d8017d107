//! The change feed: a list of what the nodes have changed, which one task reads for all.

use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::{Either, select};
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};

use super::{
    connection::{PgConnection, QueryError, Slot, params},
    reader::{game_id, one},
};
use crate::{Change, ChangesSince, Feed, StoreError, game_row::version};

/// How often the task looks, in case a notification is lost.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The least time between two looks, and between two notifications to the other nodes.
const MIN_INTERVAL: Duration = Duration::from_millis(2);

/// The number of changes kept in memory.
const MAX_CHANGES: usize = 10_000;

/// How long changes are kept in the database. A node that has not looked for half of that takes it
/// that any game may have changed.
const KEPT: Duration = Duration::from_secs(60);

/// The channel on which the nodes notify each other.
pub(super) const LISTEN: &str = "LISTEN dog_changes";

/// The last changes. They are numbered as this process has read them.
#[derive(Debug)]
pub(super) struct ChangeList {
    changes: Mutex<VecDeque<Change>>,
    last: watch::Sender<i64>,
}

impl ChangeList {
    pub fn new() -> ChangeList {
        ChangeList {
            changes: Mutex::default(),
            last: watch::Sender::new(0),
        }
    }

    /// A new receiver.
    pub fn feed(&self) -> Feed {
        Feed(self.last.subscribe())
    }

    /// The changes after change number `since`, in order, and the number of the last change.
    pub fn since(&self, since: i64) -> (ChangesSince, i64) {
        let changes = self.lock();
        let last = *self.last.borrow();
        let first = last - changes.len() as i64;
        if since < first || since > last {
            return (ChangesSince::Any, last);
        }
        let new = changes.iter().skip((since - first) as usize);
        (ChangesSince::Of(new.copied().collect()), last)
    }

    fn add(&self, new: ChangesSince) {
        let mut changes = self.lock();
        let added = match new {
            ChangesSince::Of(new) if new.is_empty() => return,
            ChangesSince::Of(new) => {
                let added = new.len() as i64;
                changes.extend(new);
                let excess = changes.len().saturating_sub(MAX_CHANGES);
                changes.drain(..excess);
                added
            }
            // A gap in the numbers.
            ChangesSince::Any => {
                changes.clear();
                1
            }
        };
        self.last.send_modify(|last| *last += added);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Change>> {
        // Nothing panics while it is locked.
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that reads changes and notifies the other nodes of those of this one.
pub(super) struct ChangeWatcher {
    pub slot: Slot,
    pub changes: Arc<ChangeList>,
    /// Notified after a commit of this node.
    pub committed: Arc<Notify>,
    /// Notified after a commit of any node.
    pub heard: Arc<Notify>,
}

/// What a connection has seen.
pub(super) struct Seen {
    connection: Arc<PgConnection>,
    /// The last snapshot.
    snapshot: String,
    at: Instant,
    /// A change that was seen at this time; the ones before it are deleted later.
    mark: (Instant, Option<i64>),
}

impl Seen {
    /// Begins to see changes on a connection.
    pub async fn begin(connection: &Arc<PgConnection>) -> Result<Seen, QueryError> {
        let listening = connection.client.batch_execute(LISTEN);
        connection.within_deadline(listening).await?;
        let sql = "SELECT pg_current_snapshot()::text";
        let rows = connection.query(sql, &[]).await?;
        let snapshot = rows.first().and_then(|row| row.try_get(0).ok());
        Ok(Seen {
            connection: Arc::clone(connection),
            snapshot: snapshot.unwrap_or_default(),
            at: Instant::now(),
            mark: (Instant::now(), None),
        })
    }
}

impl ChangeWatcher {
    /// Runs until the runtime ends.
    pub async fn run(mut self, first: Seen) {
        let mut seen = Some(first);
        loop {
            let committed = self.wait().await;
            if let Err(error) = self.look(&mut seen, committed).await {
                log::debug!("cannot read what has changed: {error}");
                seen = None;
                sleep(POLL_INTERVAL).await;
            }
            sleep(MIN_INTERVAL).await;
        }
    }

    /// Waits until there may be changes. Returns whether this node has made any.
    async fn wait(&self) -> bool {
        let committed = pin!(self.committed.notified());
        let heard = pin!(self.heard.notified());
        let first = timeout(POLL_INTERVAL, select(committed, heard)).await;
        matches!(first, Ok(Either::Left(_)))
    }

    /// Reads what has changed. Notifies the other nodes if this one has `committed` anything.
    async fn look(&mut self, seen: &mut Option<Seen>, committed: bool) -> Result<(), StoreError> {
        let connection = self.slot.get().ok_or(QueryError::NotConnected)?;
        let resumed = seen.as_ref().is_some_and(|seen| {
            Arc::ptr_eq(&seen.connection, &connection) && seen.at.elapsed() < KEPT / 2
        });
        if !resumed {
            *seen = Some(Seen::begin(&connection).await?);
            self.changes.add(ChangesSince::Any);
        }
        let Some(seen) = seen else { return Ok(()) };
        if committed {
            connection.query("NOTIFY dog_changes", &[]).await?;
        }
        // Those that are visible now and were not before.
        let sql = "SELECT pg_current_snapshot()::text, number, game, version, is_presence \
                   FROM (VALUES (1)) AS always LEFT JOIN changes \
                   ON xid >= pg_snapshot_xmin($1::text::pg_snapshot) \
                   AND NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot) ORDER BY number";
        let (now, params) = (Instant::now(), params![seen.snapshot.clone()]);
        let rows = connection.query(sql, &params).await?;
        let (mut changes, mut last) = (Vec::with_capacity(rows.len()), None);
        for row in &rows {
            let Some(number) = row.try_get::<_, Option<i64>>(1)? else {
                continue;
            };
            last = Some(number);
            let (id, known) = (game_id(row, 2)?, row.try_get::<_, Option<i64>>(3)?);
            changes.push(match row.try_get(4)? {
                true => Change::Presence(id),
                false => Change::Game {
                    id,
                    version: known.map(version).transpose()?,
                },
            });
        }
        (seen.snapshot, seen.at) = (one(&rows)?.try_get(0)?, now);
        self.changes.add(ChangesSince::Of(changes));
        self.trim(seen, last).await
    }

    /// Deletes old changes from time to time.
    async fn trim(&self, seen: &mut Seen, last: Option<i64>) -> Result<(), StoreError> {
        let (at, mark) = seen.mark;
        if mark.is_some() && at.elapsed() < KEPT || mark.is_none() && last.is_none() {
            return Ok(());
        }
        seen.mark = (Instant::now(), last);
        if let Some(mark) = mark {
            let sql = "WITH mine AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(4474695) AS lock) \
                       DELETE FROM changes USING mine WHERE lock AND number <= $1";
            let params = params![mark];
            seen.connection.query(sql, &params).await?;
        }
        Ok(())
    }
}
