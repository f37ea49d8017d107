//! Deals, exchanges cards and plays for bots, and for players whose time is up.
//!
//! Memory holds only which games the threads of this process work on. The store says in which games
//! the server is to act, so after a crash this process, or another one, continues where it stopped.
//! A decision is made outside any request, from the seat's own view of the game. It is committed a
//! fixed time after the thinking began, and only if the game is still at the same version.

mod decide;
mod scheduler;

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use dog_bot::{Level, net::nets::Nets};
use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::{Registry, Unit},
};
use tokio::{runtime::Runtime, time::timeout};

use self::{
    decide::{ActionCommitter, BotAction, Failure, Known, decide, searches},
    scheduler::{ClaimedGame, DueGames, DueScheduler},
};
use super::runtime;
use crate::{
    player_models::ModelCache,
    quota::CreatorQuotas,
    store::{Creator, Feed, GameId, Store, StoreError, StoredGame, Write, WriteOp, now},
};

/// The longest sleep of an idle thread: then it checks whether it is to stop.
const MAX_POLL: Duration = Duration::from_millis(500);

/// The shortest sleep of an idle thread, so that it does not poll after every commit.
const MIN_POLL: Duration = Duration::from_millis(5);

/// How long a game is left alone after an error that would occur again.
const ERROR_BACKOFF: Duration = Duration::from_secs(60);

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
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct BotContext {
    store: Store,
    nets: Arc<Nets>,
    models: Arc<ModelCache>,
    /// Charged for games without people.
    creators: Arc<CreatorQuotas>,
    /// Whether there was room for games without people, and when.
    room: Mutex<Option<(Instant, bool)>>,
    stopping: AtomicBool,
    scheduler: Mutex<DueScheduler>,
    due: Mutex<DueGames>,
    /// Held by the one idle thread that polls for work.
    polling: Mutex<()>,
    metrics: BotMetrics,
}

/// What bots have done since the server started.
#[derive(Debug)]
pub struct BotMetrics {
    decisions: Family<LevelLabel, Counter>,
    seconds: Family<LevelLabel, Counter<f64, AtomicU64>>,
    stale: Counter,
}

/// A player's level as a label.
type LevelLabel = [(&'static str, &'static str); 1];

impl BotMetrics {
    fn new() -> BotMetrics {
        let metrics = BotMetrics {
            decisions: Family::default(),
            seconds: Family::default(),
            stale: Counter::default(),
        };
        for level in Level::ALL.map(|level| [("level", level.name())]) {
            metrics.decisions.get_or_create_owned(&level);
            metrics.seconds.get_or_create_owned(&level);
        }
        metrics
    }

    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Decisions made for bots, and for people whose time was up";
        registry.register("bot_decisions", help, self.decisions.clone());
        let help = "Time spent thinking about these decisions";
        registry.register_with_unit("bot_think", help, Unit::Seconds, self.seconds.clone());
        let help = "Decisions that were dropped because the game had changed meanwhile";
        registry.register("bot_decisions_stale", help, self.stale.clone());
    }

    /// Counts a decision of this level, which took so long.
    fn decided(&self, level: Level, time: Duration) {
        let level = [("level", level.name())];
        self.decisions.get_or_create(&level).inc();
        self.seconds
            .get_or_create(&level)
            .inc_by(time.as_secs_f64());
    }
}

