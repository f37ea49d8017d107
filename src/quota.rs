//! Quotas: rates with bursts, counted separately for each key, in bounded memory.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use dog_store::Creator;

/// Keys of a bucket that are counted separately; further keys share [`OVERFLOW_BUCKETS`].
const MAX_KEYS: usize = 100_000;

/// Buckets shared by the keys beyond [`MAX_KEYS`]. Those that are there keep theirs.
const OVERFLOW_BUCKETS: u64 = 1024;

/// The time between two sweeps, which remove keys without recent requests.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The time between two sweeps while there are too many keys.
const URGENT_SWEEP: Duration = Duration::from_secs(1);

/// Actions per second of all bots of one creator in games without people.
const BOT_ACTIONS: u32 = 50;

/// The unit in which stored bytes are counted: about what a bot's action adds to the log.
const STORED_UNIT: u32 = 256;

/// By how much a limit is multiplied for all addresses of a network of IPv6.
const NETWORK_FACTOR: u32 = 10;

/// How much the server stores and plays for each creator of games.
pub struct CreatorQuotas {
    /// In units of [`STORED_UNIT`].
    storage: NetworkBuckets,
    bot_actions: Option<Bucket>,
    /// The networks of creators, as far as they are known since the start.
    networks: Mutex<HashMap<Creator, Creator>>,
}

impl CreatorQuotas {
    /// Quotas with that many MiB stored per hour for each creator; 0 is no limit.
    pub fn new(stored_mib: u32) -> CreatorQuotas {
        let units = stored_mib.saturating_mul((1 << 20) / STORED_UNIT);
        CreatorQuotas {
            storage: NetworkBuckets::new("storage", units, 1, HOUR),
            bot_actions: bucket("bot-actions", BOT_ACTIONS, 1, SECOND),
            networks: Mutex::default(),
        }
    }

    /// Charges a creator, and its network if it has one, for that many KiB.
    ///
    /// # Errors
    /// The exceeded limit, in bytes.
    pub fn charge_storage(
        &self,
        creator: Creator,
        network: Option<Creator>,
        kib: u32,
    ) -> Result<(), RateLimit> {
        if let Some(network) = network {
            let mut networks = self.networks.lock();
            if networks.len() >= MAX_KEYS {
                networks.clear();
            }
            networks.insert(creator, network);
        }
        let units = kib.saturating_mul(1024 / STORED_UNIT);
        let stored = self.storage.take(creator, network, units);
        stored.map(drop).map_err(|limit| RateLimit {
            unit: Some("content-bytes"),
            quota: limit.quota * u64::from(STORED_UNIT),
            ..limit
        })
    }

    /// Charges a creator for an action of a bot in a game without people.
    ///
    /// # Errors
    /// How long to wait.
    pub fn charge_bot_action(&self, creator: Creator) -> Result<(), Duration> {
        let network = self.networks.lock().get(&creator).copied();
        take(&self.bot_actions, creator, 1)
            .and_then(|()| self.storage.take(creator, network, 1).map(drop))
            .map_err(|limit| limit.wait)
    }
}

impl std::fmt::Debug for CreatorQuotas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatorQuotas").finish_non_exhaustive()
    }
}

pub const SECOND: Duration = Duration::from_secs(1);
pub const HOUR: Duration = Duration::from_secs(60 * 60);

/// A bucket for so many in this time, with bursts of `burst` times as many; none for a rate of 0.
pub fn bucket(name: &'static str, rate: u32, burst: u32, per: Duration) -> Option<Bucket> {
    (rate > 0).then(|| Bucket {
        name,
        interval: (per / rate).max(Duration::from_nanos(1)),
        burst: burst.saturating_mul(rate),
        max_keys: MAX_KEYS,
        hasher: RandomState::new(),
        keys: Mutex::new(Keys {
            full_at: HashMap::new(),
            swept_at: Instant::now(),
        }),
    })
}

/// Takes several from this key's bucket, if there is a limit.
///
/// # Errors
/// The exceeded limit.
pub fn take(bucket: &Option<Bucket>, key: impl Hash, count: u32) -> Result<(), RateLimit> {
    match bucket {
        Some(bucket) => bucket.take(key, count, Instant::now()).map(drop),
        None => Ok(()),
    }
}

/// A limit for each key, and one ten times as large that all keys of a network of IPv6 share: a
/// customer may have many addresses.
pub struct NetworkBuckets {
    own: Option<Bucket>,
    network: Option<Bucket>,
}

