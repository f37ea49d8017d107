//! The command line.

mod arena;
mod calibrate;
mod latency;
mod reading;
mod train;
mod worth;

use clap::{Parser, Subcommand};
use dog_bot::Level;

/// Experiments with players of DOG: matches, training, calibration, latency.
#[derive(Debug, Parser)]
#[command(name = "dog-lab", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a value net by self-play.
    Train(train::Train),
    /// Measure one player against another in duplicate matches.
    Arena(arena::Arena),
    /// Add up matches that were played in parts.
    Pool(arena::Pool),
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
