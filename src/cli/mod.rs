//! The command line: one file a command.

mod arena;
mod backup;
mod calibrate;
mod check;
mod errors;
mod healthcheck;
mod heap;
mod latency;
mod limits;
mod openapi;
mod perft;
mod pool;
mod reading;
mod serve;
mod train;
mod verify;
mod worth;

use std::{num::NonZeroUsize, path::Path};

use anyhow::bail;
use clap::{Parser, Subcommand};

use crate::{
    bot::Level,
    rules::options::{Rules, RulesTextError},
};

/// The game of DOG as an HTTP JSON service.
#[derive(Debug, Parser)]
#[command(name = "dog", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API until SIGTERM or SIGINT.
    Serve(serve::Serve),
    /// Copy a database into a new file, while servers use it.
    Backup(backup::Backup),
    /// See whether anything is wrong with a database; exit code 0 if not.
    Check(check::Check),
    /// Print the OpenAPI document.
    Openapi,
    /// Print the table of errors as Markdown.
    Errors,
    /// Ask a running server whether it is alive; exit code 0 if it is.
    Healthcheck(healthcheck::Healthcheck),
    /// Count sequences of moves, to check and to time the lists of moves.
    Perft(perft::Perft),
    /// Play a finished game again from its seed, to check that everything was as it should be.
    Verify(verify::Verify),
    /// Train a value net by self-play.
    Train(train::Train),
    /// Measure one player against another in duplicate matches.
    Arena(arena::Arena),
    /// Add up matches that were played in parts.
    Pool(pool::Pool),
    /// See whether the chances that advice names are right.
    Calibrate(calibrate::Calibrate),
    /// See how much of the hidden hands is read from what was played.
    Reading(reading::Reading),
    /// See what players' choices are worth, by a longer look.
    Worth(worth::Worth),
    /// Measure how long advice takes.
    Latency(latency::Latency),
}

impl Cli {
    /// Does what the command line says.
    ///
    /// # Errors
    /// Says what failed.
    pub fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Serve(serve) => serve.run(),
            Command::Backup(backup) => backup.run(),
            Command::Check(check) => check.run(),
            Command::Openapi => openapi::run(),
            Command::Errors => errors::run(),
            Command::Healthcheck(healthcheck) => healthcheck.run(),
            Command::Perft(perft) => perft.run(),
            Command::Verify(verify) => verify.run(),
            Command::Train(train) => train.run(),
            Command::Arena(arena) => arena.run(),
            Command::Pool(pool) => pool.run(),
            Command::Calibrate(calibrate) => calibrate.run(),
            Command::Reading(reading) => reading.run(),
            Command::Worth(worth) => worth.run(),
            Command::Latency(latency) => latency.run(),
        }
    }
}

/// A level by its name.
fn level(name: &str) -> Result<Level, String> {
    let names = Level::ALL.map(Level::name).join(", ");
    Level::by_name(name).ok_or_else(|| format!("the levels are {names}"))
}

/// Reads rules such as "hausregeln seats=6".
fn rules(text: &str) -> Result<Rules, RulesTextError> {
    text.parse()
}

/// Reads a number of threads.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &NonZeroUsize| number.get() <= 512)
        .ok_or_else(|| "a number of threads is 1 to 512".to_owned())
}

/// Refuses a folder where a database file is expected.
fn not_a_folder(database: &Path) -> anyhow::Result<()> {
    if database.is_dir() {
        bail!("it is a folder, not a file");
    }
    Ok(())
}
