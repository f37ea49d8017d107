//! `dog verify`: replays a finished game from its seed and reports where its record differs.

use std::{
    fs::File,
    io::{Read, stdin},
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use clap::Args;
use dog_rules::{
    Action, Move, Seat,
    record::{ParsedRecord, Replayed},
};

use super::print;

/// Maximum size of a record in bytes.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The record of a finished game, as docs/record.md describes it; - for standard input.
    file: PathBuf,
}

impl VerifyArgs {
    /// Replays the game and prints a summary.
    ///
    /// # Errors
    /// If the file cannot be read, or is not the game that follows from the seed and the rules.
    pub fn run(self) -> anyhow::Result<()> {
        let summary = replay(&self.file).with_context(|| self.file.display().to_string())?;
        print(&summary)
    }
}

/// Replays the game of a record, and returns a summary.
fn replay(file: &Path) -> anyhow::Result<String> {
    let text = read(file)?;
    let record = ParsedRecord::read(&text)?;
    let replayed = record.replay()?;
    replayed.check_finished()?;
    Ok(summary(record.transcript.about.game.as_deref(), &replayed))
}

/// The text of a file, or of standard input.
fn read(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let source: Box<dyn Read> = if file == Path::new("-") {
        Box::new(stdin())
    } else {
        Box::new(File::open(file)?)
    };
    source.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    ensure!(
        text.len() as u64 <= MAX_BYTES,
        "longer than {MAX_BYTES} bytes"
    );
    Ok(text)
}

/// A summary of the game.
fn summary(game: Option<&str>, replayed: &Replayed) -> String {
    let Replayed { game: end, log } = replayed;
    let (mut deals, mut turns, mut folds) = (0, 0, 0);
    for action in log.iter().filter_map(|entry| entry.action.as_ref()) {
        deals += usize::from(matches!(action, Action::Deal { .. }));
        turns += usize::from(matches!(action, Action::Play { .. }));
        folds += usize::from(matches!(action, Action::Play { mv: Move::Fold, .. }));
    }
    let seats = end.rules().seats;
    let winners: Vec<String> = Seat::all(seats)
        .filter(|seat| Some(seat.team(seats)) == end.winner())
        // A name may contain anything, and this goes to a terminal.
        .map(|seat| end.player(seat).name.escape_debug().to_string())
        .collect();
    let given = if end.seed_given() {
        ", but the creator chose the seed and could know every card"
    } else {
        ""
    };
    format!(
        "game        {}\n\
         rules       {}\n\
         rounds      {deals}\n\
         turns       {turns}, {folds} of them folds\n\
         winner      team {}: {}\n\
         commitment  holds{given}\n\
         {deals} deals and {} other actions are what the seed and the rules make of them\n",
        game.unwrap_or("without a name").escape_debug(),
        end.rules(),
        end.winner().unwrap_or_default(),
        winners.join(" and "),
        log.len() - 1 - deals,
    )
}
