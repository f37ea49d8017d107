//! Rate limits.
//!
//! A request with a token of its game is charged to that token, and to its address if the game was
//! created there, so a client gains nothing by creating games. Players at one address whose game
//! was created elsewhere share a limit that is ten times as large. All other requests, including
//! those with unknown tokens, are charged to the address. Creations, joins and advice are charged
//! to the address as well.

use std::{collections::HashMap, sync::Arc, time::Duration};

use actix_web::http::header::HeaderName;
use dog_store::{Creator, GameId, TokenHash};
use parking_lot::Mutex;

use super::address::Address;
use crate::quota::{Bucket, CreatorQuotas, HOUR, NetworkBuckets, RateLimit, SECOND, bucket, take};

/// By how much the limit of an address is multiplied for tokens of games created elsewhere.
const FOREIGN_FACTOR: u32 = 10;

/// Valid tokens that are cached; when the cache is full, it is cleared.
const MAX_KNOWN_TOKENS: usize = 100_000;

/// What a route costs its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Nothing: operators request it all the time.
    Free,
    /// A request.
    Request,
    /// A request, and advice or an analysis.
    Advice,
    /// A request, and a saved response if there is an `Idempotency-Key`.
    Write,
    /// A write, and a seat of a game.
    Join,
    /// A write, and a new game.
    NewGame,
    /// A write, and a new game with its record.
    Import,
}

impl Cost {
    /// Whether there is a limit of its own for it, which responses announce.
    pub fn is_announced(self) -> bool {
        match self {
            Cost::Advice | Cost::Join | Cost::NewGame | Cost::Import => true,
            Cost::Free | Cost::Request | Cost::Write => false,
        }
    }

    /// What was limited, for the detail of a refusal.
    pub fn subject(self) -> &'static str {
        match self {
            Cost::NewGame | Cost::Import | Cost::Join => {
                ": games created or joined by this address"
            }
            Cost::Advice => ": advice for this address",
            Cost::Free | Cost::Request | Cost::Write => "",
        }
    }
}

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
    pub stored_bytes_per_address: u32,
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
    /// Maximum number of open streams and long polls per address.
    pub streams_per_address: usize,
    /// How long a client may take to send a request's head, and about as long for its body.
    pub client_timeout: Duration,
    /// How long a connection may be without a request.
    pub keep_alive: Duration,
    /// How long sent data may wait for the client to read it.
    pub reader_timeout: Duration,
    /// Whether the access log has the addresses of clients.
    pub log_client_address: bool,
}

impl Limits {
    /// Maximum number of connections per address; none if there is no limit, or behind a proxy.
    pub fn max_connections_per_address(&self) -> Option<usize> {
        let most = self.connections_per_address;
        (most > 0 && self.trusted_proxy_header.is_none()).then_some(most)
    }
}

/// A token of a game, by its hash, to which requests are charged besides an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateKey {
    pub game: GameId,
    pub token: TokenHash,
    /// The game's creator, who may have sent the token to others: they have a larger limit. None if
    /// the seat's person joined, or the creator is not known: then all are treated as the creator.
    pub creator: Option<Creator>,
}

/// A token's game, and its hash.
type GameToken = (GameId, [u8; 32]);

/// All rate limits, with what is left of each.
pub struct Rates {
    addresses: Option<Bucket>,
    /// Requests of an address with tokens of games that were created elsewhere.
    foreign_tokens: Option<Bucket>,
    tokens: Option<Bucket>,
    games: NetworkBuckets,
    advice: NetworkBuckets,
    /// Bytes stored for an address.
    creators: Arc<CreatorQuotas>,
    /// Valid tokens, with the creators of their games as in [`RateKey`].
    known: Mutex<HashMap<GameToken, Option<Creator>>>,
}

impl Rates {
    pub fn new(limits: &Limits, creators: Arc<CreatorQuotas>) -> Rates {
        let foreign_rate = limits.address_rate.saturating_mul(FOREIGN_FACTOR);
        Rates {
            addresses: bucket("requests", limits.address_rate, 5, SECOND),
            foreign_tokens: bucket("players", foreign_rate, 5, SECOND),
            tokens: bucket("token", limits.token_rate, 5, SECOND),
            games: NetworkBuckets::new("games", limits.games_per_address, 1, HOUR),
            advice: NetworkBuckets::new("advice", limits.advice_per_address, 10, SECOND),
            creators,
            known: Mutex::default(),
        }
    }

    /// The key of a request with this token about this game, if the token is cached.
    pub fn cached_key(&self, game: GameId, token: TokenHash) -> Option<RateKey> {
        let creator = *self.known.lock().get(&(game, token.0))?;
        Some(RateKey {
            game,
            token,
            creator,
        })
    }

    /// Caches a token of a game.
    pub fn remember(&self, key: RateKey) {
        let mut known = self.known.lock();
        if known.len() >= MAX_KNOWN_TOKENS {
            known.clear();
        }
        known.insert((key.game, key.token.0), key.creator);
    }

    /// Removes the token of this key from the cache.
    pub fn forget(&self, key: RateKey) {
        self.known.lock().remove(&(key.game, key.token.0));
    }

    /// Charges a request from this address; `creator` is the hash that an address has as a creator.
    /// Returns the limit that is there for this cost alone, if one is.
    ///
    /// # Errors
    /// The exceeded limit.
    pub fn charge(
        &self,
        address: Address,
        creator: impl Fn(Address) -> Creator,
        key: Option<RateKey>,
        cost: Cost,
    ) -> Result<Option<RateLimit>, RateLimit> {
        let created_by = key.and_then(|key| key.creator);
        let is_own = created_by.is_none_or(|by| by == creator(address));
        let bucket = if is_own {
            &self.addresses
        } else {
            &self.foreign_tokens
        };
        take(bucket, address)?;
        if let Some(key) = key {
            take(&self.tokens, key.token.0)?;
        }
        let buckets = match cost {
            Cost::NewGame | Cost::Import | Cost::Join => &self.games,
            Cost::Advice => &self.advice,
            Cost::Free | Cost::Request | Cost::Write => return Ok(None),
        };
        buckets.take(address, address.network(), 1)
    }

    /// Charges an address and its network for storage. `creator` is the hash that an address has as
    /// a creator.
    ///
    /// # Errors
    /// The exceeded limit.
    pub fn charge_storage(
        &self,
        address: Address,
        creator: impl Fn(Address) -> Creator,
        kib: u32,
    ) -> Result<(), RateLimit> {
        if kib == 0 {
            return Ok(());
        }
        let network = address.network().map(&creator);
        self.creators.charge_storage(creator(address), network, kib)
    }
}
