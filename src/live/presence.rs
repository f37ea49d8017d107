//! Who is present: the seats with an open stream or long poll at this process, which are written
//! to the store for the viewers at all processes.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use actix_web::rt::{
    self,
    task::JoinHandle,
    time::{sleep, timeout},
};
use dog_rules::{BySeat, Seat, seat::MAX_SEATS};
use dog_store::{GameId, RENEWAL, SeatPresence, Store, StoreError};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::access::Role;

/// How long a seat stays present after its last connection has ended. A page that is loaded again
/// is back by then.
const GRACE: Duration = Duration::from_secs(5);

/// Connections that begin within this time are written together.
const BATCH_DELAY: Duration = Duration::from_millis(200);

/// How often games at which somebody is connected are kept in the lists.
const LISTS_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum changes in one write.
const MAX_BATCH: usize = 500;

/// The delay before a failed write is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The connections of this process.
pub struct PresenceTracker {
    store: Store,
    seats: Mutex<HashMap<(GameId, Seat), SeatConnections>>,
    /// The [`Store::leases`] with which the seats were written.
    leases: AtomicU64,
    changed: Notify,
}

/// The connections of one seat.
#[derive(Default)]
struct SeatConnections {
    open: usize,
    /// When the last one ended.
    ended: Option<Instant>,
    /// Whether the store has the seat as present.
    is_written: bool,
}

impl SeatConnections {
    /// When the seat is no longer present; none while a connection is open.
    fn absent_at(&self) -> Option<Instant> {
        self.ended
            .filter(|_| self.open == 0)
            .map(|ended| ended + GRACE)
    }

    fn is_present(&self, now: Instant) -> bool {
        self.absent_at().is_none_or(|at| at > now)
    }
}

/// The task that writes to the store. Dropping it ends the task; the lease then ends by itself.
pub struct PresenceTask(JoinHandle<()>);

impl Drop for PresenceTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A connection of a seat, which ends when this is dropped.
pub struct SeatConnection {
    tracker: Arc<PresenceTracker>,
    game: GameId,
    seat: Seat,
    /// How long the seat stays present.
    grace: Duration,
}

impl SeatConnection {
    /// Ends the connection of somebody who has lost the seat, without [`GRACE`].
    pub fn lose_seat(mut self) {
        self.grace = Duration::ZERO;
    }
}

impl Drop for SeatConnection {
    fn drop(&mut self) {
        let mut seats = self.tracker.seats.lock();
        if let Some(connections) = seats.get_mut(&(self.game, self.seat)) {
            connections.open -= 1;
            let now = Instant::now();
            let ended = now.checked_sub(GRACE - self.grace).unwrap_or(now);
            connections.ended = Some(ended);
        }
        self.tracker.changed.notify_one();
    }
}

impl PresenceTracker {
    /// Starts the task.
    ///
    /// # Panics
    /// Outside of an async runtime.
    pub fn start(store: &Store) -> (Arc<PresenceTracker>, PresenceTask) {
        let tracker = Arc::new(PresenceTracker {
            store: store.clone(),
            seats: Mutex::default(),
            leases: AtomicU64::new(store.leases()),
            changed: Notify::new(),
        });
        let task = rt::spawn(Arc::clone(&tracker).run());
        (tracker, PresenceTask(task))
    }

    /// Notes a connection of this role in a game; none if it is not that of a seat.
    pub fn connection(
        self: &Arc<PresenceTracker>,
        game: GameId,
        role: Role,
    ) -> Option<SeatConnection> {
        let Role::Seat(seat) = role else {
            return None;
        };
        self.seats.lock().entry((game, seat)).or_default().open += 1;
        self.changed.notify_one();
        Some(SeatConnection {
            tracker: Arc::clone(self),
            game,
            seat,
            grace: GRACE,
        })
    }

