//! `dog train`: trains a value net by self-play.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::{
    bot::net::{file, inputs::Setting, judge::Judge},
    train::{Plan, Run, Window, checkpoint},
};

/// How often a run is written to disk and to the log.
const SAVED_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
pub struct Train {
    /// Which net: four-15, four-16 (four seats, so many fields a seat) or six.
    #[arg(value_parser = setting)]
    net: Setting,
    /// The folder of the run: checkpoint, log, and the net that comes of it. A run that is there
    /// already is gone on with.
    #[arg(long, value_name = "FOLDER")]
    run: PathBuf,
    /// Games to play in all.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,
    /// Begin with this net in place of one drawn at random.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// What the run's luck is drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The length of Adam's first steps.
    #[arg(long, default_value_t = 1e-3)]
    step: f32,
    /// The length of its last.
    #[arg(long, default_value_t = 2e-5)]
    last_step: f32,
    /// How often any choice is made in place of the best, at first.
    #[arg(long, default_value_t = 0.01)]
    exploration: f32,
    /// λ: how much of a later estimate is taken from what came still later.
    #[arg(long, default_value_t = 0.95)]
    lambda: f32,
    /// Threads that play and learn.
    #[arg(long, default_value_t = threads())]
    threads: usize,
}

fn setting(name: &str) -> Result<Setting, String> {
    let names = Setting::ALL.map(Setting::name).join(", ");
    Setting::by_name(name).ok_or(format!("the nets are {names}"))
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A line of the log.
#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    window: Window,
    step: f32,
    seconds: f64,
}

impl Train {
    /// Trains until all games are played.
    ///
    /// # Errors
    /// If the folder cannot be written, or a run or a net in it does not fit.
    pub fn run(self) -> anyhow::Result<()> {
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
        let begin = Instant::now();
        let mut saved = Instant::now();
        while !run.done() {
            let step = run.step();
            let window = run.window(self.threads);
            bar.set_position(window.games);
            bar.set_message(format!(
                "loss {:.4}, {:.0} turns",
                window.loss, window.turns
            ));
            if saved.elapsed() >= SAVED_EVERY || run.done() {
                let seconds = begin.elapsed().as_secs_f64();
                let line = Line {
                    window,
                    step,
                    seconds,
                };
                writeln!(log, "{}", serde_json::to_string(&line)?)?;
                checkpoint::save(&run, &path)?;
                self.write_net(&run)?;
                saved = Instant::now();
            }
        }
        bar.finish();
        Ok(())
    }

    fn begin(&self, path: &Path) -> anyhow::Result<Run> {
        let plan = Plan {
            setting: self.net,
            games: self.games,
            seed: self.seed,
            step: (self.step, self.last_step),
            exploration: self.exploration,
            lambda: self.lambda,
        };
        if path.exists() {
            let run = checkpoint::load(path)?;
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
        let (judge, header) = file::read(&fs::read(from)?)?;
        ensure!(
            header.setting == self.net,
            "{} is a net for {}",
            from.display(),
            header.setting.name()
        );
        Ok(Run::from_net(plan, judge))
    }

    /// Writes the averaged weights as a net that can play.
    fn write_net(&self, run: &Run) -> anyhow::Result<()> {
        let judge = Judge {
            layout: run.judge.layout.clone(),
            net: run.averaged.clone(),
        };
        let story = format!(
            "{} games, {} positions of self-play, seed {}",
            run.games, run.samples, run.plan.seed
        );
        let bytes = file::write(&judge, run.plan.setting, &story, "not measured");
        fs::write(self.run.join("net"), bytes)?;
        Ok(())
    }
}
