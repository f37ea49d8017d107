//! Removes what was kept for long enough: old games, and answers and tickets that have expired;
//! and packs the logs of games that are over.
//!
//! Every process on a file does so now and then; what one has removed the next does not find. It
//! reads and writes in small pieces with rests between them, so that nobody has to wait for it.

use std::{
    io,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use jiff::SignedDuration;
use tokio::runtime::Runtime;

use super::runtime;
use crate::store::{RetentionPolicy, Store, StoreError, now};

/// Games that are looked at in one go.
const LOOK: u32 = 500;

/// Games that are removed in one write.
const GAMES: usize = 10;

/// Answers and tickets that are removed in one write.
const EXPIRED: u32 = 200;

/// Logs that are packed in one go.
const PACKED: u32 = 10;

/// How long a game has been over when its log is packed: those who follow it have read it by then.
const OVER: SignedDuration = SignedDuration::from_secs(60);

/// The rest after a look or a write.
const REST: Duration = Duration::from_millis(50);

/// The thread that removes. Dropping it ends it after the write that it is at.
#[derive(Debug)]
pub struct RetentionThread {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What one thread works with.
struct RetentionWorker {
    store: Store,
    runtime: Runtime,
    keep: RetentionPolicy,
    stopped: Receiver<()>,
}

/// Why a pass is not finished.
enum Stop {
    /// The server ends.
    Asked,
    Failed(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        Stop::Failed(error)
    }
}

impl RetentionThread {
    /// Starts the thread, which makes a pass at once and then one every so often.
    ///
    /// # Errors
    /// If the operating system starts no more threads.
    pub fn start(
        store: &Store,
        keep: RetentionPolicy,
        every: Duration,
    ) -> io::Result<RetentionThread> {
        let (stop, stopped) = channel();
        let work = RetentionWorker {
            store: store.clone(),
            runtime: runtime()?,
            keep,
            stopped,
        };
        let thread = thread::Builder::new()
            .name("retention".into())
            .spawn(move || work.run(every))?;
        Ok(RetentionThread {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for RetentionThread {
    fn drop(&mut self) {
        self.stop = None;
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            log::error!("the retention thread panicked");
        }
    }
}

impl RetentionWorker {
    fn run(self, every: Duration) {
        loop {
            match self.pass() {
                Ok(0) => {}
                Ok(games) => log::info!("removed {games} expired games"),
                Err(Stop::Asked) => return,
                Err(Stop::Failed(error)) => {
                    log::warn!("expired games cannot be removed at present: {error}")
                }
            }
            if self.rest(every).is_err() {
                return;
            }
        }
    }

    /// Removes everything that is old and packs what is over; how many games were removed.
    fn pass(&self) -> Result<usize, Stop> {
        self.forget_expired()?;
        let mut removed = 0;
        let mut after = None;
        loop {
            let piece = self.wait(self.store.expired_games(self.keep, after, LOOK))?;
            for old in piece.old.chunks(GAMES) {
                removed += self.wait(self.store.remove_expired(old.to_vec()))?;
                self.rest(REST)?;
            }
            match piece.next {
                Some(next) => after = Some(next),
                None => break,
            }
            self.rest(REST)?;
        }
        while self.wait(self.store.remove_rest())? {
            self.rest(REST)?;
        }
        self.pack()?;
        Ok(removed)
    }

    /// Packs the logs of games that are over.
    fn pack(&self) -> Result<(), Stop> {
        let by = now() - OVER;
        let mut after = None;
        loop {
            after = self.wait(self.store.pack_logs(by, after, PACKED))?;
            if after.is_none() {
                return Ok(());
            }
            self.rest(REST)?;
        }
    }

    fn forget_expired(&self) -> Result<(), Stop> {
        while self.wait(self.store.forget_expired(EXPIRED))? {
            self.rest(REST)?;
        }
        Ok(())
    }

    /// Waits for the store.
    fn wait<T>(
        &self,
        future: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.runtime.block_on(future)
    }

    /// Does nothing for that long, unless the server ends.
    fn rest(&self, time: Duration) -> Result<(), Stop> {
        match self.stopped.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            _ => Err(Stop::Asked),
        }
    }
}
