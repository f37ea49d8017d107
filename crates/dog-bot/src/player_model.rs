//! How each seat plays, estimated from what everybody has seen (opponent modelling).
//!
//! A seat is taken to follow one of a few policies ([`PlayoutPolicy`]) for the whole game. At the
//! end of a round, all cards of all hands have been laid open, so it is known what each seat could
//! have played at each of its moves. Under each policy the move had a chance. By Bayes' rule the
//! chances of all moves, and a prior, give the chance of each policy. The search draws the policies
//! of its playouts from it.

use dog_rules::{BySeat, Cards, Rules, Seat, SeatView, round_history::PastMove};
use rand::{Rng, seq::IndexedRandom};
use serde::{Deserialize, Serialize};

use crate::{
    evaluate::move_value,
    net::{
        evaluator::{NetEvaluator, Scratch},
        exp,
    },
};

/// A way to play: the best choice by some evaluation, except for errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayoutPolicy {
    pub evaluation: Evaluation,
    /// How often any legal move is played instead, all equally likely.
    pub errors: f32,
}

/// What a policy ranks boards by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// The value net.
    Net,
    /// The evaluation of `greedy`.
    Greedy,
}

impl PlayoutPolicy {
    /// The choice of the net.
    pub const NET: PlayoutPolicy = PlayoutPolicy::new(Evaluation::Net, 0.0);
    pub const GREEDY: PlayoutPolicy = PlayoutPolicy::new(Evaluation::Greedy, 0.0);
    /// Any legal move.
    pub const RANDOM: PlayoutPolicy = PlayoutPolicy::new(Evaluation::Net, 1.0);

    /// All that are considered.
    pub const ALL: [PlayoutPolicy; 6] = [
        PlayoutPolicy::NET,
        PlayoutPolicy::new(Evaluation::Net, 0.3),
        PlayoutPolicy::GREEDY,
        PlayoutPolicy::new(Evaluation::Greedy, 0.3),
        PlayoutPolicy::new(Evaluation::Greedy, 0.6),
        PlayoutPolicy::RANDOM,
    ];

    const fn new(evaluation: Evaluation, errors: f32) -> PlayoutPolicy {
        PlayoutPolicy { evaluation, errors }
    }
}

dog_rules::named! {
    /// The names of [`PlayoutPolicy::ALL`], in the same order. A number is the percentage of errors.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(as = Policy, description =
        "A way to play: by the value net, by the evaluation of `greedy`, or at random. A number is \
         the percentage of random plays among the others."))]
    pub enum PolicyName {
        Net = "net",
        NetErrors30 = "net_errors_30",
        Greedy = "greedy",
        GreedyErrors30 = "greedy_errors_30",
        GreedyErrors60 = "greedy_errors_60",
        Random = "random",
    }
}

/// The chance of each policy, in thousandths.
pub type PolicyShares = [u16; PlayoutPolicy::ALL.len()];

/// The chance of each policy before any move is seen.
const PRIOR: [f32; PlayoutPolicy::ALL.len()] = [0.66, 0.06, 0.10, 0.06, 0.05, 0.07];

/// How much lower, in logits, the chance of a team is for each seat that plays by the evaluation of
/// `greedy`, beyond what playouts to the end of a round show. Fitted to games of `fast` with and
/// against all kinds of players. Errors are not counted: when it is certain that a seat errs, the
/// playouts show it, and before, counting them makes the chances of equal teams worse.
const GREEDY_HANDICAP: f64 = 0.6;

/// How often a seat plays another move than its policy for a reason that is hidden, such as its
/// hand.
const NOISE: f32 = 0.05;

/// How much better, in logits, a board must be to be chosen e times as often by the net's policy,
/// with one other team; half as much with two. Fitted to the chances of equal teams of `fast`.
const NET_TEMPERATURE: f32 = 0.1;

/// The same for greedy's, in steps.
const GREEDY_TEMPERATURE: f32 = 2.0;

/// No policy is ever less likely than the likeliest by more than this factor, so that an estimate
/// follows a seat that changes its play.
const MIN_LIKELIHOOD: f32 = 1e-6;

/// Moves with more choices than this take too much time.
const MAX_CHOICES: usize = 256;

/// The likelihood of the seats' moves under each policy, relative to the likeliest policy. It is
/// the same for everybody who watches the game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerModels(BySeat<[f32; PlayoutPolicy::ALL.len()]>);

