//! `dog-lab reasons`: how often advice gives each reason, for its best suggestion and for a choice at
//! random.

use std::io::{Write, stdout};

use clap::Args;
use dog_bot::{
    Choice, Level, Suggestion, advise, choose, net::nets::Nets, reasons::AdviceReasonCode,
    search::Budget,
};
use dog_rules::{Board, Card, SeatView};
use rand::{Rng, RngExt, seq::IndexedRandom};

use super::{described, tables};
use crate::games::{ThreadsArg, Watching, each_game, play_out, set_up, stream};

/// Games that are played at a time, until there are enough decisions. Any number of threads plays
/// the same ones.
const GAMES: u32 = 8;

/// The playouts per decision of the games.
const SAMPLES: u32 = 40;

#[derive(Debug, Args)]
pub struct ReasonsArgs {
    /// Decisions of games of fast that lead to at least two boards, under all presets with four and
    /// six seats.
    #[arg(long, default_value_t = 1000)]
    decisions: usize,
    /// Playouts of the advice. The games are played with 40.
    #[arg(long, default_value_t = SAMPLES)]
    samples: u32,
    /// Ask at one decision in this many, chosen at random.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Print the decisions whose best suggestion has this as its first reason.
    #[arg(long, value_name = "CODE", value_parser = code)]
    show: Option<AdviceReasonCode>,
    /// The seed of the games and of all playouts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
}

fn code(name: &str) -> Result<AdviceReasonCode, String> {
    let names = AdviceReasonCode::ALL.map(AdviceReasonCode::name).join(", ");
    AdviceReasonCode::by_name(name).ok_or_else(|| format!("the codes are {names}"))
}

/// The reasons given at a decision, the most important first.
#[derive(Debug, PartialEq)]
struct GivenReasons {
    best: Vec<AdviceReasonCode>,
    random: Vec<AdviceReasonCode>,
    /// The decision, to be printed.
    text: String,
}

impl ReasonsArgs {
    /// Plays games and prints a table, one line for each code.
    ///
    /// # Errors
    /// If the nets do not fit the program, or the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        let given = self.given(&Nets::built_in());
        let mut out = stdout().lock();
        let is_shown = |given: &&GivenReasons| given.best.first().copied() == self.show;
        for given in given.iter().filter(is_shown) {
            writeln!(out, "{}", given.text)?;
        }
        writeln!(
            out,
            "best %  first %  random choice %  code ({} decisions)",
            given.len()
        )?;
        let percent = |holds: &dyn Fn(&GivenReasons) -> bool| {
            let number = given.iter().filter(|given| holds(given)).count();
            100.0 * number as f64 / given.len().max(1) as f64
        };
        for code in AdviceReasonCode::ALL {
            writeln!(
                out,
                "{:>6.1}  {:>7.1}  {:>15.1}  {}",
                percent(&|given| given.best.contains(&code)),
                percent(&|given| given.best[0] == code),
                percent(&|given| given.random.contains(&code)),
                code.name()
            )?;
        }
        Ok(())
    }

    fn given(&self, nets: &Nets) -> Vec<GivenReasons> {
        let threads = self.threads.number().get();
        let (mut given, mut first) = (Vec::new(), 0);
        while given.len() < self.decisions {
            let games = each_game(
                GAMES,
                threads,
                || (),
                |(), number| self.game(nets, first + number),
            );
            given.extend(games.into_iter().flatten());
            first += GAMES;
        }
        given.truncate(self.decisions);
        given
    }

    /// The reasons at some decisions of a game.
    fn game(&self, nets: &Nets, number: u32) -> Vec<GivenReasons> {
        let tables = tables();
        let rules = &tables[number as usize % tables.len()];
        let [mut shuffle, mut rng] =
            [0, 1].map(|part| stream(self.seed, 2 * u64::from(number) + part));
        let [played, advised] = [SAMPLES, self.samples].map(|number| Some(Budget::Samples(number)));
        let mut watching = Watching::new(nets);
        let mut given = Vec::new();
        let mut game = set_up(rules, &mut shuffle);
        play_out(&mut game, |game, seat| {
            let view = game.seen_from(seat);
            watching.see(&view);
            let (level, models) = (Level::Fast, watching.models);
            let choice = if rng.random_range(0..self.every) == 0 {
                let advice = advise(nets, level, advised, &view, &models, &|| true, &mut rng);
                given.extend(given_reasons(&view, &advice, &mut rng));
                advice[0].choice
            } else {
                choose(nets, level, played, &view, &models, &mut rng)
            };
            watching.see_choice(&view, choice);
            choice.action(seat)
        });
        given
    }
}

/// The reasons at a decision; none if it leads to less than two boards.
fn given_reasons(
    view: &SeatView,
    advice: &[Suggestion],
    rng: &mut impl Rng,
) -> Option<GivenReasons> {
    let board = |suggestion: &Suggestion| -> Option<Board> { Some(suggestion.outcome?.board) };
    let first = board(&advice[0])?;
    advice.iter().find(|other| board(other) != Some(first))?;
    // A card, then a way to play it. The last of a long list are not explained.
    let explained = || advice.iter().filter(|other| !other.reasons.is_empty());
    let mut cards: Vec<Card> = explained().filter_map(card).collect();
    cards.sort();
    cards.dedup();
    let chosen = cards.choose(rng).copied();
    let ways: Vec<&Suggestion> = explained().filter(|&other| card(other) == chosen).collect();
    let codes = |suggestion: &Suggestion| {
        let reasons = suggestion.reasons.iter();
        reasons.map(|reason| reason.code).collect()
    };
    Some(GivenReasons {
        best: codes(&advice[0]),
        random: codes(ways.choose(rng)?),
        text: text(view, advice),
    })
}

fn card(suggestion: &Suggestion) -> Option<Card> {
    match suggestion.choice {
        Choice::Play(mv) => mv.card(),
        _ => None,
    }
}

/// A decision, with the first two suggestions.
fn text(view: &SeatView, advice: &[Suggestion]) -> String {
    let mut text = described(view);
    for suggestion in advice.iter().take(2) {
        if let Choice::Play(mv) = suggestion.choice {
            text += &format!(", {mv} {:.3}", suggestion.estimate.win_probability);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct ReasonsCli {
        #[command(flatten)]
        reasons: ReasonsArgs,
    }

    #[test]
    fn reasons_of_a_game_are_given_and_repeatable() {
        let nets = Nets::built_in();
        let arguments = ["reasons", "--samples", "4", "--every", "8"];
        let args = ReasonsCli::parse_from(arguments).reasons;
        let one = args.game(&nets, 3);
        assert!(one.len() > 5, "{}", one.len());
        for given in &one {
            assert!(!given.best.is_empty() && !given.random.is_empty());
            // There are two boards.
            let is_only = given.best.contains(&AdviceReasonCode::OnlyMove);
            assert!(!is_only, "{}", given.text);
        }
        assert_eq!(one, args.game(&nets, 3));
        assert!(code("no_better").is_ok() && code("better").is_err());
    }
}
