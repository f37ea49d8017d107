//! The search: playouts check the net's value of each choice, with the hidden cards dealt in ways
//! that fit what the seat has seen.
//!
//! The choices with the highest values are candidates. The hidden cards are dealt again and again
//! ([`super::determinize`]), and each candidate is played with the same cards. The game goes on to
//! the end of the round, or for some plies if there is little time. Every seat plays what the net
//! prefers by its own information, and the net evaluates the end. As time passes, the weaker half
//! of the candidates is dropped repeatedly, so most of the time goes into telling the best ones
//! apart (sequential halving).

mod playing;

use std::ops::ControlFlow;

use dog_rules::{BySeat, Playout, SeatView};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

pub use self::playing::{Budget, BudgetClock, Candidate, PlayoutContext, PlayoutResult, answer};
use self::playing::{CLOCK_EVERY, chance};
use super::{
    determinize::Determinizer,
    net::{
        evaluator::{NetEvaluator, Scratch, WON},
        nets::Nets,
    },
    player_model::{PlayerModels, PlayoutPolicy},
};

/// The number of deals between two checks for candidates that are significantly worse.
const DEALS: u32 = 16;

/// The parameters of the search. Parts can be switched off one by one, to measure what each is
/// worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchConfig {
    /// The largest number of candidates.
    pub candidates: usize,
    /// Choices whose logit is lower than the best by more than this are not candidates.
    pub margin: f32,
    /// The least number of turns of a playout; if none, the budget decides.
    pub plies: Option<u32>,
    /// Whether a playout goes on to the end of the round, where no hand is hidden any more.
    pub to_round_end: bool,
    /// Whether all candidates are played with the same hidden cards and random numbers.
    pub common_luck: bool,
    /// Whether the weaker half of the candidates is dropped as time passes.
    pub halving: bool,
    /// The number of deals that the net's own value counts for.
    pub prior: f32,
    /// The number of deals from which one is drawn, by likelihood; 1 accepts any deal.
    pub deal_candidates: u32,
    /// Candidates that are worse than the best by this many standard errors are dropped, and the
    /// search ends when a single one is left. Infinite to use the whole budget, as advice does.
    pub stop_errors: f64,
    /// How the seats play in playouts.
    pub playout_policies: PlayoutPolicies,
}

/// How the other seats play in playouts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlayoutPolicies {
    /// By the net.
    Net,
    /// As they are estimated to play.
    Estimated,
    /// The partner by this policy, the others by the net: to measure what an estimate can gain.
    Partner(PlayoutPolicy),
}

impl SearchConfig {
    /// The parameters to find only the best choice.
    pub fn for_play() -> SearchConfig {
        SearchConfig {
            stop_errors: 3.0,
            ..SearchConfig::default()
        }
    }

    /// The parameters to compare given choices: all of them, with equally many playouts.
    pub fn for_comparison(self) -> SearchConfig {
        SearchConfig {
            candidates: usize::MAX,
            margin: f32::INFINITY,
            halving: false,
            stop_errors: f64::INFINITY,
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
            common_luck: true,
            halving: true,
            prior: 12.0,
            deal_candidates: 48,
            stop_errors: f64::INFINITY,
            playout_policies: PlayoutPolicies::Estimated,
        }
    }
}

/// The statistics of a candidate.
#[derive(Clone, Debug)]
pub struct CandidateStats {
    pub candidate: Candidate,
    /// The net's value before any playout.
    pub logit: f32,
    /// The number of playouts.
    pub samples: u32,
    /// The value of each playout. With common random numbers, the lists of the candidates match
    /// deal by deal.
    values: Vec<f32>,
    sum: f64,
    squares: f64,
    /// The number of playouts in which a moved piece is captured before the seat's next turn.
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

    /// The estimated chance that the team wins, 0 to 1. The net's value counts for `prior`
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

    /// The standard error of the mean of the playouts; none for fewer than two.
    pub fn standard_error(&self) -> Option<f64> {
        let samples = f64::from(self.samples);
        (self.samples > 1).then(|| {
            let mean = self.sum / samples;
            let variance = (self.squares / samples - mean * mean).max(0.0);
            (variance / (samples - 1.0)).sqrt()
        })
    }

    /// The share of the playouts in which a moved piece is captured before the seat's next turn.
    pub fn risk(&self) -> Option<f64> {
        (self.samples > 0).then(|| f64::from(self.captured) / f64::from(self.samples))
    }

    /// Whether the playouts were worse than the other's by more than this many standard errors of
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

/// A search with its scratch memory.
pub struct Searcher<'n> {
    nets: &'n Nets,
    config: SearchConfig,
    /// How the seats have played so far.
    models: PlayerModels,
    scratch: Scratch,
}

