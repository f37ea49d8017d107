//! The `dog-lab` command.

#![forbid(unsafe_code)]

use clap::Parser;
use dog_lab::cli::Cli;

fn main() -> anyhow::Result<()> {
    env_logger::init();
    Cli::parse().run()
}
