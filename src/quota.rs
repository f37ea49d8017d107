//! Quotas: rates with bursts, counted separately for each key, in bounded memory.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    num::NonZeroU32,
    sync::Mutex,
    time::{Duration, Instant},
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::{RateLimitingMiddleware, StateInformationMiddleware, StateSnapshot},
    state::keyed::HashMapStateStore,
};

use dog_store::Creator;

/// Keys of a bucket that are counted separately; further keys share [`OVERFLOW_BUCKETS`].
const MAX_KEYS: usize = 100_000;

/// Buckets shared by the keys beyond [`MAX_KEYS`].
const OVERFLOW_BUCKETS: u64 = 1024;

/// The time between two sweeps, which remove keys without recent requests.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The time between two sweeps while there are too many keys.
const URGENT_SWEEP: Duration = Duration::from_secs(1);

/// Actions per second of all bots of one creator in games without people.
const BOT_ACTIONS: u32 = 50;

/// The unit in which stored bytes are counted: about what a bot's action adds to the log.
const STORED_UNIT: u32 = 256;

/// How much the server stores and plays for each creator of games.
pub struct CreatorQuotas {
    /// In units of [`STORED_UNIT`].
    storage: Option<Bucket>,
    bot_actions: Option<Bucket>,
}

impl CreatorQuotas {
    /// Quotas with that many MiB stored per hour for each creator; 0 is no limit.
    pub fn new(stored_mib: u32) -> CreatorQuotas {
        let units = stored_mib.saturating_mul((1 << 20) / STORED_UNIT);
        CreatorQuotas {
            storage: bucket("storage", units, 1, Quota::per_hour),
            bot_actions: bucket("bot-actions", BOT_ACTIONS, 1, Quota::per_second),
        }
    }

    /// Charges a creator for that many KiB.
    ///
    /// # Errors
    /// The exceeded limit, in bytes.
    pub fn charge_storage(&self, creator: Creator, kib: u32) -> Result<(), RateLimit> {
        let units = kib.saturating_mul(1024 / STORED_UNIT);
        let (Some(bucket), Some(units)) = (&self.storage, NonZeroU32::new(units)) else {
            return Ok(());
        };
        match bucket.take_many(creator, units) {
            Ok(_) => Ok(()),
            Err(limit) => Err(RateLimit {
                unit: Some("content-bytes"),
                quota: limit.quota * u64::from(STORED_UNIT),
                ..limit
            }),
        }
    }

    /// Charges a creator for an action of a bot in a game without people.
    ///
    /// # Errors
    /// How long to wait.
    pub fn charge_bot_action(&self, creator: Creator) -> Result<(), Duration> {
        for bucket in [&self.bot_actions, &self.storage] {
            take(bucket, creator).map_err(|limit| limit.wait)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for CreatorQuotas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatorQuotas").finish_non_exhaustive()
    }
}

/// The quota of a rate, with bursts of `burst` times as many; none for a rate of 0.
fn quota(rate: u32, burst: u32, per: impl FnOnce(NonZeroU32) -> Quota) -> Option<Quota> {
    let rate = NonZeroU32::new(rate)?;
    let burst = NonZeroU32::new(burst)?.saturating_mul(rate);
    Some(per(rate).allow_burst(burst))
}

/// A bucket for a rate; none for a rate of 0.
pub fn bucket(
    name: &'static str,
    rate: u32,
    burst: u32,
    per: impl FnOnce(NonZeroU32) -> Quota,
) -> Option<Bucket> {
    let quota = quota(rate, burst, per)?;
    let clock = DefaultClock::default();
    Some(Bucket::with_clock(name, quota, MAX_KEYS, clock))
}

/// Takes one from this key's bucket, if there is a limit.
///
/// # Errors
/// The exceeded limit.
pub fn take(bucket: &Option<Bucket>, key: impl Hash) -> Result<(), RateLimit> {
    match bucket {
        Some(bucket) => bucket.take(key).map(drop),
        None => Ok(()),
    }
}

/// Takes one from this key's bucket and returns what is left; none if there is no limit.
///
/// # Errors
/// The exceeded limit.
pub fn take_announced(
    bucket: &Option<Bucket>,
    key: impl Hash,
) -> Result<Option<RateLimit>, RateLimit> {
    let taken = (bucket.as_ref()).map(|bucket| bucket.take(key).map(|state| bucket.left(state)));
    taken.transpose()
}

/// A limit, and what a key has left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub name: &'static str,
    /// The most that can be taken at once.
    pub quota: u64,
    /// What is counted, if not requests.
    pub unit: Option<&'static str>,
    /// How long it takes to fill an empty bucket.
    pub window: Duration,
    /// How many can be taken now; 0 after a refusal.
    pub remaining: u32,
    /// How long until there is one more; after a refusal, until what was refused can be taken.
    pub wait: Duration,
}

