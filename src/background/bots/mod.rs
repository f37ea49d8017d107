//! Deals, swaps and plays for bots, and for those whose time is up.
//!
//! Nothing is kept in memory but which games a thread of this process is busy with: the store says
//! in which games the server is to act, so that a process that was killed, or another one, goes on
//! where this one stopped. Each decision is made from what the seat may see, outside any request,
//! is known a fixed time after the thinking began, and counts only if the game is still at the
//! version it was made for.

mod decide;
mod turns;

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
    decide::{ActionCommitter, BotAction, Failure, decide},
    turns::{ClaimedGame, DueGames, DueScheduler},
};
use super::runtime;
use crate::store::{Feed, GameId, Store, StoreError, now};

/// The longest that a thread with nothing to do sleeps, to see whether it is to stop.
const MAX_POLL: Duration = Duration::from_millis(500);

/// The shortest that it sleeps, so that it does not look after every commit of a busy server.
const MIN_POLL: Duration = Duration::from_millis(5);

/// How long a game is left alone in which something went wrong that will go wrong again.
const ASIDE: Duration = Duration::from_secs(60);

/// Of so many looks for work, one begins with the games that no human plays, so that the others,
/// which come first, cannot keep them waiting for ever.
const TURNS: u32 = 4;

/// Threads by which the server plays. Dropping it lets them finish what they are at; what has not
/// been announced yet is decided again after the next start.
#[derive(Debug)]
pub struct BotWorkers {
    shared: Arc<BotContext>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct BotContext {
    store: Store,
    nets: Arc<Nets>,
    stopping: AtomicBool,
    turns: Mutex<DueScheduler>,
    due: Mutex<DueGames>,
    /// Held by the one idle thread that looks for work; it is enough if one does.
    looking: Mutex<()>,
    metrics: BotMetrics,
}

/// What bots have done since the start.
#[derive(Debug)]
pub struct BotMetrics {
    decisions: Family<Label, Counter>,
    seconds: Family<Label, Counter<f64, AtomicU64>>,
    stale: Counter,
}

/// A label and its value.
type Label = [(&'static str, &'static str); 1];

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

    /// Shows the numbers in a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Decisions made for bots, and for people whose time was up";
        registry.register("bot_decisions", help, self.decisions.clone());
        let help = "Time spent thinking about these decisions";
        registry.register_with_unit("bot_think", help, Unit::Seconds, self.seconds.clone());
        let help = "Decisions that were dropped because the game had changed meanwhile";
        registry.register("bot_decisions_stale", help, self.stale.clone());
    }

    /// A seat's level has decided, in that time.
    fn decided(&self, level: Level, time: Duration) {
        let level = [("level", level.name())];
        self.decisions.get_or_create(&level).inc();
        self.seconds
            .get_or_create(&level)
            .inc_by(time.as_secs_f64());
    }
}

