//! `dog serve`: the server.

use std::{path::PathBuf, sync::Arc, time::Duration};

use actix_web::http::uri::Authority;
use anyhow::Context;
use clap::{
    Args,
    builder::{BoolishValueParser, RangedI64ValueParser},
};
use dog_store::{self, RetentionPolicy};

use super::{location, logger::LogFormat, print};
use crate::{
    headers::origin::Cors,
    limits::{
        Limits,
        gates::{BlockedAddresses, Gates, Keys},
        seconds,
    },
    server::{Listeners, Server, ServerConfig},
    systemd,
    view::notice::Notice,
    watched_file::{FileWatch, WatchedFile},
};

/// The address to listen on by default.
pub const LISTEN: &str = "127.0.0.1:8080";

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to listen on, HOST:PORT; port 0 chooses a free port.
    #[arg(long, env = "DOG_LISTEN", default_value = LISTEN, value_parser = address)]
    pub(super) listen: String,
    #[command(flatten)]
    pub(super) database: location::DatabaseArgs,
    /// Origins whose pages may call the API, such as https://example.org, separated by commas, or *
    /// for all. With a list, writes by other pages are refused.
    #[arg(
        long,
        env = "DOG_CORS_ORIGINS",
        default_value = "*",
        value_delimiter = ',',
        value_parser = origin
    )]
    cors_origins: Vec<String>,
    /// Threads that answer requests; 0 means one per core.
    #[arg(long, env = "DOG_WORKERS", value_parser = threads())]
    workers: Option<u16>,
    /// Maximum number of writes per commit; 1 commits each write by itself, which is slower.
    #[arg(long, env = "DOG_COMMIT_BATCH", default_value_t = dog_store::StoreConfig::default().commit_batch)]
    commit_batch: usize,
    /// Games to cache in memory, 1 to 2 kB each; 0 turns the cache off.
    #[arg(
        long,
        env = "DOG_GAMES_IN_MEMORY",
        default_value_t = dog_store::StoreConfig::default().games_in_memory as u32,
        value_parser = clap::value_parser!(u32).range(..=10_000_000)
    )]
    games_in_memory: u32,
    /// Maximum size of the database in bytes; 0 means no limit. From 90% on, new games are
    /// refused.
    #[arg(long, env = "DOG_MAX_DATABASE_BYTES", default_value_t = dog_store::StoreConfig::default().max_bytes)]
    max_database_bytes: u64,
    /// Threads that play for bots; 0 means one per core.
    #[arg(long, env = "DOG_BOT_THREADS", value_parser = threads())]
    bot_threads: Option<u16>,
    /// Threads for advice and analysis; 0 means one per core, and at least two.
    #[arg(long, env = "DOG_ADVICE_THREADS", value_parser = threads())]
    advice_threads: Option<u16>,
    /// The playouts of a review of a finished game, in percent of the default.
    #[arg(long, env = "DOG_REVIEW_PERCENT", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    review_percent: u32,
    /// Days to keep a finished game after its last change; 0 keeps it for ever.
    #[arg(long, env = "DOG_KEEP_FINISHED_DAYS", default_value_t = 90)]
    keep_finished_days: u16,
    /// Days to keep an unfinished game after its last change; 0 keeps it for ever.
    #[arg(long, env = "DOG_KEEP_IDLE_DAYS", default_value_t = 90)]
    keep_idle_days: u16,
    /// Seconds between two searches for expired games, responses and tickets.
    #[arg(long, env = "DOG_SWEEP_SECONDS", default_value = "3600", value_parser = seconds())]
    sweep_seconds: Duration,
    /// Do not serve the page for players; `/` then leads to the documentation.
    #[arg(long, env = "DOG_NO_PAGE", value_parser = BoolishValueParser::new())]
    no_page: bool,
    /// Seconds to go on after a signal to stop, while /readyz says 503, so that a load balancer
    /// notices; a second signal ends the wait.
    #[arg(long, env = "DOG_DRAIN_SECONDS", default_value_t = 0)]
    drain_seconds: u16,
    #[command(flatten)]
    pub(super) files: FileArgs,
    /// How the log is written: as text, or as one JSON object per line.
    #[arg(long, env = "DOG_LOG_FORMAT", value_enum, default_value_t)]
    pub(super) log_format: LogFormat,
    #[command(flatten)]
    pub(super) limits: Limits,
    /// Look at what a start with these settings depends on, print it line by line, and exit; exit
    /// code 1 if something is bad.
    #[arg(long)]
    check: bool,
    /// Skip the check of the database at the start. The check takes a while if the file is large.
    #[arg(long, env = "DOG_SKIP_CHECK", value_parser = BoolishValueParser::new())]
    skip_check: bool,
}

