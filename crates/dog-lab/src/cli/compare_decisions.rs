//! `dog-lab compare-decisions`: the value of players' choices, measured by a longer search.
//!
//! A match tells players of similar strength apart only after thousands of games, since both decide
//! most positions alike. Here they are asked at the same decisions of the same games, with the same
//! random numbers. Where they choose differently, all their choices are compared in many playouts,
//! with the same deals.

use std::{
    collections::BTreeSet,
    io::{Write, stdout},
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use dog_bot::{
    Choice,
    player_model::PlayerModels,
    search::{Budget, Candidate, CandidateStats, Searcher},
};
use dog_rules::{Generator, SeatView};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::{
    arena::mean_and_error,
    games::{GamesArgs, play_out, set_up},
    player::{PlayerSpec, Policy, SeatDecision},
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
    /// Print also what each group of decisions adds. May be given several times.
    #[arg(long)]
    by: Vec<Grouping>,
    #[command(flatten)]
    common: GamesArgs,
}

/// By what decisions are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Grouping {
    /// The exchange; else how far the pieces are that the seat moves, its partner's once its own
    /// are home: none on the track, two or more in the goal, or neither.
    Phase,
    /// What the first player plays.
    Card,
    /// The number of different choices.
    Choices,
}

/// The value of one player's choices, compared with the first player's.
#[derive(Clone, Debug, Default, PartialEq)]
struct Gains {
    /// The number of decisions in which it chose differently.
    different: u32,
    /// The number of those in which its choice was worse by two standard errors.
    clearly_worse: u32,
    /// What those choices lose, summed.
    lost: f64,
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

impl DecisionsReport {
    /// What these players answered in some games, at the decisions that are included.
    fn new(
        players: usize,
        games: &[Vec<AskedDecision>],
        included: impl Fn(&AskedDecision) -> bool,
    ) -> DecisionsReport {
        let mut found = DecisionsReport {
            decisions: 0,
            players: vec![Gains::default(); players],
        };
        for game in games {
            let asked: Vec<_> = game.iter().filter(|asked| included(asked)).collect();
            found.decisions += asked.len() as u32;
            for (place, player) in found.players.iter_mut().enumerate() {
                let mut gained = 0.0;
                for answer in asked.iter().map(|asked| &asked.answers[place]) {
                    player.different += u32::from(answer.different);
                    if answer.clearly_worse {
                        player.clearly_worse += 1;
                        player.lost -= answer.gain;
                    }
                    player.time += answer.time;
                    gained += answer.gain;
                }
                player.gains.push(gained);
            }
        }
        found
    }
}

/// The answers of all players at one decision.
struct AskedDecision {
    phase: &'static str,
    card: String,
    choices: &'static str,
    answers: Vec<ChoiceGain>,
}

impl AskedDecision {
    fn group(&self, grouping: Grouping) -> &str {
        match grouping {
            Grouping::Phase => self.phase,
            Grouping::Card => &self.card,
            Grouping::Choices => self.choices,
        }
    }
}

/// A player's answer at one decision.
struct ChoiceGain {
    different: bool,
    clearly_worse: bool,
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
        let games = self.ask();
        self.print("", &games, |_| true)?;
        for &grouping in &self.by {
            let asked = games.iter().flatten();
            let groups: BTreeSet<&str> = asked.map(|asked| asked.group(grouping)).collect();
            for group in groups {
                self.print(group, &games, |asked| asked.group(grouping) == group)?;
            }
        }
        Ok(())
    }

    /// Prints the table of a group, or of all decisions if it has no name.
    fn print(
        &self,
        group: &str,
        games: &[Vec<AskedDecision>],
        included: impl Fn(&AskedDecision) -> bool,
    ) -> anyhow::Result<()> {
        let found = DecisionsReport::new(self.players.len(), games, included);
        let mut out = stdout().lock();
        let heading = if group.is_empty() {
            String::new()
        } else {
            format!("{group}: ")
        };
        writeln!(
            out,
            "different %  clearly worse %  points lost by those  points a game  standard error  \
             ms a decision  player ({heading}{} decisions)",
            found.decisions
        )?;
        // Each team makes its share of all decisions.
        let teams = f64::from(self.common.rules.seats / 2);
        let points = 100.0 * f64::from(self.every) / teams;
        let decisions = f64::from(found.decisions.max(1));
        for (player, gains) in self.players.iter().zip(&found.players) {
            let different = 100.0 * f64::from(gains.different) / decisions;
            let worse = 100.0 * f64::from(gains.clearly_worse) / decisions;
            let lost = 100.0 * gains.lost / f64::from(gains.clearly_worse.max(1));
            let (mean, error) = mean_and_error(&gains.gains);
            let (mean, error) = (points * mean, points * error);
            let millis = 1e3 * gains.time.as_secs_f64() / decisions;
            writeln!(
                out,
                "{different:>11.1}  {worse:>15.1}  {lost:>20.2}  {mean:>13.2}  {error:>14.2}  {millis:>13.1}  {player}"
            )?;
        }
        Ok(())
    }

    /// Plays the games and asks. If no player uses the clock, everything but the times is the same
    /// on every machine.
    ///
    /// # Panics
    /// If the judge does not search.
    fn ask(&self) -> Vec<Vec<AskedDecision>> {
        self.common.each(self.games, |number| self.game(number))
    }

