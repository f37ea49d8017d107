//! The search: playouts check the net's value of each choice, with the hidden cards dealt in ways
//! that fit what the seat has seen.
//!
//! The choices with the highest values are candidates. The hidden cards are dealt again and again
//! ([`super::determinize`]), and each candidate is played with the same cards. The game goes on to
//! the end of the round, or for some plies if there is little time. Every seat plays what the net
//! prefers by its own information, and the net evaluates the end. As time passes, the weaker half
//! of the candidates is dropped repeatedly, so most of the time goes into telling the best ones
//! apart (sequential halving).

mod estimates;
mod findings;
mod line;
mod playing;
mod proof;
mod rounds;
#[cfg(any(test, feature = "testing"))]
mod testing;

use dog_rules::{Board, BySeat, Card, Cards, Playout, SeatView};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

pub use self::estimates::Estimate;
pub(super) use self::findings::CLEARLY;
use self::line::FirstPlays;
pub use self::line::LinePlay;
use self::playing::chance;
pub use self::playing::{Candidate, PlayoutContext, PlayoutResult, answer};
pub use self::proof::Proof;
pub use self::rounds::TeamChance;
pub use super::budget::{Budget, BudgetClock, Checkpoint, MAX_SEARCH_TIME, SearchLimit};
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
    /// The number of rounds, this one included, after which a playout ends. At the end of a round
    /// every hand is known.
    pub rounds: u32,
    /// Whether the weaker half of the candidates is dropped as time passes.
    pub halving: bool,
    /// Whether choices are proved to win or to lose, where every hand is known.
    pub proves: bool,
    /// The number of deals that the net's own value counts for.
    pub prior: f32,
    /// The number of deals from which one is drawn, by likelihood; 1 accepts any deal.
    pub deal_candidates: u32,
    /// Candidates that are worse than the best by this many standard errors are dropped, and the
    /// search ends when a single one is left. Infinite to use the whole budget, as advice does.
    pub stop_errors: f64,
    /// How the seats play in playouts.
    pub playout_policies: PlayoutPolicies,
    /// What ends a search that has not done all its playouts.
    pub limit: SearchLimit,
    /// Whether the first plays of the playouts are kept, for lines and reasons. It changes no
    /// result.
    pub explains: bool,
}

/// How the seats play in playouts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlayoutPolicies {
    /// All by this policy.
    All(PlayoutPolicy),
    /// The seat itself by the net, the others as they are estimated to play.
    Estimated,
}

impl SearchConfig {
    /// The parameters to find only the best choice.
    pub fn for_play() -> SearchConfig {
        SearchConfig {
            stop_errors: 3.0,
            ..SearchConfig::default()
        }
    }

    /// The parameters for [`Searcher::compare`]: every choice gets equally many playouts.
    pub fn for_comparison(self) -> SearchConfig {
        SearchConfig {
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
            rounds: 1,
            halving: true,
            proves: true,
            prior: 12.0,
            deal_candidates: 48,
            stop_errors: f64::INFINITY,
            playout_policies: PlayoutPolicies::Estimated,
            limit: SearchLimit::Time,
            explains: false,
        }
    }
}

/// The statistics of a candidate.
#[derive(Clone, Debug, Default)]
pub struct CandidateStats {
    pub candidate: Candidate,
    /// Whether a choice at random, drawn anew for each playout, takes the candidate's place.
    is_random: bool,
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
    /// The number of playouts that the seat wins at its next turn in the round, by card.
    next_wins: [u32; Card::ALL.len()],
    /// The first plays of each playout, up to a limit, if they are kept.
    first_plays: Vec<FirstPlays>,
    /// What it leads to, if that is proved.
    pub proof: Option<Proof>,
}

impl CandidateStats {
    fn new(candidate: Candidate, logit: f32) -> CandidateStats {
        CandidateStats {
            candidate,
            logit,
            ..CandidateStats::default()
        }
    }

    /// The chance that the team wins by the net, before any playout.
    pub fn net_probability(&self) -> f64 {
        chance(self.logit)
    }

    /// What the choices are ranked by, 0 to 1: what is proved, or the mean of the playouts, in which
    /// the net's value counts for `prior` of them.
    pub fn rank_value(&self, prior: f32) -> f64 {
        let net = chance(self.logit);
        let (prior, samples) = (f64::from(prior), f64::from(self.samples));
        match self.proof {
            Some(proof) => proof.chance(),
            None if self.samples == 0 => net,
            None => (prior * net + self.sum) / (prior + samples),
        }
    }

