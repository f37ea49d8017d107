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
            log::error!("{}", with_causes(&error));
            ExitCode::FAILURE
        }
    }
}

/// An error with its causes. Some errors name their cause themselves: it is not repeated.
fn with_causes(error: &anyhow::Error) -> String {
    let mut causes = error.chain().map(ToString::to_string);
    let mut text = causes.next().unwrap_or_default();
    for cause in causes {
        if !text.contains(&cause) {
            text = text + ": " + &cause;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::with_causes;

    #[test]
    fn each_cause_is_named_once() {
        let error = anyhow!("no space").context("cannot write: no space");
        assert_eq!(
            with_causes(&error.context("failed")),
            "failed: cannot write: no space"
        );
    }
}
