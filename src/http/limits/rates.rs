//! Who has asked how often.
//!
//! A request with a token of the game that it is about is charged to that token, and to its address
//! if the game was created there: a client cannot get more by creating games. Players at one
//! address whose game was created elsewhere share a limit that is ten times as large. All other
//! requests are charged to the address, with unknown tokens too. Creations and advice are charged
//! to the address in addition.

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

/// Keys of a kind that are counted one by one; further ones share [`OVERFLOW_BUCKETS`].
const MOST_KEYS: usize = 100_000;

/// What those share who are too many to be counted one by one.
const OVERFLOW_BUCKETS: u64 = 1024;

/// How often those are forgotten who have not asked lately.
const SWEEP: Duration = Duration::from_secs(60);

/// The same when there are too many.
const HASTY_SWEEP: Duration = Duration::from_secs(1);

/// How many times the requests of an address there may be with tokens of games that were created
/// elsewhere.
const FOREIGN_FACTOR: u32 = 10;

/// Tokens that are known to be good; when there are more, all are looked up again.
const MOST_KNOWN: usize = 100_000;

/// How much is allowed; of each rate 0 stands for any.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Requests a second of one address.
    pub address_rate: u32,
    /// Requests a second with one token.
    pub token_rate: u32,
    /// Games that one address creates or imports an hour.
    pub games_per_address: u32,
    /// MiB that are kept for one address an hour.
    pub kept_per_address: u32,
    /// Advice and analyses a second of one address.
    pub advice_per_address: u32,
    /// The header in which a proxy says whom it asks for; none without a proxy.
    pub trusted_proxy_header: Option<HeaderName>,
    /// Bytes of large request and response bodies, over all connections.
    pub body_memory: usize,
    /// Connections at a time.
    pub max_connections: usize,
    /// Connections of one address at a time; not counted behind a proxy.
    pub connections_per_address: usize,
    /// How long a client may take to send a request's head, and about as long for its body.
    pub client_timeout: Duration,
    /// How long a connection may be without a request.
    pub keep_alive: Duration,
    /// How long what was sent may wait for its reader.
    pub reader_timeout: Duration,
}

impl Limits {
    /// Connections of one address at most, where a connection is a client's own.
    pub fn most_per_address(&self) -> Option<usize> {
        let most = self.connections_per_address;
        (most > 0 && self.trusted_proxy_header.is_none()).then_some(most)
    }
}

/// To whom a request is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateKey {
    /// A token of the game, by its hash, and the address in one way or the other.
    Token {
        game: GameId,
        token: TokenHash,
        /// Who created the game, if that is known.
        creator: Option<Creator>,
    },
    /// Everybody at the address.
    Address,
}

/// A token's game, and its hash.
type GameToken = (GameId, [u8; 32]);

