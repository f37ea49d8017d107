//! The thread that commits decisions, each a fixed time after the thinking began, and several of
//! them in one commit.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use dog_store::{CommitResult, GameId, StoreError};
use futures_util::future::join_all;
use tokio::runtime::Runtime;

use super::{
    context::{BotContext, MAX_POLL, NICE},
    decide::{BotAction, Failure},
};
use crate::runtime::lower_priority;

/// Writes queued at once, so that the writes of clients do not wait behind many of them.
const MAX_COMMITS: usize = 4;

/// The one thread that commits what the others have decided.
pub(super) struct ActionCommitter {
    pub shared: Arc<BotContext>,
    pub runtime: Runtime,
    pub actions: Receiver<BotAction>,
    /// Actions whose time has not come. They are few: none waits longer than a fifth of a second.
    pub waiting: Vec<BotAction>,
}

impl ActionCommitter {
    /// Runs until the thread is to stop.
    pub fn run(mut self) {
        lower_priority(NICE);
        while !self.shared.stopping.load(Ordering::Relaxed) {
            match self.actions.recv_timeout(self.until_next()) {
                Ok(action) => self.waiting.push(action),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.waiting.extend(self.actions.try_iter());
            self.waiting.sort_by_key(|action| action.commit_at);
            let now = Instant::now();
            let due = self
                .waiting
                .partition_point(|action| action.commit_at <= now);
            let due: Vec<BotAction> = self.waiting.drain(..due.min(MAX_COMMITS)).collect();
            if !due.is_empty() {
                self.commit(due);
            }
        }
    }

    /// The time until the next action is to be committed.
    fn until_next(&self) -> Duration {
        self.waiting
            .iter()
            .map(|action| action.commit_at.saturating_duration_since(Instant::now()))
            .fold(MAX_POLL, Duration::min)
    }

    /// Commits these actions, except in games that were changed in the meantime.
    fn commit(&mut self, actions: Vec<BotAction>) {
        let store = &self.shared.store;
        let (mut drafted, mut commits) = (Vec::new(), Vec::new());
        for action in actions {
            let id = action.stored.id;
            match catch_unwind(AssertUnwindSafe(|| action.draft())) {
                Ok(Ok(draft)) => {
                    drafted.push(action);
                    commits.push(store.commit(draft.into()));
                }
                Ok(Err(error)) => self.shared.back_off(id, &Failure::from(error)),
                Err(_) => self.shared.back_off(id, &Failure::Panicked),
            }
        }
        let committed = self.runtime.block_on(join_all(commits));
        let mut last_error = None;
        for (action, committed) in drafted.into_iter().zip(committed) {
            if let Err(error) = self.finish(action.stored.id, committed) {
                last_error = Some(error);
                self.waiting.push(action);
            }
        }
        if let Some(error) = last_error {
            dog_store::warn_rarely!("bots wait for the store: {error}");
            thread::sleep(MAX_POLL);
        }
    }

    /// Releases a game after its commit.
    ///
    /// # Errors
    /// If nothing was written but a later try may succeed.
    fn finish(
        &self,
        id: GameId,
        committed: Result<CommitResult, StoreError>,
    ) -> Result<(), StoreError> {
        match committed {
            Ok(CommitResult::Done) => self.shared.release(id),
            Ok(CommitResult::Stale) => {
                self.shared.metrics.stale.inc();
                self.shared.release(id);
            }
            Err(error) if error.is_temporary() => return Err(error),
            Err(error) => self.shared.back_off(id, &error),
        }
        Ok(())
    }
}
