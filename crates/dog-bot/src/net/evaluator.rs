//! The value of every choice of a seat, by the net.

use dog_rules::{Board, Card, Cards, Generator, Move, SeatView};

use super::{
    Hidden, Net,
    inputs::{AfterChoice, HandInfo, Input, InputLayout, Inputs},
};
use crate::Choice;

/// The logit of a won game, higher than any that the net gives.
pub const WON: f32 = 30.0;

/// A net, and the layout of its inputs.
#[derive(Clone, Debug)]
pub struct NetEvaluator {
    pub layout: InputLayout,
    pub net: Net,
}

/// Scratch memory, reused from one decision to the next.
#[derive(Default)]
pub struct Scratch {
    pub generator: Generator,
    boards: Vec<Board>,
    inputs: Vec<Input>,
    cards: IncrementalSums,
    board: IncrementalSums,
}

impl Scratch {
    /// Lists the boards that a card leads to.
    fn list_boards(&mut self, view: &SeatView, card: Card) {
        let Scratch {
            generator, boards, ..
        } = self;
        generator.boards_of_card(view.rules, &view.board, view.seat, card, boards);
    }
}

/// What a seat sees before it plays, and the first layer's sums for it.
struct BaseSums<'a> {
    inputs: Inputs<'a>,
    view: &'a SeatView<'a>,
    hidden: Hidden,
}

impl NetEvaluator {
    /// Calls `seen` with every card, board and logit that the seat can choose, each board of a card
    /// once, until it returns false. Never called if no card can be played.
    pub fn plays(
        &self,
        view: &SeatView,
        scratch: &mut Scratch,
        mut seen: impl FnMut(Card, &Board, f32) -> bool,
    ) {
        let mut known = None;
        for card in view.hand.ranks() {
            scratch.list_boards(view, card);
            if scratch.boards.is_empty() {
                continue;
            }
            let known =
                known.get_or_insert_with(|| self.before(view, HandInfo::Known(view.hand), scratch));
            let kept = HandInfo::Known(view.hand.minus(card));
            let common = self.common_sums(known, kept, scratch);
            for place in 0..scratch.boards.len() {
                let board = scratch.boards[place];
                let logit = self.board_logit(known, &common, &board, kept, scratch);
                if !seen(card, &board, logit) {
                    return;
                }
            }
        }
    }

    /// The best logit of each rank for a seat whose hand is unknown; none for ranks that cannot be
    /// played. A joker is as good as the best other rank.
    pub fn best_of_cards(
        &self,
        view: &SeatView,
        scratch: &mut Scratch,
    ) -> [Option<f32>; Card::ALL.len()] {
        let kept = HandInfo::Count(view.counts[view.seat].saturating_sub(1));
        let known = self.before(view, kept, scratch);
        let mut best = [None; Card::ALL.len()];
        for card in Card::RANKS {
            scratch.list_boards(view, card);
            let logits = (0..scratch.boards.len()).map(|place| {
                let board = scratch.boards[place];
                self.board_logit(&known, &known.hidden, &board, kept, scratch)
            });
            best[card as usize] = logits.reduce(f32::max);
        }
        best[Card::Joker as usize] = best.into_iter().flatten().reduce(f32::max);
        best
    }

    /// The logit after the seat plays this card to this board.
    pub fn play_logit(
        &self,
        view: &SeatView,
        card: Card,
        board: &Board,
        scratch: &mut Scratch,
    ) -> f32 {
        if board.team_home(view.rules, view.seat) {
            return WON;
        }
        let kept = HandInfo::Known(view.hand.minus(card));
        self.view_logit(view, AfterChoice::Played, kept, board, scratch)
    }

