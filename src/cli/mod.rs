//! The command line: one file for each command that does more than print a document.

mod backup;
mod check;
mod copy;
mod healthcheck;
mod location;
mod logger;
mod perft;
mod serve;
mod variables;
mod verify;

use std::io::{Write, stdout};

use clap::Parser;

use self::logger::LogFormat;
use crate::{
    api::openapi,
    http::problem,
    server::{Listeners, ServeError},
    version,
};

/// The board and card game DOG as an HTTP JSON service.
#[derive(Debug, Parser)]
#[command(name = "dog", version = version::FULL, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
enum Subcommand {
    /// Serve the API until SIGTERM, SIGINT or SIGHUP.
    Serve(serve::ServeArgs),
    /// Copy a database into a new file, while servers use it.
    Backup(backup::BackupArgs),
    /// Move a database into another one, from a file to PostgreSQL or back.
    Copy(copy::CopyArgs),
    /// Check a database; exit code 0 if nothing is wrong.
    Check(check::CheckArgs),
    /// Print the OpenAPI document.
    Openapi,
    /// Print the table of errors as Markdown.
    Errors,
    /// Ask a running server whether it is alive; exit code 0 if it is.
    Healthcheck(healthcheck::HealthcheckArgs),
    /// Count move sequences (perft), to test and to time the move generator.
    Perft(perft::PerftArgs),
    /// Replay the record of a finished game from its seed and check it.
    Verify(verify::VerifyArgs),
}

impl Cli {
    /// Reads the command line and the environment, and starts the log. Ends the process if they are
    /// wrong, or ask for help.
    pub fn start() -> Cli {
        let cli = Cli::try_parse().unwrap_or_else(|error| variables::exit(&error));
        if let Subcommand::Serve(serve) = &cli.command {
            logger::start(serve.log_format());
            variables::warn_of_unknown();
        } else {
            logger::start(LogFormat::Text);
        }
        cli
    }

    /// Runs the command. A server uses the sockets that were passed to the process.
    ///
    /// # Errors
    /// If the command fails.
    pub fn run(self, passed: Result<Option<Listeners>, ServeError>) -> anyhow::Result<()> {
        match self.command {
            Subcommand::Serve(serve) => serve.run(passed?),
            Subcommand::Backup(backup) => backup.run(),
            Subcommand::Copy(copy) => copy.run(),
            Subcommand::Check(check) => check.run(),
            Subcommand::Openapi => print(&openapi::json()?),
            Subcommand::Errors => print(&problem::markdown()),
            Subcommand::Healthcheck(healthcheck) => healthcheck.run(),
            Subcommand::Perft(perft) => perft.run(),
            Subcommand::Verify(verify) => verify.run(),
        }
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    Ok(stdout().write_all(text.as_bytes())?)
}
