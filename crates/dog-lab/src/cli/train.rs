//! `dog-lab train`: trains a value net by self-play.

use std::{
    fs::{self, OpenOptions},
    io::{Write, stdout},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use clap::Args;
use dog_bot::net::{
    evaluator::NetEvaluator,
    nets::{NetVariant, Nets},
};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::{
    games::ThreadsArg,
    net_file,
    train::{GAMES, Run, TrainingPlan, Window, gate},
};

/// The interval at which a run is saved and logged.
const SAVE_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
pub struct TrainArgs {
    /// The net: four-15, four-16 (four seats, 15 or 16 fields per seat) or six.
    #[arg(value_parser = variant)]
    net: NetVariant,
    /// The folder of the run: checkpoint, log, and the resulting net. An existing run is continued.
    #[arg(long, value_name = "FOLDER")]
    run: PathBuf,
    /// The number of games in all.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,
    /// Begin with this net instead of a random one.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// The seed of the run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The length of Adam's first steps.
    #[arg(long, default_value_t = 1e-3)]
    step: f32,
    /// The length of Adam's last steps.
    #[arg(long, default_value_t = 2e-5)]
    last_step: f32,
    /// How often a random choice replaces the best, at first.
    #[arg(long, default_value_t = 0.01)]
    exploration: f32,
    /// λ: the weight of later results against the next estimate.
    #[arg(long, default_value_t = 0.95)]
    lambda: f32,
    /// Explore the alternatives of one decision in this many; of none if 0.
    #[arg(long, default_value_t = 0)]
    alternatives: u32,
    /// The number of games that are played before they are learnt from.
    #[arg(long, value_name = "GAMES", default_value_t = GAMES, value_parser = clap::value_parser!(u64).range(1..))]
    window: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    /// When the run is done, play its net against the one in this file (or the built-in one if the
    /// file does not fit), and write it to this file if it is shown to be stronger.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

fn variant(name: &str) -> Result<NetVariant, String> {
    let names = NetVariant::ALL.map(NetVariant::name).join(", ");
    NetVariant::by_name(name).ok_or(format!("the nets are {names}"))
}

/// A line of the log.
#[derive(Serialize)]
struct LogLine {
    #[serde(flatten)]
    window: Window,
    step: f32,
    seconds: f64,
}

impl TrainArgs {
    /// Trains until all games are played.
    ///
    /// # Errors
    /// If the folder cannot be written, or an existing run or net does not fit.
    pub fn run(self) -> anyhow::Result<()> {
        let threads = self.threads.number();
        fs::create_dir_all(&self.run).with_context(|| self.run.display().to_string())?;
        let path = self.run.join("checkpoint");
        let mut run = self.begin(&path)?;
        let mut log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.run.join("log.jsonl"))?;
        let bar = ProgressBar::new(run.plan.games).with_style(ProgressStyle::with_template(
            "{wide_bar} {pos}/{len} games, {per_sec}, {eta} left, {msg}",
        )?);
        bar.set_position(run.games);
        bar.reset_eta();
        let started = Instant::now();
        let mut saved = Instant::now();
        while !run.done() {
            let step = run.step();
            let window = run.window(threads.get());
            bar.set_position(window.games);
            bar.set_message(format!(
                "loss {:.4}, {:.0} turns",
                window.loss, window.turns
            ));
            if saved.elapsed() >= SAVE_INTERVAL || run.done() {
                let seconds = started.elapsed().as_secs_f64();
                let line = LogLine {
                    window,
                    step,
                    seconds,
                };
                writeln!(log, "{}", serde_json::to_string(&line)?)?;
                run.save(&path)?;
                fs::write(self.run.join("net"), net(&run, "not measured"))?;
                saved = Instant::now();
            }
        }
        bar.finish();
        match &self.into {
            Some(file) => self.gate(&run, file, threads),
            None => Ok(()),
        }
    }

    /// Replaces the net in a file by the run's net if that is stronger.
    fn gate(&self, run: &Run, path: &Path, threads: NonZeroUsize) -> anyhow::Result<()> {
        let variant = run.plan.variant;
        let mut nets = Nets::built_in();
        match fs::read(path).map(|bytes| net_file::read(&bytes)) {
            Ok(Ok((evaluator, header))) => {
                header.fits(variant)?;
                nets.replace(variant, evaluator);
            }
            Ok(Err(error)) => log::warn!("{}: {error}", path.display()),
            Err(error) => log::warn!("{}: {error}", path.display()),
        }
        // As if read from its file, with rounded weights.
        let (evaluator, _) = net_file::read(&net(run, "not measured"))?;
        let bar = ProgressBar::new_spinner();
        let verdict = gate::decide(&nets, &evaluator, variant, threads, |summary| {
            bar.set_message(format!("the new net scores {summary}"));
        });
        bar.finish_and_clear();
        let what = if verdict.stronger {
            let strength = gate::strength(&nets, &evaluator, variant, threads);
            fs::write(path, net(run, &strength))?;
            format!("it replaces the old one; {strength}")
        } else {
            "it is not shown to be stronger".to_owned()
        };
        let against = path.display();
        writeln!(
            stdout(),
            "the new net scores {} against {against}: {what}",
            verdict.summary
        )?;
        Ok(())
    }

    fn begin(&self, path: &Path) -> anyhow::Result<Run> {
        let plan = TrainingPlan {
            variant: self.net,
            games: self.games,
            seed: self.seed,
            step: (self.step, self.last_step),
            exploration: self.exploration,
            lambda: self.lambda,
            alternatives: self.alternatives,
            games_a_window: self.window,
        };
        if path.exists() {
            let run = Run::load(path)?;
            ensure!(
                run.plan == plan,
                "the run in {} has another plan: {:?}",
                self.run.display(),
                run.plan
            );
            return Ok(run);
        }
        let Some(from) = &self.from else {
            return Ok(Run::new(plan));
        };
        let (evaluator, header) = net_file::read(&fs::read(from)?)?;
        ensure!(
            header.variant == self.net,
            "{} is a net for {}",
            from.display(),
            header.variant.name()
        );
        Ok(Run::from_net(plan, evaluator, Some(header.run)))
    }
}

/// The averaged weights as a net that can play, with its header.
fn net(run: &Run, strength: &str) -> Vec<u8> {
    let evaluator = NetEvaluator {
        layout: run.evaluator.layout.clone(),
        net: run.averaged.clone(),
    };
    net_file::write(&evaluator, run.plan.variant, &run.summary(), strength)
}
