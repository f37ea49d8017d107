//! What clients may ask of `dog serve`, as options of the command line.

use std::time::Duration;

use actix_web::http::header::HeaderName;
use clap::Args;

use crate::api::Limits;

/// Of each rate 0 stands for any.
#[derive(Debug, Args)]
pub struct LimitArgs {
    /// Requests a second of one address, five times as many at once; 0 for any number.
    #[arg(long, env = "DOG_ADDRESS_RATE", default_value_t = 100)]
    address_rate: u32,
    /// Requests a second with one token, five times as many at once; 0 for any number.
    #[arg(long, env = "DOG_TOKEN_RATE", default_value_t = 50)]
    token_rate: u32,
    /// Games that one address creates or imports an hour; 0 for any number.
    #[arg(long, env = "DOG_GAMES_PER_ADDRESS", default_value_t = 300)]
    games_per_address: u32,
    /// MiB that one address may have the server keep an hour: imports, new games, and responses kept
    /// for an Idempotency-Key; 0 for any number.
    #[arg(long, env = "DOG_KEPT_PER_ADDRESS", default_value_t = 64)]
    kept_per_address: u32,
    /// Advice and analyses a second of one address, ten times as many at once; 0 for any number.
    #[arg(long, env = "DOG_ADVICE_PER_ADDRESS", default_value_t = 10)]
    advice_per_address: u32,
    /// The header in which the proxy before the server says whose request it is, such as
    /// X-Forwarded-For or X-Real-IP; only with a proxy that sets it.
    #[arg(long, env = "DOG_TRUSTED_PROXY_HEADER")]
    trusted_proxy_header: Option<HeaderName>,
    /// MiB of responses that may wait for their readers, over all connections.
    #[arg(long, env = "DOG_RESPONSE_MEMORY", default_value_t = 256)]
    response_memory: u16,
    /// Connections at a time, unless the limit of open files has room for fewer.
    #[arg(long, env = "DOG_MAX_CONNECTIONS", default_value_t = 25_000)]
    max_connections: usize,
    /// Connections of one address at a time; 0 for any number. Not counted behind a proxy that is
    /// trusted to say whom it asks for.
    #[arg(long, env = "DOG_CONNECTIONS_PER_ADDRESS", default_value_t = 500)]
    connections_per_address: usize,
    /// Seconds that a client may take to send the head of a request, and as long for a body, or
    /// longer for a long one.
    #[arg(long, env = "DOG_CLIENT_TIMEOUT", default_value_t = 10)]
    client_timeout: u32,
    /// Seconds that a connection may be without a request.
    #[arg(long, env = "DOG_KEEP_ALIVE", default_value_t = 75)]
    keep_alive: u32,
    /// Seconds that what was sent may wait for its reader before the connection ends; on Linux.
    #[arg(long, env = "DOG_READER_TIMEOUT", default_value_t = 30)]
    reader_timeout: u32,
}

impl LimitArgs {
    /// The limits.
    pub fn limits(self) -> Limits {
        // Nothing at all can be done in no time.
        let seconds = |seconds: u32| Duration::from_secs(seconds.max(1).into());
        Limits {
            address_rate: self.address_rate,
            token_rate: self.token_rate,
            games_per_address: self.games_per_address,
            kept_per_address: self.kept_per_address,
            advice_per_address: self.advice_per_address,
            trusted_proxy_header: self.trusted_proxy_header,
            response_memory: usize::from(self.response_memory) << 20,
            max_connections: self.max_connections,
            connections_per_address: self.connections_per_address,
            client_timeout: seconds(self.client_timeout),
            keep_alive: seconds(self.keep_alive),
            reader_timeout: seconds(self.reader_timeout),
        }
    }
}
