//! `dog arena`: measures one player against another in duplicate matches.

use std::{
    io::{IsTerminal, Write, stderr, stdout},
    num::NonZeroUsize,
    ops::ControlFlow,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use serde_json::json;

use crate::{
    arena::{Interval, MOST_TURNS, Match, PlayerSpec, Tally, Thinking, run_match},
    rules::{
        options::{Preset, Rules},
        perft::read_rules,
    },
};

/// How often the line of progress is written.
const PROGRESS: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
pub struct Arena {
    /// The player that is measured: random or greedy.
    #[arg(value_name = "A")]
    a: PlayerSpec,
    /// The player it is measured against.
    #[arg(value_name = "B")]
    b: PlayerSpec,
    /// A preset, and options such as "hausregeln seats=6"; "all" stands for every preset. May be
    /// given several times.
    #[arg(long, default_value = Preset::DogspielIt.name(), value_parser = read_variants)]
    rules: Vec<Variants>,
    /// Shuffles, each of which is played once for each team that A may hold.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// All cards and all of the players' luck follow from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Games played at once; as many as there are cores if left out.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print a JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Rules and what they are called.
#[derive(Clone, Debug)]
struct Variant {
    name: String,
    rules: Rules,
}

/// What one `--rules` stands for.
type Variants = Vec<Variant>;

/// Reads rules, or "all" with options for every preset.
fn read_variants(text: &str) -> Result<Variants, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let names = match words.split_first() {
        Some((&"all", options)) => Preset::ALL
            .map(|preset| [&[preset.name()], options].concat().join(" "))
            .to_vec(),
        _ => vec![words.join(" ")],
    };
    let variant = |name: String| match read_rules(&name) {
        Ok(rules) => Ok(Variant { name, rules }),
        Err(problem) => Err(problem.to_string()),
    };
    names.into_iter().map(variant).collect()
}

impl Arena {
    /// Plays a match by each of the rules and prints a line for each.
    ///
    /// # Errors
    /// If nothing can be printed.
    pub fn run(self) -> anyhow::Result<()> {
        let variants: Vec<&Variant> = self.rules.iter().flatten().collect();
        let names = variants.iter().map(|variant| variant.name.len());
        let table = Table {
            players: format!("{} – {}", self.a, self.b),
            rules: names.max().unwrap_or_default(),
        };
        if !self.json {
            table.head()?;
        }
        for variant in variants {
            let begin = Instant::now();
            let tally = self.play(variant);
            let seconds = begin.elapsed().as_secs_f64();
            if self.json {
                let object = self.object(variant, &tally, seconds);
                writeln!(stdout(), "{object}")?;
            } else {
                table.row(variant, &tally, seconds)?;
            }
        }
        Ok(())
    }

    fn play(&self, variant: &Variant) -> Tally {
        let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let plan = Match {
            rules: &variant.rules,
            players: [&|| self.a.build(), &|| self.b.build()],
            pairs: self.pairs,
            seed: self.seed,
            threads: self.threads.unwrap_or_else(cores),
        };
        let mut progress = Progress::new(&variant.name, self.pairs);
        let tally = run_match(&plan, |tally| {
            progress.show(tally);
            ControlFlow::Continue(())
        });
        progress.clear();
        tally
    }

    /// A match as data.
    fn object(&self, variant: &Variant, tally: &Tally, seconds: f64) -> serde_json::Value {
        let Interval { low, high } = tally.interval();
        let thinking = tally.thinking.map(|thinking| {
            json!({
                "decisions": thinking.decisions,
                "mean_us": micros(thinking.mean()),
                "max_us": micros(thinking.longest),
            })
        });
        json!({
            "rules": variant.name,
            "a": self.a.to_string(),
            "b": self.b.to_string(),
            "seed": self.seed,
            "pairs": tally.pairs(),
            "score": tally.mean(),
            "low": low,
            "high": high,
            "wins": tally.wins,
            "unfinished": tally.unfinished,
            "pairs_by_score": tally.scores(),
            "thinking": thinking,
            "seconds": seconds,
        })
    }
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

/// A line that shows how far a match is, where somebody may be watching.
struct Progress<'a> {
    name: &'a str,
    pairs: u32,
    shown: Option<Instant>,
    on: bool,
}

impl Progress<'_> {
    fn new(name: &str, pairs: u32) -> Progress<'_> {
        Progress {
            name,
            pairs,
            shown: None,
            on: stderr().is_terminal(),
        }
    }

    fn show(&mut self, tally: &Tally) {
        if !self.on || self.shown.is_some_and(|shown| shown.elapsed() < PROGRESS) {
            return;
        }
        self.shown = Some(Instant::now());
        let Progress { name, pairs, .. } = self;
        let score = tally.mean() * 100.0;
        // Nothing depends on whether it can be seen.
        let _ = write!(
            stderr(),
            "\r\x1b[K{name}: {} of {pairs} pairs, {score:.2}%",
            tally.pairs()
        );
    }

    fn clear(&self) {
        if self.on {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// The table that is printed, and how wide its first columns are.
struct Table {
    players: String,
    rules: usize,
}

impl Table {
    fn head(&self) -> anyhow::Result<()> {
        self.line([
            "rules",
            "players",
            "pairs",
            "score %",
            "95% interval",
            "games won",
            "pairs by score",
            "A: mean, max",
            "B: mean, max",
            "seconds",
        ])
    }

    fn row(&self, variant: &Variant, tally: &Tally, seconds: f64) -> anyhow::Result<()> {
        let percent = |score: f64| format!("{:.2}", score * 100.0);
        let Interval { low, high } = tally.interval();
        let by_score: Vec<String> = tally.full_scores().map(|pairs| pairs.to_string()).collect();
        let time =
            |thinking: &Thinking| format!("{:.1?}, {:.1?}", thinking.mean(), thinking.longest);
        let [a, b] = tally.wins;
        self.line([
            &variant.name,
            &self.players,
            &tally.pairs().to_string(),
            &percent(tally.mean()),
            &format!("{} – {}", percent(low), percent(high)),
            &format!("{a} – {b}"),
            &by_score.join("/"),
            &time(&tally.thinking[0]),
            &time(&tally.thinking[1]),
            &format!("{seconds:.1}"),
        ])?;
        if tally.unfinished > 0 {
            writeln!(
                stdout(),
                "  {} games were given up after {MOST_TURNS} turns and count as chance would have it; \
                 pairs with one may be missing among the pairs by score",
                tally.unfinished
            )?;
        }
        Ok(())
    }

    fn line(&self, cells: [&str; 10]) -> anyhow::Result<()> {
        let [rules, players, rest @ ..] = cells;
        let [
            pairs,
            score,
            interval,
            wins,
            by_score,
            time_a,
            time_b,
            seconds,
        ] = rest;
        let (first, second) = (self.rules, self.players.chars().count().max(7));
        writeln!(
            stdout(),
            "{rules:first$}  {players:second$}  {pairs:>7}  {score:>7}  {interval:>15}  {wins:>15}  \
             {by_score:>20}  {time_a:>18}  {time_b:>18}  {seconds:>7}"
        )?;
        Ok(())
    }
}
