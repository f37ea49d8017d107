//! The command line.

mod arena;
mod calibrate;
mod compare_decisions;
mod latency;
mod review;
mod train;

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
    Arena(Box<arena::ArenaArgs>),
    /// Add up matches that were played in parts.
    Pool(arena::PoolArgs),
    /// Check whether the chances in advice are right.
    Calibrate(Box<calibrate::CalibrateArgs>),
    /// Compare players' choices at the same decisions by a longer search.
    CompareDecisions(Box<compare_decisions::CompareDecisionsArgs>),
    /// Review finished games, and measure whether reviews are right.
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// Measure how long advice takes.
    Latency(latency::LatencyArgs),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// Why the command failed.
    pub fn run(self) -> anyhow::Result<()> {
        match self.command {
            Subcommand::Train(train) => train.run(),
            Subcommand::Arena(arena) => arena.run(),
            Subcommand::Pool(pool) => pool.run(),
            Subcommand::Calibrate(calibrate) => calibrate.run(),
            Subcommand::CompareDecisions(compare) => compare.run(),
            Subcommand::Review(review) => review.run(),
            Subcommand::Latency(latency) => latency.run(),
        }
    }
}

/// The level of this name.
fn level(name: &str) -> Result<Level, String> {
    let names = Level::ALL.map(Level::name).join(", ");
    Level::by_name(name).ok_or_else(|| format!("the levels are {names}"))
}
