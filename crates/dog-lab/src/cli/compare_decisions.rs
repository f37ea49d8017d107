//! `dog-lab compare-decisions`: the value of players' choices, measured by a longer search.
//!
//! A match tells players of similar strength apart only after thousands of games, since both decide
//! most positions alike. Here they are asked at the same decisions of the same games, with the same
//! random numbers. Where they choose differently, all their choices are compared in many playouts, with the
//! same deals.

use std::{
    io::{Write, stdout},
    time::{Duration, Instant},
};

use clap::Args;
use dog_bot::{
    Choice,
    player_model::PlayerModels,
    search::{Budget, Candidate, CandidateStats, Searcher},
};
use dog_rules::{Generator, Move, SeatView};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::{
    arena::mean_and_error,
    games::{GamesArgs, play_out, set_up},
    player::{PlayerSpec, Policy},
};

#[derive(Debug, Args)]
pub struct CompareDecisionsArgs {
    /// The players to ask; the others are compared with the first.
    #[arg(required = true, num_args = 2..)]
    players: Vec<PlayerSpec>,
    /// The player at all seats of the games.
    #[arg(long, default_value = "net")]
    playing: PlayerSpec,
    /// The player that judges by a longer search; it must be one that searches.
    #[arg(long, default_value = "strong:samples=1000")]
    judging: PlayerSpec,
    /// Games to play.
    #[arg(long, default_value_t = 100)]
    games: u32,
    /// Ask at one decision in this many, chosen at random.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    #[command(flatten)]
    of: GamesArgs,
}

/// The value of one player's choices, compared with the first player's.
#[derive(Clone, Debug, Default, PartialEq)]
struct Gains {
    /// The number of decisions in which it chose differently.
    different: u32,
    /// For each game, what its choices add to the chance of winning, 0 to 1 each, summed over the
    /// decisions asked.
    gains: Vec<f64>,
    /// Its total time.
    time: Duration,
}

/// The number of decisions asked, and the value of each player's choices.
#[derive(Clone, Debug, Default, PartialEq)]
struct DecisionsReport {
    decisions: u32,
    players: Vec<Gains>,
}

/// A player's answer at one decision.
struct ChoiceGain {
    different: bool,
    gain: f64,
    time: Duration,
}

impl CompareDecisionsArgs {
    /// Plays the games and prints a table, one line for each player.
    ///
    /// # Errors
    /// If the judge does not search, or the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        if self.judging.searcher().is_none() {
            anyhow::bail!("{} does not search", self.judging);
        }
        let found = self.ask();
        let mut out = stdout().lock();
        writeln!(
            out,
            "different %  points a game  standard error  ms a decision  player ({} decisions)",
            found.decisions
        )?;
        // Each team makes its share of all decisions.
        let teams = f64::from(self.of.rules.seats / 2);
        let points = 100.0 * f64::from(self.every) / teams;
        let decisions = f64::from(found.decisions.max(1));
        for (player, gains) in self.players.iter().zip(&found.players) {
            let different = 100.0 * f64::from(gains.different) / decisions;
            let (mean, error) = mean_and_error(&gains.gains);
            let (mean, error) = (points * mean, points * error);
            let millis = 1e3 * gains.time.as_secs_f64() / decisions;
            writeln!(
                out,
                "{different:>11.1}  {mean:>13.2}  {error:>14.2}  {millis:>13.1}  {player}"
            )?;
        }
        Ok(())
    }

    /// Plays the games and asks. If no player uses the clock, everything but the times is the same
    /// on every machine.
    ///
    /// # Panics
    /// If the judge does not search.
    fn ask(&self) -> DecisionsReport {
        let games = self.of.each(self.games, |number| self.game(number));
        let mut found = DecisionsReport {
            players: vec![Gains::default(); self.players.len()],
            ..DecisionsReport::default()
        };
        for decisions in games {
            found.decisions += decisions.len() as u32;
            for (place, player) in found.players.iter_mut().enumerate() {
                let mut gained = 0.0;
                for answers in &decisions {
                    let answer = &answers[place];
                    player.different += u32::from(answer.different);
                    player.time += answer.time;
                    gained += answer.gain;
                }
                player.gains.push(gained);
            }
        }
        found
    }

    /// Plays one game and asks at some of its decisions. Returns the answers of all players at
    /// each.
    fn game(&self, number: u32) -> Vec<Vec<ChoiceGain>> {
        let [mut shuffle, mut playing, mut when, mut rng] =
            [0, 1, 2, 3].map(|stream| self.of.stream(u64::from(number) * 4 + stream));
        let mut player = self.playing.build();
        let mut asked: Vec<_> = self.players.iter().map(PlayerSpec::build).collect();
        let judging = self.judging.searcher();
        let (mut searcher, budget) = judging.expect("the judge searches");
        let mut decisions = Vec::new();
        let mut game = set_up(&self.of.rules, &mut shuffle);
        play_out(&mut game, |game, seat| {
            let view = game.seen_from(seat);
            if when.random_range(0..self.every) == 0 {
                let answers = decision(&view, &mut asked, &mut searcher, budget, &mut rng);
                decisions.push(answers);
            }
            player
                .choose(&view, &PlayerModels::default(), &mut playing)
                .action(seat)
        });
        decisions
    }
}

