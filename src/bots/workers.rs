//! The threads that decide.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use dog_bot::net::nets::Nets;
use dog_store::{Feed, GameId, JoinedThread, Store, StoreError, StoredGame, Write, WriteOp, now};
use futures_util::future::select;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::{runtime::Runtime, sync::Notify, time::timeout};

use super::{
    commit::ActionCommitter,
    context::{BotContext, BotMetrics, MAX_POLL, NICE},
    decide::{BotAction, DecisionContext, Failure, decide, searches},
    scheduler::{ClaimedGame, DueScheduler},
};
use crate::{
    player_models::ModelCache,
    quota::CreatorQuotas,
    runtime::{background_runtime, lower_priority},
};

/// The shortest sleep of an idle thread, so that it does not poll after every commit.
const MIN_POLL: Duration = Duration::from_millis(5);

/// How long it is known whether there is room for games without people.
const ROOM_INTERVAL: Duration = Duration::from_secs(1);

/// How long a game is left alone whose people may still come.
const RETURN_BACKOFF: Duration = Duration::from_secs(1);

/// Games with humans come first. Once in this many polls, games of bots only come first, so that
/// they do not starve.
const BOTS_ONLY_EVERY: u32 = 4;

/// The threads that play for the server. Dropping this value waits for the current decisions. A
/// decision that is not committed by then is made again after the next start.
#[derive(Debug)]
pub struct BotWorkers {
    shared: Arc<BotContext>,
    threads: Vec<JoinedThread>,
}

impl BotWorkers {
    /// Starts this many deciding threads, and the one that commits.
    ///
    /// # Errors
    /// The operating system starts no more threads.
    pub fn start(
        store: &Store,
        nets: &Arc<Nets>,
        models: &Arc<ModelCache>,
        creators: Arc<CreatorQuotas>,
        threads: usize,
    ) -> io::Result<BotWorkers> {
        let shared = Arc::new(BotContext {
            store: store.clone(),
            nets: Arc::clone(nets),
            models: Arc::clone(models),
            creators,
            room: Mutex::default(),
            stopping: AtomicBool::new(false),
            scheduler: Mutex::new(DueScheduler::new(threads)),
            released: Notify::new(),
            due: Mutex::default(),
            polling: Mutex::default(),
            metrics: BotMetrics::new(),
        });
        let (commits, actions) = channel();
        let committer = ActionCommitter {
            shared: Arc::clone(&shared),
            runtime: background_runtime()?,
            actions,
            waiting: Vec::new(),
        };
        let mut workers = BotWorkers {
            shared,
            threads: vec![JoinedThread::start("bot-commits", || committer.run())?],
        };
        for number in 0..threads {
            let mut worker = BotWorker {
                shared: Arc::clone(&workers.shared),
                runtime: background_runtime()?,
                feed: store.feed(),
                commits: commits.clone(),
            };
            let thread = JoinedThread::start(format!("bot-{number}"), move || worker.run());
            workers.threads.push(thread?);
        }
        Ok(workers)
    }

    /// The metrics of the threads.
    pub fn metrics(&self) -> &BotMetrics {
        &self.shared.metrics
    }
}

impl Drop for BotWorkers {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
    }
}

/// A thread that makes decisions.
struct BotWorker {
    shared: Arc<BotContext>,
    runtime: Runtime,
    feed: Feed,
    commits: Sender<BotAction>,
}

