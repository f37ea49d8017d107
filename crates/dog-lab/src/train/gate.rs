//! The gate: a new net replaces the old one only if it is shown to be stronger.

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

/// The gain over the chance score that the new net must show. Both errors of the test have a rate
/// of one in twenty.
const MIN_GAIN: f64 = 0.02;
const ERROR_RATE: f64 = 0.05;
/// The number of pairs played with one preset before the next preset's turn.
const PAIRS_PER_PRESET: u32 = 40;
/// The largest number of pairs. A net that is not shown to be better by then is rejected.
const MAX_PAIRS: u32 = 20_000;
/// The number of pairs against greedy that measure a net's strength.
const PAIRS_AGAINST_GREEDY: u32 = 4_000;

/// The result of the gate.
#[derive(Clone, Debug)]
pub struct GateResult {
    /// Whether the new net is stronger.
    pub stronger: bool,
    /// The result of the match as text.
    pub summary: String,
}

/// Plays a net against the present one of its variant, by every preset that fits, until a
/// sequential test decides.
pub fn decide(
    nets: &Nets,
    new: &NetEvaluator,
    variant: NetVariant,
    threads: NonZeroUsize,
    mut progress: impl FnMut(&str),
) -> GateResult {
    let old = by_net(nets);
    let mut nets = nets.clone();
    nets.replace(variant, new.clone());
    let new = by_net(&nets);
    let chance = 1.0 / f64::from(variant.seats() / 2);
    let sprt =
        Sprt::new(chance, chance + MIN_GAIN, ERROR_RATE, ERROR_RATE).expect("bounds in order");
    let all_rules = presets(variant);
    let mut counts: Vec<u32> = Vec::new();
    let mut rounds = 0;
    loop {
        let rules = &all_rules[rounds as usize % all_rules.len()];
        let played = pairs(
            rules,
            [&new, &old],
            PAIRS_PER_PRESET,
            u64::from(rounds),
            threads,
        );
        counts.resize(played.len(), 0);
        for (count, more) in counts.iter_mut().zip(played) {
            *count += more;
        }
        rounds += 1;
        let summary = summary(&counts);
        progress(&summary);
        let decision = sprt.decide(&counts);
        if decision != SprtDecision::Undecided || rounds * PAIRS_PER_PRESET >= MAX_PAIRS {
            let stronger = decision == SprtDecision::High;
            return GateResult { stronger, summary };
        }
    }
}

/// The strength of a net against greedy as text, for each preset that fits.
pub fn strength(
    nets: &Nets,
    new: &NetEvaluator,
    variant: NetVariant,
    threads: NonZeroUsize,
) -> String {
    let mut nets = nets.clone();
    nets.replace(variant, new.clone());
    let new = by_net(&nets);
    let each: Vec<String> = presets(variant)
        .iter()
        .map(|rules| {
            let counts = pairs(rules, [&new, &greedy], PAIRS_AGAINST_GREEDY, 1, threads);
            format!("{} {}", rules.preset.name(), summary(&counts))
        })
        .collect();
    format!("against greedy {GREEDY_VERSION}: {}", each.join("; "))
}

fn greedy() -> Box<dyn Policy> {
    Box::new(LevelPlayer(Level::Greedy))
}

fn by_net(nets: &Nets) -> impl Fn() -> Box<dyn Policy> + Sync + use<> {
    let nets = Arc::new(nets.clone());
    move || Box::new(NetPlayer::new(nets.clone()))
}

/// The number of pairs with each score.
fn pairs(
    rules: &Rules,
    players: [&PlayerFactory; 2],
    pairs: u32,
    seed: u64,
    threads: NonZeroUsize,
) -> Vec<u32> {
    let plan = Match {
        rules,
        teams: players.map(|player| [player; 2]),
        is_mixed: false,
        nets: None,
        pairs,
        seed,
        threads,
    };
    let tally = run_match(&plan, |_| ControlFlow::Continue(()));
    tally.scores().to_vec()
}

/// A score as text.
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
