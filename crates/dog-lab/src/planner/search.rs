//! The search for the best order of a hand. It extends plans card by card and keeps only the most
//! promising. Of plans that reach the same board with the same cards left, only the best is kept.
//! Boards on the way are valued as greedy values them, with captures weighed by the cards that the
//! others may still hold.

use std::collections::HashMap;

use dog_bot::evaluate::{EXPOSED, EXPOSED_OTHERS, EvalPosition, Threats, WON, worth_of_hand};
use dog_rules::{Board, BySeat, Cards, Generator, Rules, Seat, SeatView};

/// The weight of the boards after the first one. They are less certain, since the others move too
/// (0.7 instead: 50, against 55; with 1, the last board alone, 37).
const LATER_DISCOUNT: f64 = 0.3;
/// The weight of each further board, relative to the one before (0.3 instead: 54.6, against 55.4).
const REST_DISCOUNT: f64 = 0.7;
/// The largest number of boards that one more card may add to all plans together. With the starts,
/// which are all evaluated, this bounds the work of a search.
pub const MAX_BOARDS_PER_CARD: usize = 600;
/// The largest number of boards that one card adds to one plan. Only sevens that also move the
/// partner's pieces have more; then some boards, evenly spread over the list, are used.
const MAX_BOARDS_PER_PLAN: usize = 250;

/// The best plan found.
#[derive(Clone, Copy, Debug)]
pub struct HandPlan {
    /// The index of the state it begins with.
    pub start: usize,
    /// The weighted values of its boards, in steps.
    pub score: f64,
}

/// Searches plans. It holds scratch memory.
#[derive(Default)]
pub struct PlanSearch {
    pub generator: Generator,
    boards: Vec<Board>,
    met: HashMap<PlanState, usize>,
    paths: Vec<PartialPlan>,
    longer: Vec<PartialPlan>,
    /// The number of boards evaluated in the last search.
    #[cfg(test)]
    pub looked_at: usize,
}

/// The beginning of a plan.
#[derive(Clone, Copy)]
struct PartialPlan {
    start: usize,
    stage: PlanState,
    /// The part of the score from the boards before the last one.
    earlier: f64,
    /// The last board.
    worth: BoardValue,
}

impl PlanSearch {
    /// The best plan for the seat from one of these states, the first of equal ones. The search
    /// keeps `width` plans after each card.
    ///
    /// # Panics
    /// In debug builds, if there is no state.
    pub fn best_plan(
        &mut self,
        model: &ThreatModel,
        seat: Seat,
        starts: &[PlanState],
        width: usize,
    ) -> HandPlan {
        debug_assert!(!starts.is_empty());
        self.met.clear();
        self.paths.clear();
        for (start, &stage) in starts.iter().enumerate() {
            // Two ranks of a joker may lead to the same board.
            if self.met.insert(stage, start).is_none() {
                self.paths.push(PartialPlan {
                    start,
                    stage,
                    earlier: 0.0,
                    worth: model.first(&stage, seat),
                });
            }
        }
        #[cfg(test)]
        {
            self.looked_at = self.paths.len();
        }
        let mut best = HandPlan {
            start: 0,
            score: f64::NEG_INFINITY,
        };
        let mut weight = 1.0;
        let mut later = LATER_DISCOUNT;
        let mut played = 0;
        while !self.paths.is_empty() {
            self.keep_best(width, weight);
            played += 1;
            self.lengthen(model, seat, played, weight, later, &mut best);
            std::mem::swap(&mut self.paths, &mut self.longer);
            #[cfg(test)]
            {
                self.looked_at += self.paths.len();
            }
            weight *= later;
            later = REST_DISCOUNT;
        }
        best
    }

    fn keep_best(&mut self, width: usize, weight: f64) {
        let score = |path: &PartialPlan| path.earlier + weight * path.worth.value;
        self.paths.sort_by(|a, b| score(b).total_cmp(&score(a)));
        self.paths.truncate(width);
    }

