//! `dog-lab calibrate`: whether the chances in advice are right, that is, how often a team wins
//! when it was given a certain chance.

use std::io::{Write, stdout};

use anyhow::ensure;
use clap::Args;
use dog_bot::net::nets::Nets;
use dog_rules::BySeat;

use crate::{
    games::{GamesArgs, Watching, play_out, set_up},
    player::{PlayerSpec, SeatDecision, TeamSpec},
};

#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// The players of team A. The chances that the first one gives are checked, at all its seats.
    a: TeamSpec,
    /// The players of the other teams; those of A if left out.
    b: Option<TeamSpec>,
    /// Games to play.
    #[arg(long, default_value_t = 1000)]
    games: u32,
    #[command(flatten)]
    common: GamesArgs,
}

impl CalibrateArgs {
    /// Plays games and prints a table, one line for each tenth. Every decision of the player
    /// counts, those of the exchange too.
    ///
    /// # Errors
    /// If the player gives no chances, the nets do not fit the program, or the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        ensure!(
            self.a.players[0].advises(),
            "{} gives no advice",
            self.a.players[0]
        );
        let nets = Nets::built_in();
        let games = self
            .common
            .each(self.games, |number| self.game(&nets, number));
        let found = Calibration::from_games(&games);
        let mut out = stdout().lock();
        writeln!(
            out,
            "chance given    decisions  mean given %    won %  difference  standard error"
        )?;
        for (place, bin) in found.bins.iter().enumerate() {
            let (predicted, won) = (100.0 * bin.mean_predicted(), 100.0 * bin.win_rate());
            let (from, to) = (place * 10, place * 10 + 10);
            writeln!(
                out,
                "{from:>3} to {to:>3} %  {:>11}  {predicted:>12.2}  {won:>7.2}  {:>10.2}  {:>14.2}",
                bin.decisions,
                won - predicted,
                100.0 * bin.standard_error()
            )?;
        }
        writeln!(
            out,
            "its odds to the power of {:.3} would fit these games best",
            found.calibration_slope
        )?;
        Ok(())
    }

    /// The decisions of a game: the chance given to the chosen move, and whether the team won. None
    /// for an abandoned game. Team A is the first one in every other game; in two games of four,
    /// its players sit the other way round.
    fn game(&self, nets: &Nets, number: u32) -> Vec<(f64, bool)> {
        let rules = &self.common.rules;
        let advisor = &self.a.players[0];
        let teams = [&self.a, self.b.as_ref().unwrap_or(&self.a)];
        let mut players = teams.map(|team| team.players.each_ref().map(PlayerSpec::build));
        let first_stream = u64::from(number) * 8;
        let mut rngs = BySeat::from_fn(|seat| self.common.stream(first_stream + seat as u64));
        let mut predictions: Vec<(u8, f64)> = Vec::new();
        let mut game = set_up(rules, &mut self.common.stream(first_stream + 7));
        let mut watching = Watching::new(nets);
        let winner = play_out(&mut game, |game, seat| {
            watching.see(&game.seen_from(seat));
            let decision = SeatDecision::new(game, seat, watching.models);
            let SeatDecision { view, models, .. } = &decision;
            let team = seat.team(rules.seats);
            let side = usize::from(u32::from(team) != number % u32::from(rules.seats / 2));
            let place = usize::from(seat.number() >= rules.seats / 2) ^ (number / 2 % 2) as usize;
            let player = &teams[side].players[place];
            let choice = if player == advisor {
                let advice = player.advise(view, models, &mut rngs[seat]);
                let best = advice.first().expect("a seat that is to act has a choice");
                predictions.push((team, best.estimate.win_probability));
                best.choice
            } else {
                players[side][place].choose(&decision, &mut rngs[seat])
            };
            watching.see_choice(view, choice);
            choice.action(seat)
        });
        let Some(winner) = winner else {
            return Vec::new();
        };
        let predictions = predictions.into_iter();
        predictions
            .map(|(team, chance)| (chance, team == winner))
            .collect()
    }
}

/// Decisions whose chosen move had a chance in one tenth of 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    decisions: u64,
    /// The sum of the predicted chances.
    predicted: f64,
    /// The number of decisions whose team won.
    won: u64,
    /// The sum over games of the squared difference between wins and predictions.
    squares: f64,
}

impl Bin {
    /// The mean predicted chance.
    fn mean_predicted(&self) -> f64 {
        self.predicted / self.decisions.max(1) as f64
    }

    /// The share of decisions whose team won.
    fn win_rate(&self) -> f64 {
        self.won as f64 / self.decisions.max(1) as f64
    }

    /// The standard error of the difference of the two. All decisions of a game have the same
    /// result, so it is computed over games.
    fn standard_error(&self) -> f64 {
        self.squares.sqrt() / self.decisions.max(1) as f64
    }
}

/// How the predicted chances compare with the results.
#[derive(Clone, Debug, PartialEq)]
struct Calibration {
    /// Decisions by predicted chance, the lowest tenth first.
    bins: [Bin; 10],
    /// The factor for the predicted logits that fits the results best: 1 if the level is as sure as
    /// it should be, more if it is too modest.
    calibration_slope: f64,
}

