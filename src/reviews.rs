//! The thread that reviews finished games, at the lowest priority.
//!
//! The store has the queue, and what was found so far. So if a process is killed, another one goes
//! on from the last save.

use std::{
    cell::Cell,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use dog_bot::net::nets::Nets;
use dog_review::{FinishedGame, Review, ReviewSettings, Reviewer};
use dog_rules::ActionRefusal;
use dog_store::{
    ClaimedReview, LogEntry, ReviewLimits, ReviewStatus, Store, StoreError, StoredGame,
};

use crate::{
    pool::LOG_PAGE,
    runtime::{BackgroundThread, Waiter, lower_priority},
};

/// Maximum versions of a game that is reviewed. Longer ones are not imported, either.
pub const MAX_VERSIONS: u64 = 10_000;

/// How many reviews may be waiting or running at a time.
pub const REVIEW_LIMITS: ReviewLimits = ReviewLimits {
    total: 200,
    per_creator: 10,
    per_network: 100,
};

/// How long to wait before an empty queue is read again.
const POLL: Duration = Duration::from_secs(1);

/// How often what was found is saved.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// How often a claim is renewed, also in the middle of a decision. It lasts three times as long.
const RENEWAL: Duration = Duration::from_secs(10);

/// How long a review is worked on before another one that waits. Under costly rules one takes much
/// longer than usual.
const SLICE: Duration = Duration::from_secs(60);

/// The nice value of the thread.
const LOWEST_PRIORITY: i32 = 19;

/// What the worlds of all reviews are drawn from.
const SEED: u64 = 1;

/// What the thread works with.
struct ReviewWorker {
    store: Store,
    nets: Arc<Nets>,
    /// The playouts, in percent of the default.
    percent: u32,
    waiter: Waiter,
    /// How long a review is worked on before another one that waits.
    slice: Duration,
}

/// Starts the thread.
///
/// # Errors
/// The operating system starts no more threads.
pub fn start(store: &Store, nets: &Arc<Nets>, percent: u32) -> io::Result<BackgroundThread> {
    let (store, nets) = (store.clone(), Arc::clone(nets));
    BackgroundThread::start("review", move |waiter| {
        let worker = ReviewWorker {
            store,
            nets,
            percent,
            waiter,
            slice: SLICE,
        };
        worker.run();
    })
}

impl ReviewWorker {
    fn run(self) {
        lower_priority(LOWEST_PRIORITY);
        while !self.waiter.stops_within(Duration::ZERO) {
            match self.work() {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => dog_store::warn_rarely!("reviews wait for the store: {error}"),
            }
            if self.waiter.stops_within(POLL) {
                return;
            }
        }
    }

    /// Works on a review, if one waits. Returns whether one did.
    fn work(&self) -> Result<bool, StoreError> {
        let Some(claimed) = self.waiter.wait(self.store.claim_review())? else {
            return Ok(false);
        };
        match self.review(&claimed) {
            Err(error) if !error.is_temporary() => self.give_up(&claimed, &error.to_string())?,
            result => result?,
        }
        Ok(true)
    }

    /// Works on a review until it is done, its slice is over, the server stops, or another process
    /// has claimed it.
    fn review(&self, claimed: &ClaimedReview) -> Result<(), StoreError> {
        let stored = self.waiter.wait(self.store.game(&claimed.game))?;
        let review = self.waiter.wait(self.store.review(&claimed.game))?;
        let (Some(stored), Some(review)) = (stored, review) else {
            return Ok(());
        };
        let found: Review = serde_json::from_str(&review.content()?).unwrap_or_default();
        let game = self.finished_game(&stored)?;
        let settings = ReviewSettings::default().scaled(self.percent);
        let renewed = Cell::new(Instant::now());
        let goes_on = || !self.waiter.stops_within(Duration::ZERO) && self.holds(claimed, &renewed);
        let nets = &self.nets;
        let reviewer = catch_failure(|| Reviewer::new(nets, settings, SEED, game, found, &goes_on));
        let mut reviewer = match reviewer {
            Ok(reviewer) => reviewer,
            Err(reason) => return self.give_up(claimed, &reason),
        };
        let begun = Instant::now();
        let mut saved = begun;
        loop {
            let status = match catch_failure(|| reviewer.step()) {
                Ok(_) if !goes_on() => ReviewStatus::Waiting,
                Ok(true) if begun.elapsed() >= self.slice => ReviewStatus::Waiting,
                Ok(true) if saved.elapsed() < SAVE_INTERVAL => continue,
                Ok(true) => ReviewStatus::Running,
                Ok(false) => ReviewStatus::Done,
                Err(reason) => return self.give_up(claimed, &reason),
            };
            let is_ours = self.save(claimed, status, reviewer.review())?;
            if !is_ours || status != ReviewStatus::Running {
                return Ok(());
            }
            saved = Instant::now();
        }
    }

    /// Whether this process still has the review. Renews the claim now and then.
    fn holds(&self, claimed: &ClaimedReview, renewed: &Cell<Instant>) -> bool {
        if renewed.get().elapsed() < RENEWAL {
            return true;
        }
        // Without the store, the next save tells.
        let renewal = self.waiter.wait(self.store.renew_review(claimed));
        let is_held = renewal.unwrap_or(true);
        if is_held {
            renewed.set(Instant::now());
        }
        is_held
    }

    /// Ends a review that cannot be made because the game or what was found is damaged, so that
    /// others need not wait.
    fn give_up(&self, claimed: &ClaimedReview, reason: &str) -> Result<(), StoreError> {
        log::error!("game {} cannot be reviewed: {reason}", claimed.game);
        self.save(claimed, ReviewStatus::Failed, &Review::default())?;
        Ok(())
    }

    /// Saves what was found. Returns whether this process still has the review.
    fn save(
        &self,
        claimed: &ClaimedReview,
        status: ReviewStatus,
        review: &Review,
    ) -> Result<bool, StoreError> {
        let content = serde_json::to_string(review).expect("a review can be serialized");
        self.waiter
            .wait(self.store.save_review(claimed, status, &content))
    }

    /// The whole game.
    fn finished_game(&self, stored: &StoredGame) -> Result<FinishedGame, StoreError> {
        let (mut after, mut actions) = (0, Vec::new());
        loop {
            let page = self
                .waiter
                .wait(self.store.log(&stored.id, after, LOG_PAGE))?;
            let entries = page.entries()?;
            let Some(last) = entries.last() else { break };
            after = last.version;
            actions.extend(entries.into_iter().filter_map(|entry: LogEntry| {
                let by = entry.events.first().and_then(|event| event.by);
                Some((entry.action?, by.into()))
            }));
        }
        Ok(FinishedGame {
            start: stored.game.at_creation(),
            actions,
        })
    }
}

/// Does work that fails, or even panics, if the log is damaged.
///
/// # Errors
/// The reason.
fn catch_failure<T>(work: impl FnOnce() -> Result<T, ActionRefusal>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|refusal| refusal.to_string()),
        Err(_) => Err("it panicked".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use dog_store::{CommitResult, ReviewRequest, Write};

    use super::*;
    use crate::testing::{TempDatabase, add, new_game, played_to_end};

    /// Adds a finished game and asks for its review.
    fn add_review(worker: &ReviewWorker) -> StoredGame {
        let stored = new_game();
        let drafts = played_to_end(&stored);
        worker.waiter.wait(add(&worker.store, stored.clone()));
        for draft in drafts {
            let committed = worker.store.commit(Write::from(draft));
            let committed = worker.waiter.wait(committed).expect("a commit");
            assert_eq!(committed, CommitResult::Done);
        }
        let asked = worker.store.ask_review(&stored.id, None, REVIEW_LIMITS);
        assert_eq!(
            worker.waiter.wait(asked).expect("an answer"),
            ReviewRequest::Added
        );
        stored
    }

    #[test]
    fn a_review_is_left_for_the_others_when_its_slice_is_over() {
        let database = TempDatabase::new();
        let (_stop, waiter) = Waiter::new().expect("a runtime");
        let worker = ReviewWorker {
            store: database.store(),
            nets: Arc::new(Nets::built_in()),
            percent: 1,
            waiter,
            slice: Duration::ZERO,
        };
        let games = [add_review(&worker), add_review(&worker)];
        for versions in [[2, 0], [2, 2], [3, 2], [3, 3]] {
            assert!(worker.work().expect("the store works"));
            for (stored, version) in games.iter().zip(versions) {
                let review = worker.waiter.wait(worker.store.review(&stored.id));
                let review = review.expect("an answer").expect("a review");
                assert_eq!(review.status, ReviewStatus::Waiting);
                let content = review.content().expect("an intact row");
                let found: Review = serde_json::from_str(&content).unwrap_or_default();
                assert_eq!(found.version, version);
            }
        }
    }
}