    /// At which seats of the game somebody is connected, to this process or to another.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn connected(&self, id: &GameId) -> Result<BySeat<bool>, StoreError> {
        let mut connected = self.store.present(id).await?;
        let (seats, now) = (self.seats.lock(), Instant::now());
        for seat in Seat::all(MAX_SEATS as u8) {
            let here = seats.get(&(*id, seat));
            connected[seat] |= here.is_some_and(|connections| connections.is_present(now));
        }
        Ok(connected)
    }

    async fn run(self: Arc<PresenceTracker>) {
        let (mut written_at, mut swept_at) = (Instant::now(), Instant::now());
        loop {
            // A new connection wakes the task, so without any it may sleep.
            let until = self.next_write(written_at);
            let wait = until.map_or(GRACE, |at| at.saturating_duration_since(Instant::now()));
            let _ = timeout(wait, self.changed.notified()).await;
            sleep(BATCH_DELAY).await;
            let sweeps = swept_at.elapsed() >= LISTS_INTERVAL;
            let renewed = self.renew_lists(sweeps).await;
            if sweeps && renewed.is_ok() {
                swept_at = Instant::now();
            }
            match renewed.and(self.write(written_at).await) {
                Ok(true) => written_at = Instant::now(),
                Ok(false) => {}
                Err(error) => {
                    dog_store::warn_rarely!("cannot write who is present: {error}");
                    sleep(RETRY_DELAY).await;
                }
            }
        }
    }

    /// Keeps the games in the lists that people use. With `sweeps`, also those at which somebody is
    /// connected, and takes out those that nobody uses any more.
    async fn renew_lists(&self, sweeps: bool) -> Result<(), StoreError> {
        let present: Vec<GameId> = match sweeps {
            true => self.seats.lock().keys().map(|&(game, _)| game).collect(),
            false => Vec::new(),
        };
        self.store.renew_lists(present, sweeps).await
    }

    /// When something is to be written next; none if nobody is connected.
    fn next_write(&self, written_at: Instant) -> Option<Instant> {
        let (seats, now) = (self.seats.lock(), Instant::now());
        let first = seats
            .values()
            .filter_map(|connections| {
                if connections.is_written {
                    connections.absent_at()
                } else {
                    Some(now)
                }
            })
            .min();
        let renewal = (!seats.is_empty()).then(|| written_at + RENEWAL);
        first.into_iter().chain(renewal).min()
    }

    /// Writes who has come and gone, and renews the lease if it is time for that. Returns whether
    /// anything was written.
    async fn write(&self, written_at: Instant) -> Result<bool, StoreError> {
        let mut changes = self.changes();
        let renews = !self.seats.lock().is_empty() && written_at.elapsed() >= RENEWAL;
        if changes.is_empty() && !renews {
            return Ok(false);
        }
        loop {
            let before = self.store.leases();
            let write = self.store.set_present(changes.clone());
            let lease = write.await?;
            let with_lease = before + u64::from(lease.is_new);
            self.note_written(&changes, with_lease, self.store.leases());
            changes = self.changes();
            if changes.is_empty() && !lease.more_to_remove {
                return Ok(true);
            }
        }
    }

    /// What the store does not have yet.
    fn changes(&self) -> Vec<SeatPresence> {
        let (mut seats, now) = (self.seats.lock(), Instant::now());
        // Drops connections that began and ended meanwhile.
        seats.retain(|_, connections| connections.is_written || connections.is_present(now));
        let changed = seats.iter().filter_map(|(&(game, seat), connections)| {
            let is_present = connections.is_present(now);
            (connections.is_written != is_present).then_some(SeatPresence {
                game,
                seat,
                is_present,
            })
        });
        changed.take(MAX_BATCH).collect()
    }

    /// Notes that these changes were written `with_lease`. If the lease is `now` another one, all
    /// that was written with earlier ones is lost, perhaps these changes too.
    fn note_written(&self, changes: &[SeatPresence], with_lease: u64, now: u64) {
        let mut seats = self.seats.lock();
        if self.leases.swap(now, Ordering::AcqRel) != now {
            for connections in seats.values_mut() {
                connections.is_written = false;
            }
        }
        if with_lease != now {
            return;
        }
        for change in changes {
            if let Some(connections) = seats.get_mut(&(change.game, change.seat)) {
                connections.is_written = change.is_present;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dog_cluster::Cluster;
    use dog_store::StoreConfig;

    use super::*;
    use crate::testing::{add, new_game};

    #[actix_web::test]
    async fn who_is_present_is_written_again_after_the_store_has_lost_it() {
        let Some(cluster) = Cluster::shared() else {
            return;
        };
        let database = cluster.database();
        let settings = database.url().parse().expect("a URL");
        let store = Store::connect(settings, StoreConfig::default()).expect("a store");
        let stored = new_game();
        let id = stored.id;
        add(&store, stored).await;
        let (tracker, _task) = PresenceTracker::start(&store);
        let seat = Seat::default();
        let _connection = tracker.connection(id, Role::Seat(seat));
        let present = async |expected: bool| {
            let until = Instant::now() + Duration::from_secs(30);
            while store.present(&id).await.expect("an answer")[seat] != expected {
                assert!(Instant::now() < until, "present: {}", !expected);
                sleep(Duration::from_millis(20)).await;
            }
        };
        present(true).await;
        // As after a crash of PostgreSQL.
        database.psql("DELETE FROM presence; DELETE FROM processes");
        // A bot's thread comes first.
        let lease = store.set_present(Vec::new()).await.expect("a lease");
        assert!(lease.is_new);
        present(true).await;
    }
}
