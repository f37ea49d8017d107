//! Batched lookups of the states of games' rows, which most reads only compare with the cache.

use std::{collections::HashMap, sync::Arc};

use jiff::Timestamp;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{
    columns::all,
    connection::{QueryError, Slot, params},
};
use crate::{GameId, StoreError, StoredGame};

/// The largest number of queued lookups; further callers wait for a place.
pub(super) const QUEUE_CAPACITY: usize = 1024;

/// The largest number of rows that one statement reads.
const MAX_BATCH: usize = 64;

/// What is different after every change of a game's row. The exception is that packing the log of a
/// closed game deletes its creator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowState {
    version: u64,
    updated_at: Timestamp,
    token_renewals: u32,
    skips_to_deal: bool,
    match_closed: bool,
}

impl RowState {
    /// Whether the row is in the state that this game was read from.
    pub fn is_unchanged(self, stored: &StoredGame) -> bool {
        self == RowState {
            version: stored.game.version(),
            updated_at: stored.updated_at,
            token_renewals: stored.admin_changes.renewals,
            skips_to_deal: stored.skips_to_deal,
            match_closed: stored.is_match_closed(),
        }
    }
}

/// A queued lookup of the state of a game; the reply is `None` if it does not exist.
pub(super) struct StateLookup {
    pub id: GameId,
    pub reply_to: oneshot::Sender<Result<Option<RowState>, StoreError>>,
}

/// A task that sends queued lookups to the database in batches.
pub(super) struct StateReader {
    /// The queue, which all such tasks share.
    pub queue: Arc<Mutex<mpsc::Receiver<StateLookup>>>,
    pub slot: Slot,
}

impl StateReader {
    /// Runs until the queue is closed.
    pub async fn run(self) {
        let mut lookups = Vec::with_capacity(MAX_BATCH);
        loop {
            let received = {
                let mut queue = self.queue.lock().await;
                queue.recv_many(&mut lookups, MAX_BATCH).await
            };
            if received == 0 {
                return;
            }
            // All were queued before the statement, so it sees what was committed before them.
            let states = self.read(&lookups).await;
            for lookup in lookups.drain(..) {
                let state = match &states {
                    Ok(states) => Ok(states.get(&lookup.id).copied()),
                    Err(error) => Err(error.clone()),
                };
                let _ = lookup.reply_to.send(state);
            }
        }
    }

    async fn read(&self, lookups: &[StateLookup]) -> Result<HashMap<GameId, RowState>, StoreError> {
        let connection = self.slot.get().ok_or(QueryError::NotConnected)?;
        let ids: Vec<String> = lookups.iter().map(|lookup| lookup.id.to_string()).collect();
        let sql = "SELECT id, version, updated_at, token_renewals, skips_to_deal, match_closed \
                   FROM games WHERE id = ANY ($1)";
        let params = params![ids];
        let rows = connection.query(sql, &params).await?;
        let states = all(&rows, |row| {
            let state = RowState {
                version: row.get(1)?,
                updated_at: row.get(2)?,
                token_renewals: row.get(3)?,
                skips_to_deal: row.get(4)?,
                match_closed: row.get(5)?,
            };
            Ok((row.get(0)?, state))
        })?;
        Ok(states.into_iter().collect())
    }
}