impl ServeArgs {
    /// Serves until SIGTERM, SIGINT or SIGHUP, on these sockets in place of `--listen` if there are
    /// any.
    ///
    /// # Errors
    /// If the address cannot be listened on or the database cannot be opened.
    pub fn run(self, passed: Option<Listeners>) -> anyhow::Result<()> {
        if self.check {
            return self.inspect();
        }
        let (gates, notice, watched) = self.files.open()?;
        let store_config = dog_store::StoreConfig {
            commit_batch: self.commit_batch,
            games_in_memory: self.games_in_memory as usize,
            max_bytes: self.max_database_bytes,
            check: !self.skip_check,
            ..dog_store::StoreConfig::default()
        };
        let location = self.database.location()?;
        let name = location.name();
        // First, so that a second server that is started by mistake does not touch the database.
        let listeners = match passed {
            Some(passed) => {
                log::info!("listening on the passed socket, not at --listen");
                passed
            }
            None => Listeners::bind(self.listen)?,
        };
        let starting = systemd::extend_start()?;
        let store = location.open(store_config);
        drop(starting);
        let store = store.with_context(|| format!("cannot open the {name}"))?;
        let cors = if self.cors_origins.iter().any(|origin| origin == "*") {
            Cors::Any
        } else {
            Cors::Only(self.cors_origins)
        };
        let config = ServerConfig {
            gates,
            notice,
            watched,
            cors,
            workers: threads_or_default(self.workers),
            bot_threads: threads_or_default(self.bot_threads),
            advice_threads: threads_or_default(self.advice_threads),
            review_percent: self.review_percent,
            limits: self.limits,
            retention: RetentionPolicy {
                finished_days: self.keep_finished_days,
                idle_days: self.keep_idle_days,
            },
            sweep_interval: self.sweep_seconds,
            has_page: !self.no_page,
            drain: Duration::from_secs(self.drain_seconds.into()),
        };
        actix_web::rt::System::new().block_on(async {
            let server = Server::new(config, listeners, store)?;
            let mut lines = String::new();
            for address in server.addresses() {
                let line = format!("listening on http://{address}");
                lines += &self.log_format.output_line(&line);
            }
            for address in server.network_addresses() {
                let line = format!("in this network: http://{address}");
                lines += &self.log_format.output_line(&line);
            }
            // At once, because the reader may want the first line only.
            print(&lines)?;
            log::info!("serving the {name}");
            server.run().await?;
            log::info!("stopped");
            Ok(())
        })
    }
}

fn threads_or_default(number: Option<u16>) -> Option<usize> {
    number.map(usize::from).filter(|&number| number > 0)
}

/// Files of the operator.
#[derive(Clone, Debug, Args)]
pub(super) struct FileArgs {
    /// File with the keys, one a line, of those who may create games and ask for advice of an
    /// analysis; without it everybody may. This file and the next ones are read again when they
    /// change.
    #[arg(long, env = "DOG_CREATE_KEYS", value_name = "FILE")]
    create_keys: Option<PathBuf>,
    /// File with addresses and prefixes, one a line, from which no games are created, imported or
    /// joined.
    #[arg(long, env = "DOG_BLOCKED", value_name = "FILE")]
    blocked: Option<PathBuf>,
    /// File with the keys, one a line, with which an operator lists, changes and removes any game.
    #[arg(long, env = "DOG_OPERATOR_KEY", value_name = "FILE")]
    operator_key: Option<PathBuf>,
    /// File with a word to all, which the page and streams show.
    #[arg(long, env = "DOG_NOTICE", value_name = "FILE")]
    notice: Option<PathBuf>,
}

impl FileArgs {
    /// Reads the files: who may do what, what the operator has to say, and what is watched.
    ///
    /// # Errors
    /// If one cannot be read, or is faulty.
    pub fn open(&self) -> anyhow::Result<(Gates, Arc<WatchedFile<Notice>>, Vec<FileWatch>)> {
        let mut watched = Vec::new();
        let create_keys = self.create_keys.clone();
        let create_keys =
            create_keys.map(|file| WatchedFile::open(Some(file), Keys::read, &mut watched));
        let gates = Gates {
            create_keys: create_keys.transpose()?,
            blocked: WatchedFile::open(self.blocked.clone(), BlockedAddresses::read, &mut watched)?,
            operator: WatchedFile::open(self.operator_key.clone(), Keys::read, &mut watched)?,
        };
        let notice = WatchedFile::open(self.notice.clone(), Notice::read, &mut watched)?;
        Ok((gates, notice, watched))
    }
}

/// A number of threads; 512 is the maximum of the HTTP library.
fn threads() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(..=512)
}

/// Checks the form of a HOST:PORT. Whether the host has an address is seen later.
pub fn address(text: &str) -> Result<String, String> {
    let parts = text.rsplit_once(':');
    match parts.filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!(
            "an address is a host and a port of at most {}, such as {LISTEN}",
            u16::MAX
        )),
    }
}

/// Parses an origin, or `*`, and returns it as browsers send it.
fn origin(text: &str) -> Result<String, String> {
    let origin = text.trim();
    if ["*", "null"].contains(&origin) {
        return Ok(origin.to_owned());
    }
    as_sent(origin).ok_or_else(|| {
        "an origin is a scheme, a host and perhaps a port, such as https://example.org:8443"
            .to_owned()
    })
}

/// An origin in lower case and without the port that its scheme has by default.
fn as_sent(origin: &str) -> Option<String> {
    let (scheme, authority) = origin.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let parsed: Authority = authority.parse().ok()?;
    let (host, port) = (parsed.host(), parsed.port_u16());
    let written = port.map_or(host.to_owned(), |port| format!("{host}:{port}"));
    // A wildcard would match nothing, and no browser sends the name of a user.
    if !is_scheme || host.is_empty() || host.contains('*') || written != authority {
        return None;
    }
    let (scheme, host) = (scheme.to_lowercase(), host.to_lowercase());
    let by_default = match &*scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let port = port.filter(|_| port != by_default);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{host}{port}"))
}
