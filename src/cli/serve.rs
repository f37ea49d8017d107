//! `dog serve`: the server.

use std::{io::Write, panic, path::PathBuf, time::Duration};

use actix_web::http::{header::HeaderName, uri::Authority};
use anyhow::Context;
use clap::{
    Args,
    builder::{FalseyValueParser, RangedI64ValueParser},
};

use super::not_a_folder;
use crate::{
    http::{Cors, Limits, Server, ServerConfig},
    store::{self, RetentionPolicy, Store},
};

/// Where the server listens if nothing is said.
pub const LISTEN: &str = "127.0.0.1:8080";

#[derive(Debug, Args)]
pub struct Serve {
    /// Where to listen, HOST:PORT; port 0 takes a free one.
    #[arg(long, env = "DOG_LISTEN", default_value = LISTEN)]
    listen: String,
    /// The database file; it is created if it is not there.
    #[arg(long, env = "DOG_DATABASE", default_value = "dog.db")]
    database: PathBuf,
    /// Whose pages may call the API: an origin such as https://example.org, several separated by
    /// commas, or * for everyone's.
    #[arg(
        long,
        env = "DOG_CORS_ORIGINS",
        default_value = "*",
        value_delimiter = ',',
        value_parser = origin
    )]
    cors_origins: Vec<String>,
    /// Threads that answer requests; as many as there are cores if left out or 0.
    #[arg(long, env = "DOG_WORKERS", value_parser = threads())]
    workers: Option<u16>,
    /// Writes that are committed together at most; 1 commits each by itself, which is slower.
    #[arg(long, env = "DOG_COMMIT_BATCH", default_value_t = store::StoreConfig::default().commit_batch)]
    commit_batch: usize,
    /// Games kept in memory as they were last read or written, 1 to 2 kB each; 0 for none.
    #[arg(
        long,
        env = "DOG_GAMES_IN_MEMORY",
        default_value_t = store::StoreConfig::default().games_in_memory as u32,
        value_parser = clap::value_parser!(u32).range(..=10_000_000)
    )]
    games_in_memory: u32,
    /// Bytes that the database may hold; 0 for any number. From nine tenths on there are no new
    /// games.
    #[arg(long, env = "DOG_MAX_DATABASE_BYTES", default_value_t = store::StoreConfig::default().max_bytes)]
    max_database_bytes: u64,
    /// Threads that play for bots; as many as there are cores if left out or 0.
    #[arg(long, env = "DOG_BOT_THREADS", value_parser = threads())]
    bot_threads: Option<u16>,
    /// Threads that advise and analyse; as many as there are cores if left out or 0.
    #[arg(long, env = "DOG_ADVICE_THREADS", value_parser = threads())]
    advice_threads: Option<u16>,
    /// Days that a finished game is kept after its last change; 0 for ever.
    #[arg(long, env = "DOG_KEEP_FINISHED_DAYS", default_value_t = 90)]
    keep_finished_days: u16,
    /// Days that a game is kept in which nothing happens any more; 0 for ever.
    #[arg(long, env = "DOG_KEEP_IDLE_DAYS", default_value_t = 90)]
    keep_idle_days: u16,
    /// Seconds from one look for what is to be removed to the next.
    #[arg(long, env = "DOG_SWEEP_SECONDS", default_value_t = 3600)]
    sweep_seconds: u32,
    #[command(flatten)]
    limits: LimitArgs,
    /// Serve the database without looking first whether it is damaged, which takes a while if it is
    /// large.
    #[arg(long, env = "DOG_SKIP_CHECK", value_parser = FalseyValueParser::new())]
    skip_check: bool,
}