    /// Plays one game and asks at some of its decisions. Returns the answers of all players at
    /// each.
    fn game(&self, number: u32) -> Vec<AskedDecision> {
        let [mut shuffle, mut playing, mut when, mut rng] =
            [0, 1, 2, 3].map(|stream| self.common.stream(u64::from(number) * 4 + stream));
        let mut player = self.playing.build();
        let mut asked: Vec<_> = self.players.iter().map(PlayerSpec::build).collect();
        let judging = self.judging.searcher();
        let (mut searcher, budget) = judging.expect("the judge searches");
        let mut decisions = Vec::new();
        let mut game = set_up(&self.common.rules, &mut shuffle);
        play_out(&mut game, |game, seat| {
            let decision = SeatDecision::new(game, seat, PlayerModels::default());
            if when.random_range(0..self.every) == 0 {
                let answers = ask(&decision, &mut asked, &mut searcher, budget, &mut rng);
                decisions.push(answers);
            }
            player.choose(&decision, &mut playing).action(seat)
        });
        decisions
    }
}

/// Asks every player, and compares their choices if they differ.
fn ask(
    decision: &SeatDecision,
    asked: &mut [Box<dyn Policy>],
    searcher: &mut Searcher,
    budget: Budget,
    rng: &mut ChaCha8Rng,
) -> AskedDecision {
    let view = &decision.view;
    // The same random numbers for all, so that equal players choose alike.
    let seed = rng.random();
    let chosen: Vec<(Candidate, Duration)> = asked
        .iter_mut()
        .map(|player| {
            let started = Instant::now();
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let choice = player.choose(decision, rng);
            let time = started.elapsed();
            let candidate = Candidate::from_choice(view, choice);
            (candidate.expect("a legal choice"), time)
        })
        .collect();
    let (first, _) = chosen[0];
    let mut searched = Vec::new();
    if chosen.iter().any(|&(candidate, _)| candidate != first) {
        let chosen = chosen.iter().map(|&(candidate, _)| Some(candidate));
        let chosen: Vec<Option<Candidate>> = chosen.collect();
        searched = searcher.compare(view, &chosen, budget, rng);
    }
    let answers = chosen.into_iter().map(|(candidate, time)| {
        let different = candidate != first;
        let (gain, clearly_worse) = if different {
            compared(&searched, candidate, first)
        } else {
            (0.0, false)
        };
        ChoiceGain {
            different,
            clearly_worse,
            gain,
            time,
        }
    });
    AskedDecision {
        phase: phase(view),
        card: match first {
            Candidate::Play(card, _) => card.to_string(),
            Candidate::Answer(_) => "exchange".to_owned(),
            Candidate::Fold => "fold".to_owned(),
        },
        choices: choices(view),
        answers: answers.collect(),
    }
}

/// The group of a decision by [`Grouping::Phase`].
fn phase(view: &SeatView) -> &'static str {
    let (own, partner) = (view.seat, view.seat.partner(view.rules.seats));
    let is_home = view.board.pieces(own).in_goal() == 4;
    let moved = if is_home { partner } else { own };
    let in_goal = view.board.pieces(moved).in_goal();
    if view.exchanging {
        "exchange"
    } else if in_goal >= 2 {
        "home"
    } else if view.board.track(moved) == 0 {
        "leaving"
    } else {
        "middle"
    }
}

/// The group of a decision by [`Grouping::Choices`].
fn choices(view: &SeatView) -> &'static str {
    let number = if view.exchanging {
        Choice::answers(view).len()
    } else {
        let mut generator = Generator::new();
        let mut boards = Vec::new();
        let count = |card| {
            generator.boards_of_card(view.rules, &view.board, view.seat, card, &mut boards);
            boards.len()
        };
        view.hand.ranks().map(count).sum()
    };
    match number {
        0..=1 => "1 choice",
        2..=3 => "2 to 3",
        4..=7 => "4 to 7",
        8..=15 => "8 to 15",
        _ => "16 or more",
    }
}

/// How much more chance a candidate has than another by their playouts, 0 to 1, and whether it has
/// less by two standard errors.
fn compared(searched: &[CandidateStats], candidate: Candidate, other: Candidate) -> (f64, bool) {
    let [candidate, other] = [candidate, other].map(|one| {
        let mut stats = searched.iter();
        let found = stats.find(|stats| stats.candidate == one);
        found.expect("the choice was searched")
    });
    let gain = candidate.rank_value(0.0) - other.rank_value(0.0);
    let worse = candidate.difference(other);
    (gain, worse.is_some_and(|(mean, error)| mean > 2.0 * error))
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
        let arguments = CompareCli::parse_from(arguments.chain(players.clone())).compare;
        DecisionsReport::new(players.count(), &arguments.ask(), |_| true)
    }

    /// Everything but the times, which depend on the machine.
    fn without_times(found: &DecisionsReport) -> (u32, Vec<(u32, u32, Vec<f64>)>) {
        let gains = |player: &Gains| (player.different, player.clearly_worse, player.gains.clone());
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
        assert!(random.clearly_worse > random.different / 8, "{random:?}");
        assert!(random.clearly_worse < random.different, "{random:?}");
        assert!(random.lost > 0.0, "{random:?}");
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
