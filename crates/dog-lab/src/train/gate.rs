//! The gate: a new net takes the old one's place only if it is shown to be stronger.

use std::{num::NonZeroUsize, ops::ControlFlow, sync::Arc};

use dog_bot::{
    GREEDY_VERSION, Level,
    net::{
        evaluator::NetEvaluator,
        nets::{NetVariant, Nets},
    },
};
use dog_rules::Rules;

use super::selfplay::presets;
use crate::{
    arena::{Match, PlayerFactory, Sprt, SprtDecision, interval, mean, run_match},
    player::{LevelPlayer, NetPlayer, Policy},
};

/// The score above chance that the new net is to have, and that it is mistaken for having, or
/// not having, one time in twenty.
const MIN_GAIN: f64 = 0.02;
const ERROR_RATE: f64 = 0.05;
/// Pairs that are played by one preset's rules before the next preset's turn comes.
const PAIRS: u32 = 40;
/// Pairs at most. A net that could not be told from the old one by then is not taken.
const PAIRS_AT_MOST: u32 = 20_000;
/// Pairs against greedy that a net's strength is told by.
const PAIRS_AGAINST_GREEDY: u32 = 20_000;

/// What the gate found.
#[derive(Clone, Debug)]
pub struct GateResult {
    /// Whether the new net is stronger.
    pub stronger: bool,
    /// The match, in words.
    pub summary: String,
}

/// Plays the net of a variant against another by every preset that fits, until a sequential test
/// is decided.
pub fn decide(
    nets: &Nets,
    new: &NetEvaluator,
    setting: NetVariant,
    threads: NonZeroUsize,
    mut progress: impl FnMut(&str),
) -> GateResult {
    let old = by_net(nets);
    let mut nets = nets.clone();
    nets.replace(setting, new.clone());
    let new = by_net(&nets);
    let chance = 1.0 / f64::from(setting.seats() / 2);
    let sprt =
        Sprt::new(chance, chance + MIN_GAIN, ERROR_RATE, ERROR_RATE).expect("bounds in order");
    let all_rules = presets(setting);
    let mut counts: Vec<u32> = Vec::new();
    let mut rounds = 0;
    loop {
        let rules = &all_rules[rounds as usize % all_rules.len()];
        let played = pairs(rules, [&new, &old], PAIRS, u64::from(rounds), threads);
        counts.resize(played.len(), 0);
        for (count, more) in counts.iter_mut().zip(played) {
            *count += more;
        }
        rounds += 1;
        let summary = summary(&counts);
        progress(&summary);
        let decision = sprt.decide(&counts);
        if decision != SprtDecision::Undecided || rounds * PAIRS >= PAIRS_AT_MOST {
            let stronger = decision == SprtDecision::High;
            return GateResult { stronger, summary };
        }
    }
}

/// How a net does against greedy, in words: by each preset that fits.
pub fn strength(
    nets: &Nets,
    new: &NetEvaluator,
    setting: NetVariant,
    threads: NonZeroUsize,
) -> String {
    let mut nets = nets.clone();
    nets.replace(setting, new.clone());
    let new = by_net(&nets);
    let greedy = || -> Box<dyn Policy> { Box::new(LevelPlayer(Level::Greedy)) };
    let of_preset = |rules: &Rules| {
        let counts = pairs(rules, [&new, &greedy], PAIRS_AGAINST_GREEDY, 1, threads);
        format!("{} {}", rules.preset.name(), summary(&counts))
    };
    let each: Vec<String> = presets(setting).iter().map(of_preset).collect();
    format!("against greedy {GREEDY_VERSION}: {}", each.join("; "))
}

fn by_net(nets: &Nets) -> impl Fn() -> Box<dyn Policy> + Sync + use<> {
    let nets = Arc::new(nets.clone());
    move || Box::new(NetPlayer::new(nets.clone()))
}

/// How many pairs came to which score.
fn pairs(
    rules: &Rules,
    players: [&PlayerFactory; 2],
    pairs: u32,
    seed: u64,
    threads: NonZeroUsize,
) -> Vec<u32> {
    let plan = Match {
        rules,
        players,
        pairs,
        seed,
        threads,
    };
    let tally = run_match(&plan, |_| ControlFlow::Continue(()));
    tally.scores().to_vec()
}

/// A score in words.
fn summary(counts: &[u32]) -> String {
    let interval = interval(counts);
    format!(
        "{:.1} % ({:.1} to {:.1}) of {} pairs",
        100.0 * mean(counts),
        100.0 * interval.low,
        100.0 * interval.high,
        counts.iter().sum::<u32>()
    )
}
