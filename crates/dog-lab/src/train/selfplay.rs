//! Games of the net against itself, and the samples that they give.

use std::ops::Range;

use dog_bot::{
    Choice,
    net::{
        evaluator::{NetEvaluator, Scratch, WON, after},
        inputs::{AfterChoice, HandInfo, Input, Inputs},
        nets::NetVariant,
        probability,
    },
    search::{Budget, BudgetClock, Candidate, PlayoutContext, SearchLimit, answer},
};
use dog_rules::{
    Board, Cards, Exchange, GoalEntry, Options, Phase, Playout, Preset, Protection, Rules, Seat,
    SeatView, SevenLanding, SevenPartner, SevenSurplus,
};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};

use crate::net_file::options;

/// More turns than any game between players that want to win. The end of a longer game teaches
/// nothing.
const MAX_TURNS: u32 = 2_500;
/// The number of choices that are explored together, which is the largest size of a group.
pub const ALTERNATIVES: usize = 6;
/// The playouts of the next round by which the end of a round is valued.
const ROUND_PLAYOUTS: u32 = 8;
/// One decision in this many is shown to the net without the seat's hand, so that it can also value
/// a seat whose hand is unknown.
const HIDDEN_HAND_EVERY: u32 = 16;
/// One game in this many is played with random options, so that the net sees them all.
const RANDOM_RULES_EVERY: u32 = 7;
/// The probability that an option of such a game differs from the preset.
const CHANGE_RATE: f64 = 0.3;

/// The rules of one game: a preset that fits the net, sometimes with other options.
pub fn rules(variant: NetVariant, rng: &mut impl Rng) -> Rules {
    if rng.random_range(0..RANDOM_RULES_EVERY) > 0 {
        let mut presets = presets(variant);
        return presets.swap_remove(rng.random_range(0..presets.len()));
    }
    let preset = Preset::ALL[rng.random_range(0..Preset::ALL.len())];
    let mut changed = options(variant, preset);
    change(&mut changed, variant, rng);
    Rules::try_from(changed).expect("options that go together")
}

/// The presets that are published for the net's ring; with six seats all presets.
pub fn presets(variant: NetVariant) -> Vec<Rules> {
    Preset::ALL
        .into_iter()
        .filter(|preset| {
            variant == NetVariant::Six || NetVariant::for_rules(&preset.rules()) == variant
        })
        .map(|preset| Rules::try_from(options(variant, preset)))
        .collect::<Result<_, _>>()
        .expect("options that go together")
}

/// Changes some of the options.
fn change(options: &mut Options, variant: NetVariant, rng: &mut impl Rng) {
    /// Takes the other of two values if `other` is set.
    fn flip<T: Copy + PartialEq>(other: bool, value: &mut T, [first, second]: [T; 2]) {
        if other {
            *value = if *value == first { second } else { first };
        }
    }
    let mut other = || rng.random_bool(CHANGE_RATE);
    let protections = [Protection::Always, Protection::Fresh];
    if variant == NetVariant::Six && other() {
        options.fields_per_seat = 31 - options.fields_per_seat;
    }
    let exchanges = [Exchange::Mandatory, Exchange::Optional];
    flip(other(), &mut options.exchange, exchanges);
    flip(other(), &mut options.start_block, protections);
    flip(other(), &mut options.start_swap_protection, protections);
    let entries = [GoalEntry::OnStart, GoalEntry::BeforeStart];
    flip(other(), &mut options.goal_entry, entries);
    options.backward_into_goal ^= other();
    let landings = [SevenLanding::Captures, SevenLanding::MustBeFree];
    flip(other(), &mut options.seven_landing, landings);
    let surpluses = [SevenSurplus::MustBeUsed, SevenSurplus::LapsesOnWin];
    flip(other(), &mut options.seven_surplus, surpluses);
    let partners = [SevenPartner::WhenHome, SevenPartner::Always];
    flip(other(), &mut options.seven_partner, partners);
    options.jack_own_pair ^= other();
    options.jack_without_effect ^= other();
    if other() {
        options.jokers = rng.random_range(0..=12);
    }
}

