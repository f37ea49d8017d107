//! `dog-lab latency`: how long advice takes.

use std::{
    fs,
    io::{Write, stdout},
    time::Duration,
};

use clap::Args;
use dog_bot::{Level, net::nets::Nets, search::Budget};

use crate::arena::latency;

#[derive(Debug, Args)]
pub struct Latency {
    /// The level that is asked.
    #[arg(value_parser = super::level)]
    level: Level,
    /// Positions of all presets, with four and six seats, and by the Canadian seven.
    #[arg(long, default_value_t = 10_000)]
    positions: u32,
    /// Milliseconds to think; the level's own time if left out.
    #[arg(long, conflicts_with = "samples")]
    budget_ms: Option<u32>,
    /// Playouts to think with.
    #[arg(long)]
    samples: Option<u32>,
    /// What the positions are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Latency {
    /// Asks for advice again and again, and prints a line.
    ///
    /// # Errors
    /// If the nets do not fit the program, or nothing can be printed.
    pub fn run(self) -> anyhow::Result<()> {
        let nets = Nets::built_in()?;
        let time = |millis: u32| Budget::Time(Duration::from_millis(millis.into()));
        let budget = self.budget_ms.map(time);
        let budget = budget.or(self.samples.map(Budget::Samples));
        let times = latency::measure(&nets, self.level, budget, self.positions, self.seed);
        let millis = |share: f64| times.quantile(share).as_secs_f64() * 1000.0;
        writeln!(
            stdout(),
            "{}: {} positions, p50 {:.3} ms, p99 {:.3} ms, max {:.3} ms",
            self.level.name(),
            self.positions,
            millis(0.5),
            millis(0.99),
            millis(1.0)
        )?;
        if let Some(kibibytes) = most_memory() {
            let mebibytes = kibibytes as f64 / 1024.0;
            writeln!(stdout(), "the process took {mebibytes:.1} MiB at most")?;
        }
        Ok(())
    }
}

/// The most memory that this process has held, in KiB, where the system tells.
fn most_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