impl BotWorkers {
    /// Starts so many threads.
    ///
    /// # Errors
    /// The operating system starts no more threads.
    pub fn start(store: &Store, nets: &Arc<Nets>, threads: usize) -> io::Result<BotWorkers> {
        let shared = Arc::new(BotContext {
            store: store.clone(),
            nets: Arc::clone(nets),
            stopping: AtomicBool::new(false),
            turns: Mutex::new(DueScheduler::new(threads)),
            due: Mutex::default(),
            looking: Mutex::default(),
            metrics: BotMetrics::new(),
        });
        let (announce, decisions) = channel();
        let announcer = ActionCommitter::new(Arc::clone(&shared), runtime()?, decisions);
        let announcer = thread::Builder::new()
            .name("bot-commits".into())
            .spawn(move || announcer.work())?;
        let mut workers = BotWorkers {
            shared,
            threads: vec![announcer],
        };
        for number in 0..threads {
            let mut player = BotWorker {
                shared: Arc::clone(&workers.shared),
                runtime: runtime()?,
                feed: store.feed(),
                announce: announce.clone(),
            };
            let thread = thread::Builder::new()
                .name(format!("bot-{number}"))
                .spawn(move || player.work())?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// What it has done, in numbers.
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

/// One thread that decides.
struct BotWorker {
    shared: Arc<BotContext>,
    runtime: Runtime,
    feed: Feed,
    announce: Sender<BotAction>,
}

impl BotWorker {
    /// What the thread does until it is to stop.
    fn work(&mut self) {
        give_way();
        let mut looks = 0;
        while !self.shared.stopping.load(Ordering::Relaxed) {
            looks += 1;
            let taken = match self.take(looks % TURNS != 0) {
                Ok(None) => self.wait(),
                taken => taken,
            };
            let outcome = match taken {
                Ok(Some(turn)) => self.serve(turn),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = outcome {
                log::warn!("bots wait: {error}");
                thread::sleep(MAX_POLL);
            }
        }
    }

    /// Takes a game in which the server is to act now, and which no other thread is at.
    fn take(&self, people_first: bool) -> Result<Option<ClaimedGame>, StoreError> {
        let shared = &self.shared;
        for attended in [people_first, !people_first] {
            let busy = shared.turns().busy();
            let due = self
                .runtime
                .block_on(shared.due().look(&shared.store, attended, busy))?;
            if let Some(turn) = shared.turns().take(due) {
                return Ok(Some(turn));
            }
        }
        Ok(None)
    }

    /// Decides in a game that was taken. It is let go when that was announced.
    fn serve(&self, turn: ClaimedGame) -> Result<(), StoreError> {
        let shared = &self.shared;
        let (id, begun) = (turn.id, Instant::now());
        let decided = match self.runtime.block_on(shared.store.game(&id)) {
            Ok(Some(record)) => {
                let decide = AssertUnwindSafe(|| decide(record, &shared.nets, &shared.metrics));
                catch_unwind(decide).map_err(|_| Failure::Panicked)
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error.into()),
        };
        shared.turns().decided(turn, begun.elapsed());
        match decided {
            Ok(None) => shared.let_go(id),
            // The announcer goes only when all is to stop.
            Ok(Some(decision)) => self.announce.send(decision).unwrap_or_default(),
            // The same may go well in any game, a little later.
            Err(Failure::Store(error)) if error.is_temporary() => {
                shared.let_go(id);
                return Err(error);
            }
            Err(failure) => shared.set_aside(id, &failure),
        }
        Ok(())
    }

    /// Waits for a game to act in, or until the thread is to stop.
    fn wait(&mut self) -> Result<Option<ClaimedGame>, StoreError> {
        let shared = Arc::clone(&self.shared);
        // It guards nothing that could be half changed.
        let _looking = shared
            .looking
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut looks = 0;
        while !shared.stopping.load(Ordering::Relaxed) {
            looks += 1;
            if let Some(turn) = self.take(looks % TURNS != 0)? {
                return Ok(Some(turn));
            }
            self.nap()?;
        }
        Ok(None)
    }

    /// Sleeps until a game is due or something has changed.
    fn nap(&mut self) -> Result<(), StoreError> {
        thread::sleep(MIN_POLL);
        let now = now();
        let due = self.runtime.block_on(self.shared.store.next_due(now))?;
        let until_due = due.map(|due| Duration::try_from(due.duration_since(now)));
        let nap = until_due
            .and_then(Result::ok)
            .map_or(MAX_POLL, |due| due.min(MAX_POLL));
        let changed = self.feed.changed();
        // Whether or not something has changed in time.
        let _ = self.runtime.block_on(async { timeout(nap, changed).await });
        Ok(())
    }
}

impl BotContext {
    /// Others may be at the game again.
    fn let_go(&self, id: GameId) {
        self.turns().let_go(id);
    }

    /// Leaves a game alone for a while in which something went wrong.
    fn set_aside(&self, id: GameId, failure: &Failure) {
        log::error!("game {id} is suspended for a minute: {failure}");
        self.turns().set_aside(id, Instant::now() + ASIDE);
    }

    fn turns(&self) -> MutexGuard<'_, DueScheduler> {
        // Nothing that can panic happens between two changes that belong together.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn due(&self) -> MutexGuard<'_, DueGames> {
        // As above.
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets threads that answer requests go first where there are too few cores for all.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(10) {
        log::debug!("a bot worker keeps its priority: {error}");
    }
}