    /// The mean of the playouts; none without playouts.
    pub fn mean(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum / f64::from(self.samples))
    }

    /// The standard error of the mean of the playouts; none for fewer than two. It is at least the
    /// error of a share of wins of which nothing was known before, so it is not 0 where all agree.
    pub fn standard_error(&self) -> Option<f64> {
        let n = f64::from(self.samples);
        (self.samples > 1).then(|| {
            let mean = self.sum / n;
            let variance = (self.squares / n - mean * mean).max(0.0);
            let (wins, losses) = (self.sum + 1.0, n - self.sum + 1.0);
            let least = wins * losses / ((n + 2.0).powi(2) * (n + 3.0));
            (variance / (n - 1.0)).max(least).sqrt()
        })
    }

    /// The card with which the seat wins at its next turn in most of the playouts that it wins then,
    /// and the share of these among all playouts, 0 to 1; none if there are none.
    pub fn next_win(&self) -> Option<(Card, f64)> {
        let card = Card::ALL
            .into_iter()
            .rev()
            .max_by_key(|&card| self.next_wins[card as usize])?;
        let wins: u32 = self.next_wins.iter().sum();
        (wins > 0).then(|| (card, f64::from(wins) / f64::from(self.samples)))
    }

    /// The share of the playouts in which a moved piece is captured before the seat's next turn.
    pub fn risk(&self) -> Option<f64> {
        (self.samples > 0).then(|| f64::from(self.captured) / f64::from(self.samples))
    }

    /// Whether the playouts were worse than the other's by more than this many standard errors of
    /// the mean difference, deal by deal.
    pub(super) fn is_significantly_worse(&self, other: &CandidateStats, errors: f64) -> bool {
        self.difference(other)
            .is_some_and(|(mean, error)| mean > errors * error)
    }

    /// By how much the other's playouts were better on average, deal by deal, and the standard
    /// error of that; none with fewer than two deals in common.
    pub fn difference(&self, other: &CandidateStats) -> Option<(f64, f64)> {
        let both = other.values.iter().zip(&self.values);
        let (count, mean, error) = mean_and_error(both.map(|(other, own)| f64::from(other - own)));
        (count > 1.0).then_some((mean, error))
    }

    /// Adds a playout. What is proved counts in place of its value.
    fn add(&mut self, end: PlayoutResult) {
        let value = self.proof.map_or(end.value, Proof::chance);
        self.samples += 1;
        self.values.push(value as f32);
        self.sum += value;
        self.squares += value * value;
        self.captured += u32::from(end.captured);
        if let Some(card) = end.next_win {
            self.next_wins[card as usize] += 1;
        }
    }
}

/// The number of values, their mean, and its standard error.
fn mean_and_error(values: impl Iterator<Item = f64>) -> (f64, f64, f64) {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    let mean = sum / count;
    let variance = (squares / count - mean * mean).max(0.0);
    (count, mean, (variance / (count - 1.0).max(1.0)).sqrt())
}

/// A search with its scratch memory.
pub struct Searcher<'n> {
    nets: &'n Nets,
    config: SearchConfig,
    /// How the seats have played so far.
    models: PlayerModels,
    checkpoint: Checkpoint<'n>,
    scratch: Scratch,
}