/// A time in whole seconds, rounded up, and at least one.
pub fn whole_seconds(time: Duration) -> u64 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    seconds.max(1)
}

type Limiter<C> = RateLimiter<u64, HashMapStateStore<u64>, C, StateInformationMiddleware>;

/// A quota, and what each key has used of it.
pub struct Bucket<C: Clock + Clone = DefaultClock> {
    name: &'static str,
    limiter: Limiter<C>,
    clock: C,
    /// When the limiter was made.
    start: C::Instant,
    quota: Quota,
    max_keys: usize,
    hasher: RandomState,
    last_sweep: Mutex<Instant>,
}

impl<C: Clock + Clone> Bucket<C> {
    fn with_clock(name: &'static str, quota: Quota, max_keys: usize, clock: C) -> Bucket<C> {
        Bucket {
            name,
            start: clock.now(),
            limiter: RateLimiter::hashmap_with_clock(quota, clock.clone()).with_middleware(),
            clock,
            quota,
            max_keys,
            hasher: RandomState::new(),
            last_sweep: Mutex::new(Instant::now()),
        }
    }

    /// Takes one from this key's bucket, and returns its state, or how long to wait for it.
    fn take(&self, key: impl Hash) -> Result<StateSnapshot, RateLimit> {
        self.take_many(key, NonZeroU32::MIN)
    }

    /// Takes several from this key's bucket, and returns its state, or how long to wait for them.
    /// It never takes more than a full bucket holds.
    fn take_many(&self, key: impl Hash, count: NonZeroU32) -> Result<StateSnapshot, RateLimit> {
        // The hash is keyed, so that no client can choose a key that collides with another's.
        let mut key = self.hasher.hash_one(key);
        if !self.has_room() {
            key %= OVERFLOW_BUCKETS;
        }
        let count = count.min(self.quota.burst_size());
        match self.limiter.check_key_n(&key, count) {
            Ok(Ok(state)) => Ok(state),
            Ok(Err(early)) => Err(self.limit(0, early.wait_time_from(self.clock.now()))),
            // Only beyond the burst, which cannot be.
            Err(_) => Err(self.limit(0, self.quota.burst_size_replenished_in())),
        }
    }

    /// What is left in this state.
    fn left(&self, state: StateSnapshot) -> RateLimit {
        let remaining = state.remaining_burst_capacity();
        // A snapshot tells when the bucket is full only in this way.
        let full = StateInformationMiddleware::disallow(&(), state, self.start);
        let missing = self.quota.burst_size().get() - remaining;
        let later = self.quota.replenish_interval() * missing.saturating_sub(1);
        let wait = full.wait_time_from(self.clock.now());
        self.limit(remaining, wait.saturating_sub(later))
    }

    fn limit(&self, remaining: u32, wait: Duration) -> RateLimit {
        RateLimit {
            name: self.name,
            quota: self.quota.burst_size().get().into(),
            unit: None,
            window: self.quota.burst_size_replenished_in(),
            remaining,
            wait,
        }
    }