impl BotWorker {
    /// Runs until the thread is to stop.
    fn run(&mut self) {
        lower_priority(NICE);
        let mut polls = 0;
        while !self.shared.stopping.load(Ordering::Relaxed) {
            polls += 1;
            let claimed = match self.claim(polls % BOTS_ONLY_EVERY != 0) {
                Ok(None) => self.wait(),
                claimed => claimed,
            };
            let outcome = match claimed {
                Ok(Some(game)) => self.play(game),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = outcome {
                dog_store::warn_rarely!("bots wait for the store: {error}");
                thread::sleep(MAX_POLL);
            }
        }
    }

    /// Claims a game in which the server is to act now and which no other thread has claimed.
    fn claim(&self, humans_first: bool) -> Result<Option<ClaimedGame>, StoreError> {
        let shared = &self.shared;
        for for_people in [humans_first, !humans_first] {
            // The last of the space is for people.
            if !for_people && !self.has_room()? {
                continue;
            }
            let Some(game) = self.pick(for_people)? else {
                continue;
            };
            let claimed = self.runtime.block_on(shared.store.claim_due(&game.id));
            if let Ok(true) = claimed {
                return Ok(Some(game));
            }
            // Another machine acts in it, so no other thread of this one need try.
            shared.scheduler.lock().give_back(game);
            claimed?;
        }
        Ok(None)
    }

    /// Claims a game for this thread among those of this process.
    fn pick(&self, for_people: bool) -> Result<Option<ClaimedGame>, StoreError> {
        let shared = &self.shared;
        let mut due = shared.due.lock();
        let mut game = shared.claim(due.cached(for_people), for_people);
        if game.is_none() {
            let busy = shared.scheduler.lock().busy();
            self.runtime
                .block_on(due.read(&shared.store, for_people, busy))?;
            game = shared.claim(due.cached(for_people), for_people);
        }
        if let Some(game) = &game {
            due.remove(game.id);
        }
        Ok(game)
    }

    /// Whether the store has room for what bots do among themselves.
    fn has_room(&self) -> Result<bool, StoreError> {
        let shared = &self.shared;
        let mut room = shared.room.lock();
        if let Some((at, has_room)) = *room
            && at.elapsed() < ROOM_INTERVAL
        {
            return Ok(has_room);
        }
        let usage = self.runtime.block_on(shared.store.usage())?;
        let has_room = usage.check_new_game().is_ok();
        *room = Some((Instant::now(), has_room));
        Ok(has_room)
    }

    /// Decides in a claimed game. The claim is released after the commit.
    fn play(&self, game: ClaimedGame) -> Result<(), StoreError> {
        let shared = &self.shared;
        let (id, started) = (game.id, Instant::now());
        let decided = self.decide(&id);
        shared.scheduler.lock().decided(game, started.elapsed());
        match decided {
            Ok(None) => shared.release(id),
            // The committer ends only when all threads are to stop.
            Ok(Some(action)) => self.commits.send(action).unwrap_or_default(),
            Err(Failure::PeopleMayCome) => {
                let until = Instant::now() + RETURN_BACKOFF;
                shared.scheduler.lock().back_off(id, until);
            }
            // The store may work again a little later.
            Err(Failure::Store(error)) if error.is_temporary() => {
                shared.release(id);
                return Err(error);
            }
            Err(failure) => shared.back_off(id, &failure),
        }
        Ok(())
    }

    /// What the server does in this game now; none if it is not to act.
    fn decide(&self, id: &GameId) -> Result<Option<BotAction>, Failure> {
        let BotContext {
            store,
            nets,
            metrics,
            ..
        } = &*self.shared;
        let Some(stored) = self.runtime.block_on(store.game(id))? else {
            return Ok(None);
        };
        if !stored.is_due(now()) {
            // Another version of the program has computed when it is.
            self.commit(WriteOp::correct_due(&stored))?;
            return Ok(None);
        }
        if stored.is_abandoned() {
            self.commit(WriteOp::Remove(stored.expected_state()))?;
            return Ok(None);
        }
        let context = self.runtime.block_on(self.load_context(&stored))?;
        catch_unwind(AssertUnwindSafe(|| decide(stored, &context, nets, metrics)))
            .map_err(|_| Failure::Panicked)
    }

    /// Commits a change of a game, unless somebody has changed it meanwhile.
    fn commit(&self, op: WriteOp) -> Result<(), StoreError> {
        let write = Write { op, save: None };
        let _ = self.runtime.block_on(self.shared.store.commit(write))?;
        Ok(())
    }

    /// Loads what a decision in this game needs besides the game.
    ///
    /// # Errors
    /// [`Failure::PeopleMayCome`], or the store cannot be read.
    async fn load_context(&self, stored: &StoredGame) -> Result<DecisionContext, Failure> {
        let BotContext { store, models, .. } = &*self.shared;
        let mut context = DecisionContext::default();
        let hurries = stored.hurries_absent();
        if stored.drops_absent() || stored.begins_without_host() || hurries {
            match store.present_or_returning(&stored.id).await? {
                Some(present) => context.present = present,
                // It is asked again before the clock acts for somebody.
                None if stored.begins_without_host() => {}
                None => return Err(Failure::PeopleMayCome),
            }
        }
        if hurries && stored.timed_out_seat(&context.present).is_none() {
            return Err(Failure::PeopleMayCome);
        }
        if searches(stored, &context.present) {
            context.models = models.models(stored, models.read(stored).await?)?;
        }
        Ok(context)
    }

    /// Waits until a game can be claimed or the thread is to stop.
    fn wait(&mut self) -> Result<Option<ClaimedGame>, StoreError> {
        let shared = Arc::clone(&self.shared);
        let _polling = shared.polling.lock();
        let mut polls = 0;
        while !shared.stopping.load(Ordering::Relaxed) {
            polls += 1;
            let asked = now();
            if let Some(game) = self.claim(polls % BOTS_ONLY_EVERY != 0)? {
                return Ok(Some(game));
            }
            self.sleep_until_due(asked)?;
        }
        Ok(None)
    }

    /// Sleeps until a game is due that was not when this thread has `asked` for one, or can be
    /// claimed again, or something has changed.
    fn sleep_until_due(&mut self, asked: Timestamp) -> Result<(), StoreError> {
        thread::sleep(MIN_POLL);
        let due = self.runtime.block_on(self.shared.store.next_due(asked))?;
        let now = now();
        let sleep = due
            // One that is due by this clock is not yet due by the database's.
            .map(|due| Duration::try_from(due.duration_since(now)).unwrap_or_default())
            .map_or(MAX_POLL, |until_due| until_due.min(MAX_POLL));
        let changed = pin!(self.feed.changed());
        let released = pin!(self.shared.released.notified());
        // It does not matter which of them came first.
        let _ = self
            .runtime
            .block_on(async { timeout(sleep, select(changed, released)).await });
        Ok(())
    }
}
