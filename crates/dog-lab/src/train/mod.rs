//! Training of the value net by self-play.
//!
//! A run is a sequence of windows. In each window the current net plays some games at all seats,
//! and every decision becomes a sample (see [`selfplay`]). The samples are shuffled and learnt in
//! batches (see [`gradient`]). The random numbers of a game depend only on the seed of the run and
//! the number of the game, and sums are made in a fixed order. So a run can be repeated with any
//! number of threads, interrupted or not.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    thread,
};

use anyhow::{Context, ensure};
use dog_bot::net::{HIDDEN, Net, evaluator::NetEvaluator, inputs::InputLayout, nets::NetVariant};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus, seq::SliceRandom};
use serde::{Deserialize, Serialize};

pub mod gate;
pub mod gradient;
pub mod selfplay;

use gradient::{Adam, Gradient};
use selfplay::{Samples, SelfPlay};

use crate::{games::each_game, net_file::fingerprint};

/// The default number of games in a window: some 16,000 positions.
pub const GAMES: u64 = 96;
/// The number of groups of samples in a batch.
const BATCH: usize = 512;
/// The number of parts of a batch that threads work on.
const PARTS: usize = 4;
/// The weight of the latest window in the averaged weights.
const AVERAGE_WEIGHT: f32 = 0.01;

/// The parameters of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingPlan {
    #[serde(rename = "setting")]
    pub variant: NetVariant,
    /// The number of games in all.
    pub games: u64,
    pub seed: u64,
    /// The length of Adam's first and last step. Between them it falls by the same factor in every
    /// window.
    pub step: (f32, f32),
    /// ε at the beginning. It falls linearly to 0 at four fifths of the run.
    pub exploration: f32,
    pub lambda: f32,
    /// One decision in this many has its alternatives explored; none if 0.
    #[serde(default)]
    pub alternatives: u32,
    /// The number of games that are played before they are learnt from.
    #[serde(default = "games")]
    pub games_a_window: u64,
}

/// The window of runs that were begun before it was an option.
const fn games() -> u64 {
    GAMES
}

/// The state of a run.
#[derive(Clone)]
pub struct Run {
    pub plan: TrainingPlan,
    /// How the net that it began with was trained, if it did not begin from random weights.
    pub before: Option<String>,
    pub evaluator: NetEvaluator,
    /// The moving average of the weights over the windows: the final result.
    pub averaged: Net,
    pub adam: Adam,
    /// The number of games played.
    pub games: u64,
    /// The number of samples learnt from.
    pub samples: u64,
}

/// The statistics of a window.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Window {
    pub games: u64,
    pub samples: u64,
    /// The mean loss of the window's groups of samples, each before it was learnt, in nats.
    pub loss: f64,
    /// The mean number of turns of a game.
    pub turns: f64,
}

/// Gives weights random values from −size to size.
fn randomize(weights: &mut [f32], size: f32, rng: &mut impl Rng) {
    for weight in weights {
        *weight = size * (2.0 * rng.random::<f32>() - 1.0);
    }
}

impl Run {
    /// A run from random weights.
    pub fn new(plan: TrainingPlan) -> Run {
        let layout = InputLayout::new(plan.variant.seats());
        let mut net = Net::zero(layout.inputs());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
        // Some 60 inputs are active at a time.
        let size = (3.0f32 / 60.0).sqrt();
        randomize(net.first.as_flattened_mut(), size, &mut rng);
        let inputs = HIDDEN as f32;
        // All heads begin as equal and diverge.
        let [head, others @ ..] = &mut net.heads;
        let size = (3.0 / inputs).sqrt();
        randomize(head.second.as_flattened_mut(), size, &mut rng);
        randomize(&mut head.last, 0.1, &mut rng);
        for other in others {
            *other = head.clone();
        }
        Run::from_net(plan, NetEvaluator { layout, net }, None)
    }

    /// A run that continues from a net; `before` says how that was trained.
    pub fn from_net(plan: TrainingPlan, evaluator: NetEvaluator, before: Option<String>) -> Run {
        Run {
            plan,
            before,
            averaged: evaluator.net.clone(),
            adam: Adam::new(evaluator.layout.inputs()),
            evaluator,
            games: 0,
            samples: 0,
        }
    }

    /// How the net was trained, as text.
    pub fn summary(&self) -> String {
        let TrainingPlan {
            seed, alternatives, ..
        } = self.plan;
        let (games, samples) = (self.games, self.samples);
        let mut summary = match &self.before {
            Some(before) => format!("{before}; then "),
            None => String::new(),
        };
        summary += &format!("{games} games, {samples} positions of self-play, seed {seed}");
        if alternatives > 0 {
            summary += &format!(", alternatives at one decision in {alternatives}");
        }
        summary
    }

    /// Whether all games have been played.
    pub fn done(&self) -> bool {
        self.games >= self.plan.games
    }

    /// The share of the run that is done, 0 to 1.
    fn progress(&self) -> f32 {
        (self.games as f64 / self.plan.games as f64) as f32
    }

    /// The length of the next step.
    pub fn step(&self) -> f32 {
        let (first, last) = self.plan.step;
        first * (last / first).powf(self.progress())
    }