impl Calibration {
    /// The calibration of these decisions: for each game, the predicted chances and whether they
    /// were won.
    fn from_games(games: &[Vec<(f64, bool)>]) -> Calibration {
        let mut bins = [Bin::default(); 10];
        for game in games {
            let mut beyond = [0.0; 10];
            for &(chance, won) in game {
                let place = ((chance * 10.0) as usize).min(9);
                bins[place].decisions += 1;
                bins[place].predicted += chance;
                bins[place].won += u64::from(won);
                beyond[place] += f64::from(u8::from(won)) - chance;
            }
            for (bin, beyond) in bins.iter_mut().zip(beyond) {
                bin.squares += beyond * beyond;
            }
        }
        let calibration_slope = calibration_slope(games.iter().flatten());
        Calibration {
            bins,
            calibration_slope,
        }
    }
}

/// The factor with the smallest cross entropy. The slope falls monotonically, so bisection finds
/// it.
fn calibration_slope<'a>(decisions: impl Iterator<Item = &'a (f64, bool)>) -> f64 {
    // A chance of 0 or 1 cannot be scaled.
    let inner: Vec<(f64, f64)> = decisions
        .filter(|(chance, _)| (1e-6..1.0 - 1e-6).contains(chance))
        .map(|&(chance, won)| ((chance / (1.0 - chance)).ln(), f64::from(u8::from(won))))
        .collect();
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        let slope: f64 = inner
            .iter()
            .map(|(odds, won)| (won - 1.0 / (1.0 + (-middle * odds).exp())) * odds)
            .sum();
        if slope > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use dog_rules::Preset;
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    use super::*;
    use crate::games::ThreadsArg;

    fn args(a: &str, b: Option<&str>) -> CalibrateArgs {
        CalibrateArgs {
            a: a.parse().unwrap(),
            b: b.map(|b| b.parse().unwrap()),
            games: 4,
            common: GamesArgs {
                rules: Preset::DogspielIt.rules(),
                seed: 1,
                threads: ThreadsArg::default(),
            },
        }
    }

    #[test]
    fn the_first_player_of_a_is_checked_wherever_it_sits() {
        let nets = Nets::built_in();
        let results = |args: CalibrateArgs, number| {
            let game = args.game(&nets, number).into_iter();
            game.map(|(_, won)| won).collect::<HashSet<bool>>()
        };
        for number in 0..4 {
            // Nobody else gives a chance, and this team always wins.
            let found = results(args("greedy+random", Some("random")), number);
            assert_eq!(found, HashSet::from([true]));
            // One in each team does.
            let found = results(args("greedy+random", None), number);
            assert_eq!(found, HashSet::from([true, false]));
        }
        let refused = args("net+greedy", None).run().expect_err("no chances");
        assert_eq!(refused.to_string(), "net gives no advice");
    }

    /// Decisions of a player that says `said(p)` where the chance is p.
    fn games(said: impl Fn(f64) -> f64) -> Vec<Vec<(f64, bool)>> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut decision = |_| {
            let chance: f64 = rng.random_range(0.0..1.0);
            (said(chance), rng.random_bool(chance))
        };
        (0..50_000).map(|game| vec![decision(game)]).collect()
    }

    #[test]
    fn true_chances_are_calibrated() {
        let found = Calibration::from_games(&games(|chance| chance));
        assert!(
            (found.calibration_slope - 1.0).abs() < 0.05,
            "{}",
            found.calibration_slope
        );
        for bin in found.bins {
            assert!((4_500..5_500).contains(&bin.decisions));
            let error = (bin.win_rate() - bin.mean_predicted()).abs();
            assert!(error < 4.0 * bin.standard_error(), "{error}");
            // As for 5,000 coins.
            assert!((0.002..0.0075).contains(&bin.standard_error()));
        }
    }

    #[test]
    fn modest_and_overconfident_chances_are_found() {
        // The level says the square root of the odds, or their square.
        let modest = |chance: f64| chance.sqrt() / (chance.sqrt() + (1.0 - chance).sqrt());
        let boastful = |chance: f64| chance.powi(2) / (chance.powi(2) + (1.0 - chance).powi(2));
        let found = Calibration::from_games(&games(modest)).calibration_slope;
        assert!((found - 2.0).abs() < 0.1, "{found}");
        let found = Calibration::from_games(&games(boastful)).calibration_slope;
        assert!((found - 0.5).abs() < 0.05, "{found}");
        // Certain predictions count in their tenths, but say nothing about the slope.
        let certain = Calibration::from_games(&[vec![(0.0, false), (1.0, true), (1.0, false)]]);
        assert_eq!(certain.bins[0].decisions, 1);
        assert_eq!((certain.bins[9].decisions, certain.bins[9].won), (2, 1));
    }

    /// A game has a single result, however many decisions it has.
    #[test]
    fn decisions_of_a_game_are_not_independent() {
        let one = games(|chance| chance);
        let many: Vec<_> = one.iter().map(|game| [game[0]; 7].to_vec()).collect();
        let (one, many) = (
            Calibration::from_games(&one),
            Calibration::from_games(&many),
        );
        for (one, many) in one.bins.iter().zip(many.bins) {
            assert_eq!(7 * one.decisions, many.decisions);
            assert!((one.standard_error() - many.standard_error()).abs() < 1e-9);
        }
    }
}