impl Default for PlayerModels {
    /// Nothing has been seen.
    fn default() -> PlayerModels {
        PlayerModels(BySeat::from_fn(|_| [1.0; PlayoutPolicy::ALL.len()]))
    }
}

impl PlayerModels {
    /// Takes the moves of a complete round into account.
    pub fn observe(
        &mut self,
        evaluator: &NetEvaluator,
        rules: &Rules,
        moves: &[PastMove],
        scratch: &mut Scratch,
    ) {
        let Some(first) = moves.first() else { return };
        let mut then = SeatView {
            counts: BySeat::default(),
            ..SeatView::to_play(rules, first.before, first.seat, Cards::EMPTY)
        };
        let mut hands: BySeat<Cards> = BySeat::default();
        for play in moves {
            then.discards.add_all(play.revealed);
        }
        for play in moves.iter().rev() {
            hands[play.seat].add_all(play.revealed);
            then.counts[play.seat] = hands[play.seat].len();
            then.discards = then.discards.without(play.revealed);
            then.board = play.before;
            then.seat = play.seat;
            then.hand = hands[play.seat];
            if let Some(likelihoods) = likelihoods(evaluator, &then, play, scratch) {
                let all = &mut self.0[play.seat];
                *all = updated(*all, likelihoods);
            }
        }
    }

    /// Forgets what was seen of a seat, at which somebody else plays now.
    pub fn forget(&mut self, seat: Seat) {
        self.0[seat] = [1.0; PlayoutPolicy::ALL.len()];
    }

    /// The chance of each policy of a seat, in the order of [`PlayoutPolicy::ALL`].
    pub fn posterior(&self, seat: Seat) -> [f32; PlayoutPolicy::ALL.len()] {
        let mut chances = PRIOR;
        for (chance, likelihood) in chances.iter_mut().zip(self.0[seat]) {
            *chance *= likelihood;
        }
        let sum: f32 = chances.iter().sum();
        chances.map(|chance| chance / sum)
    }

    /// How much higher, in logits, the chance of a seat's team is than if all teams played equally
    /// well; 0 before any move is seen.
    pub fn advantage(&self, rules: &Rules, seat: Seat) -> f64 {
        let seats = rules.seats;
        let (mut own, mut others) = (0.0, 0.0);
        for other in rules.ring().seats() {
            if other.team(seats) == seat.team(seats) {
                own += self.handicap(other);
            } else {
                others += self.handicap(other);
            }
        }
        others / f64::from(seats / 2 - 1) - own
    }

    /// How much lower, in logits, the chance of a team is because of how this seat plays.
    fn handicap(&self, seat: Seat) -> f64 {
        let greedy: u16 = PlayoutPolicy::ALL
            .iter()
            .zip(self.shares(seat))
            .filter(|(policy, _)| policy.evaluation == Evaluation::Greedy)
            .map(|(_, share)| share)
            .sum();
        GREEDY_HANDICAP * f64::from(greedy) / 1_000.0
    }

    /// Models in which each seat follows the policies with these chances, in thousandths.
    pub fn with_shares(shares: BySeat<PolicyShares>) -> PlayerModels {
        PlayerModels(shares.map(|shares| {
            let mut likelihoods = PRIOR;
            for (likelihood, &share) in likelihoods.iter_mut().zip(shares) {
                *likelihood = f32::from(share) / *likelihood;
            }
            likelihoods
        }))
    }

    /// The chance of each policy of a seat, as whole thousandths that sum to 1,000 (largest
    /// remainder). They are what a search uses, so that it can be told to others without a rest.
    pub fn shares(&self, seat: Seat) -> PolicyShares {
        let exact = self.posterior(seat).map(|chance| 1_000.0 * chance);
        let mut shares = exact.map(|share| share as u16);
        let mut places: [usize; PlayoutPolicy::ALL.len()] = std::array::from_fn(|place| place);
        places.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
        let rest = 1_000 - shares.iter().sum::<u16>();
        for &place in places.iter().take(usize::from(rest)) {
            shares[place] += 1;
        }
        shares
    }

