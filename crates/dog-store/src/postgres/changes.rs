//! The change feed: a list of what the nodes have changed, which one task reads for all.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::{Either, select};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::{
    columns::one,
    connection::{PgConnection, QueryError, Slot, params},
};
use crate::{Change, ChangesSince, StoreError, feed::ChangeList, row::Row};

/// How often the task reads, in case a notification is lost.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The least time between two reads, and between two notifications to the other nodes.
const MIN_INTERVAL: Duration = Duration::from_millis(2);

/// How long changes are kept in the database. A node that has not read them for half of that
/// assumes that any game may have changed.
const KEPT: Duration = Duration::from_secs(60);

/// The channel on which the nodes notify each other.
pub(super) const LISTEN: &str = "LISTEN dog_changes";

/// The task that reads changes and notifies the other nodes of those of this one.
pub(super) struct ChangeWatcher {
    pub slot: Slot,
    pub changes: Arc<ChangeList>,
    /// Notified after a commit of this node.
    pub committed: Arc<Notify>,
    /// Notified after a commit of any node.
    pub notified: Arc<Notify>,
}

/// Up to where a connection has read the changes.
pub(super) struct SnapshotCursor {
    connection: Arc<PgConnection>,
    /// The last snapshot, and when it was read.
    snapshot: String,
    at: Instant,
    /// A change that is old enough at a later time for it and those before it to be deleted.
    trim_up_to: Option<i64>,
    /// When it was noted.
    noted_at: Instant,
}

impl SnapshotCursor {
    /// Begins with the present state, and has the connection listen.
    pub async fn new(connection: &Arc<PgConnection>) -> Result<SnapshotCursor, StoreError> {
        connection.execute(LISTEN).await?;
        let sql = "SELECT pg_current_snapshot()::text";
        let snapshot = one(connection.query(sql, &[]).await?)?.try_get(0)?;
        Ok(SnapshotCursor {
            connection: Arc::clone(connection),
            snapshot,
            at: Instant::now(),
            trim_up_to: None,
            noted_at: Instant::now(),
        })
    }
}

impl ChangeWatcher {
    /// Runs until the runtime ends.
    pub async fn run(mut self, first: SnapshotCursor) {
        let mut cursor = Some(first);
        loop {
            let committed = self.wait().await;
            if let Err(error) = self.poll(&mut cursor, committed).await {
                log::debug!("cannot read what has changed: {error}");
                cursor = None;
                sleep(POLL_INTERVAL).await;
            }
            sleep(MIN_INTERVAL).await;
        }
    }

    /// Waits until there may be changes. Returns whether this node has made any.
    async fn wait(&self) -> bool {
        let committed = pin!(self.committed.notified());
        let notified = pin!(self.notified.notified());
        let first = timeout(POLL_INTERVAL, select(committed, notified)).await;
        matches!(first, Ok(Either::Left(_)))
    }

    /// Reads what has changed. Notifies the other nodes if this one has `committed` anything.
    async fn poll(
        &mut self,
        cursor: &mut Option<SnapshotCursor>,
        committed: bool,
    ) -> Result<(), StoreError> {
        let connection = self.slot.get().ok_or(QueryError::NotConnected)?;
        let resumed = cursor.as_ref().is_some_and(|cursor| {
            Arc::ptr_eq(&cursor.connection, &connection) && cursor.at.elapsed() < KEPT / 2
        });
        if !resumed {
            *cursor = Some(SnapshotCursor::new(&connection).await?);
            self.changes.add(ChangesSince::Any);
        }
        let Some(cursor) = cursor else { return Ok(()) };
        if committed {
            connection.query("NOTIFY dog_changes", &[]).await?;
        }
        // Those that are visible now and were not before.
        let sql = "SELECT pg_current_snapshot()::text, number, game, version, kind \
                   FROM (VALUES (1)) AS always LEFT JOIN changes \
                   ON xid >= pg_snapshot_xmin($1::text::pg_snapshot) \
                   AND NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot) ORDER BY number";
        let (now, params) = (Instant::now(), params![cursor.snapshot.clone()]);
        let rows = connection.query(sql, &params).await?;
        let (mut changes, mut last) = (Vec::with_capacity(rows.len()), None);
        for row in &rows {
            let row = Row::Postgres(row);
            let Some(number) = row.get(1)? else {
                continue;
            };
            last = Some(number);
            changes.push(Change::new(row.get(4)?, row.get(2)?, row.get(3)?));
        }
        (cursor.snapshot, cursor.at) = (one(rows)?.try_get(0)?, now);
        self.changes.add(ChangesSince::Only(changes));
        self.trim(cursor, last).await
    }

    /// Deletes old changes from time to time.
    async fn trim(&self, cursor: &mut SnapshotCursor, last: Option<i64>) -> Result<(), StoreError> {
        let up_to = cursor.trim_up_to;
        if up_to.is_some() && cursor.noted_at.elapsed() < KEPT || up_to.is_none() && last.is_none()
        {
            return Ok(());
        }
        (cursor.trim_up_to, cursor.noted_at) = (last, Instant::now());
        if let Some(up_to) = up_to {
            let sql = "WITH mine AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(4474695) AS lock) \
                       DELETE FROM changes USING mine WHERE lock AND number <= $1";
            let params = params![up_to];
            cursor.connection.query(sql, &params).await?;
        }
        Ok(())
    }
}
