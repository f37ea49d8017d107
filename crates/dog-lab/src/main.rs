//! The `dog-lab` command.

use clap::Parser;
use dog_lab::cli::Cli;

fn main() -> anyhow::Result<()> {
    env_logger::init();
    Cli::parse().run()
}