/// A training target: with these inputs, this head should give this chance to win.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingTarget {
    pub inputs: Range<usize>,
    pub head: usize,
    pub chance: f32,
}

/// The samples of some games.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    pub inputs: Vec<Input>,
    pub targets: Vec<TrainingTarget>,
    /// Targets that belong together: a single one, or the alternatives of one decision with the
    /// same luck.
    pub groups: Vec<Range<usize>>,
}

impl Samples {
    /// Adds another list of samples.
    pub fn append(&mut self, other: &Samples) {
        let first = self.targets.len();
        let groups = other.groups.iter();
        self.groups
            .extend(groups.map(|group| group.start + first..group.end + first));
        let first = self.inputs.len();
        self.inputs.extend_from_slice(&other.inputs);
        let targets = other.targets.iter();
        self.targets.extend(targets.map(|target| TrainingTarget {
            inputs: target.inputs.start + first..target.inputs.end + first,
            ..*target
        }));
    }
}

/// One decision of a game.
struct RecordedDecision {
    team: u8,
    inputs: Range<usize>,
    head: usize,
    /// The net's own estimate of the best choice.
    estimate: f32,
    /// Whether a random choice was made instead of the best, to explore.
    explored: bool,
}

/// Plays games with the net at all seats.
pub struct SelfPlay<'a> {
    pub evaluator: &'a NetEvaluator,
    /// How often a random choice replaces the best.
    pub exploration: f32,
    /// One decision in this many has its alternatives explored; none if 0.
    pub alternatives: u32,
    /// λ: the weight of later results against the next estimate.
    pub lambda: f32,
    pub scratch: Scratch,
    decisions: Vec<RecordedDecision>,
}

