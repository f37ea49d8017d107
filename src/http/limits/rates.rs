//! Rate limits.
//!
//! A request with a token of its game is charged to that token, and to its address if the game was
//! created there, so a client gains nothing by creating games. Players at one address whose game was
//! created elsewhere share a limit that is ten times as large. All other requests, including those
//! with unknown tokens, are charged to the address. Creations, joins and advice are charged to the
//! address as well.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    num::NonZeroU32,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use actix_web::http::header::HeaderName;
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::NoOpMiddleware,
    state::keyed::HashMapStateStore,
};

use super::{Cost, address::Address};
use crate::store::{Creator, GameId, TokenHash};

/// Keys of one kind that are counted separately; further ones share [`OVERFLOW_BUCKETS`].
const MAX_KEYS: usize = 100_000;

/// Buckets shared by the keys beyond [`MAX_KEYS`].
const OVERFLOW_BUCKETS: u64 = 1024;

/// The time between two sweeps, which remove keys without recent requests.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The same when there are too many keys.
const URGENT_SWEEP: Duration = Duration::from_secs(1);

/// By how much the limit of an address is multiplied for tokens of games created elsewhere.
const FOREIGN_FACTOR: u32 = 10;

/// Valid tokens that are cached; when the cache is full, it is cleared.
const MAX_KNOWN_TOKENS: usize = 100_000;

/// The limits for clients. A rate of 0 means no limit.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Requests per second and address.
    pub address_rate: u32,
    /// Requests per second and token.
    pub token_rate: u32,
    /// Games created, imported or joined per hour and address.
    pub games_per_address: u32,
    /// MiB stored per hour and address.
    pub kept_per_address: u32,
    /// Advice and analyses per second and address.
    pub advice_per_address: u32,
    /// The header in which a proxy passes on the client's address; none without a proxy.
    pub trusted_proxy_header: Option<HeaderName>,
    /// Bytes of large request and response bodies, over all connections.
    pub body_memory: usize,
    /// Maximum number of connections.
    pub max_connections: usize,
    /// Maximum number of connections per address; not counted behind a proxy.
    pub connections_per_address: usize,
    /// How long a client may take to send a request's head, and about as long for its body.
    pub client_timeout: Duration,
    /// How long a connection may be without a request.
    pub keep_alive: Duration,
    /// How long sent data may wait for the client to read it.
    pub reader_timeout: Duration,
}

impl Limits {
    /// Maximum number of connections per address; none if there is no limit, or behind a proxy.
    pub fn max_connections_per_address(&self) -> Option<usize> {
        let most = self.connections_per_address;
        (most > 0 && self.trusted_proxy_header.is_none()).then_some(most)
    }
}

/// To what a request is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateKey {
    /// A token of the game, by its hash, and a limit of the address.
    Token {
        game: GameId,
        token: TokenHash,
        payer: Payer,
    },
    /// The address only.
    Address,
}

/// Whose address the requests with a token are charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payer {
    /// That of whoever sends them: a person who joined.
    Holder,
    /// That of the game's creator: others who were sent a token have a larger limit. If the creator
    /// is not known, everybody is taken for it.
    Creator(Option<Creator>),
}

/// A token's game, and its hash.
type GameToken = (GameId, [u8; 32]);

/// All rate limits, with what is left of each.
pub struct Rates {
    addresses: Option<Bucket>,
    /// Requests of an address with tokens of games that were created elsewhere.
    foreign_tokens: Option<Bucket>,
    tokens: Option<Bucket>,
    games: Option<Bucket>,
    advice: Option<Bucket>,
    /// KiB stored for an address.
    storage: Option<Bucket>,
    /// Valid tokens.
    known: Mutex<HashMap<GameToken, Payer>>,
}

