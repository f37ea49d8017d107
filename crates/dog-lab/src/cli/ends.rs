//! `dog-lab ends`: whether advice is right near the end of a game. Where a search of all plays shows
//! who wins, it must say so. Elsewhere, its chances must be as near to the mean of many playouts as
//! their errors say.

use std::io::{Write, stdout};

use anyhow::ensure;
use clap::Args;
use dog_bot::{
    Level, advise,
    net::nets::Nets,
    player_model::PlayerModels,
    search::{Budget, SearchConfig, SearchLimit, Searcher},
};
use dog_rules::Rules;
use rand::rngs::ChaCha8Rng;

use super::{described, level, tables};
use crate::{
    arena::mean_and_error,
    ends::{End, EndResult},
    games::{ThreadsArg, each_game, stream},
};

#[derive(Debug, Args)]
pub struct EndsArgs {
    /// The level to ask: one that searches.
    #[arg(value_parser = level)]
    level: Level,
    /// Ends that are won, but not at once, or lost, half of each, of all presets with four and six
    /// seats.
    #[arg(long, default_value_t = 500)]
    proved: u32,
    /// Ends that are neither, every other one with all hands known.
    #[arg(long, default_value_t = 2000)]
    open: u32,
    /// The playouts that a chance is compared with.
    #[arg(long, default_value_t = 10_000)]
    playouts: u32,
    /// Playouts per decision; by default 40 for fast, and 800 for strong.
    #[arg(long)]
    samples: Option<u32>,
    /// At proved ends, think for the level's own time instead. Depends on the machine.
    #[arg(long)]
    own_time: bool,
    /// The seed of the positions and of all playouts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
}

/// The best suggestion at a proved end.
struct ProvedEnd {
    result: EndResult,
    is_exact: bool,
    /// How far its chance is from the result.
    error: f64,
    /// The position, to be printed.
    text: String,
}

/// The best choice at an open end.
struct OpenEnd {
    /// The mean of many playouts.
    chance: f64,
    /// How much higher the mean of the level's own number is.
    error: f64,
    /// Whether two standard errors are as much or more.
    is_within: bool,
}

impl EndsArgs {
    /// Asks for advice and prints two tables.
    ///
    /// # Errors
    /// If the level does not search, the nets do not fit the program, or the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        let own = Budget::for_level(self.level);
        ensure!(own.is_some(), "{} does not search", self.level.name());
        let nets = Nets::built_in();
        let mut out = stdout().lock();
        writeln!(
            out,
            "proved ends     number  exact  largest error of the others  mean error of the others"
        )?;
        let ends = self.each(self.proved, |number| self.proved_end(&nets, number));
        for (name, result) in [("won", EndResult::WonLater), ("lost", EndResult::Lost)] {
            let ends = || ends.iter().filter(|end| end.result == result);
            let errors = ends().filter(|end| !end.is_exact).map(|end| end.error);
            let errors: Vec<f64> = errors.collect();
            let number = ends().count();
            let largest = errors.iter().copied().fold(0.0, f64::max);
            let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
            writeln!(
                out,
                "{name:<14}  {number:>6}  {:>5}  {largest:>27.4}  {mean:>24.4}",
                number - errors.len()
            )?;
        }
        for end in ends.iter().filter(|end| !end.is_exact) {
            writeln!(out, "not exact by {:.4}: {}", end.error, end.text)?;
        }
        if self.open == 0 {
            return Ok(());
        }
        writeln!(
            out,
            "chance of the best  number  within two errors %  mean error  standard error"
        )?;
        let ends = self.each(self.open, |number| self.open_end(&nets, number));
        for (tenth, ends) in tenths(&ends).iter().enumerate() {
            let name = format!("{} to {} %", tenth * 10, tenth * 10 + 10);
            writeln!(out, "{}", row(&name, ends))?;
        }
        writeln!(out, "{}", row("all", &ends.iter().collect::<Vec<_>>()))?;
        Ok(())
    }

    fn each<T: Send>(&self, number: u32, find: impl Fn(u32) -> T + Sync) -> Vec<T> {
        let threads = self.threads.number().get();
        each_game(number, threads, || (), |(), number| find(number))
    }

    fn samples(&self) -> Budget {
        let default = if self.level == Level::Strong { 800 } else { 40 };
        Budget::Samples(self.samples.unwrap_or(default))
    }

    /// The rules and the random numbers of an end.
    fn table(&self, number: u32, kind: u64) -> (Rules, ChaCha8Rng) {
        let mut tables = tables();
        let place = number as usize % tables.len();
        let rng = stream(self.seed, 2 * u64::from(number) + kind);
        (tables.swap_remove(place), rng)
    }

    /// What the level says at a won end, or at a lost one if the number is odd.
    fn proved_end(&self, nets: &Nets, number: u32) -> ProvedEnd {
        let result = match number / 10 % 2 {
            0 => EndResult::WonLater,
            _ => EndResult::Lost,
        };
        let (rules, mut rng) = self.table(number, 0);
        let end = loop {
            let end = End::random(&rules, &mut rng);
            let found = match result {
                EndResult::Lost => end.lost(),
                _ => end.won(),
            };
            if found == Some(result) {
                break end;
            }
        };
        let budget = (!self.own_time).then(|| self.samples());
        let (view, models) = (end.view(true), PlayerModels::default());
        let advice = advise(nets, self.level, budget, &view, &models, &|| true, &mut rng);
        let best = &advice[0].estimate;
        let error =
            (best.win_probability - f64::from(u8::from(result == EndResult::WonLater))).abs();
        ProvedEnd {
            result,
            is_exact: error == 0.0 && best.standard_error == Some(0.0),
            error,
            text: described(&view),
        }
    }

    /// The chance of the best choice at an open end, on other worlds than those it was found on.
    ///
    /// # Panics
    /// If the level claims that an open end is proved.
    fn open_end(&self, nets: &Nets, number: u32) -> OpenEnd {
        let knows_all = number.is_multiple_of(2);
        let (rules, mut rng) = self.table(number / 2, 1 + 2 * u64::from(number % 2));
        let budget = self.samples();
        let config = SearchConfig {
            plies: Some(budget.plies()),
            limit: SearchLimit::Boards(u32::MAX),
            ..SearchConfig::default()
        };
        let models = PlayerModels::default();
        let (view, best) = loop {
            let end = End::random(&rules, &mut rng);
            let result = knows_all.then(|| end.result()).flatten();
            if result.is_some_and(|result| result != EndResult::Open) {
                continue;
            }
            let view = end.view(knows_all);
            let best = Searcher::new(nets, config, models).think(&view, budget, &mut rng);
            let (best, proof) = (best[0].candidate, best[0].proof);
            assert!(result.is_none() || proof.is_none(), "{proof:?}: {end:?}");
            if proof.is_none() {
                break (view, best);
            }
        };
        let config = SearchConfig {
            proves: false,
            ..config.for_comparison()
        };
        let mut searcher = Searcher::new(nets, config, models);
        let mut value = |budget| {
            searcher
                .compare(&view, &[Some(best)], budget, &mut rng)
                .remove(0)
        };
        let (own, many) = (value(budget), value(Budget::Samples(self.playouts)));
        let [mean, chance] = [&own, &many].map(|stats| stats.mean().expect("playouts"));
        let error = mean - chance;
        OpenEnd {
            chance,
            error,
            is_within: error.abs() <= 2.0 * own.standard_error().expect("two playouts"),
        }
    }
}

