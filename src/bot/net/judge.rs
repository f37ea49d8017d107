//! What the net says of everything that a seat may do.

use std::ops::ControlFlow;

use super::{
    Hidden, Net,
    inputs::{Input, Inputs, Layout},
    stage::{Kept, Stage},
};
use crate::{
    bot::Choice,
    rules::{
        board::Board,
        card::{Card, Cards},
        moves::Generator,
        notation::Move,
        options::Exchange,
        view::SeatView,
    },
};

/// The logarithm of the odds of a won game: more than the net says of any other.
pub const WON: f32 = 30.0;

/// A net, and the layout of its inputs.
#[derive(Clone, Debug)]
pub struct Judge {
    pub layout: Layout,
    pub net: Net,
}

/// Memory that is used again from one decision to the next.
#[derive(Default)]
pub struct Scratch {
    pub generator: Generator,
    boards: Vec<Board>,
    inputs: Vec<Input>,
}

impl Judge {
    /// Looks at every way to play a card, each board that a card leads to once, and tells `seen`
    /// the card, the board and the logarithm of the odds, until that breaks off; nothing if no
    /// card can be played.
    pub fn plays(
        &self,
        view: &SeatView,
        scratch: &mut Scratch,
        seen: impl FnMut(Card, &Board, f32) -> ControlFlow<()>,
    ) {
        self.some_plays(view, usize::MAX, scratch, seen);
    }

    /// As [`Judge::plays`], but looks at no more than so many boards a card, some of those that it
    /// leads to if there are more: a seven can be split in hundreds of ways.
    pub fn some_plays(
        &self,
        view: &SeatView,
        boards_a_card: usize,
        scratch: &mut Scratch,
        mut seen: impl FnMut(Card, &Board, f32) -> ControlFlow<()>,
    ) {
        let inputs = Inputs::new(&self.layout, view, Stage::Played);
        for card in view.hand.kinds() {
            scratch.boards.clear();
            let Scratch {
                generator, boards, ..
            } = scratch;
            generator.boards_of_card(view.rules, &view.board, view.seat, card, boards);
            if boards.is_empty() {
                continue;
            }
            let mut kept = view.hand;
            kept.remove(card);
            scratch.inputs.clear();
            let kept = Kept::Seen(kept);
            inputs.cards(kept, &mut scratch.inputs);
            let common = self.net.hidden(&scratch.inputs);
            // Boards that follow each other have much in common.
            let step = boards.len().div_ceil(boards_a_card);
            for board in boards.iter().step_by(step) {
                let logit = self.of_board(&inputs, view, &common, board, kept, &mut scratch.inputs);
                if seen(card, board, logit).is_break() {
                    return;
                }
            }
        }
    }

    /// The logarithm of the odds after a card of the hand was played that led to this board.
    pub fn of_play(
        &self,
        view: &SeatView,
        card: Card,
        board: &Board,
        scratch: &mut Scratch,
    ) -> f32 {
        let inputs = Inputs::new(&self.layout, view, Stage::Played);
        let mut kept = view.hand;
        kept.remove(card);
        let kept = Kept::Seen(kept);
        scratch.inputs.clear();
        inputs.cards(kept, &mut scratch.inputs);
        let common = self.net.hidden(&scratch.inputs);
        self.of_board(&inputs, view, &common, board, kept, &mut scratch.inputs)
    }

    /// The best way to play a card: the first of those that the net likes most.
    pub fn best_play(&self, view: &SeatView, scratch: &mut Scratch) -> Option<(Card, Board, f32)> {
        let mut best = None;
        self.plays(view, scratch, |card, board, logit| {
            if best.is_none_or(|(_, _, highest)| logit > highest) {
                best = Some((card, *board, logit));
            }
            ControlFlow::Continue(())
        });
        best
    }

