//! Thinking ahead: what the net says of a choice is checked by playing on from it, with the hidden
//! cards dealt out in ways that fit what the seat has seen.
//!
//! The choices that the net likes best are candidates. Again and again the hidden cards are dealt
//! ([`super::determinize`]), each candidate is played with the same cards, the game goes on to the
//! end of the round (with little time for some plies), in which every seat plays what the net tells
//! it by its own information, and the net says how the team stands then. As time passes the weaker
//! half of the candidates is left out, and again, so that most of it goes into telling the best
//! apart (sequential halving).

mod playing;

use std::ops::ControlFlow;

use dog_rules::{Playout, SeatView};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

pub use self::playing::{Budget, BudgetClock, Candidate, PlayoutContext, PlayoutResult, answer};
use self::playing::{CLOCK_EVERY, chance};
use super::{
    determinize::Determinizer,
    net::{
        evaluator::{NetEvaluator, Scratch, WON},
        nets::Nets,
    },
};

/// Deals between two looks at which candidates are left out because they are surely worse.
const DEALS: u32 = 16;

/// What the search is made of. The parts can be left out one by one, to measure what each is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchConfig {
    /// Choices looked at closely, at most.
    pub candidates: usize,
    /// Choices that the net gives this much less than the best, in logarithms of the odds, are not
    /// looked at.
    pub margin: f32,
    /// Turns that a playout lasts at least; as the budget has it if nothing is said.
    pub plies: Option<u32>,
    /// Whether a playout ends with the round, where no hand is hidden any more.
    pub to_round_end: bool,
    /// Whether every candidate is played with the same hidden cards and the same luck.
    pub common: bool,
    /// Whether the weaker half of the candidates is left out as time passes.
    pub halving: bool,
    /// How many deals the net's own word counts for.
    pub prior: f32,
    /// Deals of which one is taken, the likelier ones rather; 1 takes any.
    pub weighing: u32,
    /// Candidates that are found to be worse than the best, by so many standard errors, are left
    /// out on the way, and with a single one left there is nothing to think about. Infinite:
    /// the whole budget is used, as is asked of advice.
    pub sure: f64,
}

impl SearchConfig {
    /// How somebody thinks who only wants to know what is best.
    pub fn for_play() -> SearchConfig {
        SearchConfig {
            sure: 3.0,
            ..SearchConfig::default()
        }
    }

    /// How choices that are given are compared: all of them, by as many playouts each.
    pub fn for_comparison(self) -> SearchConfig {
        SearchConfig {
            candidates: usize::MAX,
            margin: f32::INFINITY,
            halving: false,
            sure: f64::INFINITY,
            ..self
        }
    }
}

impl Default for SearchConfig {
    fn default() -> SearchConfig {
        SearchConfig {
            candidates: 8,
            margin: 2.0,
            plies: None,
            to_round_end: true,
            common: true,
            halving: true,
            prior: 12.0,
            weighing: 48,
            sure: f64::INFINITY,
        }
    }
}

/// What was found out about a candidate.
#[derive(Clone, Debug)]
pub struct CandidateStats {
    pub candidate: Candidate,
    /// What the net says at once, as a logarithm of the odds.
    pub logit: f32,
    /// Playouts.
    pub samples: u32,
    /// What each playout came to. With common luck the candidates' lists go deal by deal.
    values: Vec<f32>,
    sum: f64,
    squares: f64,
    /// Playouts in which a piece that was moved is captured before the seat's next turn.
    pub captured: u32,
}

impl CandidateStats {
    fn new(candidate: Candidate, logit: f32) -> CandidateStats {
        CandidateStats {
            candidate,
            logit,
            samples: 0,
            values: Vec::new(),
            sum: 0.0,
            squares: 0.0,
            captured: 0,
        }
    }

    /// The estimated chance that the team wins, 0 to 1, where the net's word counts for `prior`
    /// playouts.
    pub fn win_probability(&self, prior: f32) -> f64 {
        let net = chance(self.logit);
        let (prior, samples) = (f64::from(prior), f64::from(self.samples));
        if self.samples == 0 {
            net
        } else {
            (prior * net + self.sum) / (prior + samples)
        }
    }

    /// The standard error of the mean of the playouts; none of fewer than two.
    pub fn standard_error(&self) -> Option<f64> {
        let samples = f64::from(self.samples);
        (self.samples > 1).then(|| {
            let mean = self.sum / samples;
            let variance = (self.squares / samples - mean * mean).max(0.0);
            (variance / (samples - 1.0)).sqrt()
        })
    }

    /// The share of the playouts in which a piece that was moved is captured before the seat's
    /// next turn.
    pub fn risk(&self) -> Option<f64> {
        (self.samples > 0).then(|| f64::from(self.captured) / f64::from(self.samples))
    }

    /// Whether the playouts were worse than the other's by more than so many standard errors of
    /// the mean difference, deal by deal.
    fn surely_worse(&self, other: &CandidateStats, errors: f64) -> bool {
        let differences = other.values.iter().zip(&self.values);
        let differences = differences.map(|(other, own)| f64::from(other - own));
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for difference in differences {
            count += 1.0;
            sum += difference;
            squares += difference * difference;
        }
        let mean = sum / count;
        let variance = (squares / count - mean * mean).max(0.0);
        count > 1.0 && mean > errors * (variance / (count - 1.0)).sqrt()
    }

    fn add(&mut self, value: f64, captured: bool) {
        self.samples += 1;
        self.values.push(value as f32);
        self.sum += value;
        self.squares += value * value;
        self.captured += u32::from(captured);
    }
}