impl Rates {
    pub fn new(limits: &Limits) -> Rates {
        let every_second = |rate, burst| bucket(rate, burst, Quota::per_second);
        let every_hour = |rate| bucket(rate, 1, Quota::per_hour);
        Rates {
            addresses: every_second(limits.address_rate, 5),
            foreign_tokens: every_second(limits.address_rate.saturating_mul(FOREIGN_FACTOR), 5),
            tokens: every_second(limits.token_rate, 5),
            games: every_hour(limits.games_per_address),
            advice: every_second(limits.advice_per_address, 10),
            storage: every_hour(limits.kept_per_address.saturating_mul(1024)),
            known: Mutex::default(),
        }
    }

    /// The key of a request with this token about this game, if the token is cached.
    pub fn cached_key(&self, game: GameId, token: TokenHash) -> Option<RateKey> {
        let payer = *self.known().get(&(game, token.0))?;
        Some(RateKey::Token { game, token, payer })
    }

    /// The key of a request with this token about this game. `found` is none if the token is not one
    /// of the game's; otherwise the token is cached.
    pub fn remember(&self, game: GameId, token: TokenHash, found: Option<Payer>) -> RateKey {
        let Some(payer) = found else {
            return RateKey::Address;
        };
        let mut known = self.known();
        if known.len() >= MAX_KNOWN_TOKENS {
            known.clear();
        }
        known.insert((game, token.0), payer);
        RateKey::Token { game, token, payer }
    }

    /// Removes the token of this key from the cache.
    pub fn forget(&self, key: &RateKey) {
        if let RateKey::Token { game, token, .. } = key {
            self.known().remove(&(*game, token.0));
        }
    }

    /// Charges a request from this address, whose hash as a creator is given.
    ///
    /// # Errors
    /// How long to wait, if a limit is exceeded.
    pub fn charge(
        &self,
        address: Address,
        creator: impl FnOnce() -> Creator,
        key: &RateKey,
        cost: Cost,
    ) -> Result<(), Duration> {
        match key {
            RateKey::Token { token, payer, .. } => {
                let own = match payer {
                    Payer::Holder => true,
                    // The creator of a finished game is forgotten after a while.
                    Payer::Creator(by) => by.is_none_or(|by| by == creator()),
                };
                let of_address = if own {
                    &self.addresses
                } else {
                    &self.foreign_tokens
                };
                take(of_address, address)?;
                take(&self.tokens, token.0)?;
            }
            RateKey::Address => take(&self.addresses, address)?,
        }
        match cost {
            Cost::NewGame | Cost::Import | Cost::Join => take(&self.games, address),
            Cost::Advice => take(&self.advice, address),
            Cost::Free | Cost::Request | Cost::Write => Ok(()),
        }
    }

