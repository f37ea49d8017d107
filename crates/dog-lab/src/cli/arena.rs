//! `dog-lab arena` measures one player against another in duplicate matches. `dog-lab pool` adds up
//! matches that were played in parts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{Read, Write, stdin, stdout},
    ops::ControlFlow,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use clap::Args;
use dog_rules::{Preset, Rules};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::{
    arena::{
        Interval, Match, MatchTotals, Sprt, SprtDecision, ThinkTimes, VarianceRatio, interval,
        mean, run_match,
    },
    games::{MAX_TURNS, ThreadsArg},
    player::TeamSpec,
};

#[derive(Debug, Args)]
pub struct ArenaArgs {
    /// The player to measure: random, beginner, greedy, net, fast, strong,
    /// oracle (see docs/arena.md); or two of them as a team, such as fast+random.
    #[arg(value_name = "A")]
    a: TeamSpec,
    /// The player or team to measure it against.
    #[arg(value_name = "B")]
    b: TeamSpec,
    /// A preset and options, such as "hausregeln seats=6"; "all" stands for every preset. May be
    /// given several times.
    #[arg(long, default_value = Preset::DogspielIt.name(), value_parser = read_variants)]
    rules: Vec<Variants>,
    /// The number of shuffles. Each is played once for each team that A may hold, and in both
    /// seatings if the players of a team differ.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// The seed of all cards and of the players' random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop as soon as a sequential test decides between these expected scores, such as 0.50,0.55.
    #[arg(long, value_name = "LOW,HIGH", value_parser = read_scores)]
    sprt: Option<(f64, f64)>,
    /// The probability that the test accepts the high score when the low one is true.
    #[arg(long, default_value_t = 0.05, requires = "sprt")]
    alpha: f64,
    /// The probability that the test accepts the low score when the high one is true.
    #[arg(long, default_value_t = 0.05, requires = "sprt")]
    beta: f64,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// Rules and their name.
#[derive(Clone, Debug)]
struct Variant {
    name: String,
    rules: Rules,
}

/// The rules that one `--rules` stands for.
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
    names
        .into_iter()
        .map(|name| match name.parse() {
            Ok(rules) => Ok(Variant { name, rules }),
            Err(problem) => Err(problem.to_string()),
        })
        .collect()
}

/// Reads the two scores of a sequential test.
fn read_scores(text: &str) -> Result<(f64, f64), String> {
    let scores = text.split_once(',').and_then(|(low, high)| {
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        Some((low, high))
    });
    scores.ok_or_else(|| "two scores are needed, LOW,HIGH, such as 0.50,0.55".to_owned())
}