impl<'n> Searcher<'n> {
    pub fn new(nets: &'n Nets, config: SearchConfig, models: PlayerModels) -> Searcher<'n> {
        Searcher {
            nets,
            config,
            models,
            checkpoint: &|| true,
            scratch: Scratch::default(),
        }
    }

    /// The searcher with this checkpoint.
    pub fn with_checkpoint(self, checkpoint: Checkpoint<'n>) -> Searcher<'n> {
        Searcher { checkpoint, ..self }
    }

    fn start_clock(&self, budget: Budget) -> BudgetClock<'n> {
        // The reasons take the rest of a time.
        let budget = match budget {
            Budget::Time(time) if self.config.explains => Budget::Time(time - time / 40),
            budget => budget,
        };
        BudgetClock::start(budget, self.config.limit, self.checkpoint)
    }

    /// Everything that the seat may choose, best first: the candidates, then the rest as the net
    /// ranks it.
    pub fn think<R: Rng>(
        &mut self,
        view: &SeatView,
        budget: Budget,
        rng: &mut R,
    ) -> Vec<CandidateStats> {
        let clock = self.start_clock(budget);
        let (mut candidates, searched) = self.candidates(view, &clock);
        let is_alone = self.config.explains && searched == 1;
        if searched > 1 || is_alone && proof::is_worth_a_search_alone(view) {
            let left = self.search_unseen(view, &mut candidates, searched, &clock, rng);
            self.rank(&mut candidates[..left]);
        }
        candidates
    }

    /// The playouts of these choices of the seat, in their order, all of them in the same worlds.
    /// None is a choice at random, drawn anew in each world: a card that can be played, then a board
    /// that it leads to; in the exchange an answer. The configuration is one
    /// [for comparison](SearchConfig::for_comparison).
    pub fn compare<R: Rng>(
        &mut self,
        view: &SeatView,
        choices: &[Option<Candidate>],
        budget: Budget,
        rng: &mut R,
    ) -> Vec<CandidateStats> {
        let clock = self.start_clock(budget);
        let evaluator = self.nets.for_rules(view.rules);
        let compared = choices.iter().map(|choice| match choice {
            Some(choice) => {
                let logit = choice.logit(evaluator, view, &mut self.scratch);
                CandidateStats::new(*choice, logit)
            }
            None => CandidateStats {
                is_random: true,
                ..CandidateStats::new(Candidate::Fold, 0.0)
            },
        });
        let mut compared: Vec<CandidateStats> = compared.collect();
        if self.config.proves {
            proof::prove(view, &mut compared, &clock);
        }
        self.search_unseen(view, &mut compared, choices.len(), &clock, rng);
        compared
    }

    /// [`Searcher::search`] in worlds whose hidden cards fit what the seat has seen.
    fn search_unseen<R: Rng>(
        &mut self,
        view: &SeatView,
        candidates: &mut [CandidateStats],
        searched: usize,
        clock: &BudgetClock,
        rng: &mut R,
    ) -> usize {
        let evaluator = self.nets.for_rules(view.rules);
        let draws = self.config.deal_candidates;
        let determinizer = Determinizer::new(evaluator, view, draws, clock, &mut self.scratch);
        self.search(view, candidates, searched, clock, rng, |rng| {
            deal(view, determinizer.deal(rng), rng)
        })
    }

    /// Everything that the seat may choose, as the net ranks it, and how many of the first are
    /// worth a search; the others keep the net's value.
    fn candidates(&mut self, view: &SeatView, clock: &BudgetClock) -> (Vec<CandidateStats>, usize) {
        let evaluator = self.nets.for_rules(view.rules);
        let mut candidates = self.static_values(evaluator, view, clock);
        // A stable sort leaves exact ties in the order of the rules.
        candidates.sort_by(|a, b| b.logit.total_cmp(&a.logit));
        if self.config.proves {
            proof::prove(view, &mut candidates, clock);
        }
        candidates.sort_by_key(|stats| match stats.proof {
            Some(Proof::Win) => 0,
            None => 1,
            Some(Proof::Loss) => 2,
        });
        let best = &candidates[0];
        // Nobody needs to know how much worse other moves are than one that ends the game.
        let is_over = best.logit >= WON || !self.config.explains && best.proof.is_some();
        let may_win = |stats: &&CandidateStats| stats.proof != Some(Proof::Loss);
        let logits = candidates.iter().filter(may_win).map(|stats| stats.logit);
        let least = logits.fold(f32::NEG_INFINITY, f32::max) - self.config.margin;
        let is_candidate = |stats: &&CandidateStats| {
            may_win(stats) && (stats.proof.is_some() || stats.logit > least)
        };
        let best_ones = candidates.iter().take(self.config.candidates);
        let searched = match is_over {
            true => 0,
            false => best_ones.take_while(is_candidate).count(),
        };
        (candidates, searched)
    }

    /// Plays the first `searched` candidates in the worlds that `deal` deals until the budget is
    /// used up. Returns how many of them are left, first in the list but not yet ranked.
    fn search<'v, R: Rng>(
        &mut self,
        view: &SeatView,
        candidates: &mut [CandidateStats],
        mut searched: usize,
        clock: &BudgetClock,
        rng: &mut R,
        mut deal: impl FnMut(&mut R) -> World<'v>,
    ) -> usize {
        let evaluator = self.nets.for_rules(view.rules);
        let plies = self.config.plies.unwrap_or(clock.plies());
        let halvings = searched.next_power_of_two().trailing_zeros();
        let (mut samples, mut halved, mut deals) = (0, 0, 0u32);
        'search: loop {
            let policies = self.policies(view, rng);
            let (world, playout_rng) = deal(rng);
            for stats in &mut candidates[..searched] {
                if clock.used(samples) >= 1.0 {
                    break 'search;
                }
                let mut context = PlayoutContext {
                    evaluator,
                    plies,
                    rounds: self.config.rounds,
                    policies,
                    clock,
                    scratch: &mut self.scratch,
                };
                let rng = &mut playout_rng.clone();
                let mut plays = FirstPlays::default();
                let show = |seat, card, board: &Board| {
                    if self.config.explains {
                        line::keep(&mut plays, seat, card, board);
                    }
                };
                let candidate = if stats.is_random {
                    context.any_choice(view, rng)
                } else {
                    stats.candidate
                };
                let Some(end) = context.play_out(view.seat, &world, candidate, rng, show) else {
                    break 'search;
                };
                stats.add(end);
                if self.config.explains && stats.first_plays.len() < line::MAX_PLAYOUTS {
                    stats.first_plays.push(plays);
                }
                samples += 1;
            }
            let used = clock.used(samples) * f64::from(halvings);
            if self.config.halving && searched > 2 && used >= f64::from(halved + 1) {
                halved += 1;
                self.rank(&mut candidates[..searched]);
                searched = searched.div_ceil(2);
            }
            deals += 1;
            if self.config.stop_errors.is_finite() && deals.is_multiple_of(DEALS) {
                searched = self.undominated(&mut candidates[..searched]);
                if searched < 2 {
                    break;
                }
            }
        }
        searched
    }

    /// The policies of a playout.
    fn policies(&self, view: &SeatView, rng: &mut impl Rng) -> BySeat<PlayoutPolicy> {
        match self.config.playout_policies {
            PlayoutPolicies::All(policy) => BySeat::from_fn(|_| policy),
            PlayoutPolicies::Estimated => {
                let mut policies = self.models.draw(view.rules, rng);
                policies[view.seat] = PlayoutPolicy::NET;
                policies
            }
        }
    }

    /// Ranks the candidates, with those that are significantly worse than the best at the end.
    /// Returns the number of the others, the best included.
    fn undominated(&self, candidates: &mut [CandidateStats]) -> usize {
        self.rank(candidates);
        let (best, others) = candidates.split_first_mut().expect("two candidates");
        let errors = self.config.stop_errors;
        others.sort_by_key(|other| other.is_significantly_worse(best, errors));
        1 + others.partition_point(|other| !other.is_significantly_worse(best, errors))
    }

    fn rank(&self, candidates: &mut [CandidateStats]) {
        let prior = self.config.prior;
        candidates.sort_by(|a, b| b.rank_value(prior).total_cmp(&a.rank_value(prior)));
    }

    /// The net's value of every choice. When the time is up, the remaining ones are not evaluated.
    fn static_values(
        &mut self,
        evaluator: &NetEvaluator,
        view: &SeatView,
        clock: &BudgetClock,
    ) -> Vec<CandidateStats> {
        if view.exchanging {
            return evaluator
                .answers(view, &mut self.scratch)
                .into_iter()
                .map(|(choice, logit)| CandidateStats::new(Candidate::Answer(choice), logit))
                .collect();
        }
        let mut candidates = Vec::new();
        evaluator.plays(view, &mut self.scratch, |card, board, logit| {
            candidates.push(CandidateStats::new(Candidate::Play(card, *board), logit));
            !clock.late_after(candidates.len() as u32)
        });
        if candidates.is_empty() {
            let logit = evaluator.fold_logit(view, &mut self.scratch);
            candidates.push(CandidateStats::new(Candidate::Fold, logit));
        }
        candidates
    }
}

/// A game in which all cards are known, and the random numbers of its playouts.
type World<'a> = (Playout<'a>, Xoshiro256PlusPlus);

/// A world with these hands.
fn deal<'a>(view: &SeatView<'a>, hands: BySeat<Cards>, rng: &mut impl Rng) -> World<'a> {
    let playout_rng = Xoshiro256PlusPlus::seed_from_u64(rng.random());
    let playout = Playout::from_view(view, hands, &mut playout_rng.clone());
    (playout, playout_rng)
}

#[cfg(test)]
mod tests;