    /// Whether there is room for one more key. Sweeps first if it is time to.
    fn has_room(&self) -> bool {
        let full = self.limiter.len() >= self.max_keys;
        let interval = if full { URGENT_SWEEP } else { SWEEP_INTERVAL };
        if let Ok(mut last_sweep) = self.last_sweep.try_lock()
            && last_sweep.elapsed() >= interval
        {
            *last_sweep = Instant::now();
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        !full || self.limiter.len() < self.max_keys
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn bucket(max_keys: usize) -> (Bucket<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let quota = quota(2, 3, Quota::per_second).unwrap();
        let bucket = Bucket::with_clock("test", quota, max_keys, clock.clone());
        (bucket, clock)
    }

    /// How many are left and when there is one more, in milliseconds; or how long to wait.
    fn left(
        bucket: &Bucket<FakeRelativeClock>,
        taken: Result<StateSnapshot, RateLimit>,
    ) -> Result<(u32, u128), u128> {
        match taken.map(|state| bucket.left(state)) {
            Ok(limit) => Ok((limit.remaining, limit.wait.as_millis())),
            Err(limit) => Err(limit.wait.as_millis()),
        }
    }

    #[test]
    fn a_burst_then_a_rate_and_each_for_itself() {
        let (bucket, clock) = bucket(10);
        for remaining in (0..6).rev() {
            assert_eq!(left(&bucket, bucket.take(1)), Ok((remaining, 500)));
        }
        assert_eq!(left(&bucket, bucket.take(1)), Err(500));
        assert_eq!(left(&bucket, bucket.take(2)), Ok((5, 500)));
        clock.advance(Duration::from_millis(700));
        assert_eq!(left(&bucket, bucket.take(1)), Ok((0, 300)));
        assert_eq!(left(&bucket, bucket.take(1)), Err(300));
        clock.advance(Duration::from_millis(800));
        let limit = bucket.left(bucket.take(1).unwrap());
        assert_eq!((limit.quota, limit.window), (6, Duration::from_secs(3)));
        assert_eq!((limit.remaining, limit.wait.as_millis()), (1, 500));
    }

    #[test]
    fn several_are_taken_at_once() {
        let (bucket, clock) = bucket(10);
        let take = |count| bucket.take_many(1, NonZeroU32::new(count).unwrap());
        assert_eq!(left(&bucket, take(5)), Ok((1, 500)));
        assert_eq!(left(&bucket, take(2)), Err(500));
        assert_eq!(left(&bucket, take(1)), Ok((0, 500)));
        // More than a full bucket takes a full bucket.
        assert!(take(1_000).is_err());
        clock.advance(Duration::from_secs(3));
        assert_eq!(left(&bucket, take(1_000)), Ok((0, 500)));
        assert!(take(1).is_err());
    }

    #[test]
    fn memory_is_bounded_and_the_crowd_is_limited() {
        let (bucket, clock) = bucket(100);
        for key in 0..100 {
            assert!(bucket.take(key).is_ok());
        }
        // All keys of an overflow bucket together get as much as one key.
        let taken = (100..60_100).filter(|&key| bucket.take(key).is_ok());
        assert_eq!(taken.count() as u64, 6 * OVERFLOW_BUCKETS);
        assert_eq!(bucket.limiter.len() as u64, 100 + OVERFLOW_BUCKETS);
        // Keys without recent requests make room.
        clock.advance(Duration::from_secs(60));
        *bucket.last_sweep.lock().unwrap() -= URGENT_SWEEP;
        assert!(bucket.take(7).is_ok());
        assert_eq!(bucket.limiter.len(), 1);
    }

    fn creator(number: u8) -> Creator {
        Creator([number; 16])
    }

    #[test]
    fn bots_have_a_rate_and_fill_the_storage_of_their_creator() {
        let quotas = CreatorQuotas::new(1);
        for _ in 0..BOT_ACTIONS {
            assert_eq!(quotas.charge_bot_action(creator(1)), Ok(()));
        }
        assert!(quotas.charge_bot_action(creator(1)).is_err());
        assert_eq!(quotas.charge_bot_action(creator(2)), Ok(()));
        // These actions have used 12 and a half of the 1,024 KiB.
        let limit = quotas.charge_storage(creator(1), 1_013).unwrap_err();
        assert_eq!((limit.quota, limit.remaining), (1 << 20, 0));
        assert_eq!(quotas.charge_storage(creator(1), 1_011), Ok(()));
        assert_eq!(quotas.charge_storage(creator(2), 1_023), Ok(()));
        for _ in 0..3 {
            let _ = quotas.charge_bot_action(creator(2));
        }
        // Nothing is left.
        assert!(quotas.charge_bot_action(creator(2)).is_err());
    }

    #[test]
    fn nothing_is_no_limit() {
        assert!(quota(0, 5, Quota::per_second).is_none());
    }
}