    /// Extends each plan by one card. Plans that cannot be extended may be the best.
    fn lengthen(
        &mut self,
        model: &ThreatModel,
        seat: Seat,
        played: usize,
        weight: f64,
        later: f64,
        best: &mut HandPlan,
    ) {
        self.met.clear();
        self.longer.clear();
        let mut end = |start, score| {
            if score > best.score {
                *best = HandPlan { start, score };
            }
        };
        for path in &self.paths {
            let (board, hand) = path.stage;
            if hand.is_empty() || path.worth.won {
                end(path.start, path.earlier + weight * path.worth.value);
                continue;
            }
            let earlier = path.earlier + weight * (1.0 - later) * path.worth.value;
            let mut can_play = false;
            for card in hand.ranks() {
                self.boards.clear();
                self.generator
                    .boards_of_card(model.rules, &board, seat, card, &mut self.boards);
                can_play |= !self.boards.is_empty();
                let mut left = hand;
                left.remove(card);
                let stride = self.boards.len().div_ceil(MAX_BOARDS_PER_PLAN).max(1);
                for &board in self.boards.iter().step_by(stride) {
                    let stage = (board, left);
                    if let Some(&index) = self.met.get(&stage) {
                        let other: &mut PartialPlan = &mut self.longer[index];
                        if earlier > other.earlier {
                            (other.earlier, other.start) = (earlier, path.start);
                        }
                    } else if self.longer.len() < MAX_BOARDS_PER_CARD {
                        self.met.insert(stage, self.longer.len());
                        self.longer.push(PartialPlan {
                            start: path.start,
                            stage,
                            earlier,
                            worth: model.later(&stage, seat, played, &path.worth),
                        });
                    }
                }
            }
            if !can_play {
                let folded = model.later(&(board, Cards::EMPTY), seat, played, &path.worth);
                end(path.start, earlier + weight * later * folded.value);
            }
        }
    }
}

/// The weight of a threat to a seat that has no card left in this round (1 instead: 56.7, against
/// 58.1).
const NO_CARDS_THREAT: f64 = 0.2;
/// The weight of what a later card does to the others, whose pieces will have moved by then (1
/// instead: 55.4, against 56.3).
const OTHERS_DISCOUNT: f64 = 0.2;

/// A board and the cards that are left to play on it.
pub type PlanState = (Board, Cards);

/// The value of a board for a team, in steps.
#[derive(Clone, Copy, Debug)]
struct BoardValue {
    value: f64,
    won: bool,
    /// The value of the other teams' pieces after the plan's first card.
    others_first: f64,
}

/// What a seat's view says about future captures.
pub struct ThreatModel<'a> {
    rules: &'a Rules,
    threats: Threats,
    /// The number of cards that each seat holds.
    counts: BySeat<u8>,
}

impl<'a> ThreatModel<'a> {
    /// The threats to a seat, by the cards that it has not seen.
    pub fn of(view: &SeatView<'a>) -> ThreatModel<'a> {
        let unseen = unseen(view);
        let scale = f64::from(view.rules.deck().len()) / f64::from(unseen.len().max(1));
        let ranks = |card| f64::from(unseen.count(card)) * scale / 8.0;
        ThreatModel {
            rules: view.rules,
            threats: Threats::new(view.rules, ranks),
            counts: view.counts,
        }
    }

    /// The value of a board for the seat's team when the plan begins there.
    fn first(&self, (board, hand): &PlanState, seat: Seat) -> BoardValue {
        self.worth(board, *hand, seat, 0, None)
    }

    /// The value of a board later in a plan, `played` cards after its first board. `before` is any
    /// earlier board.
    fn later(
        &self,
        (board, hand): &PlanState,
        seat: Seat,
        played: usize,
        before: &BoardValue,
    ) -> BoardValue {
        self.worth(board, *hand, seat, played, Some(before.others_first))
    }

    fn worth(
        &self,
        board: &Board,
        hand: Cards,
        seat: Seat,
        played: usize,
        others_first: Option<f64>,
    ) -> BoardValue {
        let position = EvalPosition::new(self.rules, board, &self.threats);
        // After the last card of a hand another round begins.
        let idle = |other| !hand.is_empty() && usize::from(self.counts[other]) <= played;
        let active = |other| if idle(other) { NO_CARDS_THREAT } else { 1.0 };
        let team = |first: Seat, exposed: f64| -> f64 {
            [first, first.partner(self.rules.seats)]
                .into_iter()
                .map(|seat| {
                    let risk = position.risk(seat, active);
                    position.standing(seat) - exposed * risk
                })
                .sum()
        };
        let (own, teams) = (seat.team(self.rules.seats), self.rules.seats / 2);
        let others: f64 = Seat::all(teams)
            .filter(|first| first.team(self.rules.seats) != own)
            .map(|first| team(first, EXPOSED_OTHERS) / f64::from(teams - 1))
            .sum();
        let others_first = others_first.unwrap_or(others);
        let won = board.team_home(self.rules, seat);
        let value = if won {
            WON
        } else {
            team(seat, EXPOSED) + worth_of_hand(self.rules, board, seat, hand)
                - others_first
                - OTHERS_DISCOUNT * (others - others_first)
        };
        BoardValue {
            value,
            won,
            others_first,
        }
    }
}

/// The cards whose place the seat does not know.
pub fn unseen(view: &SeatView) -> Cards {
    let mut seen = view.discards;
    seen.add_all(view.hand);
    for &known in view.known.iter() {
        seen.add_all(known);
    }
    let mut unseen = view.rules.deck();
    for card in seen.sorted() {
        unseen.remove(card);
    }
    unseen
}
