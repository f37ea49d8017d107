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

use crate::{
    games::{ThreadsArg, each_game},
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
        let lines = fs::read_to_string(&self.file).unwrap_or_default();
        if let Some(target) = &self.publish {
            let found = lines.lines().map(serde_json::from_str);
            return publish(target, found.collect::<Result<_, _>>()?);
        }
        let mut found = lines.lines().count();
        let started = Instant::now();
        while found < self.wanted {
            let finders = || PuzzleFinder::new(&nets, self.samples);
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

/// Adds weeks to a file, at its end.
fn publish(target: &Path, found: Vec<Puzzle>) -> anyhow::Result<()> {
    let packed = fs::read(target).unwrap_or_default();
    let mut text = String::new();
    if !packed.is_empty() {
        MultiGzDecoder::new(&packed[..]).read_to_string(&mut text)?;
    }
    let there = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<Vec<Puzzle>, _>>()?;
    let more = more_weeks(&there, found)?;
    let mut added = GzEncoder::new(packed, Compression::best());
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