    /// The most that a card can come to for a seat whose hand is not known, as a logarithm of the
    /// odds: nothing if it cannot be played.
    pub fn best_of_card(&self, view: &SeatView, card: Card, scratch: &mut Scratch) -> Option<f32> {
        let inputs = Inputs::new(&self.layout, view, Stage::Played);
        let Scratch {
            generator, boards, ..
        } = scratch;
        boards.clear();
        generator.boards_of_card(view.rules, &view.board, view.seat, card, boards);
        let kept = Kept::Counted(view.counts[view.seat].saturating_sub(1));
        scratch.inputs.clear();
        inputs.cards(kept, &mut scratch.inputs);
        let common = self.net.hidden(&scratch.inputs);
        let logits = scratch
            .boards
            .iter()
            .map(|board| self.of_board(&inputs, view, &common, board, kept, &mut scratch.inputs));
        logits.reduce(f32::max)
    }

    /// The logarithm of the odds on this board, with the cards that are kept and the hidden layer
    /// of all that they have in common.
    fn of_board(
        &self,
        inputs: &Inputs,
        view: &SeatView,
        common: &Hidden,
        board: &Board,
        kept: Kept,
        list: &mut Vec<Input>,
    ) -> f32 {
        if board.team_home(view.rules, view.seat) {
            return WON;
        }
        list.clear();
        inputs.board(board, kept, list);
        self.net.logit(common, list, inputs.head(kept))
    }

    /// The logarithm of the odds after the seat folds.
    pub fn of_fold(&self, view: &SeatView, scratch: &mut Scratch) -> f32 {
        self.of_choice(view, Choice::Play(Move::Fold), scratch)
    }

    /// Every answer that the seat may give in the exchange (RULES §7.3), with the logarithm of
    /// the odds after it.
    pub fn answers(&self, view: &SeatView, scratch: &mut Scratch) -> Vec<(Choice, f32)> {
        let choices = answers(view);
        let judged = |choice| (choice, self.of_choice(view, choice, scratch));
        choices.into_iter().map(judged).collect()
    }

    /// The best answer in the exchange.
    ///
    /// # Panics
    /// In an exchange without cards, which no game has.
    pub fn best_answer(&self, view: &SeatView, scratch: &mut Scratch) -> (Choice, f32) {
        let answers = self.answers(view, scratch).into_iter();
        let better = |best: (Choice, f32), other: (Choice, f32)| {
            if other.1 > best.1 { other } else { best }
        };
        answers.reduce(better).expect("a hand in the exchange")
    }

    /// The logarithm of the odds after a choice that leaves the board as it is.
    fn of_choice(&self, view: &SeatView, choice: Choice, scratch: &mut Scratch) -> f32 {
        let (stage, hand) = after(view, choice);
        let inputs = Inputs::new(&self.layout, view, stage);
        scratch.inputs.clear();
        let kept = Kept::Seen(hand);
        inputs.cards(kept, &mut scratch.inputs);
        inputs.board(&view.board, kept, &mut scratch.inputs);
        {
            let head = inputs.head(kept);
            self.net.logit(&self.net.first_bias, &scratch.inputs, head)
        }
    }
}

/// What the seat has done and what it keeps, after a choice.
pub fn after(view: &SeatView, choice: Choice) -> (Stage, Cards) {
    let mut hand = view.hand;
    let stage = match choice {
        Choice::Play(Move::Play { card, .. }) => {
            hand.remove(card);
            Stage::Played
        }
        Choice::Play(Move::Fold) => {
            hand = Cards::EMPTY;
            Stage::Played
        }
        Choice::Give(card) => {
            hand.remove(card);
            Stage::Gave(card)
        }
        Choice::Decline => Stage::Declined,
        Choice::Ask => Stage::Asked,
    };
    (stage, hand)
}

/// Every answer that the seat may give in the exchange.
pub fn answers(view: &SeatView) -> Vec<Choice> {
    let mut answers: Vec<Choice> = view.hand.kinds().map(Choice::Give).collect();
    if view.rules.exchange == Exchange::Optional {
        answers.push(Choice::Decline);
        if !view.asked[view.seat] {
            answers.push(Choice::Ask);
        }
    }
    answers
}
