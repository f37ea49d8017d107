//! `dog verify`: replays finished games from their seeds and reports where their records differ.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, stdin},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use clap::Args;
use dog_rules::{
    Action, Cards, EventKind, Move, Seat,
    record::{ParsedRecord, Replayed},
};

use super::print;

/// Maximum size of a record in bytes.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The record of a finished game, as docs/record.md describes it; - for standard input. Of
    /// several, each must be a table of a match whose other table is among them.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

impl VerifyArgs {
    /// Replays the games and prints a summary of each; of several, compares the tables of each pair.
    ///
    /// # Errors
    /// If a file cannot be read, or is not the game that follows from the seed and the rules; or if
    /// there are not two of a pair, with the same cards.
    pub fn run(self) -> anyhow::Result<()> {
        let mut pairs = BTreeMap::<String, Vec<Replayed>>::new();
        for file in &self.files {
            let (summary, replayed) = replay(file).with_context(|| file.display().to_string())?;
            print(&summary)?;
            let tables = pairs.entry(replayed.game.commitment()).or_default();
            tables.push(replayed);
        }
        if self.files.len() == 1 {
            return Ok(());
        }
        for (commitment, tables) in &pairs {
            let [one, other] = &tables[..] else {
                bail!(
                    "{} tables have the commitment {commitment}, not two",
                    tables.len()
                );
            };
            check_pair(one, other).with_context(|| format!("the pair of {commitment}"))?;
        }
        let pairs = pairs.len();
        print(&format!(
            "pairs       {pairs}, each with the same seed, rules, first dealer and deals\n"
        ))
    }
}

/// Replays the game of a record. Returns a summary, too.
fn replay(file: &Path) -> anyhow::Result<(String, Replayed)> {
    let text = read(file)?;
    let record = ParsedRecord::read(&text)?;
    let replayed = record.replay()?;
    replayed.check_finished()?;
    let summary = summary(record.transcript.about.game.as_deref(), &replayed);
    Ok((summary, replayed))
}

/// Checks that two games with the same seed were played with the same cards.
fn check_pair(one: &Replayed, other: &Replayed) -> anyhow::Result<()> {
    ensure!(one.game.rules() == other.game.rules(), "their rules differ");
    let dealers = [one, other].map(|table| table.game.first_dealer());
    ensure!(dealers[0] == dealers[1], "their first dealers differ");
    for (round, (one, other)) in deals(one).zip(deals(other)).enumerate() {
        ensure!(one == other, "their deals of round {} differ", round + 1);
    }
    Ok(())
}

/// The hands of each deal.
fn deals(replayed: &Replayed) -> impl Iterator<Item = &Vec<Option<Cards>>> {
    let events = replayed.log.iter().flat_map(|entry| &entry.events);
    events.filter_map(|event| match &event.what {
        EventKind::CardsDealt { hands, .. } => Some(hands),
        _ => None,
    })
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