    /// Charges an address for storage.
    pub fn charge_storage(&self, address: Address, kib: u32) -> Result<(), Duration> {
        match (&self.storage, NonZeroU32::new(kib)) {
            (Some(bucket), Some(kib)) => bucket.take_many(address, kib),
            _ => Ok(()),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<GameToken, Payer>> {
        // Nothing panics while the lock is held.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The quota of a rate, with bursts of `burst` times as many; none for a rate of 0.
fn quota(rate: u32, burst: u32, of: impl FnOnce(NonZeroU32) -> Quota) -> Option<Quota> {
    let rate = NonZeroU32::new(rate)?;
    let burst = NonZeroU32::new(burst)?.saturating_mul(rate);
    Some(of(rate).allow_burst(burst))
}

fn bucket(rate: u32, burst: u32, of: impl FnOnce(NonZeroU32) -> Quota) -> Option<Bucket> {
    let quota = quota(rate, burst, of)?;
    Some(Bucket::with_clock(quota, MAX_KEYS, DefaultClock::default()))
}

fn take(bucket: &Option<Bucket>, key: impl Hash) -> Result<(), Duration> {
    bucket.as_ref().map_or(Ok(()), |bucket| bucket.take(key))
}

type Limiter<C> =
    RateLimiter<u64, HashMapStateStore<u64>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// A quota, and what each key has used of it.
struct Bucket<C: Clock + Clone = DefaultClock> {
    limiter: Limiter<C>,
    clock: C,
    /// The most that can be taken at once.
    burst: NonZeroU32,
    max_keys: usize,
    hasher: RandomState,
    swept: Mutex<Instant>,
}

impl<C: Clock + Clone> Bucket<C> {
    fn with_clock(quota: Quota, max_keys: usize, clock: C) -> Bucket<C> {
        Bucket {
            limiter: RateLimiter::hashmap_with_clock(quota, clock.clone()),
            clock,
            burst: quota.burst_size(),
            max_keys,
            hasher: RandomState::new(),
            swept: Mutex::new(Instant::now()),
        }
    }

    /// Takes one from this key's bucket, or returns how long to wait for it.
    fn take(&self, key: impl Hash) -> Result<(), Duration> {
        self.take_many(key, NonZeroU32::MIN)
    }

    /// Takes several from this key's bucket, or returns how long to wait for them. It never takes more
    /// than a full bucket holds.
    fn take_many(&self, key: impl Hash, many: NonZeroU32) -> Result<(), Duration> {
        // The hash is keyed, so that no client can choose a key that collides with another's.
        let mut key = self.hasher.hash_one(key);
        if !self.has_room() {
            key %= OVERFLOW_BUCKETS;
        }
        match self.limiter.check_key_n(&key, many.min(self.burst)) {
            Ok(Err(early)) => Err(early.wait_time_from(self.clock.now())),
            // The second is an error only beyond the burst, which cannot be.
            Ok(Ok(())) | Err(_) => Ok(()),
        }
    }

    /// Whether there is room for one more key. Sweeps first if it is time to.
    fn has_room(&self) -> bool {
        let full = self.limiter.len() >= self.max_keys;
        let interval = if full { URGENT_SWEEP } else { SWEEP_INTERVAL };
        if let Ok(mut swept) = self.swept.try_lock()
            && swept.elapsed() >= interval
        {
            *swept = Instant::now();
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
        (Bucket::with_clock(quota, max_keys, clock.clone()), clock)
    }

    #[test]
    fn a_burst_then_a_rate_and_each_for_itself() {
        let (bucket, clock) = bucket(10);
        for _ in 0..6 {
            assert_eq!(bucket.take(1), Ok(()));
        }
        assert_eq!(bucket.take(1), Err(Duration::from_millis(500)));
        assert_eq!(bucket.take(2), Ok(()));
        clock.advance(Duration::from_millis(500));
        assert_eq!(bucket.take(1), Ok(()));
        assert!(bucket.take(1).is_err());
    }

    #[test]
    fn several_are_taken_at_once() {
        let (bucket, clock) = bucket(10);
        let many = |many| bucket.take_many(1, NonZeroU32::new(many).unwrap());
        assert_eq!(many(5), Ok(()));
        assert_eq!(many(2), Err(Duration::from_millis(500)));
        assert_eq!(many(1), Ok(()));
        // More than a full bucket takes a full bucket.
        assert!(many(1_000).is_err());
        clock.advance(Duration::from_secs(3));
        assert_eq!(many(1_000), Ok(()));
        assert!(many(1).is_err());
    }

    #[test]
    fn memory_is_bounded_and_the_crowd_is_limited() {
        let (bucket, clock) = bucket(100);
        for key in 0..100 {
            assert_eq!(bucket.take(key), Ok(()));
        }
        // All keys of an overflow bucket together get as much as one key.
        let taken = (100..60_100).filter(|&key| bucket.take(key).is_ok());
        assert_eq!(taken.count() as u64, 6 * OVERFLOW_BUCKETS);
        assert_eq!(bucket.limiter.len() as u64, 100 + OVERFLOW_BUCKETS);
        // Keys without recent requests make room.
        clock.advance(Duration::from_secs(60));
        *bucket.swept.lock().unwrap() -= URGENT_SWEEP;
        assert_eq!(bucket.take(7), Ok(()));
        assert_eq!(bucket.limiter.len(), 1);
    }

    #[test]
    fn nothing_is_no_limit() {
        assert!(quota(0, 5, Quota::per_second).is_none());
    }
}
