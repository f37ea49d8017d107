//! `dog-lab pool`: adds up matches that were played in parts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{Read, Write, stdin, stdout},
    path::PathBuf,
};

use anyhow::{Context, bail};
use clap::Args;
use serde::{Deserialize, de::IgnoredAny};

use crate::arena::{Interval, interval, mean};

#[derive(Debug, Args)]
pub struct Pool {
    /// What `dog-lab arena --json` printed, in any number of files; the standard input if none is named.
    files: Vec<PathBuf>,
}

/// What counts of a line of `dog-lab arena --json`.
#[derive(Deserialize)]
struct Part {
    rules: String,
    a: String,
    b: String,
    seed: u64,
    wins: [u64; 2],
    pairs_by_score: Vec<u32>,
    sprt: Option<IgnoredAny>,
}

/// Parts of the same match.
#[derive(Default)]
struct Whole {
    seeds: BTreeSet<u64>,
    wins: [u64; 2],
    pairs_by_score: Vec<u32>,
}

impl Pool {
    /// Prints a line for each match: parts with the same rules and players, by different seeds.
    ///
    /// # Errors
    /// A file cannot be read, a line is none of the arena's, or two parts are the same games.
    pub fn run(self) -> anyhow::Result<()> {
        let mut wholes = BTreeMap::<_, Whole>::new();
        for (number, line) in self.text()?.lines().enumerate() {
            let number = number + 1;
            let part: Part =
                serde_json::from_str(line).with_context(|| format!("line {number}"))?;
            if part.sprt.is_some() {
                bail!(
                    "line {number}: a match that a test may have stopped leans to what it decided"
                );
            }
            let whole = wholes.entry((part.rules, part.a, part.b)).or_default();
            if !whole.seeds.insert(part.seed) {
                bail!("line {number}: the seed {} was played before", part.seed);
            }
            let scores = part.pairs_by_score.len();
            if whole.pairs_by_score.is_empty() {
                whole.pairs_by_score = vec![0; scores];
            }
            if whole.pairs_by_score.len() != scores {
                bail!("line {number}: there are other numbers of teams by the same rules");
            }
            for (sum, pairs) in whole.pairs_by_score.iter_mut().zip(&part.pairs_by_score) {
                *sum += pairs;
            }
            for (sum, wins) in whole.wins.iter_mut().zip(part.wins) {
                *sum += wins;
            }
        }
        let mut out = stdout().lock();
        for ((rules, a, b), whole) in &wholes {
            let percent = |score: f64| format!("{:.2}", score * 100.0);
            let pairs: u32 = whole.pairs_by_score.iter().sum();
            let score = percent(mean(&whole.pairs_by_score));
            let Interval { low, high } = interval(&whole.pairs_by_score);
            let [won, lost] = whole.wins;
            let seeds: Vec<String> = whole.seeds.iter().map(u64::to_string).collect();
            writeln!(
                out,
                "{rules}: {a} – {b}: {pairs} pairs (seeds {}), score {score}% ({} – {}), games won {won} – {lost}",
                seeds.join(", "),
                percent(low),
                percent(high)
            )?;
        }
        Ok(())
    }

    /// All lines of all files.
    fn text(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        if self.files.is_empty() {
            stdin().read_to_string(&mut text)?;
        }
        for file in &self.files {
            let lines = fs::read_to_string(file).with_context(|| file.display().to_string())?;
            text.extend(lines.lines().flat_map(|line| [line, "\n"]));
        }
        Ok(text)
    }
}
