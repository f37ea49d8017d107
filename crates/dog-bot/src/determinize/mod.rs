//! Random deals of the hidden cards that fit what a seat has seen.
//!
//! Every deal gives each seat its number of cards, known cards included. Deals differ in how well
//! they explain the moves of the round: a seat that had a better card would probably have played
//! it. So one of several deals is drawn by likelihood (importance resampling). The likelihood uses
//! the best result of each card, whatever else was in the hand.

use dog_rules::{BySeat, Card, Cards, Rules, Seat, SeatView, playout::unseen_hands};
use rand::{Rng, RngExt};

use super::{
    budget::BudgetClock,
    net::{
        evaluator::{NetEvaluator, Scratch},
        exp,
    },
};

/// How much better, in logits, a card must be to be played e times as often. The net itself is
/// stricter (0.04, fitted together with [`play_bias`] to 300 of its games under each of two
/// presets); other players are less predictable.
const TEMPERATURE: f32 = 0.06;
/// Below this logit all cards are equally bad.
const LOGIT_FLOOR: f32 = -3.0;
/// How often a seat plays a card for no known reason.
const NOISE: f32 = 0.05;

/// Deals the hidden cards of one view, as often as needed.
pub struct Determinizer<'a> {
    view: &'a SeatView<'a>,
    evidence: Vec<PlayEvidence>,
    /// The number of deals from which one is drawn.
    draws: u32,
}

/// What one played card says about the hand that it came from.
#[derive(Clone, Copy, Debug)]
struct PlayEvidence {
    seat: Seat,
    played: Card,
    /// The weight of each rank for that move; 0 for ranks that could not be played.
    play_weights: [f32; Card::ALL.len()],
    /// What the seat has played since, this card included.
    since: Cards,
}

impl<'a> Determinizer<'a> {
    /// Evaluates the moves of the round, the last first, until the time is up.
    pub fn new(
        evaluator: &NetEvaluator,
        view: &'a SeatView<'a>,
        draws: u32,
        clock: &BudgetClock,
        scratch: &mut Scratch,
    ) -> Determinizer<'a> {
        let mut evidence = Vec::new();
        if draws > 1 {
            let mut since: BySeat<Cards> = BySeat::default();
            for play in view.past_moves.iter().rev() {
                if clock.late() {
                    break;
                }
                since[play.seat].add_all(play.revealed);
                let Some(card) = play.card else { continue };
                if play.seat == view.seat || view.counts[play.seat] == 0 {
                    continue;
                }
                let mut then = public_view(view, play.seat);
                then.board = play.before;
                then.counts[play.seat] += since[play.seat].len();
                evidence.push(PlayEvidence {
                    seat: play.seat,
                    played: card,
                    play_weights: play_weights(evaluator, &then, scratch),
                    since: since[play.seat],
                });
            }
        }
        Determinizer {
            view,
            evidence,
            draws,
        }
    }

    /// All hands, the seat's own included.
    pub fn deal(&self, rng: &mut impl Rng) -> BySeat<Cards> {
        let mut taken = unseen_hands(self.view, rng);
        if self.evidence.is_empty() {
            return taken;
        }
        let mut sum = self.likelihood(&taken);
        for _ in 1..self.draws {
            let other = unseen_hands(self.view, rng);
            let likelihood = self.likelihood(&other);
            sum += likelihood;
            if rng.random::<f64>() * sum < likelihood {
                taken = other;
            }
        }
        taken
    }

    /// The likelihood of the moves of the round with these hands.
    fn likelihood(&self, hands: &BySeat<Cards>) -> f64 {
        self.evidence
            .iter()
            .map(|play| f64::from(play.likelihood(hands)))
            .product()
    }
}

impl PlayEvidence {
    fn likelihood(&self, hands: &BySeat<Cards>) -> f32 {
        let mut hand = hands[self.seat];
        hand.add_all(self.since);
        let weight = |card| f32::from(hand.count(card)) * self.play_weights[card as usize];
        let all: f32 = hand.ranks().map(weight).sum();
        let share = weight(self.played) / all.max(f32::MIN_POSITIVE);
        NOISE + (1.0 - NOISE) * share.min(1.0)
    }
}

/// The weight of each rank for a seat of which only the table is known.
fn play_weights(
    evaluator: &NetEvaluator,
    view: &SeatView,
    scratch: &mut Scratch,
) -> [f32; Card::ALL.len()] {
    let logits = evaluator.best_of_cards(view, scratch);
    let best = logits[Card::Joker as usize].unwrap_or(0.0);
    Card::ALL.map(|card| {
        logits[card as usize].map_or(0.0, |logit| {
            exp((logit - best).max(LOGIT_FLOOR) / TEMPERATURE) * play_bias(card)
        })
    })
}

/// How readily a card is played instead of an equally good one. Its later use counts for the seat,
/// and the board does not show that.
fn play_bias(card: Card) -> f32 {
    match card {
        Card::Joker => 0.01,
        Card::Ace | Card::King => 0.05,
        Card::Four | Card::Seven | Card::Jack => 0.25,
        _ => 1.0,
    }
}

/// What everybody sees of this seat in the current state of the round.
pub fn public_view<'a>(view: &SeatView<'a>, seat: Seat) -> SeatView<'a> {
    let rules: &'a Rules = view.rules;
    SeatView {
        counts: view.counts,
        discards: view.discards,
        folded: view.folded,
        asked: view.asked,
        exchange: view.exchange,
        round: view.round,
        beginner: view.beginner,
        ..SeatView::to_play(rules, view.board, seat, Cards::EMPTY)
    }
}

#[cfg(test)]
mod tests;
