//! `dog serve`: the server.

use std::{io::Write, path::PathBuf};

use anyhow::Context;
use clap::{Args, builder::FalseyValueParser};

use crate::{
    api::{Cors, Server, Settings},
    store::{self, Store},
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
        value_delimiter = ','
    )]
    cors_origins: Vec<String>,
    /// Threads that answer requests; as many as there are cores if left out.
    #[arg(long, env = "DOG_WORKERS")]
    workers: Option<usize>,
    /// Writes that are committed together at most; 1 commits each by itself, which is slower.
    #[arg(long, env = "DOG_COMMIT_BATCH", default_value_t = store::Settings::default().commit_batch)]
    commit_batch: usize,
    /// Threads that play for bots; as many as there are cores if left out.
    #[arg(long, env = "DOG_BOT_THREADS")]
    bot_threads: Option<usize>,
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
        if !self.skip_check {
            store::examine(&self.database).with_context(failed)?;
        }
        let store_settings = store::Settings {
            commit_batch: self.commit_batch,
        };
        let store = Store::open_with(&self.database, store_settings).with_context(failed)?;
        let cors = if self.cors_origins.iter().any(|origin| origin == "*") {
            Cors::Any
        } else {
            Cors::Only(self.cors_origins)
        };
        let workers = self.workers.filter(|&workers| workers > 0);
        let settings = Settings {
            listen: self.listen,
            cors,
            workers,
            bot_threads: self.bot_threads.filter(|&threads| threads > 0),
        };
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
