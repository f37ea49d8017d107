//! `dog-lab facts`: facts of the game under each sheet, with four seats and with six, or under other
//! rules, as tables in Markdown.

use std::io::{Write, stdout};

use clap::Args;
use dog_rules::{Card, Rules};

use super::tables;
use crate::{
    arena::{Interval, Z},
    facts::{Facts, PlayedGame, Share, luck},
    games::{ThreadsArg, each_game, stream},
    player::PlayerSpec,
};

/// Games that are played before they are counted and forgotten.
const BLOCK: u32 = 256;

#[derive(Debug, Args)]
pub struct FactsArgs {
    /// The player at all seats (see docs/arena.md).
    #[arg(long, default_value = "net")]
    player: PlayerSpec,
    /// A preset and options, such as "hausregeln seats=6". May be given several times; all presets
    /// with four seats and with six if left out.
    #[arg(long)]
    rules: Vec<Rules>,
    /// Games under each of the rules.
    #[arg(long, default_value_t = 10_000)]
    games: u32,
    /// The player that shows the share of luck. It has to leave something to chance: games of a
    /// player such as `net` depend on the cards alone.
    #[arg(long, default_value = "fast:samples=2")]
    luck_player: PlayerSpec,
    /// Shuffles that it plays twice each.
    #[arg(long, default_value_t = 1_000)]
    shuffles: u32,
    /// The seed of the cards and of the players' random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
}

impl FactsArgs {
    /// Plays games and prints two tables: one line for each set of rules, then one for each card.
    ///
    /// # Errors
    /// If the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        let mut out = stdout().lock();
        writeln!(
            out,
            "| rules | rounds: median | 90% | turns: median | 90% | won by who begins, % | luck, % \
             | no way out, %: dealt | after the exchange |\n{}",
            "|---".repeat(9) + "|"
        )?;
        let mut worths = Vec::new();
        let tables = match self.rules[..] {
            [] => tables(),
            _ => self.rules.clone(),
        };
        for rules in &tables {
            let facts = self.facts(rules);
            writeln!(out, "{}", row(rules, &facts, self.luck(rules)))?;
            worths.push(facts.worth.worths());
        }
        let names: Vec<String> = tables.iter().map(Rules::to_string).collect();
        writeln!(out, "\n| card | {} |", names.join(" | "))?;
        writeln!(out, "{}|", "|---".repeat(1 + names.len()))?;
        for card in Card::ALL {
            // Adding 0 makes a zero positive.
            let points = |share: f64| (1_000.0 * share).round() / 10.0 + 0.0;
            let worths = worths.iter().map(|worths| worths[card as usize]);
            let cells: Vec<String> = worths
                .map(|(worth, error)| format!("{:.1} ± {:.1}", points(worth), points(Z * error)))
                .collect();
            writeln!(out, "| {card} | {} |", cells.join(" | "))?;
        }
        Ok(())
    }

    /// What the games of `player` show.
    fn facts(&self, rules: &Rules) -> Facts {
        let mut facts = Facts::new(rules);
        let add = |number, [game]: [_; 1]| facts.add(number, &game);
        self.each(rules, &self.player, self.games, add);
        facts
    }

    /// The share of luck in pairs of games of `luck_player` with the same shuffle.
    fn luck(&self, rules: &Rules) -> Share {
        let mut same = [0; 2];
        let add = |_, [one, other]: [PlayedGame; 2]| {
            same[usize::from(one.winner == other.winner)] += 1;
        };
        self.each(rules, &self.luck_player, self.shuffles, add);
        luck(same, rules.seats / 2)
    }

    /// Plays each shuffle N times, with other random choices of the player, and gives `add` its
    /// number and its games, in order. A shuffle with an abandoned game is left out.
    fn each<const N: usize>(
        &self,
        rules: &Rules,
        player: &PlayerSpec,
        shuffles: u32,
        mut add: impl FnMut(u32, [PlayedGame; N]),
    ) {
        let threads = self.threads.number().get();
        for first in (0..shuffles).step_by(BLOCK as usize) {
            let block = BLOCK.min(shuffles - first);
            let begin = || player.build();
            let played = each_game(block, threads, begin, |policy, number| {
                let shuffle = 3 * u64::from(first + number);
                let games = (1..=N as u64).filter_map(|part| {
                    let streams = [shuffle, shuffle + part].map(|number| stream(self.seed, number));
                    PlayedGame::play(rules, player, policy.as_mut(), streams)
                });
                games.collect::<Vec<_>>().try_into().ok()
            });
            for (number, games) in (first..).zip(played) {
                if let Some(games) = games {
                    add(number, games);
                }
            }
        }
    }
}

/// A line of the first table.
fn row(rules: &Rules, facts: &Facts, luck: Share) -> String {
    let mut cells = vec![rules.to_string()];
    for counts in [&facts.rounds, &facts.turns] {
        let found = [0.5, 0.9].map(|share| counts.quantile(share).unwrap_or_default());
        cells.extend(found.map(|(value, [low, high])| format!("{value} ({low}–{high})")));
    }
    cells.extend([facts.beginner(), luck].map(percent));
    cells.push(format!("{:.1}", 100.0 * facts.stuck_when_dealt()));
    cells.push(percent(facts.stuck_when_exchanged()));
    format!("| {} |", cells.join(" | "))
}

/// A share and its interval in percent.
fn percent((share, Interval { low, high }): Share) -> String {
    let [share, low, high] = [share, low, high].map(|share| 100.0 * share);
    format!("{share:.1} ({low:.1}–{high:.1})")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct FactsCli {
        #[command(flatten)]
        facts: FactsArgs,
    }

    fn args(arguments: &str) -> FactsArgs {
        FactsCli::parse_from(["facts"].into_iter().chain(arguments.split(' '))).facts
    }

    #[test]
    fn facts_are_the_same_on_any_number_of_threads() {
        let rules: Rules = "hausregeln seats=6".parse().unwrap();
        let found = |arguments: &str| {
            let args = args(&format!("--games 12 --player greedy {arguments}"));
            let facts = args.facts(&rules);
            let luck = args.luck(&rules);
            (
                row(&rules, &facts, luck),
                facts.worth.worths().map(|(worth, _)| worth),
            )
        };
        let played = "--luck-player greedy --shuffles 20";
        let one = found(&format!("{played} --threads 1"));
        assert!(one.1.iter().all(|worth| worth.is_finite()), "{one:?}");
        assert_eq!(one, found(&format!("{played} --threads 3")));
        assert_ne!(one, found(&format!("{played} --seed 2")));
    }

    #[test]
    fn a_player_that_leaves_nothing_to_chance_shows_that_the_shuffle_decides() {
        let rules: Rules = "dogspiel-it".parse().unwrap();
        let luck = |player| args(&format!("--luck-player {player} --shuffles 6")).luck(&rules);
        assert_eq!(luck("net").0, 1.0);
        assert!(luck("random").0 < 1.0);
    }
}