    /// Draws a policy for each seat.
    pub fn draw(&self, rules: &Rules, rng: &mut impl Rng) -> BySeat<PlayoutPolicy> {
        let mut policies = BySeat::from_fn(|_| PlayoutPolicy::NET);
        for seat in rules.ring().seats() {
            let all: Vec<_> = PlayoutPolicy::ALL
                .into_iter()
                .zip(self.shares(seat))
                .collect();
            let drawn = all.choose_weighted(rng, |&(_, share)| share);
            policies[seat] = drawn.expect("a share above 0").0;
        }
        policies
    }
}

/// The likelihood of a move under each policy; none if there was no choice, or too much of it.
fn likelihoods(
    evaluator: &NetEvaluator,
    view: &SeatView,
    play: &PastMove,
    scratch: &mut Scratch,
) -> Option<[f32; PlayoutPolicy::ALL.len()]> {
    let played = play.card?;
    let (mut cards, mut by_net, mut by_greedy, mut place) =
        (Vec::new(), Vec::new(), Vec::new(), None);
    evaluator.plays(view, scratch, |card, board, logit| {
        if card == played && *board == play.after {
            place = Some(cards.len());
        }
        cards.push(card);
        by_net.push(logit);
        by_greedy.push(move_value(view, board, view.hand.minus(card)) as f32);
        cards.len() <= MAX_CHOICES
    });
    let place = place?;
    if !(2..=MAX_CHOICES).contains(&cards.len()) {
        return None;
    }
    let boards = cards.iter().filter(|card| **card == played).count();
    cards.dedup();
    let any = 1.0 / (cards.len() * boards) as f32;
    let other_teams = f32::from(view.rules.seats / 2 - 1);
    let by_net = share(&by_net, place, NET_TEMPERATURE / other_teams);
    let by_greedy = share(&by_greedy, place, GREEDY_TEMPERATURE);
    Some(PlayoutPolicy::ALL.map(|policy| {
        let best = match policy.evaluation {
            Evaluation::Net => by_net,
            Evaluation::Greedy => by_greedy,
        };
        let errors = policy.errors.max(NOISE);
        (1.0 - errors) * best + errors * any
    }))
}

/// The share of one of these values, each weighted by its exponential at this temperature.
fn share(values: &[f32], place: usize, temperature: f32) -> f32 {
    let best = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights = values
        .iter()
        .map(|value| exp(((value - best) / temperature).max(-30.0)));
    weights.clone().nth(place).unwrap_or_default() / weights.sum::<f32>()
}

/// The likelihoods after another move.
fn updated<const N: usize>(mut all: [f32; N], new: [f32; N]) -> [f32; N] {
    for (all, new) in all.iter_mut().zip(new) {
        *all *= new;
    }
    let most = all.iter().copied().fold(0.0, f32::max);
    all.map(|likelihood| (likelihood / most).max(MIN_LIKELIHOOD))
}

#[cfg(test)]
mod tests {
    use dog_rules::{Level, Preset};

    use super::*;
    use crate::testing::{choose, nets, new_game, rng, seat, watch};

    /// The mean chance of each policy of the seats that chose so, after this many rounds of some
    /// games of so many seats.
    fn posterior(seats: u8, rounds: u32, level: Level) -> [f32; PlayoutPolicy::ALL.len()] {
        let rules = crate::tests::rules(&format!("dogspiel-it seats={seats}"));
        let mut sums = [0.0; PlayoutPolicy::ALL.len()];
        for number in 0..8 {
            let mut dice = rng(number);
            let play = |view: &SeatView| choose(level, view, &mut dice);
            let models = watch(&mut new_game(&rules, number), rounds, play);
            for (sum, chance) in sums.iter_mut().zip(models.posterior(seat(0, &rules))) {
                *sum += chance / 8.0;
            }
        }
        sums
    }