impl NetworkBuckets {
    /// The limits of a rate; see [`bucket`].
    pub fn new(name: &'static str, rate: u32, burst: u32, per: Duration) -> NetworkBuckets {
        NetworkBuckets {
            own: bucket(name, rate, burst, per),
            network: bucket(name, rate.saturating_mul(NETWORK_FACTOR), burst, per),
        }
    }

    /// Takes several, and returns what is left for the key; none if there is no limit. What the key
    /// is refused does not count for its network.
    ///
    /// # Errors
    /// The exceeded limit.
    pub fn take<K: Hash>(
        &self,
        key: K,
        network: Option<K>,
        count: u32,
    ) -> Result<Option<RateLimit>, RateLimit> {
        let (Some(own), Some(all)) = (&self.own, &self.network) else {
            return Ok(None);
        };
        let left = own.take(key, count, Instant::now())?;
        if let Some(network) = network {
            all.take(network, count, Instant::now())?;
        }
        Ok(Some(left))
    }
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

/// A rate with bursts, and what each key has used of it: the generic cell rate algorithm.
pub struct Bucket {
    name: &'static str,
    /// The time in which there is one more.
    interval: Duration,
    /// The most that can be taken at once.
    burst: u32,
    max_keys: usize,
    hasher: RandomState,
    keys: Mutex<Keys>,
}

struct Keys {
    /// When the bucket of each key is full again. That of a key that is not there is full.
    full_at: HashMap<u64, Instant>,
    swept_at: Instant,
}

impl Bucket {
    /// Takes several from this key's bucket, but never more than a full one holds, and returns what
    /// is left, or how long to wait for them.
    fn take(&self, key: impl Hash, count: u32, now: Instant) -> Result<RateLimit, RateLimit> {
        let mut keys = self.keys.lock();
        keys.sweep(self.max_keys, now);
        // The hash is keyed, so that no client can choose a key that collides with another's.
        let mut key = self.hasher.hash_one(key);
        if keys.full_at.len() >= self.max_keys && !keys.full_at.contains_key(&key) {
            key %= OVERFLOW_BUCKETS;
        }
        let known = keys.full_at.get(&key).copied();
        let full_at = known.map_or(now, |at| at.max(now)) + self.interval * count.min(self.burst);
        let (missing, window) = (full_at - now, self.interval * self.burst);
        if missing > window {
            return Err(self.limit(0, missing - window));
        }
        keys.full_at.insert(key, full_at);
        let left = (window - missing).as_nanos() / self.interval.as_nanos();
        let remaining = u32::try_from(left).unwrap_or(self.burst);
        let later = self.interval * (self.burst - remaining).saturating_sub(1);
        Ok(self.limit(remaining, missing.saturating_sub(later)))
    }