impl BotWorkers {
    /// Starts this many deciding threads, and the one that commits.
    ///
    /// # Errors
    /// The operating system starts no more threads.
    pub fn start(
        store: &Store,
        (nets, models): (&Arc<Nets>, &Arc<ModelCache>),
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
            due: Mutex::default(),
            polling: Mutex::default(),
            metrics: BotMetrics::new(),
        });
        let (commits, actions) = channel();
        let committer = ActionCommitter::new(Arc::clone(&shared), runtime()?, actions);
        let committer = thread::Builder::new()
            .name("bot-commits".into())
            .spawn(move || committer.run())?;
        let mut workers = BotWorkers {
            shared,
            threads: vec![committer],
        };
        for number in 0..threads {
            let mut worker = BotWorker {
                shared: Arc::clone(&workers.shared),
                runtime: runtime()?,
                feed: store.feed(),
                commits: commits.clone(),
            };
            let thread = thread::Builder::new()
                .name(format!("bot-{number}"))
                .spawn(move || worker.run())?;
            workers.threads.push(thread);
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
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                log::error!("a bot worker panicked");
            }
        }
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
        lower_priority();
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
                log::warn!("bots wait for the store: {error}");
                thread::sleep(MAX_POLL);
            }
        }
    }

    /// Claims a game in which the server is to act now and which no other thread has claimed.
    fn claim(&self, humans_first: bool) -> Result<Option<ClaimedGame>, StoreError> {
        let shared = &self.shared;
        for has_human in [humans_first, !humans_first] {
            // The last of the space is for people.
            if !has_human && !self.has_room()? {
                continue;
            }
            let Some(game) = self.pick(has_human)? else {
                continue;
            };
            let claimed = self.runtime.block_on(shared.store.claim_due(&game.id));
            if let Ok(true) = claimed {
                return Ok(Some(game));
            }
            // Another machine acts in it.
            let id = game.id;
            shared.scheduler().decided(game, Duration::ZERO);
            shared.release(id);
            claimed?;
        }
        Ok(None)
    }

    /// Claims a game for this thread among those of this process.
    fn pick(&self, has_human: bool) -> Result<Option<ClaimedGame>, StoreError> {
        let shared = &self.shared;
        let mut due = shared.due();
        let mut game = shared.claim(due.known(has_human), has_human);
        if game.is_none() {
            let busy = shared.scheduler().busy();
            self.runtime
                .block_on(due.read(&shared.store, has_human, busy))?;
            game = shared.claim(due.known(has_human), has_human);
        }
        if let Some(game) = &game {
            due.remove(game.id);
        }
        Ok(game)
    }

    /// Whether the store has room for what bots do among themselves.
    fn has_room(&self) -> Result<bool, StoreError> {
        let shared = &self.shared;
        // The lock guards nothing that could be half changed.
        let mut room = shared.room.lock().unwrap_or_else(PoisonError::into_inner);
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
        let (id, begun) = (game.id, Instant::now());
        let decided = match self.runtime.block_on(shared.store.game(&id)) {
            Ok(Some(record)) if !record.is_due(now()) => Ok(None),
            Ok(Some(record)) if record.is_abandoned() => self.remove(&record).map(|()| None),
            Ok(Some(record)) => match self.runtime.block_on(self.know(&record)) {
                Ok(Some(known)) => {
                    let decide = || decide(record, &known, &shared.nets, &shared.metrics);
                    catch_unwind(AssertUnwindSafe(decide)).map_err(|_| Failure::Panicked)
                }
                Ok(None) => Err(Failure::PeopleMayCome),
                Err(error) => Err(error.into()),
            },
            Ok(None) => Ok(None),
            Err(error) => Err(error.into()),
        };
        shared.scheduler().decided(game, begun.elapsed());
        match decided {
            Ok(None) => shared.release(id),
            // The committer ends only when all threads are to stop.
            Ok(Some(action)) => self.commits.send(action).unwrap_or_default(),
            Err(Failure::PeopleMayCome) => {
                let until = Instant::now() + RETURN_BACKOFF;
                shared.scheduler().back_off(id, until);
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

    /// Removes a table at which nobody sits, unless somebody has sat down meanwhile.
    fn remove(&self, record: &StoredGame) -> Result<(), Failure> {
        let write = Write {
            op: WriteOp::Remove(record.expected_state()),
            save: None,
        };
        let removed = self.runtime.block_on(self.shared.store.commit(write))?;
        log::debug!("game {} is abandoned: {removed:?}", record.id);
        Ok(())
    }

    /// What a decision in this game needs besides the game; `None` while its people may come.
    async fn know(&self, record: &StoredGame) -> Result<Option<Known>, StoreError> {
        let BotContext { store, models, .. } = &*self.shared;
        let mut known = Known::default();
        let hurries = record.hurries_absent();
        if record.drops_absent() || record.begins_without_host() || hurries {
            match store.present_or_returning(&record.id).await? {
                Some(present) => known.present = present,
                // It is asked again before the clock acts for somebody.
                None if record.begins_without_host() => {}
                None => return Ok(None),
            }
        }
        if hurries && record.timed_out_seat(&known.present).is_none() {
            return Ok(None);
        }
        if searches(record, &known.present) {
            known.models = models.models(record, models.read(record).await?)?;
        }
        Ok(Some(known))
    }

    /// Waits until a game can be claimed or the thread is to stop.
    fn wait(&mut self) -> Result<Option<ClaimedGame>, StoreError> {
        let shared = Arc::clone(&self.shared);
        // The lock guards no data.
        let _polling = shared
            .polling
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut polls = 0;
        while !shared.stopping.load(Ordering::Relaxed) {
            polls += 1;
            if let Some(game) = self.claim(polls % BOTS_ONLY_EVERY != 0)? {
                return Ok(Some(game));
            }
            self.sleep_until_due()?;
        }
        Ok(None)
    }

    /// Sleeps until a game is due or something has changed.
    fn sleep_until_due(&mut self) -> Result<(), StoreError> {
        thread::sleep(MIN_POLL);
        let now = now();
        let due = self.runtime.block_on(self.shared.store.next_due(now))?;
        let until_due = due.map(|due| Duration::try_from(due.duration_since(now)));
        let sleep = until_due
            .and_then(Result::ok)
            .map_or(MAX_POLL, |due| due.min(MAX_POLL));
        let changed = self.feed.changed();
        // It does not matter which of the two came first.
        let _ = self
            .runtime
            .block_on(async { timeout(sleep, changed).await });
        Ok(())
    }
}

impl BotContext {
    /// Claims one of these due games. One without people is charged to its creator, whose other
    /// games wait too if the quota is used up.
    fn claim(&self, due: &[(GameId, Option<Creator>)], has_human: bool) -> Option<ClaimedGame> {
        let mut scheduler = self.scheduler();
        if has_human {
            return scheduler.claim(due);
        }
        let mut due = due.to_vec();
        loop {
            due.retain(|(_, by)| by.is_none_or(|creator| !scheduler.is_suspended(creator)));
            let game = scheduler.claim(&due)?;
            let Some(creator) = game.creator() else {
                return Some(game);
            };
            match self.creators.charge_bot_action(creator) {
                Ok(()) => return Some(game),
                Err(wait) => scheduler.suspend(game, creator, Instant::now() + wait),
            }
        }
    }

    /// Lets other threads claim the game again.
    fn release(&self, id: GameId) {
        self.scheduler().release(id);
    }

    /// Leaves a game alone for a while after an error.
    fn back_off(&self, id: GameId, failure: &Failure) {
        log::error!("game {id} is suspended for a minute: {failure}");
        self.scheduler()
            .back_off(id, Instant::now() + ERROR_BACKOFF);
    }

    fn scheduler(&self) -> MutexGuard<'_, DueScheduler> {
        // No panic can leave the scheduler half changed.
        self.scheduler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn due(&self) -> MutexGuard<'_, DueGames> {
        // As above.
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives this thread a lower priority than those that answer requests.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(10) {
        log::debug!("a bot worker keeps its priority: {error}");
    }
}