/// The ends by the tenth that the chance is in, the lowest first.
fn tenths(ends: &[OpenEnd]) -> [Vec<&OpenEnd>; 10] {
    let mut tenths: [Vec<&OpenEnd>; 10] = Default::default();
    for end in ends {
        tenths[((end.chance * 10.0) as usize).min(9)].push(end);
    }
    tenths
}

fn row(name: &str, ends: &[&OpenEnd]) -> String {
    let within = ends.iter().filter(|end| end.is_within).count();
    let errors: Vec<f64> = ends.iter().map(|end| end.error).collect();
    let (mean, error) = mean_and_error(&errors);
    let share = 100.0 * within as f64 / ends.len() as f64;
    format!(
        "{name:<18}  {:>6}  {share:>19.1}  {mean:>10.4}  {error:>14.4}",
        ends.len()
    )
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct EndsCli {
        #[command(flatten)]
        ends: EndsArgs,
    }

    fn args(arguments: &str) -> EndsArgs {
        EndsCli::parse_from(["ends"].into_iter().chain(arguments.split(' '))).ends
    }

    #[test]
    fn proved_ends_have_their_result() {
        let nets = Nets::built_in();
        let args = args("fast");
        let ends = args.each(40, |number| args.proved_end(&nets, number));
        let lost = ends.iter().filter(|end| end.result == EndResult::Lost);
        assert_eq!(lost.count(), 20);
        let exact = ends.iter().filter(|end| end.is_exact).count();
        assert!(exact > 30, "{exact}");
    }

    #[test]
    fn open_ends_are_the_same_on_any_number_of_threads() {
        let nets = Nets::built_in();
        let found = |threads| {
            let args = args(&format!("fast --playouts 300 --threads {threads}"));
            let ends = args.each(12, |number| args.open_end(&nets, number));
            let numbers = ends.iter().map(|end| (end.chance, end.error));
            numbers.collect::<Vec<(f64, f64)>>()
        };
        let one = found(1);
        assert!(one.iter().any(|&(_, error)| error != 0.0));
        assert_eq!(one, found(2));
        let refused = args("greedy").run().expect_err("no search");
        assert_eq!(refused.to_string(), "greedy does not search");
    }
}