/// Asks every player, and compares their choices if they differ.
fn decision(
    view: &SeatView,
    asked: &mut [Box<dyn Policy>],
    searcher: &mut Searcher,
    budget: Budget,
    rng: &mut ChaCha8Rng,
) -> Vec<ChoiceGain> {
    // The same random numbers for all, so that equal players choose alike.
    let seed = rng.random();
    let chosen: Vec<(Candidate, Duration)> = asked
        .iter_mut()
        .map(|player| {
            let begin = Instant::now();
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let choice = player.choose(view, &PlayerModels::default(), rng);
            let time = begin.elapsed();
            (candidate(view, choice), time)
        })
        .collect();
    let (first, _) = chosen[0];
    let mut searched = Vec::new();
    if chosen.iter().any(|&(candidate, _)| candidate != first) {
        searched = searcher.think_of(view, budget, rng, |candidate| {
            chosen.iter().any(|(chosen, _)| chosen == candidate)
        });
    }
    chosen
        .into_iter()
        .map(|(candidate, time)| {
            let different = candidate != first;
            let gain = if different {
                win_probability(&searched, candidate) - win_probability(&searched, first)
            } else {
                0.0
            };
            ChoiceGain {
                different,
                gain,
                time,
            }
        })
        .collect()
}

/// The chance of a candidate by its playouts alone.
fn win_probability(searched: &[CandidateStats], candidate: Candidate) -> f64 {
    searched
        .iter()
        .find(|stats| stats.candidate == candidate)
        .expect("the choice was searched")
        .win_probability(0.0)
}

/// A choice as the search sees it.
fn candidate(view: &SeatView, choice: Choice) -> Candidate {
    let mv = match choice {
        Choice::Play(Move::Fold) => return Candidate::Fold,
        Choice::Play(mv) => mv,
        answer => return Candidate::Answer(answer),
    };
    let legal = Generator::new().legal_moves(view.rules, &view.board, view.seat, view.hand);
    let found = legal.into_iter().find(|legal| legal.mv == mv);
    let card = mv.card().expect("a card that is played");
    Candidate::Play(card, found.expect("a legal move").outcome.board)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CompareCli {
        #[command(flatten)]
        compare: CompareDecisionsArgs,
    }

    fn asked(players: &[&str], judging: &str, games: u32, threads: usize) -> DecisionsReport {
        let options = format!(
            "--rules hausregeln --playing greedy --judging {judging} --games {games} --every 12 --threads {threads}"
        );
        let players = players.iter().copied();
        let arguments = ["compare-decisions"].into_iter().chain(options.split(' '));
        CompareCli::parse_from(arguments.chain(players))
            .compare
            .ask()
    }

    /// Everything but the times, which depend on the machine.
    fn without_times(found: &DecisionsReport) -> (u32, Vec<(u32, Vec<f64>)>) {
        let gains = |player: &Gains| (player.different, player.gains.clone());
        (found.decisions, found.players.iter().map(gains).collect())
    }

    #[test]
    fn random_choices_lose_value() {
        let found = asked(&["net", "random", "net"], "fast:samples=16", 8, 2);
        assert!(found.decisions > 50, "{}", found.decisions);
        let [first, random, again] = &found.players[..] else {
            panic!("{found:?}");
        };
        assert_eq!((first.different, again.different), (0, 0));
        assert!(
            first
                .gains
                .iter()
                .chain(&again.gains)
                .all(|&gain| gain == 0.0)
        );
        assert!(random.different > found.decisions / 4, "{random:?}");
        assert_eq!(random.gains.len(), 8);
        let (mean, error) = mean_and_error(&random.gains);
        assert!(mean < -2.0 * error, "{mean}, {error}");
    }

    /// The result depends neither on the threads nor on the other players asked.
    #[test]
    fn the_same_seed_finds_the_same() {
        let judging = "fast:samples=4";
        let one = asked(&["net", "random"], judging, 3, 1);
        assert_eq!(
            without_times(&one),
            without_times(&asked(&["net", "random"], judging, 3, 3))
        );
        let turned = asked(&["random", "net"], judging, 3, 1);
        assert_eq!(one.players[1].different, turned.players[1].different);
        let opposite = |gain: &f64| 0.0 - gain;
        let gains: Vec<f64> = turned.players[1].gains.iter().map(opposite).collect();
        let close = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-9;
        assert!(one.players[1].gains.iter().zip(&gains).all(close));
    }
}