    fn limit(&self, remaining: u32, wait: Duration) -> RateLimit {
        RateLimit {
            name: self.name,
            quota: self.burst.into(),
            unit: None,
            window: self.interval * self.burst,
            remaining,
            wait,
        }
    }
}

impl Keys {
    /// Removes the keys whose buckets are full, if it is time to.
    fn sweep(&mut self, max_keys: usize, now: Instant) {
        let is_full = self.full_at.len() >= max_keys;
        let interval = if is_full {
            URGENT_SWEEP
        } else {
            SWEEP_INTERVAL
        };
        if now.saturating_duration_since(self.swept_at) >= interval {
            self.swept_at = now;
            self.full_at.retain(|_, full_at| *full_at > now);
            self.full_at.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two a second, and six at once.
    fn bucket(max_keys: usize) -> Bucket {
        let bucket = super::bucket("test", 2, 3, SECOND).unwrap();
        Bucket { max_keys, ..bucket }
    }

    /// How many are left and when there is one more, in milliseconds; or how long to wait.
    fn left(taken: Result<RateLimit, RateLimit>) -> Result<(u32, u128), u128> {
        match taken {
            Ok(limit) => Ok((limit.remaining, limit.wait.as_millis())),
            Err(limit) => Err(limit.wait.as_millis()),
        }
    }

    #[test]
    fn a_burst_then_a_rate_and_each_for_itself() {
        let (bucket, mut now) = (bucket(10), Instant::now());
        for remaining in (0..6).rev() {
            assert_eq!(left(bucket.take(1, 1, now)), Ok((remaining, 500)));
        }
        assert_eq!(left(bucket.take(1, 1, now)), Err(500));
        assert_eq!(left(bucket.take(2, 1, now)), Ok((5, 500)));
        now += Duration::from_millis(700);
        assert_eq!(left(bucket.take(1, 1, now)), Ok((0, 300)));
        assert_eq!(left(bucket.take(1, 1, now)), Err(300));
        now += Duration::from_millis(800);
        let limit = bucket.take(1, 1, now).unwrap();
        assert_eq!((limit.quota, limit.window), (6, Duration::from_secs(3)));
        assert_eq!((limit.remaining, limit.wait.as_millis()), (1, 500));
    }

    #[test]
    fn several_are_taken_at_once() {
        let (bucket, mut now) = (bucket(10), Instant::now());
        assert_eq!(left(bucket.take(1, 5, now)), Ok((1, 500)));
        assert_eq!(left(bucket.take(1, 2, now)), Err(500));
        assert_eq!(left(bucket.take(1, 1, now)), Ok((0, 500)));
        // More than a full bucket takes a full bucket.
        assert!(bucket.take(1, 1_000, now).is_err());
        now += Duration::from_secs(3);
        assert_eq!(left(bucket.take(1, 1_000, now)), Ok((0, 500)));
        assert!(bucket.take(1, 1, now).is_err());
    }

    #[test]
    fn memory_is_bounded_and_the_crowd_is_limited() {
        let (bucket, mut now) = (bucket(100), Instant::now());
        for key in 0..100 {
            assert!(bucket.take(key, 1, now).is_ok());
        }
        // All keys of an overflow bucket together get as much as one key.
        let taken = (100..60_100).filter(|&key| bucket.take(key, 1, now).is_ok());
        assert_eq!(taken.count() as u64, 6 * OVERFLOW_BUCKETS);
        assert_eq!(
            bucket.keys.lock().full_at.len() as u64,
            100 + OVERFLOW_BUCKETS
        );
        // Whoever came before keeps a bucket of its own.
        for key in 0..100 {
            assert_eq!(left(bucket.take(key, 5, now)), Ok((0, 500)));
        }
        // Keys without recent requests make room.
        now += Duration::from_secs(60);
        assert!(bucket.take(7, 1, now).is_ok());
        assert_eq!(bucket.keys.lock().full_at.len(), 1);
    }

    #[test]
    fn the_highest_rates_are_rates() {
        let bucket = super::bucket("test", u32::MAX, 5, SECOND).unwrap();
        let taken = bucket.take(1, u32::MAX, Instant::now()).unwrap();
        assert_eq!((taken.quota, taken.remaining), (u32::MAX.into(), 0));
        assert_eq!(
            CreatorQuotas::new(u32::MAX).charge_storage(creator(1), None, u32::MAX),
            Ok(())
        );
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
        let limit = quotas.charge_storage(creator(1), None, 1_013).unwrap_err();
        assert_eq!((limit.quota, limit.remaining), (1 << 20, 0));
        assert_eq!(quotas.charge_storage(creator(1), None, 1_011), Ok(()));
        assert_eq!(quotas.charge_storage(creator(2), None, 1_023), Ok(()));
        for _ in 0..3 {
            let _ = quotas.charge_bot_action(creator(2));
        }
        // Nothing is left.
        assert!(quotas.charge_bot_action(creator(2)).is_err());
    }

    /// A network of IPv6 has many addresses.
    #[test]
    fn a_network_has_ten_times_as_much() {
        let quotas = CreatorQuotas::new(1);
        let network = Some(creator(100));
        for number in 0..10 {
            let stored = quotas.charge_storage(creator(number), network, 1_023);
            assert_eq!(stored, Ok(()));
        }
        let limit = quotas
            .charge_storage(creator(10), network, 1_023)
            .unwrap_err();
        assert_eq!((limit.name, limit.quota), ("storage", 10 << 20));
        assert_eq!(
            quotas.charge_storage(creator(11), Some(creator(101)), 1_023),
            Ok(())
        );
        // What bots store in its games is charged to it, too.
        while quotas.charge_storage(creator(12), network, 1).is_ok() {}
        let filled = (0..4).map(|_| quotas.charge_bot_action(creator(12)));
        assert!(filled.last().unwrap().is_err());
        assert_eq!(quotas.charge_bot_action(creator(13)), Ok(()));
    }

    #[test]
    fn nothing_is_no_limit() {
        assert!(super::bucket("test", 0, 5, SECOND).is_none());
    }
}
