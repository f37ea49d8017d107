//! Puzzles: positions in which one choice is better than every other, with what a long search found.

use std::collections::BTreeMap;

use dog_rules::{
    Card, ExchangeState, Outcome, Rules, Seat, SeatView,
    position::{self, PositionError, PositionText},
};
use serde::{Deserialize, Serialize};

use crate::{
    Choice, Suggestion,
    reasons::AdviceReason,
    search::{Estimate, LinePlay},
};

/// A position, a seat with its hand, what it knows, and what is best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Puzzle {
    /// As text.
    pub rules: String,
    pub position: String,
    pub seat: Seat,
    pub hand: Vec<Card>,
    /// What each seat has done in the exchange, if the seat is to answer in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Vec<ExchangeState>>,
    pub known: PuzzleKnowledge,
    /// The share of players that do not find the best choice, in percent.
    pub difficulty: u8,
    /// The best three choices, and the best of each other card, best first.
    pub answers: Vec<PuzzleAnswer>,
}

/// What the seat knows, under the names that an analysis takes as `known`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PuzzleKnowledge {
    /// Cards that each seat holds.
    pub counts: Vec<u8>,
    /// The discard pile.
    pub gone: BTreeMap<Card, u8>,
    pub folded: Vec<Seat>,
    /// Who said "help!" in this round.
    pub asked: Vec<Seat>,
    /// The card that the seat gave its partner, who still holds it; together with `received`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gave: Option<Card>,
    /// The card that it received, and still holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<Card>,
    pub beginner: Seat,
    pub round: u32,
}

/// A choice, and what was found of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PuzzleAnswer {
    pub choice: Choice,
    #[serde(flatten)]
    pub estimate: Estimate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<f64>,
    pub samples: u32,
    /// Without their texts.
    pub reasons: Vec<AdviceReason>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<LinePlay>,
}

impl Puzzle {
    /// The position of a seat that is to act, without an answer. It leaves out the moves of the
    /// round, which no picture shows.
    pub fn new(view: &SeatView) -> Puzzle {
        let SeatView {
            rules, board, seat, ..
        } = view;
        let all = || Seat::all(rules.seats);
        let swap = view.offered.zip(view.received).filter(|&(gave, received)| {
            let partner = seat.partner(rules.seats);
            let holds = view.holds_received && view.hand.contains(received);
            !view.exchanging && holds && view.known[partner].contains(gave)
        });
        let count = |card| (card, view.discards.count(card));
        Puzzle {
            rules: rules.to_string(),
            position: PositionText { rules, board }.to_string(),
            seat: *seat,
            hand: view.hand.sorted().collect(),
            exchange: view
                .exchanging
                .then(|| all().map(|seat| view.exchange[seat]).collect()),
            known: PuzzleKnowledge {
                counts: all().map(|seat| view.counts[seat]).collect(),
                gone: view.discards.ranks().map(count).collect(),
                folded: all().filter(|&seat| view.folded[seat]).collect(),
                asked: all().filter(|&seat| view.asked[seat]).collect(),
                gave: swap.map(|(gave, _)| gave),
                received: swap.map(|(_, received)| received),
                beginner: view.beginner,
                round: view.round,
            },
            difficulty: 0,
            answers: Vec::new(),
        }
    }

    /// What the seat knows.
    ///
    /// # Errors
    /// The position is not one of these rules.
    pub fn view<'r>(&self, rules: &'r Rules) -> Result<SeatView<'r>, PositionError> {
        let (board, hand) = (
            position::read(rules, &self.position)?,
            self.hand.iter().copied(),
        );
        let mut view = SeatView::to_play(rules, board, self.seat, hand.collect());
        let known = &self.known;
        for (seat, &count) in Seat::all(rules.seats).zip(&known.counts) {
            view.counts[seat] = count;
        }
        for (&card, &count) in &known.gone {
            (0..count).for_each(|_| view.discards.add(card));
        }
        known
            .folded
            .iter()
            .for_each(|&seat| view.folded[seat] = true);
        known.asked.iter().for_each(|&seat| view.asked[seat] = true);
        (view.beginner, view.round) = (known.beginner, known.round);
        for (seat, &state) in Seat::all(rules.seats).zip(self.exchange.iter().flatten()) {
            view.exchanging = true;
            view.exchange[seat] = state;
        }
        if let (Some(gave), Some(received)) = (known.gave, known.received) {
            let partner = self.seat.partner(rules.seats);
            view.exchange[self.seat] = ExchangeState::Swapped;
            view.exchange[partner] = ExchangeState::Swapped;
            (view.offered, view.received) = (Some(gave), Some(received));
            view.holds_received = true;
            view.known[partner].add(gave);
        }
        Ok(view)
    }
}

impl PuzzleAnswer {
    /// The suggestion, with this outcome and the texts of its reasons.
    pub fn suggestion(self, outcome: Option<Outcome>) -> Suggestion {
        let with_text = |reason: AdviceReason| AdviceReason {
            text: reason.sentence(),
            ..reason
        };
        Suggestion {
            choice: self.choice,
            estimate: self.estimate,
            samples: self.samples,
            guessed: false,
            next_win: None,
            risk: self.risk,
            outcome,
            reasons: self.reasons.into_iter().map(with_text).collect(),
            line: self.line,
        }
    }
}

impl From<Suggestion> for PuzzleAnswer {
    fn from(suggestion: Suggestion) -> PuzzleAnswer {
        let mut reasons = suggestion.reasons;
        reasons.iter_mut().for_each(|reason| reason.text.clear());
        PuzzleAnswer {
            choice: suggestion.choice,
            estimate: suggestion.estimate,
            risk: suggestion.risk,
            samples: suggestion.samples,
            reasons,
            line: suggestion.line,
        }
    }
}