    #[test]
    fn before_any_move_the_prior_counts() {
        let seat = Seat::default();
        let posterior = PlayerModels::default().posterior(seat);
        for (chance, prior) in posterior.into_iter().zip(PRIOR) {
            assert!((chance - prior).abs() < 1e-6);
        }
        assert!((PRIOR.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert_eq!(PlayoutPolicy::ALL[0], PlayoutPolicy::NET);
    }

    #[test]
    fn policies_are_recognised() {
        for seats in [4, 6] {
            let greedy = posterior(seats, 4, Level::Greedy);
            assert!(greedy[2] > 0.8, "{greedy:?}");
            let random = posterior(seats, 20, Level::Random);
            assert!(random[5] > 0.8, "{random:?}");
            let fast = posterior(seats, 6, Level::Fast);
            assert!(fast[0] > 0.8 && fast[5] < 0.02, "{fast:?}");
        }
    }

    /// A seat that could have won and did not makes errors.
    #[test]
    fn an_error_raises_the_chance_of_errors_of_that_seat_alone() {
        let rules = Preset::DogspielIt.rules();
        let before = crate::testing::board(&rules, &["60 g1 g2 g3", "20", "g0 g1 g2 g3", ""]);
        let evaluator = nets().for_rules(&rules);
        let mut scratch = Scratch::default();
        let hand: Cards = crate::testing::cards("4 5");
        let mut boards = Vec::new();
        let first = seat(0, &rules);
        let mut view = SeatView::to_play(&rules, before, first, hand);
        view.counts = BySeat::from_fn(|_| 2);
        evaluator.plays(&view, &mut scratch, |card, board, logit| {
            boards.push((card, *board, logit));
            true
        });
        boards.sort_by(|a, b| a.2.total_cmp(&b.2));
        let model = |(card, after, _): (dog_rules::Card, dog_rules::Board, f32)| {
            let mut kept = hand;
            kept.remove(card);
            let fold = PastMove {
                seat: first,
                before: after,
                card: None,
                revealed: kept,
                after,
            };
            let played = PastMove {
                seat: first,
                before,
                card: Some(card),
                revealed: [card].into_iter().collect(),
                after,
            };
            let mut models = PlayerModels::default();
            models.observe(evaluator, &rules, &[played, fold], &mut Scratch::default());
            models
        };
        let errors = |models: PlayerModels, number: u8| {
            let chances = models.posterior(seat(number, &rules)).into_iter();
            chances
                .zip(PlayoutPolicy::ALL)
                .map(|(chance, policy)| chance * policy.errors)
                .sum::<f32>()
        };
        let (worst, best) = (model(boards[0]), model(boards[boards.len() - 1]));
        let prior = errors(PlayerModels::default(), 0);
        assert!(
            errors(worst, 0) > 2.0 * prior,
            "{}, {prior}",
            errors(worst, 0)
        );
        assert!(errors(best, 0) < prior);
        assert_eq!(errors(worst, 1), errors(PlayerModels::default(), 1));
        let mut forgotten = worst;
        forgotten.forget(first);
        assert_eq!(forgotten, PlayerModels::default());
    }

    #[test]
    fn a_team_has_an_advantage_over_a_greedy_one() {
        for seats in [4, 6] {
            let rules = crate::tests::rules(&format!("dogspiel-it seats={seats}"));
            let mut models = PlayerModels::default();
            let advantage =
                |models: &PlayerModels, number| models.advantage(&rules, seat(number, &rules));
            assert!(advantage(&models, 0).abs() < 1e-6);
            models.0[seat(1, &rules)] = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
            let partner = seat(1, &rules).partner(seats);
            models.0[partner] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
            let known = 1.0 - f64::from(PRIOR[2] + PRIOR[3] + PRIOR[4]);
            let expected = 2.0 * GREEDY_HANDICAP * known;
            assert!((advantage(&models, 1) + expected).abs() < 1e-6);
            // The other teams share the advantage.
            let teams = f64::from(seats / 2 - 1);
            assert!((advantage(&models, 0) - expected / teams).abs() < 1e-6);
        }
    }

    #[test]
    fn policies_are_drawn_as_often_as_they_are_likely() {
        let rules = Preset::DogspielIt.rules();
        let mut dice = rng(1);
        let play = |view: &SeatView| choose(Level::Random, view, &mut dice);
        let models = watch(&mut new_game(&rules, 3), 5, play);
        let mut dice = rng(2);
        let mut counts = [0u32; PlayoutPolicy::ALL.len()];
        let drawn = seat(2, &rules);
        for _ in 0..20_000 {
            let policy = models.draw(&rules, &mut dice)[drawn];
            counts[PlayoutPolicy::ALL
                .iter()
                .position(|other| *other == policy)
                .unwrap()] += 1;
        }
        for (count, chance) in counts.into_iter().zip(models.posterior(drawn)) {
            let share = count as f32 / 20_000.0;
            assert!((share - chance).abs() < 0.015, "{share}, {chance}");
        }
    }
}
