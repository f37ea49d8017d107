//! The command line: one file a command.

mod backup;
mod check;
mod healthcheck;
mod perft;
mod serve;
mod verify;

use std::{
    io::{Write, stdout},
    path::Path,
};

use anyhow::bail;
use clap::{Parser, Subcommand};

use crate::http::{openapi, problem};

/// The board and card game DOG as an HTTP JSON service.
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
    /// Check a database; exit code 0 if nothing is wrong.
    Check(check::Check),
    /// Print the OpenAPI document.
    Openapi,
    /// Print the table of errors as Markdown.
    Errors,
    /// Ask a running server whether it is alive; exit code 0 if it is.
    Healthcheck(healthcheck::Healthcheck),
    /// Count move sequences (perft), to test and to time the move generator.
    Perft(perft::Perft),
    /// Replay the record of a finished game from its seed and check it.
    Verify(verify::Verify),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// Says what failed.
    pub fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Serve(serve) => serve.run(),
            Command::Backup(backup) => backup.run(),
            Command::Check(check) => check.run(),
            Command::Openapi => print(&openapi::json()?),
            Command::Errors => print(&problem::markdown()),
            Command::Healthcheck(healthcheck) => healthcheck.run(),
            Command::Perft(perft) => perft.run(),
            Command::Verify(verify) => verify.run(),
        }
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    Ok(stdout().write_all(text.as_bytes())?)
}

/// Refuses a folder where a database file is expected.
fn not_a_folder(database: &Path) -> anyhow::Result<()> {
    if database.is_dir() {
        bail!("it is a folder, not a file");
    }
    Ok(())
}
