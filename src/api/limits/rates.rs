//! Who has asked how often.
//!
//! A request with a token of the very game that it is about is counted for that token alone, so
//! that nobody else at the same address is in its way. All others are counted for the address,
//! with invented tokens too. Creations and advice are counted for the address besides.

use std::{
    collections::HashSet,
    hash::{BuildHasher, Hash, RandomState},
    num::NonZeroU32,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::NoOpMiddleware,
    state::keyed::HashMapStateStore,
};

use super::{Limits, address::Address};
use crate::store::{GameId, TokenHash};

/// Keys of a kind that are counted one by one; further ones share [`CROWDS`].
const MOST_KEYS: usize = 100_000;

/// What those share who are too many to be counted one by one.
const CROWDS: u64 = 1024;

/// How often those are forgotten who have not asked lately.
const SWEEP: Duration = Duration::from_secs(60);

/// The same when there are too many.
const HASTY_SWEEP: Duration = Duration::from_secs(1);

/// Tokens that are known to be good; when there are more, all are looked up again.
const MOST_KNOWN: usize = 100_000;

/// What a request asks for that counts besides the request itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A new game.
    Game,
    /// Something that takes long to work out.
    Advice,
    Other,
}

/// For whom a request is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payer {
    /// A token of the game, by its hash.
    Token(GameId, TokenHash),
    /// Everybody at the address.
    Address,
}

/// What each has left.
pub struct Rates {
    addresses: Option<Bucket>,
    tokens: Option<Bucket>,
    games: Option<Bucket>,
    advice: Option<Bucket>,
    /// Tokens that were found to be their games'.
    known: Mutex<HashSet<(GameId, [u8; 32])>>,
}

impl Rates {
    pub fn new(limits: &Limits) -> Rates {
        let every_second = |rate, burst| quota(rate, burst, Quota::per_second);
        Rates {
            addresses: every_second(limits.address_rate, 5).map(Bucket::new),
            tokens: every_second(limits.token_rate, 5).map(Bucket::new),
            games: quota(limits.games_per_address, 1, Quota::per_hour).map(Bucket::new),
            advice: every_second(limits.advice_per_address, 10).map(Bucket::new),
            known: Mutex::default(),
        }
    }

    /// Who pays for a request about this game with this token: the token, if it is found to be
    /// one of the game's, else the address.
    pub fn payer(&self, game: GameId, token: TokenHash, look: impl FnOnce() -> bool) -> Payer {
        let known = self.known().contains(&(game, token.0));
        if !known {
            if !look() {
                return Payer::Address;
            }
            let mut known = self.known();
            if known.len() >= MOST_KNOWN {
                known.clear();
            }
            known.insert((game, token.0));
        }
        Payer::Token(game, token)
    }

    /// Whoever this was is nobody in that game any more.
    pub fn forget(&self, payer: &Payer) {
        if let Payer::Token(game, token) = payer {
            self.known().remove(&(*game, token.0));
        }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// How long to wait before the next, if there were too many.
    pub fn charge(&self, address: Address, payer: &Payer, asked: Asked) -> Result<(), Duration> {
        match payer {
            Payer::Token(_, token) => take(&self.tokens, token.0)?,
            Payer::Address => take(&self.addresses, address)?,
        }
        match asked {
            Asked::Game => take(&self.games, address),
            Asked::Advice => take(&self.advice, address),
            Asked::Other => Ok(()),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashSet<(GameId, [u8; 32])>> {
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

fn take(bucket: &Option<Bucket>, key: impl Hash) -> Result<(), Duration> {
    bucket.as_ref().map_or(Ok(()), |bucket| bucket.take(key))
}

type Limiter<C> =
    RateLimiter<u64, HashMapStateStore<u64>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// A quota, and what each key has used of it.
struct Bucket<C: Clock + Clone = DefaultClock> {
    limiter: Limiter<C>,
    clock: C,
    most: usize,
    hasher: RandomState,
    swept: Mutex<Instant>,
}

impl Bucket {
    fn new(quota: Quota) -> Bucket {
        Bucket::with_clock(quota, MOST_KEYS, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Bucket<C> {
    fn with_clock(quota: Quota, most: usize, clock: C) -> Bucket<C> {
        Bucket {
            limiter: RateLimiter::hashmap_with_clock(quota, clock.clone()),
            clock,
            most,
            hasher: RandomState::new(),
            swept: Mutex::new(Instant::now()),
        }
    }

    /// Takes one for this key.
    ///
    /// # Errors
    /// How long it is to wait, if it has taken too many.
    fn take(&self, key: impl Hash) -> Result<(), Duration> {
        // Nobody can choose a key to fall together with another's.
        let mut key = self.hasher.hash_one(key);
        if !self.has_room() {
            key %= CROWDS;
        }
        let taken = self.limiter.check_key(&key);
        taken.map_err(|early| early.wait_time_from(self.clock.now()))
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
    fn memory_is_bounded_and_the_crowd_is_limited() {
        let (bucket, clock) = bucket(100);
        for key in 0..100 {
            assert_eq!(bucket.take(key), Ok(()));
        }
        // Each stranger has taken one only, but a crowd has no more than one of them would have.
        let taken = (100..20_100).filter(|&key| bucket.take(key).is_ok());
        assert_eq!(taken.count() as u64, 6 * CROWDS);
        assert_eq!(bucket.limiter.len() as u64, 100 + CROWDS);
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