/// Somebody who thinks ahead, with memory that is used again.
pub struct Searcher<'n> {
    nets: &'n Nets,
    method: SearchConfig,
    scratch: Scratch,
}

impl<'n> Searcher<'n> {
    pub fn new(nets: &'n Nets, method: SearchConfig) -> Searcher<'n> {
        Searcher {
            nets,
            method,
            scratch: Scratch::default(),
        }
    }

    /// Everything that the seat may choose, best first: what the search looked at closely, then
    /// the rest as the net ranks it.
    pub fn think<R: Rng>(
        &mut self,
        view: &SeatView,
        budget: Budget,
        rng: &mut R,
    ) -> Vec<CandidateStats> {
        self.think_of(view, budget, rng, |_| true)
    }

    /// The same of some of the choices, at least one.
    pub fn think_of<R: Rng>(
        &mut self,
        view: &SeatView,
        budget: Budget,
        rng: &mut R,
        included: impl Fn(&Candidate) -> bool,
    ) -> Vec<CandidateStats> {
        let clock = BudgetClock::start(budget);
        let evaluator = self.nets.of(view.rules);
        let mut thoughts = self.at_once(evaluator, view, &clock);
        thoughts.retain(|thought| included(&thought.candidate));
        // A stable sort leaves exact ties in the order of the rules.
        thoughts.sort_by(|a, b| b.logit.total_cmp(&a.logit));
        let best = thoughts[0].logit;
        let close = |thought: &&CandidateStats| thought.logit > best - self.method.margin;
        let close = thoughts
            .iter()
            .take(self.method.candidates)
            .take_while(close);
        let mut candidates = close.count();
        if candidates < 2 || best >= WON {
            return thoughts;
        }
        let determinizer =
            Determinizer::new(evaluator, view, self.method.weighing, &mut self.scratch);
        let plies = self.method.plies.unwrap_or(budget.plies());
        let halvings = candidates.next_power_of_two().trailing_zeros();
        let (mut halved, mut deals) = (0, 0u32);
        let mut samples = 0;
        'thinking: loop {
            let deal = |rng: &mut R| {
                let hands = determinizer.deal(rng);
                let luck = Xoshiro256PlusPlus::seed_from_u64(rng.random());
                (Playout::of(view, hands, &mut luck.clone()), luck)
            };
            let (mut world, mut luck) = deal(rng);
            for (place, thought) in thoughts[..candidates].iter_mut().enumerate() {
                if clock.used(samples) >= 1.0 {
                    break 'thinking;
                }
                if place > 0 && !self.method.common {
                    (world, luck) = deal(rng);
                }
                let mut playing = PlayoutContext {
                    evaluator,
                    plies,
                    to_round_end: self.method.to_round_end,
                    clock: &clock,
                    scratch: &mut self.scratch,
                };
                let mut luck = luck.clone();
                let Some(end) = playing.on(view.seat, &world, thought.candidate, &mut luck) else {
                    break 'thinking;
                };
                thought.add(end.value, end.captured);
                samples += 1;
            }
            let used = clock.used(samples) * f64::from(halvings);
            if self.method.halving && candidates > 2 && used >= f64::from(halved + 1) {
                halved += 1;
                self.rank(&mut thoughts[..candidates]);
                candidates = candidates.div_ceil(2);
            }
            deals += 1;
            if self.method.sure.is_finite() && deals.is_multiple_of(DEALS) {
                candidates = self.in_doubt(&mut thoughts[..candidates]);
                if candidates < 2 {
                    break;
                }
            }
        }
        self.rank(&mut thoughts[..candidates]);
        thoughts
    }

    /// Ranks candidates, those that are surely worse than the best last; returns how many are left
    /// in doubt, the best among them.
    fn in_doubt(&self, candidates: &mut [CandidateStats]) -> usize {
        self.rank(candidates);
        let (best, others) = candidates.split_first_mut().expect("two candidates");
        others.sort_by_key(|other| other.surely_worse(best, self.method.sure));
        let doubtful = |other: &CandidateStats| !other.surely_worse(best, self.method.sure);
        1 + others.partition_point(doubtful)
    }

    /// The chance that a thought's candidate wins, as the method weighs it.
    pub fn win_probability(&self, thought: &CandidateStats) -> f64 {
        thought.win_probability(self.method.prior)
    }

    fn rank(&self, thoughts: &mut [CandidateStats]) {
        let chance = |thought: &CandidateStats| thought.win_probability(self.method.prior);
        thoughts.sort_by(|a, b| chance(b).total_cmp(&chance(a)));
    }

    /// What the net says of every choice at once. When the time is up, what is left is not judged.
    fn at_once(
        &mut self,
        evaluator: &NetEvaluator,
        view: &SeatView,
        clock: &BudgetClock,
    ) -> Vec<CandidateStats> {
        if view.exchanging {
            let answers = evaluator.answers(view, &mut self.scratch);
            let thought = |(choice, logit)| CandidateStats::new(Candidate::Answer(choice), logit);
            return answers.into_iter().map(thought).collect();
        }
        let mut thoughts = Vec::new();
        evaluator.plays(view, &mut self.scratch, |card, board, logit| {
            thoughts.push(CandidateStats::new(Candidate::Play(card, *board), logit));
            if (thoughts.len() as u32).is_multiple_of(CLOCK_EVERY) && clock.late() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if thoughts.is_empty() {
            let logit = evaluator.of_fold(view, &mut self.scratch);
            thoughts.push(CandidateStats::new(Candidate::Fold, logit));
        }
        thoughts
    }
}

#[cfg(test)]
mod tests;
