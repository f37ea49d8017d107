//! The command line.

mod arena;
mod calibrate;
mod compare_decisions;
mod ends;
mod facts;
mod latency;
mod puzzles;
mod reasons;
mod review;
mod train;

use clap::Parser;
use dog_bot::Level;
use dog_rules::{Card, Cards, Preset, Rules, Seat, SeatView, position::PositionText};

/// Experiments with players of DOG: matches, training, advice, latency.
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
    /// Check advice near the end of a game against a search of all plays, and many playouts.
    Ends(ends::EndsArgs),
    /// Measure facts of the game: length, luck, who begins, the worth of cards.
    Facts(facts::FactsArgs),
    /// Find puzzles: positions in which one choice is better than every other.
    Puzzles(puzzles::PuzzlesArgs),
    /// Count how often advice gives each reason.
    Reasons(reasons::ReasonsArgs),
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
            Subcommand::Ends(ends) => ends.run(),
            Subcommand::Facts(facts) => facts.run(),
            Subcommand::Puzzles(puzzles) => puzzles.run(),
            Subcommand::Reasons(reasons) => reasons.run(),
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

/// All presets, with four seats and with six.
fn tables() -> Vec<Rules> {
    let rules = |(preset, seats): (Preset, u8)| {
        let text = format!("{} seats={seats}", preset.name());
        text.parse().expect("a possible set of rules")
    };
    let four = Preset::ALL.map(|preset| (preset, 4));
    let six = Preset::ALL.map(|preset| (preset, 6));
    four.into_iter().chain(six).map(rules).collect()
}

/// A decision: the rules, the seat, its hand, the board, and the other hands that it knows.
fn described(view: &SeatView) -> String {
    let SeatView { rules, board, .. } = view;
    let names = |cards: Cards| {
        let names: Vec<&str> = cards.sorted().map(Card::name).collect();
        names.join(" ")
    };
    let position = PositionText { rules, board };
    let mut text = format!(
        "{rules}: {} with {} on {position}",
        view.seat,
        names(view.hand)
    );
    for seat in Seat::all(rules.seats).filter(|&seat| !view.known[seat].is_empty()) {
        text += &format!(", {seat} with {}", names(view.known[seat]));
    }
    text
}
