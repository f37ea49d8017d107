//! Rate limits.
//!
//! A request with a token of its game is charged to that token, and to its address if the game was
//! created there, so a client gains nothing by creating games. Players at one address whose game
//! was created elsewhere share a limit that is ten times as large. All other requests, including
//! those with unknown tokens, are charged to the address. Creations, joins and advice are charged
//! to the address as well.

use std::{collections::HashMap, sync::Arc, time::Duration};

use actix_web::http::header::HeaderName;
use clap::{
    Args,
    builder::{BoolishValueParser, TypedValueParser},
    value_parser,
};
use dog_store::{Creator, GameId, TokenHash};
use parking_lot::Mutex;

use super::address::Address;
use crate::{
    problem::Problem,
    quota::{Bucket, CreatorQuotas, HOUR, NetworkBuckets, RateLimit, SECOND, bucket, take},
};

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

    /// The refusal of a request of this cost over a limit.
    pub fn exceeds(self, limit: RateLimit) -> Problem {
        let subject = match self {
            Cost::NewGame | Cost::Import | Cost::Join => {
                ": games created or joined by this address"
            }
            Cost::Advice => ": advice for this address",
            Cost::Free | Cost::Request | Cost::Write => "",
        };
        Problem::too_many(format_args!("rate limit exceeded{subject}"), limit)
    }
}

/// The limits for clients, as options of `dog serve`.
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// Requests per second and address, with bursts of five times as many; 0 means no limit.
    #[arg(long, env = "DOG_ADDRESS_RATE", default_value_t = 100)]
    pub address_rate: u32,
    /// Requests per second and token, with bursts of five times as many; 0 means no limit.
    #[arg(long, env = "DOG_TOKEN_RATE", default_value_t = 50)]
    pub token_rate: u32,
    /// Games created, imported or joined per hour and address; 0 means no limit.
    #[arg(long, env = "DOG_GAMES_PER_ADDRESS", default_value_t = 300)]
    pub games_per_address: u32,
    /// MiB of storage per address and hour for imports, new games and responses saved for an
    /// Idempotency-Key; 0 means no limit.
    #[arg(
        long = "kept-per-address",
        value_name = "KEPT_PER_ADDRESS",
        env = "DOG_KEPT_PER_ADDRESS",
        default_value_t = 64
    )]
    pub stored_bytes_per_address: u32,
    /// Advice and analyses per second and address, with bursts of ten times as many; 0 means no
    /// limit.
    #[arg(long, env = "DOG_ADVICE_PER_ADDRESS", default_value_t = 10)]
    pub advice_per_address: u32,
    /// Header in which a proxy passes on the client's address, such as X-Forwarded-For or
    /// X-Real-IP; set it only behind a proxy that sets this header.
    #[arg(long, env = "DOG_TRUSTED_PROXY_HEADER")]
    pub trusted_proxy_header: Option<HeaderName>,
    /// MiB of memory for large request and response bodies of all connections.
    #[arg(long, env = "DOG_BODY_MEMORY", default_value = "256",
        value_parser = value_parser!(u16).map(|mib| usize::from(mib) << 20))]
    pub body_memory: usize,
    /// Maximum number of connections; fewer if the limit of open files is lower.
    #[arg(long, env = "DOG_MAX_CONNECTIONS", default_value_t = 25_000)]
    pub max_connections: usize,
    /// Maximum number of connections per address; 0 means no limit. Not counted behind a trusted
    /// proxy.
    #[arg(long, env = "DOG_CONNECTIONS_PER_ADDRESS", default_value_t = 500)]
    pub connections_per_address: usize,
    /// Maximum number of open streams and long polls per address, also behind a trusted proxy; 0
    /// means no limit. Without tokens of the games an address has at most 128.
    #[arg(long, env = "DOG_STREAMS_PER_ADDRESS", default_value_t = 512)]
    pub streams_per_address: usize,
    /// Seconds to wait for the head of a request, and for its body; longer for a long body.
    #[arg(long, env = "DOG_CLIENT_TIMEOUT", default_value = "10", value_parser = seconds())]
    pub client_timeout: Duration,
    /// Seconds after which an idle connection is closed.
    #[arg(long, env = "DOG_KEEP_ALIVE", default_value = "75", value_parser = seconds())]
    pub keep_alive: Duration,
    /// Seconds after which a connection whose client does not read is closed; on Linux.
    #[arg(long, env = "DOG_READER_TIMEOUT", default_value = "12", value_parser = seconds())]
    pub reader_timeout: Duration,
    /// Write the address of the client into the access log; of IPv6 the first 64 bits.
    #[arg(long, env = "DOG_LOG_CLIENT_ADDRESS", value_parser = BoolishValueParser::new())]
    pub log_client_address: bool,
}

/// Reads whole seconds, at least one.
pub fn seconds() -> impl TypedValueParser<Value = Duration> {
    value_parser!(u32).map(|seconds| Duration::from_secs(seconds.max(1).into()))
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

    /// Charges so many requests from this address; `creator` is the hash that an address has as a creator.
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
        count: u32,
    ) -> Result<Option<RateLimit>, RateLimit> {
        let created_by = key.and_then(|key| key.creator);
        let is_own = created_by.is_none_or(|by| by == creator(address));
        let bucket = if is_own {
            &self.addresses
        } else {
            &self.foreign_tokens
        };
        take(bucket, address, count)?;
        if let Some(key) = key {
            take(&self.tokens, key.token.0, count)?;
        }
        let buckets = match cost {
            Cost::NewGame | Cost::Import | Cost::Join => &self.games,
            Cost::Advice => &self.advice,
            Cost::Free | Cost::Request | Cost::Write => return Ok(None),
        };
        buckets.take(address, address.network(), count)
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
