//! `dog-lab reading`: how much of the hidden hands is read from what was played.

use std::io::{Write, stdout};

use clap::Args;
use dog_bot::net::nets::Nets;
use dog_rules::options::{Preset, Rules};

use crate::arena::{PlayerSpec, mean_and_error, read};

#[derive(Debug, Args)]
pub struct Reading {
    /// Who holds the first team, and reads.
    a: PlayerSpec,
    /// Who holds all others.
    b: PlayerSpec,
    /// A preset, and options such as "hausregeln seats=6".
    #[arg(long, default_value = Preset::DogspielIt.name(), value_parser = super::rules)]
    rules: Rules,
    /// Games to play.
    #[arg(long, default_value_t = 100)]
    games: u32,
    /// What the cards and the players' luck are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Reading {
    /// Plays the games and prints what was read, in nats a decision.
    ///
    /// # Errors
    /// If the nets do not fit the program, or nothing can be printed.
    pub fn run(self) -> anyhow::Result<()> {
        let nets = Nets::built_in()?;
        let found = read(
            &nets,
            &self.rules,
            [&self.a, &self.b],
            self.games,
            self.seed,
        );
        let mut out = stdout().lock();
        writeln!(out, "nats a decision  standard error  decisions")?;
        let (mean, error) = mean_and_error(&found);
        let decisions = found.len();
        writeln!(out, "{mean:>15.3}  {error:>14.3}  {decisions:>9}")?;
        Ok(())
    }
}
