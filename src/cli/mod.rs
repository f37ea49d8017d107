//! The command line: one file for each command that does more than print a document.

mod backup;
mod check;
mod copy;
mod games;
mod healthcheck;
mod inspect;
mod location;
mod logger;
mod perft;
mod serve;
mod variables;
mod verify;

use std::{
    env, fs,
    io::{ErrorKind, Write, stdout},
};

use clap::{CommandFactory, FromArgMatches, Parser};
use clap_complete::{Shell, generate};

use self::logger::LogFormat;
use crate::{
    api::openapi,
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
    Serve(Box<serve::ServeArgs>),
    /// Copy a database into a new file, while servers use it.
    Backup(backup::BackupArgs),
    /// Put a copy that was made by `dog backup` in the place of a database, while no server uses it.
    Restore(backup::RestoreArgs),
    /// Move a database into another one, from a file to PostgreSQL or back.
    Copy(copy::CopyArgs),
    /// Check a database; exit code 0 if nothing is wrong.
    Check(check::CheckArgs),
    /// List, show and remove games, as their operator.
    Games(games::GamesArgs),
    /// Print the OpenAPI document.
    Openapi,
    /// Print the table of errors as Markdown.
    Errors,
    /// Print the completions of this command line for a shell.
    Completions { shell: Shell },
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
        let mut command = Cli::command();
        let given = command.try_get_matches_from_mut(env::args_os());
        let given = given.unwrap_or_else(|error| variables::exit(&error));
        let cli = Cli::from_arg_matches(&given).unwrap_or_else(|error| variables::exit(&error));
        if let Subcommand::Serve(serve) = &cli.command {
            logger::start(serve.log_format);
            variables::warn_of_unknown();
            if let Some((name, given)) = given.subcommand()
                && let Some(serve) = command.find_subcommand(name)
            {
                variables::log_settings(serve, given);
            }
        } else {
            logger::start(LogFormat::Text);
        }
        cli
    }

    /// Where the server of this container listens.
    fn listen_of_server() -> Option<String> {
        Cli::listen_of(&fs::read_to_string("/proc/1/cmdline").unwrap_or_default())
    }

    /// Where the process with these arguments listens, as Linux shows them, or a server without
    /// any.
    fn listen_of(first: &str) -> Option<String> {
        let cli = Cli::try_parse_from(first.trim_end_matches('\0').split('\0'));
        let cli = cli
            .or_else(|_| Cli::try_parse_from(["dog", "serve"]))
            .ok()?;
        match cli.command {
            Subcommand::Serve(serve) => Some(serve.listen),
            _ => None,
        }
    }

    /// Runs the command. A server uses the sockets that were passed to the process.
    ///
    /// # Errors
    /// If the command fails.
    pub fn run(self, passed: Result<Option<Listeners>, ServeError>) -> anyhow::Result<()> {
        match self.command {
            Subcommand::Serve(serve) => serve.run(passed?),
            Subcommand::Backup(backup) => backup.run(),
            Subcommand::Restore(restore) => restore.run(),
            Subcommand::Copy(copy) => copy.run(),
            Subcommand::Check(check) => check.run(),
            Subcommand::Games(games) => games.run(),
            Subcommand::Openapi => print(openapi::DOCUMENT),
            Subcommand::Errors => print(include_str!("../../docs/errors.md")),
            Subcommand::Completions { shell } => {
                let mut script = Vec::new();
                generate(shell, &mut Cli::command(), "dog", &mut script);
                print(&String::from_utf8(script)?)
            }
            Subcommand::Healthcheck(healthcheck) => healthcheck.run(),
            Subcommand::Perft(perft) => perft.run(),
            Subcommand::Verify(verify) => verify.run(),
        }
    }
}

/// Writes to the output. A reader such as `head` need not read all.
fn print(text: &str) -> anyhow::Result<()> {
    match stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, serve::LISTEN};

    #[test]
    fn the_health_check_asks_the_server_of_the_container() {
        let own = "dog\0serve\0--listen\x000.0.0.0:9090\0";
        for (arguments, listen) in [
            (own, "0.0.0.0:9090"),
            ("dog\0serve\0--listen=[::]:9\0--no-page\0", "[::]:9"),
            ("dog\0serve\0", LISTEN),
            ("/sbin/init\0splash\0", LISTEN),
            ("", LISTEN),
        ] {
            assert_eq!(Cli::listen_of(arguments).as_deref(), Some(listen));
        }
    }
}