impl ArenaArgs {
    /// Plays a match for each set of rules and prints a line for each.
    ///
    /// # Errors
    /// If the bounds of the test are invalid, or the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        let sprt = self
            .sprt
            .map(|(low, high)| Sprt::new(low, high, self.alpha, self.beta))
            .transpose()
            .context("--sprt")?;
        let variants: Vec<&Variant> = self.rules.iter().flatten().collect();
        let names = variants.iter().map(|variant| variant.name.len());
        let table = TextTable {
            players: format!("{} – {}", self.a, self.b),
            rules: names.max().unwrap_or_default(),
        };
        if !self.json {
            table.head()?;
        }
        for variant in variants {
            let started = Instant::now();
            let tally = self.play(variant, sprt.as_ref());
            let seconds = started.elapsed().as_secs_f64();
            if self.json {
                let line = self.line(variant, &tally, sprt.as_ref(), seconds);
                writeln!(stdout(), "{}", serde_json::to_string(&line)?)?;
            } else {
                table.row(variant, &tally, seconds)?;
                table.notes(&tally, sprt.as_ref())?;
            }
        }
        Ok(())
    }

    fn play(&self, variant: &Variant, sprt: Option<&Sprt>) -> MatchTotals {
        let plan = Match {
            rules: &variant.rules,
            teams: [
                [&|| self.a.players[0].build(), &|| self.a.players[1].build()],
                [&|| self.b.players[0].build(), &|| self.b.players[1].build()],
            ],
            is_mixed: self.a.is_mixed() || self.b.is_mixed(),
            nets: self.a.nets().or(self.b.nets()),
            pairs: self.pairs,
            seed: self.seed,
            threads: self.threads.number(),
        };
        let style = ProgressStyle::with_template("{prefix}: {pos} of {len} pairs, {msg}%");
        let bar = ProgressBar::new(self.pairs.into())
            .with_style(style.expect("a template"))
            .with_prefix(variant.name.clone());
        let tally = run_match(&plan, |tally| {
            bar.set_message(format!("{:.2}", tally.mean() * 100.0));
            bar.set_position(tally.pairs().into());
            match sprt.map(|sprt| sprt.decide(tally.scores())) {
                None | Some(SprtDecision::Undecided) => ControlFlow::Continue(()),
                Some(SprtDecision::Low | SprtDecision::High) => ControlFlow::Break(()),
            }
        });
        bar.finish_and_clear();
        tally
    }

    /// A match as data.
    fn line<'a>(
        &self,
        variant: &'a Variant,
        tally: &'a MatchTotals,
        sprt: Option<&Sprt>,
        seconds: f64,
    ) -> MatchLine<'a> {
        let Interval { low, high } = tally.interval();
        MatchLine {
            rules: &variant.name,
            a: self.a.to_string(),
            b: self.b.to_string(),
            seed: self.seed,
            pairs: tally.pairs(),
            score: tally.mean(),
            low,
            high,
            wins: tally.wins,
            unfinished: tally.unfinished,
            pairs_by_score: tally.scores(),
            thinking: tally.thinking.map(|thinking| ThinkingTimes {
                decisions: thinking.decisions,
                mean_us: micros(thinking.mean()),
                max_us: micros(thinking.longest),
            }),
            sprt: sprt.map(|sprt| SprtResult {
                scores: sprt.scores(),
                bounds: sprt.bounds(),
                llr: sprt.llr(tally.scores()),
                decision: sprt.decide(tally.scores()).name(),
            }),
            variance_ratios: tally.variance_ratios(),
            seconds,
        }
    }
}

/// The line that `--json` prints for a match. docs/arena.md describes it.
#[derive(Serialize)]
struct MatchLine<'a> {
    rules: &'a str,
    a: String,
    b: String,
    seed: u64,
    pairs: u32,
    score: f64,
    low: f64,
    high: f64,
    wins: [u64; 2],
    unfinished: u64,
    pairs_by_score: &'a [u32],
    thinking: [ThinkingTimes; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    sprt: Option<SprtResult>,
    /// Of the score and of the margin.
    variance_ratios: [Option<VarianceRatio>; 2],
    seconds: f64,
}

#[derive(Serialize)]
struct ThinkingTimes {
    decisions: u64,
    mean_us: f64,
    max_us: f64,
}

#[derive(Serialize)]
struct SprtResult {
    scores: [f64; 2],
    bounds: [f64; 2],
    llr: f64,
    decision: &'static str,
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

/// The printed table, with the widths of its first columns.
struct TextTable {
    players: String,
    rules: usize,
}

impl TextTable {
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

