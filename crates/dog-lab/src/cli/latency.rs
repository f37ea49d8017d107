//! `dog-lab latency`: how long advice takes, over positions of all kinds.

use std::{
    fs,
    io::{Write, stdout},
    time::{Duration, Instant},
};

use clap::Args;
use dog_bot::{Level, advise, net::nets::Nets, player_model::PlayerModels, search::Budget};
use dog_rules::{Phase, Playout, Preset, Rules, Seat, SevenPartner};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::level;

#[derive(Debug, Args)]
pub struct LatencyArgs {
    /// The level to ask.
    #[arg(value_parser = level)]
    level: Level,
    /// Positions of all presets, with four and six seats, and with the Canadian seven.
    #[arg(long, default_value_t = 10_000)]
    positions: u32,
    /// Milliseconds to think; by default the level's own time.
    #[arg(long, conflicts_with = "samples")]
    budget_ms: Option<u32>,
    /// The number of playouts.
    #[arg(long)]
    samples: Option<u32>,
    /// The seed of the positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The time, in milliseconds, that this share of the times, shortest first, does not exceed.
fn quantile_ms(times: &[Duration], share: f64) -> f64 {
    let place = (share * times.len().saturating_sub(1) as f64).ceil() as usize;
    times.get(place).map_or(0.0, |time| time.as_secs_f64()) * 1000.0
}

impl LatencyArgs {
    /// Asks for advice in many positions, and prints a line.
    ///
    /// # Errors
    /// If the nets do not fit the program, or the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        let nets = Nets::built_in();
        let budget = self
            .budget_ms
            .map(|millis| Budget::Time(Duration::from_millis(millis.into())))
            .or(self.samples.map(Budget::Samples));
        let times = self.measure(&nets, budget);
        writeln!(
            stdout(),
            "{}: {} positions, p50 {:.3} ms, p99 {:.3} ms, max {:.3} ms",
            self.level.name(),
            self.positions,
            quantile_ms(&times, 0.5),
            quantile_ms(&times, 0.99),
            quantile_ms(&times, 1.0)
        )?;
        if let Some(kibibytes) = peak_memory() {
            let mebibytes = kibibytes as f64 / 1024.0;
            writeln!(stdout(), "peak memory {mebibytes:.1} MiB")?;
        }
        Ok(())
    }

    /// Asks for advice in positions of random games of every preset, with four and six seats, and
    /// with the Canadian seven, whose lists are the longest. Returns the times, the shortest first.
    fn measure(&self, nets: &Nets, budget: Option<Budget>) -> Vec<Duration> {
        let positions = self.positions as usize;
        let tables = tables();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut times = Vec::with_capacity(positions);
        let mut games: Vec<Playout> = tables
            .iter()
            .map(|rules| Playout::new(rules, Seat::default()))
            .collect();
        while times.len() < positions {
            for (game, rules) in games.iter_mut().zip(&tables) {
                // Any phase of any round.
                let most = rng.random_range(1..40);
                game.play_on(&mut rng, most);
                match game.phase() {
                    Phase::Finished => {
                        *game = Playout::new(rules, Seat::default());
                        continue;
                    }
                    Phase::Seating | Phase::Deal => game.deal(&mut rng),
                    Phase::Exchange | Phase::Play => {}
                }
                let view = game.seen_from(game.turn());
                let started = Instant::now();
                let models = PlayerModels::default();
                let advice = advise(nets, self.level, budget, &view, &models, &|| true, &mut rng);
                times.push(started.elapsed());
                std::hint::black_box(advice);
            }
        }
        times.truncate(positions);
        times.sort();
        times
    }
}

fn tables() -> Vec<Rules> {
    let mut tables = Vec::new();
    for preset in Preset::ALL {
        for (seats, seven_partner) in [
            (4, SevenPartner::WhenHome),
            (4, SevenPartner::Always),
            (6, SevenPartner::WhenHome),
        ] {
            let mut options = preset.options();
            options.seats = seats;
            options.seven_partner = seven_partner;
            tables.push(Rules::try_from(options).expect("a possible set of rules"));
        }
    }
    tables
}

/// The peak memory of this process in KiB, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