impl<'a> SelfPlay<'a> {
    pub fn new(
        evaluator: &'a NetEvaluator,
        exploration: f32,
        lambda: f32,
        alternatives: u32,
    ) -> SelfPlay<'a> {
        SelfPlay {
            evaluator,
            exploration,
            lambda,
            alternatives,
            scratch: Scratch::default(),
            decisions: Vec::new(),
        }
    }

    /// Plays a game and adds its samples. Returns the number of turns.
    pub fn game(&mut self, rules: &Rules, rng: &mut Xoshiro256PlusPlus, out: &mut Samples) -> u32 {
        let beginner = rng.random_range(0..rules.seats);
        let beginner = Seat::new(beginner, rules.seats).expect("a seat");
        let mut game = Playout::new(rules, beginner);
        self.decisions.clear();
        let mut turns = 0;
        while turns < MAX_TURNS {
            match game.phase() {
                Phase::Seating | Phase::Deal => {
                    if self.alternatives > 0 && game.round() > 1 {
                        self.round_over(&game, rng, out);
                    }
                    game.deal(rng);
                }
                Phase::Exchange => self.exchange(&mut game, rng, out),
                Phase::Play => {
                    self.turn(&mut game, rng, out);
                    turns += 1;
                }
                Phase::Finished => break,
            }
        }
        self.targets(rules, game.winner(), out);
        turns
    }

    fn exchange(&mut self, game: &mut Playout, rng: &mut Xoshiro256PlusPlus, out: &mut Samples) {
        for seat in game.rules().ring().seats() {
            if game.exchange_choices(seat).is_empty() {
                continue;
            }
            let view = game.seen_from(seat);
            // These decisions are few, and each affects a whole round, so all are explored.
            if self.alternatives > 0 {
                let answers = self.evaluator.answers(&view, &mut self.scratch);
                let all = answers
                    .into_iter()
                    .map(|(choice, logit)| (Candidate::Answer(choice), logit));
                self.explore_alternatives(game, &view, all.collect(), rng, out);
            }
            let (mut choice, logit) = self.evaluator.best_answer(&view, &mut self.scratch);
            let explored = rng.random::<f32>() < self.exploration;
            if explored {
                choice = *Choice::answers(&view).choose(rng).expect("an answer");
            }
            let (stage, hand) = after(&view, choice);
            let (inputs, head) = self.inputs(&view, stage, hand, &view.board, true, rng, out);
            self.decided(&view, inputs, head, logit, explored);
            answer(game, seat, choice);
        }
    }

    fn turn(&mut self, game: &mut Playout, rng: &mut Xoshiro256PlusPlus, out: &mut Samples) {
        let view = game.seen_from(game.turn());
        let explores = rng.random::<f32>() < self.exploration;
        let looks = self.explores_alternatives(rng);
        let mut all = Vec::new();
        let mut best: Option<(_, Board, f32)> = None;
        let mut any = None;
        let mut seen = 0;
        self.evaluator
            .plays(&view, &mut self.scratch, |card, board, logit| {
                if best.is_none_or(|(_, _, highest)| logit > highest) {
                    best = Some((card, *board, logit));
                }
                if looks {
                    all.push((Candidate::Play(card, *board), logit));
                }
                if explores {
                    seen += 1;
                    if rng.random_range(0..seen) == 0 {
                        any = Some((card, *board));
                    }
                }
                true
            });
        let Some((mut card, mut board, logit)) = best else {
            let (range, head) = self.inputs(
                &view,
                AfterChoice::Played,
                Cards::EMPTY,
                &view.board,
                true,
                rng,
                out,
            );
            let net = &self.evaluator.net;
            let logit = net.logit(&net.first_bias, &out.inputs[range.clone()], head);
            self.decided(&view, range, head, logit, false);
            game.fold();
            return;
        };
        if looks {
            self.explore_alternatives(game, &view, all, rng, out);
        }
        if let Some(other) = any {
            (card, board) = other;
        }
        let mut hand = view.hand;
        hand.remove(card);
        let (inputs, head) = self.inputs(&view, AfterChoice::Played, hand, &board, true, rng, out);
        self.decided(&view, inputs, head, logit, any.is_some());
        game.play(card, &board);
    }

    /// Adds what playouts of the next round say about the end of a round, as every seat sees it.
    fn round_over(&mut self, game: &Playout, rng: &mut Xoshiro256PlusPlus, out: &mut Samples) {
        let rules = game.rules();
        let clock = BudgetClock::start(Budget::Samples(u32::MAX), SearchLimit::Time, &|| true);
        let mut playing = PlayoutContext::by_net(self.evaluator, &clock, &mut self.scratch);
        let mut chances = [0.0; 3];
        for _ in 0..ROUND_PLAYOUTS {
            let Some(ends) = playing.play_round(game.clone(), rng) else {
                return;
            };
            for (chance, end) in chances.iter_mut().zip(ends) {
                *chance += end as f32 / ROUND_PLAYOUTS as f32;
            }
        }
        for seat in rules.ring().seats() {
            let view = game.seen_from(seat);
            let (stage, board) = (AfterChoice::RoundOver, game.board());
            let (inputs, head) = self.inputs(&view, stage, Cards::EMPTY, board, false, rng, out);
            let chance = chances[usize::from(seat.team(rules.seats))];
            out.groups.push(out.targets.len()..out.targets.len() + 1);
            out.targets.push(TrainingTarget {
                inputs,
                head,
                chance,
            });
        }
    }

    fn explores_alternatives(&self, rng: &mut impl Rng) -> bool {
        self.alternatives > 0 && rng.random_range(0..self.alternatives) == 0
    }

    /// Adds the results of the likeliest choices, and of one other, when the game goes on from each
    /// for a while with the same luck. The game itself teaches nothing about choices that are never
    /// made, and their differences are lost in its noise.
    fn explore_alternatives(
        &mut self,
        game: &Playout,
        view: &SeatView,
        mut all: Vec<(Candidate, f32)>,
        rng: &mut Xoshiro256PlusPlus,
        out: &mut Samples,
    ) {
        if all.len() < 2 {
            return;
        }
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        // One of the others gets a chance, in case it is underrated.
        if all.len() > ALTERNATIVES {
            let other = rng.random_range(ALTERNATIVES - 1..all.len());
            all.swap(ALTERNATIVES - 1, other);
        }
        let group = out.targets.len();
        let clock = BudgetClock::start(Budget::Samples(u32::MAX), SearchLimit::Time, &|| true);
        let playout_rng = Xoshiro256PlusPlus::seed_from_u64(rng.random());
        for &(candidate, logit) in all.iter().take(ALTERNATIVES) {
            if logit >= WON {
                continue;
            }
            let mut playing = PlayoutContext::by_net(self.evaluator, &clock, &mut self.scratch);
            let rng = &mut playout_rng.clone();
            let end = playing.play_out(view.seat, game, candidate, rng, |_, _, _| {});
            let Some(end) = end else {
                continue;
            };
            let ((stage, hand), board) = match candidate {
                Candidate::Play(card, board) => {
                    let mut hand = view.hand;
                    hand.remove(card);
                    ((AfterChoice::Played, hand), board)
                }
                Candidate::Answer(choice) => (after(view, choice), view.board),
                Candidate::Fold => continue,
            };
            let (inputs, head) = self.inputs(view, stage, hand, &board, false, rng, out);
            let chance = end.value as f32;
            out.targets.push(TrainingTarget {
                inputs,
                head,
                chance,
            });
        }
        if out.targets.len() > group {
            out.groups.push(group..out.targets.len());
        }
    }

    /// Adds the inputs of a seat's view after a choice. A single sample is sometimes shown without
    /// the seat's hand. Returns the range of the inputs and the head that evaluates them.
    #[allow(clippy::too_many_arguments, reason = "they are those of one sample")]
    fn inputs(
        &self,
        view: &SeatView,
        stage: AfterChoice,
        hand: Cards,
        board: &Board,
        alone: bool,
        rng: &mut impl Rng,
        out: &mut Samples,
    ) -> (Range<usize>, usize) {
        let first = out.inputs.len();
        let hidden =
            alone && stage == AfterChoice::Played && rng.random_range(0..HIDDEN_HAND_EVERY) == 0;
        let inputs = Inputs::new(&self.evaluator.layout, view, stage);
        let kept = if hidden {
            HandInfo::Count(hand.len())
        } else {
            HandInfo::Known(hand)
        };
        inputs.cards(kept, &mut out.inputs);
        inputs.board(board, kept, &mut out.inputs);
        (first..out.inputs.len(), inputs.head(kept))
    }

    fn decided(
        &mut self,
        view: &SeatView,
        inputs: Range<usize>,
        head: usize,
        logit: f32,
        explored: bool,
    ) {
        let estimate = if logit >= WON {
            1.0
        } else {
            probability(logit)
        };
        self.decisions.push(RecordedDecision {
            team: view.seat.team(view.rules.seats),
            inputs,
            head,
            estimate,
            explored,
        });
    }

    /// Computes, from the last decision to the first, what each should have expected: λ of the next
    /// result and the rest of its own estimate. With two teams, the chances of one are the risks of
    /// the other. With three, a team learns only from its own seats.
    fn targets(&mut self, rules: &Rules, winner: Option<u8>, out: &mut Samples) {
        let teams = usize::from(rules.seats / 2);
        let mut ahead = [1.0 / teams as f32; 3];
        if let Some(winner) = winner {
            ahead = [0.0; 3];
            ahead[usize::from(winner)] = 1.0;
        } else if let Some(last) = self.decisions.last() {
            spread(&mut ahead, teams, last.team, last.estimate, 1.0);
        }
        for decision in self.decisions.iter().rev() {
            let target = ahead[usize::from(decision.team)];
            // What follows an exploring move says nothing about the decisions before it.
            let trust = if decision.explored { 0.0 } else { self.lambda };
            // The exploring move itself is judged by its result.
            out.groups.push(out.targets.len()..out.targets.len() + 1);
            out.targets.push(TrainingTarget {
                inputs: decision.inputs.clone(),
                head: decision.head,
                chance: target,
            });
            spread(
                &mut ahead,
                teams,
                decision.team,
                decision.estimate,
                1.0 - trust,
            );
        }
    }
}

/// Moves the expectations of the teams towards the estimate of one of them.
fn spread(ahead: &mut [f32; 3], teams: usize, team: u8, estimate: f32, share: f32) {
    let own = &mut ahead[usize::from(team)];
    *own += share * (estimate - *own);
    if teams == 2 {
        ahead[usize::from(1 - team)] = 1.0 - ahead[usize::from(team)];
    }
}