    fn row(&self, variant: &Variant, tally: &MatchTotals, seconds: f64) -> anyhow::Result<()> {
        let Interval { low, high } = tally.interval();
        let by_score: Vec<String> = tally.full_scores().map(|pairs| pairs.to_string()).collect();
        let time =
            |thinking: &ThinkTimes| format!("{:.1?}, {:.1?}", thinking.mean(), thinking.longest);
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
        ])
    }

    /// Notes that do not fit into the columns.
    fn notes(&self, tally: &MatchTotals, sprt: Option<&Sprt>) -> anyhow::Result<()> {
        let mut out = stdout();
        if tally.unfinished > 0 {
            writeln!(
                out,
                "  {} games were abandoned after {MAX_TURNS} turns and count as chance would have \
                 it; pairs with one may be missing among the pairs by score",
                tally.unfinished
            )?;
        }
        for (value, ratio) in ["score", "margin"].iter().zip(tally.variance_ratios()) {
            if let Some(VarianceRatio { ratio, low, high }) = ratio {
                writeln!(
                    out,
                    "  variance of the {value}: {ratio:.3} ({low:.3} – {high:.3}) of that of as \
                     many games with independent cards"
                )?;
            }
        }
        if let Some(sprt) = sprt {
            let [low, high] = sprt.scores();
            let [lower, upper] = sprt.bounds();
            let verdict = match sprt.decide(tally.scores()) {
                SprtDecision::Low => format!("H0 accepted, the score is {low} or less"),
                SprtDecision::High => format!("H1 accepted, the score is {high} or more"),
                SprtDecision::Undecided => "undecided".to_owned(),
            };
            let llr = sprt.llr(tally.scores());
            writeln!(
                out,
                "  SPRT {low} or {high}: {verdict}; LLR {llr:.2}, bounds {lower:.2} and {upper:.2}"
            )?;
        }
        Ok(())
    }

    /// Prints a line, with names aligned left and numbers right.
    fn line(&self, cells: [&str; 10]) -> anyhow::Result<()> {
        let players = self.players.chars().count().max(7);
        let widths = [self.rules, players, 7, 7, 15, 15, 20, 18, 18, 7];
        let cells: Vec<String> = cells
            .into_iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| match column {
                0 | 1 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        writeln!(stdout(), "{}", cells.join("  "))?;
        Ok(())
    }
}

/// A score in percent.
fn percent(score: f64) -> String {
    format!("{:.2}", score * 100.0)
}

#[derive(Debug, Args)]
pub struct PoolArgs {
    /// Output of `dog-lab arena --json`, in any number of files; standard input if none is named.
    files: Vec<PathBuf>,
}

/// The parts of a line of `dog-lab arena --json` that are added up.
#[derive(Deserialize)]
struct MatchPart {
    rules: String,
    a: String,
    b: String,
    seed: u64,
    wins: [u64; 2],
    pairs_by_score: Vec<u32>,
    sprt: Option<IgnoredAny>,
}

/// The parts of one match, added up.
#[derive(Default)]
struct MergedMatch {
    seeds: BTreeSet<u64>,
    wins: [u64; 2],
    pairs_by_score: Vec<u32>,
}

impl PoolArgs {
    /// Prints a line for each match: the parts with the same rules and players and different seeds.
    ///
    /// # Errors
    /// If a file cannot be read, a line does not come from the arena, or two parts are the same
    /// games.
    pub fn run(self) -> anyhow::Result<()> {
        let mut matches = BTreeMap::<_, MergedMatch>::new();
        for (number, line) in self.text()?.lines().enumerate() {
            let number = number + 1;
            let part: MatchPart =
                serde_json::from_str(line).with_context(|| format!("line {number}"))?;
            if part.sprt.is_some() {
                bail!(
                    "line {number}: a match with a sequential test is biased towards its decision"
                );
            }
            let merged = matches.entry((part.rules, part.a, part.b)).or_default();
            if !merged.seeds.insert(part.seed) {
                bail!("line {number}: the seed {} was played before", part.seed);
            }
            let scores = part.pairs_by_score.len();
            if merged.pairs_by_score.is_empty() {
                merged.pairs_by_score = vec![0; scores];
            }
            if merged.pairs_by_score.len() != scores {
                bail!("line {number}: the number of teams differs under the same rules");
            }
            for (sum, pairs) in merged.pairs_by_score.iter_mut().zip(&part.pairs_by_score) {
                *sum += pairs;
            }
            for (sum, wins) in merged.wins.iter_mut().zip(part.wins) {
                *sum += wins;
            }
        }
        let mut out = stdout().lock();
        for ((rules, a, b), merged) in &matches {
            let pairs: u32 = merged.pairs_by_score.iter().sum();
            let score = percent(mean(&merged.pairs_by_score));
            let Interval { low, high } = interval(&merged.pairs_by_score);
            let [won, lost] = merged.wins;
            let seeds: Vec<String> = merged.seeds.iter().map(u64::to_string).collect();
            writeln!(
                out,
                "{rules}: {a} – {b}: {pairs} pairs (seeds {}), score {score}% ({} – {}), \
                 games won {won} – {lost}",
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
