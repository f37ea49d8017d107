//! The command line.

mod arena;
mod calibrate;
mod latency;
mod reading;
mod train;
mod worth;

use clap::Parser;
use dog_bot::Level;

/// Experiments with players of DOG: matches, training, calibration, latency.
#[derive(Debug, Parser)]
#[command(name = "dog-lab", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
enum Subcommand {
    /// Train a value net by self-play.
    Train(train::TrainArgs),
    /// Measure one player against another in duplicate matches.
    Arena(arena::ArenaArgs),
    /// Add up matches that were played in parts.
    Pool(arena::PoolArgs),
    /// See whether the chances that advice names are right.
    Calibrate(calibrate::CalibrateArgs),
    /// See how much of the hidden hands is read from what was played.
    Reading(reading::ReadingArgs),
    /// See what players' choices are worth, by a longer look.
    Worth(worth::WorthArgs),
    /// Measure how long advice takes.
    Latency(latency::LatencyArgs),
}

impl Cli {
    /// Does what the command line says.
    ///
    /// # Errors
    /// Says what failed.
    pub fn run(self) -> anyhow::Result<()> {
        match self.command {
            Subcommand::Train(train) => train.run(),
            Subcommand::Arena(arena) => arena.run(),
            Subcommand::Pool(pool) => pool.run(),
            Subcommand::Calibrate(calibrate) => calibrate.run(),
            Subcommand::Reading(reading) => reading.run(),
            Subcommand::Worth(worth) => worth.run(),
            Subcommand::Latency(latency) => latency.run(),
        }
    }
}

/// A level by its name.
fn level(name: &str) -> Result<Level, String> {
    let names = Level::ALL.map(Level::name).join(", ");
    Level::by_name(name).ok_or_else(|| format!("the levels are {names}"))
}