    /// The sums of what the seat sees before it plays, as if it kept these cards.
    fn before<'a>(
        &'a self,
        view: &'a SeatView<'a>,
        kept: HandInfo,
        scratch: &mut Scratch,
    ) -> BaseSums<'a> {
        let inputs = Inputs::new(&self.layout, view, AfterChoice::Played);
        let list = &mut scratch.inputs;
        list.clear();
        inputs.cards(kept, list);
        scratch.cards.begin(self.layout.inputs(), list);
        let hidden = self.net.more(&self.net.first_bias, list);
        list.clear();
        inputs.board(&view.board, kept, list);
        scratch.board.begin(self.layout.inputs(), list);
        let hidden = self.net.more(&hidden, list);
        BaseSums {
            inputs,
            view,
            hidden,
        }
    }

    /// The sums that all boards share when these cards are kept.
    fn common_sums(&self, known: &BaseSums, kept: HandInfo, scratch: &mut Scratch) -> Hidden {
        scratch.inputs.clear();
        known.inputs.cards(kept, &mut scratch.inputs);
        self.net
            .more(&known.hidden, scratch.cards.differences(&scratch.inputs))
    }

    /// The logit of this board, from the kept cards and the sums that it shares with the board
    /// before the move.
    fn board_logit(
        &self,
        known: &BaseSums,
        common: &Hidden,
        board: &Board,
        kept: HandInfo,
        scratch: &mut Scratch,
    ) -> f32 {
        let BaseSums { inputs, view, .. } = known;
        if board.team_home(view.rules, view.seat) {
            return WON;
        }
        scratch.inputs.clear();
        inputs.board(board, kept, &mut scratch.inputs);
        let differences = scratch.board.differences(&scratch.inputs);
        self.net.logit(common, differences, inputs.head(kept))
    }

    /// The logit of a single view, with all its inputs added up.
    fn view_logit(
        &self,
        view: &SeatView,
        stage: AfterChoice,
        kept: HandInfo,
        board: &Board,
        scratch: &mut Scratch,
    ) -> f32 {
        let inputs = Inputs::new(&self.layout, view, stage);
        scratch.inputs.clear();
        inputs.cards(kept, &mut scratch.inputs);
        inputs.board(board, kept, &mut scratch.inputs);
        let head = inputs.head(kept);
        self.net.logit(&self.net.first_bias, &scratch.inputs, head)
    }

    /// The logit after the seat folds.
    pub fn fold_logit(&self, view: &SeatView, scratch: &mut Scratch) -> f32 {
        self.choice_logit(view, Choice::Play(Move::Fold), scratch)
    }

    /// The logit between two rounds, for a seat without cards.
    pub fn round_over_logit(&self, view: &SeatView, scratch: &mut Scratch) -> f32 {
        let kept = HandInfo::Known(Cards::EMPTY);
        self.view_logit(view, AfterChoice::RoundOver, kept, &view.board, scratch)
    }

    /// Every answer that the seat may give in the exchange (RULES §7.3), with its logit.
    pub fn answers(&self, view: &SeatView, scratch: &mut Scratch) -> Vec<(Choice, f32)> {
        Choice::answers(view)
            .into_iter()
            .map(|choice| (choice, self.choice_logit(view, choice, scratch)))
            .collect()
    }

    /// The best answer in the exchange.
    ///
    /// # Panics
    /// In an exchange without cards, which does not occur in a game.
    pub fn best_answer(&self, view: &SeatView, scratch: &mut Scratch) -> (Choice, f32) {
        self.answers(view, scratch)
            .into_iter()
            .reduce(|best, other| if other.1 > best.1 { other } else { best })
            .expect("a hand in the exchange")
    }

    /// The logit after a choice that leaves the board as it is.
    pub fn choice_logit(&self, view: &SeatView, choice: Choice, scratch: &mut Scratch) -> f32 {
        let (stage, hand) = after(view, choice);
        self.view_logit(view, stage, HandInfo::Known(hand), &view.board, scratch)
    }
}

/// What the seat has done and the cards it keeps, after a choice.
pub fn after(view: &SeatView, choice: Choice) -> (AfterChoice, Cards) {
    match choice {
        Choice::Play(Move::Play { card, .. }) => (AfterChoice::Played, view.hand.minus(card)),
        Choice::Play(Move::Fold) => (AfterChoice::Played, Cards::EMPTY),
        Choice::Offer(card) => (AfterChoice::Offered(card), view.hand.minus(card)),
        // To pass is what comes nearest of what the nets were trained with.
        Choice::Decline | Choice::Pass => (AfterChoice::Declined, view.hand),
        Choice::Ask => (AfterChoice::Asked, view.hand),
    }
}

/// Sums relative to a base list of inputs. The boards that a card leads to differ from the base in
/// few inputs, or in none where the pieces stand still. Only the differences are added.
#[derive(Default)]
pub struct IncrementalSums {
    cells: Vec<InputDelta>,
    /// The base's active inputs, each once.
    active: Vec<u16>,
    /// The number of lists since all cells were reset.
    pub(super) lists: u32,
    /// Scratch memory for the differences.
    found: Vec<Input>,
}

/// One input.
#[derive(Clone, Copy, Default)]
struct InputDelta {
    /// Its value in the base: 0 if it is not active there.
    base: f32,
    /// The last list that had it.
    list: u32,
}

impl IncrementalSums {
    /// Takes another list as the base, for a net with this many inputs.
    pub fn begin(&mut self, inputs: usize, base: &[Input]) {
        for index in self.active.drain(..) {
            self.cells[usize::from(index)].base = 0.0;
        }
        if self.cells.len() < inputs {
            self.cells.resize(inputs, InputDelta::default());
        }
        let list = self.next();
        for input in base {
            let cell = &mut self.cells[usize::from(input.index)];
            if cell.list != list {
                cell.list = list;
                self.active.push(input.index);
            }
            cell.base += input.value;
        }
    }

    /// What must be added to the sums of the base to get the sums of this list.
    pub fn differences(&mut self, inputs: &[Input]) -> &[Input] {
        let list = self.next();
        let most = inputs.len() + self.active.len();
        if self.found.len() < most {
            self.found.resize(
                most,
                Input {
                    index: 0,
                    value: 0.0,
                },
            );
        }
        // A branch on whether an input differs would be hard to predict, so the input is always
        // written, and counted only if it differs.
        let mut count = 0;
        for &Input { index, value } in inputs {
            let cell = &mut self.cells[usize::from(index)];
            let base = if cell.list == list { 0.0 } else { cell.base };
            cell.list = list;
            let value = value - base;
            self.found[count] = Input { index, value };
            count += usize::from(value != 0.0);
        }
        for &index in &self.active {
            let cell = self.cells[usize::from(index)];
            let value = -cell.base;
            self.found[count] = Input { index, value };
            count += usize::from(cell.list != list);
        }
        &self.found[..count]
    }

    /// The number of the next list.
    fn next(&mut self) -> u32 {
        if self.lists == u32::MAX {
            for cell in &mut self.cells {
                cell.list = 0;
            }
            self.lists = 0;
        }
        self.lists += 1;
        self.lists
    }
}
