//! `dog perft`: counts sequences of moves, to check and to time the move generator.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context, ensure};
use clap::Args;
use dog_rules::perft::{OpenPosition, PerftCase, divide, perft, read};

use super::print;

/// The longest possible round: each move takes at least one card, and the largest deck has 116.
const MAX_MOVES: i64 = 116;

#[derive(Debug, Args)]
pub struct PerftArgs {
    /// Files of positions with the counts they should have; docs/perft.md describes them.
    #[arg(required_unless_present = "hands")]
    files: Vec<PathBuf>,
    /// Count all depths up to this one, in place of those in the files.
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "files",
        value_parser = clap::value_parser!(u32).range(1..=MAX_MOVES)
    )]
    depth: Option<u32>,
    /// Show the count below each first move, too.
    #[arg(long)]
    divide: bool,
    /// A position given here: the preset, and options such as seats=6.
    #[arg(long, default_value = "dogspiel-it", conflicts_with = "files")]
    rules: String,
    /// Its pieces seat by seat, such as "10 15 g2 / 16f / - / -"; - for all in their kennels.
    #[arg(
        long,
        default_value = "-",
        allow_hyphen_values = true,
        conflicts_with = "files"
    )]
    board: String,
    /// Its hands seat by seat, such as "A 7 joker / 2 3 / - / K".
    #[arg(long, allow_hyphen_values = true, conflicts_with = "files")]
    hands: Option<String>,
    /// The seat to move.
    #[arg(long, default_value = "0", conflicts_with = "files")]
    turn: String,
}

impl PerftArgs {
    /// Counts every case.
    ///
    /// # Errors
    /// If a case cannot be read, or a count differs from the one in the file.
    pub fn run(self) -> anyhow::Result<()> {
        let mut report = Report {
            depth: self.depth,
            divide: self.divide,
            checked: 0,
            different: 0,
        };
        if let Some(hands) = &self.hands {
            report.case("position", &self.position(hands)?)?;
        }
        for file in &self.files {
            for (line, case) in cases(file)? {
                let comment = case.comment.first().map_or("", String::as_str);
                let name = format!("{}:{line} {comment}", file.display());
                report.case(name.trim_end(), &case)?;
            }
        }
        report.end()
    }

    /// The position given on the command line.
    fn position(&self, hands: &str) -> anyhow::Result<PerftCase> {
        let PerftArgs {
            rules, board, turn, ..
        } = self;
        let text = format!("rules {rules}\nboard {board}\nhands {hands}\nturn {turn}");
        text.parse::<PerftCase>()
            .map_err(|error| anyhow::anyhow!("{}", error.problem))
    }
}

/// The cases of a file with their line numbers.
fn cases(file: &Path) -> anyhow::Result<Vec<(usize, PerftCase)>> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).with_context(|| name.clone())?;
    let cases = read(&text).with_context(|| name.clone())?;
    ensure!(!cases.is_empty(), "{name} holds no case");
    Ok(cases)
}

/// Prints counts, and counts those that are right and wrong.
struct Report {
    depth: Option<u32>,
    divide: bool,
    checked: usize,
    different: usize,
}

impl Report {
    fn case(&mut self, name: &str, case: &PerftCase) -> anyhow::Result<()> {
        let PerftCase {
            position, counts, ..
        } = case;
        let depths: BTreeSet<u32> = match self.depth {
            Some(deepest) => (1..=deepest).collect(),
            None => counts.keys().copied().collect(),
        };
        let deepest = *depths
            .last()
            .with_context(|| format!("{name}: no count, and no --depth"))?;
        print(&format!("{name}\n"))?;
        for depth in depths {
            self.count(position, depth, counts)?;
        }
        if self.divide {
            self.division(position, deepest)?;
        }
        Ok(())
    }

    fn count(
        &mut self,
        position: &OpenPosition,
        depth: u32,
        expected: &BTreeMap<u32, u64>,
    ) -> anyhow::Result<()> {
        let started = Instant::now();
        let count = perft(position, depth);
        let seconds = started.elapsed().as_secs_f64();
        let speed = count as f64 / seconds;
        let verdict = match expected.get(&depth) {
            None => String::new(),
            Some(&expected) if expected == count => "  ok".to_owned(),
            Some(expected) => format!("  DIFFERENT, expected {expected}"),
        };
        self.checked += usize::from(!verdict.is_empty());
        self.different += usize::from(verdict.contains("DIFFERENT"));
        print(&format!(
            "{depth:>4} {count:>14} {seconds:>9.3} s {speed:>11.0}/s{verdict}\n"
        ))
    }

    fn division(&mut self, position: &OpenPosition, depth: u32) -> anyhow::Result<()> {
        for (mv, count) in divide(position, depth) {
            print(&format!("     {count:>14}  {mv}\n"))?;
        }
        Ok(())
    }

    fn end(self) -> anyhow::Result<()> {
        let Report {
            checked, different, ..
        } = self;
        ensure!(
            different == 0,
            "{different} of {checked} counts are not those expected"
        );
        if checked > 0 {
            print(&format!("{checked} counts, all as expected\n"))?;
        }
        Ok(())
    }
}