/// What each has left.
pub struct Rates {
    addresses: Option<Bucket>,
    /// Requests of an address with tokens of games that were created elsewhere.
    foreign_tokens: Option<Bucket>,
    tokens: Option<Bucket>,
    games: Option<Bucket>,
    advice: Option<Bucket>,
    /// KiB that the server keeps for an address.
    kept: Option<Bucket>,
    /// Tokens that were found to be their games', and who created these.
    known: Mutex<HashMap<GameToken, Option<Creator>>>,
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
            kept: every_hour(limits.kept_per_address.saturating_mul(1024)),
            known: Mutex::default(),
        }
    }

    /// Who pays for a request about this game with this token, if the token is known to be one of
    /// the game's.
    pub fn known_payer(&self, game: GameId, token: TokenHash) -> Option<RateKey> {
        let creator = *self.known().get(&(game, token.0))?;
        Some(RateKey::Token {
            game,
            token,
            creator,
        })
    }

    /// Who pays for a request about this game with this token. If it is one of the game's, `found`
    /// says who created the game, if that is known.
    pub fn learn(&self, game: GameId, token: TokenHash, found: Option<Option<Creator>>) -> RateKey {
        let Some(creator) = found else {
            return RateKey::Address;
        };
        let mut known = self.known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert((game, token.0), creator);
        RateKey::Token {
            game,
            token,
            creator,
        }
    }

    /// Whoever this was is nobody in that game any more.
    pub fn forget(&self, payer: &RateKey) {
        if let RateKey::Token { game, token, .. } = payer {
            self.known().remove(&(*game, token.0));
        }
    }

    /// Charges a request from this address, which creates games under that hash. If there were too
    /// many, the error says how long to wait.
    pub fn charge(
        &self,
        address: Address,
        creator: impl FnOnce() -> Creator,
        payer: &RateKey,
        cost: Cost,
    ) -> Result<(), Duration> {
        match payer {
            RateKey::Token {
                token, creator: by, ..
            } => {
                let own = by.is_some_and(|by| by == creator());
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
            Cost::NewGame | Cost::Import => take(&self.games, address),
            Cost::Advice => take(&self.advice, address),
            Cost::Free | Cost::Request | Cost::Write => Ok(()),
        }
    }

    /// Charges an address for so many KiB that are kept for it.
    pub fn charge_kept(&self, address: Address, kib: u32) -> Result<(), Duration> {
        match (&self.kept, NonZeroU32::new(kib)) {
            (Some(bucket), Some(kib)) => bucket.take_many(address, kib),
            _ => Ok(()),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<GameToken, Option<Creator>>> {
        // Nothing panics while the lock is held.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// So many a time, and `burst` times as many at once; none if it is 0.
fn quota(rate: u32, burst: u32, of: impl FnOnce(NonZeroU32) -> Quota) -> Option<Quota> {
    let rate = NonZeroU32::new(rate)?;
    let burst = NonZeroU32::new(burst)?.saturating_mul(rate);
    Some(of(rate).allow_burst(burst))
}

fn bucket(rate: u32, burst: u32, of: impl FnOnce(NonZeroU32) -> Quota) -> Option<Bucket> {
    let quota = quota(rate, burst, of)?;
    Some(Bucket::with_clock(
        quota,
        MOST_KEYS,
        DefaultClock::default(),
    ))
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
    /// What can be taken at once at most.
    burst: NonZeroU32,
    most: usize,
    hasher: RandomState,
    swept: Mutex<Instant>,
}

impl<C: Clock + Clone> Bucket<C> {
    fn with_clock(quota: Quota, most: usize, clock: C) -> Bucket<C> {
        Bucket {
            limiter: RateLimiter::hashmap_with_clock(quota, clock.clone()),
            clock,
            burst: quota.burst_size(),
            most,
            hasher: RandomState::new(),
            swept: Mutex::new(Instant::now()),
        }
    }

    /// Takes one for this key, or says how long to wait for it.
    fn take(&self, key: impl Hash) -> Result<(), Duration> {
        self.take_many(key, NonZeroU32::MIN)
    }

    /// Takes several for this key, or says how long to wait for them; all there are at rest, if
    /// those are fewer.
    fn take_many(&self, key: impl Hash, many: NonZeroU32) -> Result<(), Duration> {
        // Nobody can choose a key to fall together with another's.
        let mut key = self.hasher.hash_one(key);
        if !self.has_room() {
            key %= OVERFLOW_BUCKETS;
        }
        match self.limiter.check_key_n(&key, many.min(self.burst)) {
            Ok(Err(early)) => Err(early.wait_time_from(self.clock.now())),
            // It never is more than there can be.
            Ok(Ok(())) | Err(_) => Ok(()),
        }
    }

    /// Whether there is room for one more key, after some tidying up now and then.
    fn has_room(&self) -> bool {
        let full = self.limiter.len() >= self.most;
        let interval = if full { HASTY_SWEEP } else { SWEEP };
        if let Ok(mut swept) = self.swept.try_lock()
            && swept.elapsed() >= interval
        {
            *swept = Instant::now();
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        !full || self.limiter.len() < self.most
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn bucket(most: usize) -> (Bucket<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let quota = quota(2, 3, Quota::per_second).unwrap();
        (Bucket::with_clock(quota, most, clock.clone()), clock)
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
        // More than there ever are cost all of them.
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
        // Each stranger has taken one only, but a crowd has no more than one of them would have.
        let taken = (100..60_100).filter(|&key| bucket.take(key).is_ok());
        assert_eq!(taken.count() as u64, 6 * OVERFLOW_BUCKETS);
        assert_eq!(bucket.limiter.len() as u64, 100 + OVERFLOW_BUCKETS);
        // Who is at rest makes room.
        clock.advance(Duration::from_secs(60));
        *bucket.swept.lock().unwrap() -= HASTY_SWEEP;
        assert_eq!(bucket.take(7), Ok(()));
        assert_eq!(bucket.limiter.len(), 1);
    }

    #[test]
    fn nothing_is_no_limit() {
        assert!(quota(0, 5, Quota::per_second).is_none());
    }
}