impl Serve {
    /// Serves until SIGTERM or SIGINT.
    ///
    /// # Errors
    /// If the database cannot be opened or the address cannot be listened on.
    pub fn run(self) -> anyhow::Result<()> {
        let failed = || format!("cannot open the database {}", self.database.display());
        not_a_folder(&self.database).with_context(failed)?;
        if !self.skip_check {
            store::verify_file(&self.database).with_context(failed)?;
        }
        let store_settings = store::StoreConfig {
            commit_batch: self.commit_batch,
            games_in_memory: self.games_in_memory as usize,
            max_bytes: self.max_database_bytes,
        };
        let store = Store::open(&self.database, store_settings).with_context(failed)?;
        let cors = if self.cors_origins.iter().any(|origin| origin == "*") {
            Cors::Any
        } else {
            Cors::Only(self.cors_origins)
        };
        let threads = |number: Option<u16>| number.map(usize::from).filter(|&number| number > 0);
        let settings = ServerConfig {
            listen: self.listen,
            cors,
            workers: threads(self.workers),
            bot_threads: threads(self.bot_threads),
            advice_threads: threads(self.advice_threads),
            limits: self.limits.limits(),
            keep: RetentionPolicy {
                finished_days: self.keep_finished_days,
                idle_days: self.keep_idle_days,
            },
            sweep_every: Duration::from_secs(self.sweep_seconds.max(1).into()),
        };
        hush_actix_panic();
        actix_web::rt::System::new().block_on(async {
            let server = Server::bind(settings, store)?;
            for address in server.addresses() {
                writeln!(std::io::stdout(), "listening on http://{address}")?;
            }
            log::info!("serving {}", self.database.display());
            server.run().await?;
            log::info!("stopped");
            Ok(())
        })
    }
}

/// What clients may ask of the server. Of each rate 0 stands for any.
#[derive(Debug, Args)]
struct LimitArgs {
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
    /// MiB of large request and response bodies in memory, over all connections.
    #[arg(long, env = "DOG_BODY_MEMORY", default_value_t = 256)]
    body_memory: u16,
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
    fn limits(self) -> Limits {
        // Nothing at all can be done in no time.
        let seconds = |seconds: u32| Duration::from_secs(seconds.max(1).into());
        Limits {
            address_rate: self.address_rate,
            token_rate: self.token_rate,
            games_per_address: self.games_per_address,
            kept_per_address: self.kept_per_address,
            advice_per_address: self.advice_per_address,
            trusted_proxy_header: self.trusted_proxy_header,
            body_memory: usize::from(self.body_memory) << 20,
            max_connections: self.max_connections,
            connections_per_address: self.connections_per_address,
            client_timeout: seconds(self.client_timeout),
            keep_alive: seconds(self.keep_alive),
            reader_timeout: seconds(self.reader_timeout),
        }
    }
}

/// A number of threads; the HTTP library takes no more.
fn threads() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(..=512)
}

/// Reads an origin as browsers send it: a scheme, a host and perhaps a port; or `*`.
fn origin(text: &str) -> Result<String, String> {
    let origin = text.trim();
    let is_origin = || {
        let (scheme, authority) = origin.split_once("://")?;
        let scheme_is = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(scheme_is);
        let authority: Authority = authority.parse().ok()?;
        (is_scheme && !authority.host().is_empty() && !authority.as_str().contains('@'))
            .then_some(())
    };
    if ["*", "null"].contains(&origin) || is_origin().is_some() {
        Ok(origin.to_owned())
    } else {
        Err(
            "an origin is a scheme, a host and perhaps a port, such as https://example.org:8443"
                .to_owned(),
        )
    }
}

/// Takes no alarm at a panic that any client can cause and that harms nobody else: at a header's
/// name of more than 64 KiB the HTTP library panics where it reads heads (actix-http 3.20). That
/// ends the connection, as a refusal would.
fn hush_actix_panic() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let known = info.location().is_some_and(|location| {
            let file = location.file();
            file.contains("actix-http") && file.ends_with("decoder.rs")
        });
        if known {
            log::debug!("a head that is none ended a connection");
        } else {
            default(info);
        }
    }));
}
