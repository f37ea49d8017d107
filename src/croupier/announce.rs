//! What was decided is done when its time has come, what is due together.

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

use super::{
    NAP, Shared,
    decide::{Decision, Failure},
    give_way,
};
use crate::store::{Draft, GameId, StoreError};

/// Writes that are queued at once at most, so that those of people need not wait for many.
const TOGETHER: usize = 4;

/// The one thread that does what the others have decided.
pub(super) struct Announcer {
    shared: Arc<Shared>,
    decisions: Receiver<Decision>,
    /// What must wait. It is not much, as the longest wait is a fifth of a second.
    waiting: Vec<Decision>,
}

impl Announcer {
    pub fn new(shared: Arc<Shared>, decisions: Receiver<Decision>) -> Announcer {
        Announcer {
            shared,
            decisions,
            waiting: Vec::new(),
        }
    }

    /// What the thread does until it is to stop.
    pub fn work(mut self) {
        give_way();
        while !self.shared.stopping.load(Ordering::Relaxed) {
            match self.decisions.recv_timeout(self.pause()) {
                Ok(decision) => self.waiting.push(decision),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.waiting.extend(self.decisions.try_iter());
            self.waiting.sort_by_key(|decision| decision.at);
            let now = Instant::now();
            let due = self.waiting.partition_point(|decision| decision.at <= now);
            let due: Vec<Decision> = self.waiting.drain(..due.min(TOGETHER)).collect();
            if !due.is_empty() {
                self.announce(due);
            }
        }
    }

    /// How long there is nothing to announce.
    fn pause(&self) -> Duration {
        let next = self.waiting.iter().map(|decision| decision.at).min();
        let pause = next.map(|at| at.saturating_duration_since(Instant::now()));
        pause.unwrap_or(NAP).min(NAP)
    }

    /// Does these. Whoever changed one of the games in the meantime, in this process or another,
    /// was first, and nothing is done.
    fn announce(&mut self, decisions: Vec<Decision>) {
        let (mut drafted, mut drafts) = (Vec::new(), Vec::new());
        for decision in decisions {
            let id = decision.record.id;
            let draft = AssertUnwindSafe(|| Draft::new(&decision.record, &decision.action));
            match catch_unwind(draft).map_err(|_| Failure::Panicked) {
                Ok(Ok(draft)) => {
                    drafted.push(decision);
                    drafts.push(draft);
                }
                Ok(Err(error)) => self.shared.set_aside(id, &error.into()),
                Err(failure) => self.shared.set_aside(id, &failure),
            }
        }
        let mut failed = None;
        for (decision, kept) in drafted
            .into_iter()
            .zip(self.shared.store.keep_blocking(drafts))
        {
            if let Err(error) = self.done(decision.record.id, kept) {
                failed = Some(error);
                self.waiting.push(decision);
            }
        }
        if let Some(error) = failed {
            log::warn!("the croupier waits: {error}");
            thread::sleep(NAP);
        }
    }

    /// Lets a game go after a write.
    ///
    /// # Errors
    /// Nothing was written, but it may go well a little later.
    fn done(&self, id: GameId, kept: Result<(), StoreError>) -> Result<(), StoreError> {
        match kept {
            Ok(()) => self.shared.let_go(id),
            Err(StoreError::Stale(_)) => {
                self.shared.meter.came_too_late();
                self.shared.let_go(id);
            }
            Err(error) if error.is_temporary() => return Err(error),
            Err(error) => self.shared.set_aside(id, &error.into()),
        }
        Ok(())
    }
}
