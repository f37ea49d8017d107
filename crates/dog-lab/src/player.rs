//! Somebody who plays.

use std::sync::Arc;

use dog_bot::{
    Choice, Level, at_once,
    net::{judge::Scratch, nets::Nets},
    search::{Budget, Candidate, Method, Thinker},
};
use dog_rules::{board::Board, card::Card, moves::Generator, notation::Move, view::SeatView};
use rand::rngs::ChaCha8Rng;

use crate::planner::Planner;

/// Somebody who decides for a seat, from what the seat knows and nothing else.
pub trait Player {
    /// What the seat that is to act does: a move it may play, or an answer it may give in the
    /// exchange.
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice;
}

/// A level that does not think ahead, as it plays for the API's clients.
pub struct AtOnce(pub Level);

impl Player for AtOnce {
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice {
        at_once(self.0, view, rng)[0].choice
    }
}

impl Player for Planner {
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice {
        Planner::choose(self, view, rng)
    }
}

/// The net alone: what it likes best one ply ahead.
pub struct ByNet {
    nets: Arc<Nets>,
    scratch: Scratch,
}

impl ByNet {
    pub fn new(nets: Arc<Nets>) -> ByNet {
        ByNet {
            nets,
            scratch: Scratch::default(),
        }
    }
}

impl Player for ByNet {
    fn choose(&mut self, view: &SeatView, _: &mut ChaCha8Rng) -> Choice {
        let judge = self.nets.of(view.rules);
        if view.exchanging {
            return judge.best_answer(view, &mut self.scratch).0;
        }
        match judge.best_play(view, &mut self.scratch) {
            Some((card, board, _)) => Choice::Play(a_move(view, card, &board)),
            None => Choice::Play(Move::Fold),
        }
    }
}

/// Which decisions are thought about; the others are left to the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decisions {
    All,
    /// Those of the exchange.
    Exchange,
    /// Those with so many cards in the hand.
    Cards(u8),
}

impl Decisions {
    fn include(self, view: &SeatView) -> bool {
        match self {
            Decisions::All => true,
            Decisions::Exchange => view.exchanging,
            Decisions::Cards(cards) => !view.exchanging && view.hand.len() == cards,
        }
    }
}

/// Somebody who thinks ahead.
pub struct Thinking {
    method: Method,
    budget: Budget,
    about: Decisions,
    by_net: ByNet,
}

impl Thinking {
    pub fn new(nets: Arc<Nets>, method: Method, budget: Budget, about: Decisions) -> Thinking {
        Thinking {
            method,
            budget,
            about,
            by_net: ByNet::new(nets),
        }
    }
}

impl Player for Thinking {
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice {
        if !self.about.include(view) {
            return self.by_net.choose(view, rng);
        }
        let mut thinker = Thinker::new(&self.by_net.nets, self.method);
        match thinker.think(view, self.budget, rng)[0].candidate {
            Candidate::Play(card, board) => Choice::Play(a_move(view, card, &board)),
            Candidate::Answer(choice) => choice,
            Candidate::Fold => Choice::Play(Move::Fold),
        }
    }
}

/// A move that plays this card and leads to this board, the first that the rules list.
fn a_move(view: &SeatView, card: Card, board: &Board) -> Move {
    let mut moves = Vec::new();
    Generator::new().moves_of_card(view.rules, &view.board, view.seat, card, &mut moves);
    let found = moves.into_iter().find(|legal| legal.board == *board);
    found.expect("a board that the card leads to").mv
}

#[cfg(test)]
mod tests {
    use dog_bot::testing::view;
    use dog_rules::options::Preset;

    use super::*;

    #[test]
    fn decisions_are_told_apart() {
        let rules = Preset::DogspielIt.rules();
        let mut view = view(&rules, &["20", "", "", ""], "2 3 3");
        let included = |view: &SeatView| {
            [
                Decisions::All,
                Decisions::Exchange,
                Decisions::Cards(3),
                Decisions::Cards(2),
            ]
            .map(|decisions| decisions.include(view))
        };
        assert_eq!(included(&view), [true, false, true, false]);
        view.exchanging = true;
        assert_eq!(included(&view), [true, true, false, false]);
    }
}
