//! The hidden cards, dealt out in ways that fit what a seat has seen.
//!
//! Every deal gives each seat its number of cards, those that the seat knows of among them. Deals
//! differ in how well they explain what was played in the round: whoever had a card that would
//! have served it better likely does not have it. So of some deals one is drawn, the likelier
//! ones rather (importance resampling), by what each card could have come to whatever else was in
//! the hand.

use dog_rules::{BySeat, Card, Cards, Rules, Seat, SeatView, playout::unseen_hands};
use rand::{Rng, RngExt};

use super::net::{
    evaluator::{NetEvaluator, Scratch},
    exp,
};

/// How many logarithms of the odds a card must be better by to be played e times as often. The net
/// itself is stricter (0.04, fitted together with [`play_bias`] to 300 of its games by each of two
/// presets); others judge otherwise.
const TEMPERATURE: f32 = 0.06;
/// From here on a card is as bad as any.
const LOGIT_FLOOR: f32 = -3.0;
/// How often somebody plays what nothing explains.
const NOISE: f32 = 0.05;

/// Deals the hidden cards of one view, again and again.
pub struct Determinizer<'a> {
    view: &'a SeatView<'a>,
    evidence: Vec<PlayEvidence>,
    /// Deals of which one is taken.
    draws: u32,
}

/// What one card that was played tells of the hand that it came from.
#[derive(Clone, Copy, Debug)]
struct PlayEvidence {
    seat: Seat,
    played: Card,
    /// How readily each kind of card would have been played then; nothing for what could not be.
    play_weights: [f32; Card::ALL.len()],
    /// What the seat has played since, this card included.
    since: Cards,
}

impl<'a> Determinizer<'a> {
    /// Looks at what was played in the round.
    pub fn new(
        evaluator: &NetEvaluator,
        view: &'a SeatView<'a>,
        draws: u32,
        scratch: &mut Scratch,
    ) -> Determinizer<'a> {
        let mut evidence = Vec::new();
        if draws > 1 {
            let mut since: BySeat<Cards> = BySeat::default();
            for play in view.past_moves.iter().rev() {
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

    /// All hands, the seat's own among them.
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

    /// Whether nothing was played by others that would tell of what they still hold.
    pub fn has_no_evidence(&self) -> bool {
        self.evidence.is_empty()
    }

    /// How likely what was played was with these hands.
    pub fn likelihood(&self, hands: &BySeat<Cards>) -> f64 {
        let of_clue = |clue: &PlayEvidence| f64::from(clue.likelihood(hands));
        self.evidence.iter().map(of_clue).product()
    }
}

impl PlayEvidence {
    fn likelihood(&self, hands: &BySeat<Cards>) -> f32 {
        let mut hand = hands[self.seat];
        hand.add_all(self.since);
        let of_kind = |card| f32::from(hand.count(card)) * self.play_weights[card as usize];
        let all: f32 = hand.ranks().map(of_kind).sum();
        let share = of_kind(self.played) / all.max(f32::MIN_POSITIVE);
        NOISE + (1.0 - NOISE) * share.min(1.0)
    }
}

/// How readily a seat of which nothing but the table is known would play each kind of card.
fn play_weights(
    evaluator: &NetEvaluator,
    view: &SeatView,
    scratch: &mut Scratch,
) -> [f32; Card::ALL.len()] {
    let logits = evaluator.best_of_cards(view, scratch);
    let best = logits[Card::Joker as usize].unwrap_or(0.0);
    let ready = |card: Card| {
        logits[card as usize].map_or(0.0, |logit| {
            exp((logit - best).max(LOGIT_FLOOR) / TEMPERATURE) * play_bias(card)
        })
    };
    Card::ALL.map(ready)
}

/// How readily a card is let go that would serve as well as another: what it could do later
/// counts for the seat, and the board says nothing of that.
fn play_bias(card: Card) -> f32 {
    match card {
        Card::Joker => 0.01,
        Card::Ace | Card::King => 0.05,
        Card::Four | Card::Seven | Card::Jack => 0.25,
        _ => 1.0,
    }
}

/// What anybody sees who looks at this seat, of the round as it is now.
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
