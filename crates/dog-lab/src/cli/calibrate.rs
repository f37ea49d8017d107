//! `dog-lab calibrate`: whether the chances that advice names are right.

use std::{
    io::{Write, stdout},
    num::NonZeroUsize,
    thread,
};

use clap::Args;
use dog_bot::{Level, net::nets::Nets, search::Budget};
use dog_rules::options::{Preset, Rules};

use crate::arena::{SelfPlay, calibrate};

#[derive(Debug, Args)]
pub struct Calibrate {
    /// The level that plays all seats.
    #[arg(value_parser = super::level)]
    level: Level,
    /// A preset, and options such as "hausregeln seats=6".
    #[arg(long, default_value = Preset::DogspielIt.name(), value_parser = super::rules)]
    rules: Rules,
    /// Games to play.
    #[arg(long, default_value_t = 1000)]
    games: u32,
    /// Playouts a decision; the level's own time if left out.
    #[arg(long)]
    samples: Option<u32>,
    /// What the cards and the players' luck are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Games played at once; as many as there are cores if left out.
    #[arg(long, value_name = "N", value_parser = super::threads)]
    threads: Option<NonZeroUsize>,
}

impl Calibrate {
    /// Plays the games and prints a table, one line for each tenth.
    ///
    /// # Errors
    /// If the nets do not fit the program, or nothing can be printed.
    pub fn run(self) -> anyhow::Result<()> {
        let nets = Nets::built_in()?;
        let threads = match self.threads {
            Some(threads) => threads,
            None => thread::available_parallelism()?,
        };
        let found = calibrate(&SelfPlay {
            nets: &nets,
            rules: &self.rules,
            level: self.level,
            budget: self.samples.map(Budget::Samples),
            games: self.games,
            seed: self.seed,
            threads,
        });
        let mut out = stdout().lock();
        writeln!(
            out,
            "chance given    decisions  mean given %    won %  difference  standard error"
        )?;
        for (place, tenth) in found.tenths.iter().enumerate() {
            let (said, won) = (100.0 * tenth.mean_said(), 100.0 * tenth.share_won());
            let (from, to) = (place * 10, place * 10 + 10);
            writeln!(
                out,
                "{from:>3} to {to:>3} %  {:>11}  {said:>12.2}  {won:>7.2}  {:>10.2}  {:>14.2}",
                tenth.decisions,
                won - said,
                100.0 * tenth.standard_error()
            )?;
        }
        writeln!(
            out,
            "its odds to the power of {:.3} would fit these games best",
            found.sharpness
        )?;
        Ok(())
    }
}
