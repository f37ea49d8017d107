//! `dog-lab puzzles`: finds puzzles, and says how many it has found. It goes on where it was stopped.

use std::{
    fs::{self, OpenOptions},
    io::{Read, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use dog_bot::{net::nets::Nets, puzzle::Puzzle};
use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use rand::{RngExt, seq::SliceRandom};

use crate::{
    games::{ThreadsArg, each_game, stream},
    puzzles::{PuzzleFinder, more_weeks},
};

/// Games that are played before what was found is written.
const BLOCK: u64 = 8;

#[derive(Debug, Args)]
pub struct PuzzlesArgs {
    /// Where the puzzles are added, one a line. The number of games played is kept beside it.
    file: PathBuf,
    /// Adds whole weeks of what was found to this file, which becomes part of the program. Nothing
    /// is searched.
    #[arg(long)]
    publish: Option<PathBuf>,
    /// Searches a tenth of the puzzles of the file again, chosen by this seed, with `--samples`, and
    /// says how many answers are still the best.
    #[arg(long, conflicts_with = "publish")]
    check: Option<u64>,
    /// How many puzzles the file is to have.
    #[arg(long, default_value_t = 1000)]
    wanted: usize,
    /// Playouts of each of the two long searches.
    #[arg(long, default_value_t = 4000)]
    samples: u32,
    /// The seed of the games and of all playouts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
}

impl PuzzlesArgs {
    /// Finds puzzles until there are enough.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn run(self) -> anyhow::Result<()> {
        let (nets, threads) = (Nets::built_in(), self.threads.number().get());
        let progress = self.file.with_extension("games");
        let played = fs::read_to_string(&progress).unwrap_or_default();
        let mut played: u64 = played.trim().parse().unwrap_or_default();
        let puzzles = read(&self.file)?;
        if let Some(target) = &self.publish {
            return publish(target, puzzles);
        }
        let finders = || PuzzleFinder::new(&nets, self.samples);
        if let Some(seed) = self.check {
            let tenth = a_tenth(puzzles, seed);
            let right = each_game(tenth.len() as u32, threads, finders, |finder, number| {
                let finder = finder
                    .as_ref()
                    .map_err(|error| anyhow::anyhow!("{error}"))?;
                finder.is_still_right(
                    &tenth[number as usize],
                    stream(seed, number.into()).random(),
                )
            });
            let right = right.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
            let count = right.iter().filter(|&&right| right).count();
            println!("{count} of {} are still the best", right.len());
            return Ok(());
        }
        let mut found = puzzles.len();
        let started = Instant::now();
        while found < self.wanted {
            let games = each_game(BLOCK as u32, threads, finders, |finder, number| {
                let game = played + u64::from(number);
                let finder = finder
                    .as_mut()
                    .map_err(|error| anyhow::anyhow!("{error}"))?;
                anyhow::Ok(finder.game(self.seed, game))
            });
            let games = games.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
            let puzzles: Vec<Puzzle> = games.into_iter().flatten().collect();
            let mut file = OpenOptions::new()
                .create(true)
                .append(true)
                .open(&self.file)?;
            for puzzle in &puzzles {
                writeln!(file, "{}", serde_json::to_string(puzzle)?)?;
            }
            file.sync_all()?;
            (played, found) = (played + BLOCK, found + puzzles.len());
            fs::write(&progress, format!("{played}\n"))?;
            let seconds = started.elapsed().as_secs();
            eprintln!(
                "{found} of {} puzzles, {played} games, {seconds} s",
                self.wanted
            );
        }
        Ok(())
    }
}

/// The puzzles of a file, packed or not; none if there is no file.
fn read(path: &Path) -> anyhow::Result<Vec<Puzzle>> {
    let bytes = fs::read(path).unwrap_or_default();
    let mut text = String::new();
    if path.extension().is_some_and(|ending| ending == "gz") && !bytes.is_empty() {
        MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text)?;
    } else {
        text = String::from_utf8(bytes)?;
    }
    let puzzles = text.lines().map(serde_json::from_str);
    Ok(puzzles.collect::<Result<_, _>>()?)
}

/// A tenth of these, at random.
fn a_tenth(mut puzzles: Vec<Puzzle>, seed: u64) -> Vec<Puzzle> {
    puzzles.shuffle(&mut stream(seed, 0));
    puzzles.truncate(puzzles.len().div_ceil(10));
    puzzles
}

/// Adds weeks to a file, at its end.
fn publish(target: &Path, found: Vec<Puzzle>) -> anyhow::Result<()> {
    let there = read(target)?;
    let more = more_weeks(&there, found)?;
    let mut added = GzEncoder::new(fs::read(target).unwrap_or_default(), Compression::best());
    for puzzle in &more {
        writeln!(added, "{}", serde_json::to_string(puzzle)?)?;
    }
    fs::write(target, added.finish()?)?;
    eprintln!(
        "{} puzzles, {} of them new",
        there.len() + more.len(),
        more.len()
    );
    Ok(())
}
