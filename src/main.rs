//! The `dog` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use dog_server::cli::Cli;
use log::LevelFilter;

fn main() -> ExitCode {
    env_logger::Builder::new()
        .filter_level(LevelFilter::Info)
        // It takes a client's broken request for an error of ours.
        .filter_module("actix_http", LevelFilter::Off)
        .parse_default_env()
        .init();
    match Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
