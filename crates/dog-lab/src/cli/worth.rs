//! `dog-lab worth`: what players' choices are worth, by a longer look than they had.

use std::{
    io::{Write, stdout},
    num::NonZeroUsize,
    thread,
};

use clap::Args;
use dog_rules::options::{Preset, Rules};

use crate::arena::{PlayerSpec, Questions, ask, mean_and_error};

#[derive(Debug, Args)]
pub struct Worth {
    /// Who is asked; the first is who the others are compared with.
    #[arg(required = true, num_args = 2..)]
    players: Vec<PlayerSpec>,
    /// Who plays the games.
    #[arg(long, default_value = "net")]
    playing: PlayerSpec,
    /// Who takes the longer look.
    #[arg(long, default_value = "strong:samples=1000")]
    judging: PlayerSpec,
    /// A preset, and options such as "hausregeln seats=6".
    #[arg(long, default_value = Preset::DogspielIt.name(), value_parser = super::rules)]
    rules: Rules,
    /// Games to play.
    #[arg(long, default_value_t = 100)]
    games: u32,
    /// Ask at one decision in so many.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// What the cards and the players' luck are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Games played at once; as many as there are cores if left out.
    #[arg(long, value_name = "N", value_parser = super::threads)]
    threads: Option<NonZeroUsize>,
}

impl Worth {
    /// Plays the games and prints a table, one line for each player.
    ///
    /// # Errors
    /// If who judges does not think ahead, or nothing can be printed.
    pub fn run(self) -> anyhow::Result<()> {
        if self.judging.thinker().is_none() {
            anyhow::bail!("{} does not think ahead", self.judging);
        }
        let threads = match self.threads {
            Some(threads) => threads,
            None => thread::available_parallelism()?,
        };
        let found = ask(&Questions {
            rules: &self.rules,
            asked: &self.players,
            playing: &self.playing,
            judging: &self.judging,
            games: self.games,
            every: self.every,
            seed: self.seed,
            threads,
        });
        let mut out = stdout().lock();
        writeln!(
            out,
            "different %  points a game  standard error  ms a decision  player ({} decisions)",
            found.decisions
        )?;
        // Of all decisions each team takes its share.
        let teams = f64::from(self.rules.seats / 2);
        let points = 100.0 * f64::from(self.every) / teams;
        let decisions = f64::from(found.decisions.max(1));
        for (player, worth) in self.players.iter().zip(&found.worths) {
            let different = 100.0 * f64::from(worth.different) / decisions;
            let (mean, error) = mean_and_error(&worth.gains);
            let (mean, error) = (points * mean, points * error);
            let millis = 1e3 * worth.time.as_secs_f64() / decisions;
            writeln!(
                out,
                "{different:>11.1}  {mean:>13.2}  {error:>14.2}  {millis:>13.1}  {player}"
            )?;
        }
        Ok(())
    }
}