impl<'n> Searcher<'n> {
    pub fn new(nets: &'n Nets, config: SearchConfig, models: PlayerModels) -> Searcher<'n> {
        Searcher {
            nets,
            config,
            models,
            scratch: Scratch::default(),
        }
    }

    /// Everything that the seat may choose, best first: the candidates, then the rest as the net
    /// ranks it.
    pub fn think<R: Rng>(
        &mut self,
        view: &SeatView,
        budget: Budget,
        rng: &mut R,
    ) -> Vec<CandidateStats> {
        self.think_of(view, budget, rng, |_| true)
    }

    /// As [`Searcher::think`], for some of the choices, at least one.
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
        let close = |thought: &&CandidateStats| thought.logit > best - self.config.margin;
        let close = thoughts
            .iter()
            .take(self.config.candidates)
            .take_while(close);
        let mut candidates = close.count();
        if candidates < 2 || best >= WON {
            return thoughts;
        }
        let determinizer = Determinizer::new(
            evaluator,
            view,
            self.config.deal_candidates,
            &mut self.scratch,
        );
        let plies = self.config.plies.unwrap_or(budget.plies());
        let halvings = candidates.next_power_of_two().trailing_zeros();
        let (mut halved, mut deals) = (0, 0u32);
        let mut samples = 0;
        'thinking: loop {
            let deal = |rng: &mut R| {
                let hands = determinizer.deal(rng);
                let luck = Xoshiro256PlusPlus::seed_from_u64(rng.random());
                (Playout::of(view, hands, &mut luck.clone()), luck)
            };
            let policies = self.policies(view, rng);
            let (mut world, mut luck) = deal(rng);
            for (place, thought) in thoughts[..candidates].iter_mut().enumerate() {
                if clock.used(samples) >= 1.0 {
                    break 'thinking;
                }
                if place > 0 && !self.config.common_luck {
                    (world, luck) = deal(rng);
                }
                let mut playing = PlayoutContext {
                    evaluator,
                    plies,
                    to_round_end: self.config.to_round_end,
                    policies,
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
            if self.config.halving && candidates > 2 && used >= f64::from(halved + 1) {
                halved += 1;
                self.rank(&mut thoughts[..candidates]);
                candidates = candidates.div_ceil(2);
            }
            deals += 1;
            if self.config.stop_errors.is_finite() && deals.is_multiple_of(DEALS) {
                candidates = self.in_doubt(&mut thoughts[..candidates]);
                if candidates < 2 {
                    break;
                }
            }
        }
        self.rank(&mut thoughts[..candidates]);
        thoughts
    }

    /// The policies of a playout. The seat itself plays by the net.
    fn policies(&self, view: &SeatView, rng: &mut impl Rng) -> BySeat<PlayoutPolicy> {
        let mut policies = BySeat::from_fn(|_| PlayoutPolicy::NET);
        match self.config.playout_policies {
            PlayoutPolicies::Net => {}
            PlayoutPolicies::Partner(policy) => {
                policies[view.seat.partner(view.rules.seats)] = policy;
            }
            PlayoutPolicies::Estimated => {
                policies = self.models.draw(view.rules, rng);
                policies[view.seat] = PlayoutPolicy::NET;
            }
        }
        policies
    }

    /// Ranks the candidates, with those that are significantly worse than the best at the end.
    /// Returns the number of the others, the best included.
    fn in_doubt(&self, candidates: &mut [CandidateStats]) -> usize {
        self.rank(candidates);
        let (best, others) = candidates.split_first_mut().expect("two candidates");
        others.sort_by_key(|other| other.surely_worse(best, self.config.stop_errors));
        let doubtful = |other: &CandidateStats| !other.surely_worse(best, self.config.stop_errors);
        1 + others.partition_point(doubtful)
    }

    /// The chance that a candidate wins, with the standard error of its playouts. The net expects
    /// that all seats play equally well; how they have played so far multiplies the odds.
    pub fn win_probability(&self, view: &SeatView, thought: &CandidateStats) -> (f64, Option<f64>) {
        let factor = self.models.advantage(view.rules, view.seat).exp();
        let chance = thought.win_probability(self.config.prior);
        let scale = 1.0 - chance + chance * factor;
        let error = thought.standard_error();
        let error = error.map(|error| error * factor / (scale * scale));
        (chance * factor / scale, error)
    }

    fn rank(&self, thoughts: &mut [CandidateStats]) {
        let chance = |thought: &CandidateStats| thought.win_probability(self.config.prior);
        thoughts.sort_by(|a, b| chance(b).total_cmp(&chance(a)));
    }

    /// The net's value of every choice. When the time is up, the remaining ones are not evaluated.
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