    /// Plays the next games and learns from them.
    pub fn window(&mut self, threads: usize) -> Window {
        let (samples, turns) = self.play(threads);
        let loss = self.learn(&samples, threads);
        self.games += self.plan.games_a_window;
        self.samples += samples.targets.len() as u64;
        for (averaged, block) in self.averaged.blocks_mut().zip(self.evaluator.net.blocks()) {
            for (averaged, weight) in averaged.iter_mut().zip(block) {
                *averaged += AVERAGE_WEIGHT * (weight - *averaged);
            }
        }
        Window {
            games: self.games,
            samples: self.samples,
            loss,
            turns: f64::from(turns) / self.plan.games_a_window as f64,
        }
    }

    fn play(&self, threads: usize) -> (Samples, u32) {
        let TrainingPlan {
            seed,
            variant,
            exploration,
            lambda,
            alternatives,
            games_a_window,
            ..
        } = self.plan;
        let exploration = exploration * (1.0 - self.progress() / 0.8).max(0.0);
        let begin = || SelfPlay::new(&self.evaluator, exploration, lambda, alternatives);
        let played = each_game(games_a_window as u32, threads, begin, |play, game| {
            let number = self.games + u64::from(game);
            let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number;
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let rules = selfplay::rules(variant, &mut rng);
            let mut samples = Samples::default();
            let turns = play.game(&rules, &mut rng, &mut samples);
            (samples, turns)
        });
        let mut all = Samples::default();
        let mut turns = 0;
        for (samples, turns_played) in played {
            all.append(&samples);
            turns += turns_played;
        }
        (all, turns)
    }

    /// Learns from samples in batches. Returns the mean loss of their groups.
    fn learn(&mut self, samples: &Samples, threads: usize) -> f64 {
        let step = self.step();
        let inputs = self.evaluator.layout.inputs();
        let mut order: Vec<u32> = (0..samples.groups.len() as u32).collect();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.plan.seed ^ !self.games);
        order.shuffle(&mut rng);
        let mut parts = vec![Gradient::new(inputs); PARTS];
        let mut loss = 0.0;
        for batch in order.chunks(BATCH) {
            let net = &self.evaluator.net;
            let part_size = batch.len().div_ceil(PARTS);
            let mut work: Vec<_> = parts.iter_mut().zip(batch.chunks(part_size)).collect();
            let share = work.len().div_ceil(threads);
            thread::scope(|scope| {
                let mut shares = work.chunks_mut(share).map(|share| {
                    move || {
                        for (gradient, which) in share {
                            gradient.clear();
                            gradient.add_groups(net, samples, which);
                        }
                    }
                });
                let own = shares.next();
                for share in shares {
                    scope.spawn(share);
                }
                if let Some(own) = own {
                    own();
                }
            });
            let used = work.len();
            let (sum, rest) = parts.split_first_mut().expect("parts");
            for part in &rest[..used - 1] {
                sum.add(part);
            }
            loss += sum.loss;
            self.adam
                .step(&mut self.evaluator.net, sum, batch.len(), step);
        }
        loss / samples.groups.len().max(1) as f64
    }

    /// Writes a run in place of an earlier one. A crash leaves one of the two intact.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        let header = CheckpointHeader {
            plan: self.plan.clone(),
            before: self.before.clone(),
            fingerprint: fingerprint(self.plan.variant),
            games: self.games,
            samples: self.samples,
            steps: self.adam.steps,
        };
        let beside = path.with_extension("new");
        let mut file = io::BufWriter::new(fs::File::create(&beside)?);
        serde_json::to_writer(&mut file, &header)?;
        file.write_all(b"\n")?;
        for net in [
            &self.evaluator.net,
            &self.averaged,
            &self.adam.mean,
            &self.adam.square,
        ] {
            for weight in net.blocks().flatten() {
                file.write_all(&weight.to_le_bytes())?;
            }
        }
        file.into_inner()?.sync_all()?;
        fs::rename(&beside, path).with_context(|| path.display().to_string())
    }

    /// Reads a run.
    ///
    /// # Errors
    /// If the file cannot be read, or was made with other inputs.
    pub fn load(path: &Path) -> anyhow::Result<Run> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let end = end.context("a checkpoint begins with a line of JSON")?;
        let header: CheckpointHeader = serde_json::from_slice(&bytes[..end])?;
        let variant = header.plan.variant;
        ensure!(
            header.fingerprint == fingerprint(variant),
            "the checkpoint was made with other inputs or other rules"
        );
        let layout = InputLayout::new(variant.seats());
        let mut nets = std::array::from_fn::<Net, 4, _>(|_| Net::zero(layout.inputs()));
        let weights = &bytes[end + 1..];
        let needed: usize = nets
            .iter()
            .flat_map(|net| net.blocks())
            .map(<[f32]>::len)
            .sum();
        ensure!(weights.len() == 4 * needed, "the checkpoint is truncated");
        let mut numbers = weights.chunks_exact(4);
        for net in &mut nets {
            for weight in net.blocks_mut().flatten() {
                let number = numbers.next().expect("counted above");
                *weight = f32::from_le_bytes(number.try_into().expect("four bytes"));
            }
        }
        let [net, averaged, mean, square] = nets;
        Ok(Run {
            plan: header.plan,
            before: header.before,
            evaluator: NetEvaluator { layout, net },
            averaged,
            adam: Adam {
                mean,
                square,
                steps: header.steps,
            },
            games: header.games,
            samples: header.samples,
        })
    }
}

/// The first line of a checkpoint, in JSON. The weights follow as 32-bit numbers.
#[derive(Debug, Serialize, Deserialize)]
struct CheckpointHeader {
    plan: TrainingPlan,
    #[serde(default)]
    before: Option<String>,
    fingerprint: String,
    games: u64,
    samples: u64,
    steps: u64,
}

#[cfg(test)]
mod tests;
