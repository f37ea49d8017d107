//! Whole games as playouts, at random and with a stock that is known: for tests and for the lab.

use rand::Rng;

use super::{Playout, PlayoutStock, RoundState, any, below};
use crate::{
    Board, BySeat, Card, Cards, ExchangeAnswer, ExchangeChoice, Generator, Phase, Rules, Seat,
};

impl<'a> Playout<'a> {
    /// A new game, in which this seat begins the first round.
    pub fn new(rules: &'a Rules, beginner: Seat) -> Playout<'a> {
        Playout {
            rules,
            phase: Phase::Deal,
            board: Board::new(),
            hands: BySeat::default(),
            round_state: RoundState::default(),
            turn: beginner,
            round: 1,
            beginner,
            discards: Cards::EMPTY,
            stock: PlayoutStock::new(rules.deck()),
        }
    }

    /// The discard pile, which is face up.
    pub fn discards(&self) -> Cards {
        self.discards
    }

    /// The game with this stock; the next card is the last.
    ///
    /// # Panics
    /// If the stock is larger than a deck.
    pub fn with_stock(mut self, stock: &[Card]) -> Playout<'a> {
        self.stock.cards[..stock.len()].copy_from_slice(stock);
        self.stock.len = stock.len() as u8;
        self.stock.is_ordered = true;
        self
    }

    /// Plays on at random until the game is won or `most` moves were made. Returns the winning
    /// team, if there is one, and the number of moves. Each playable card has the same probability,
    /// then each board that it leads to. In the exchange every card has the same probability; where
    /// a seat may decline or pass, it does so half the time.
    pub fn play_on(&mut self, rng: &mut impl Rng, most: u32) -> (Option<u8>, u32) {
        let mut generator = Generator::new();
        let mut boards = Vec::new();
        let mut turns = 0;
        while turns < most {
            match self.phase {
                Phase::Seating | Phase::Deal => self.deal(rng),
                Phase::Exchange => self.exchange_at_random(rng),
                Phase::Play => {
                    self.play_at_random(&mut generator, &mut boards, rng);
                    turns += 1;
                }
                Phase::Finished => break,
            }
        }
        (self.winner(), turns)
    }

    /// Every seat answers at random until the exchange is over.
    pub fn exchange_at_random(&mut self, rng: &mut impl Rng) {
        use ExchangeChoice::{Ask, Pass};
        while self.phase == Phase::Exchange {
            for seat in self.rules.ring().seats() {
                let choices = self.exchange_choices(seat);
                let refuses = choices.len() > 1 && below(rng, 2) == 0;
                match choices {
                    [] => {}
                    [Ask, Pass] if refuses => self.answer(seat, ExchangeAnswer::Passed),
                    [Ask, Pass] => self.ask(seat),
                    _ if refuses => self.answer(seat, ExchangeAnswer::Declined),
                    _ => {
                        let card = any(self.hands[seat], rng);
                        self.answer(seat, ExchangeAnswer::Offered(card));
                    }
                }
            }
        }
    }

    /// The seat to move plays any playable card in any way, or folds.
    fn play_at_random(
        &mut self,
        generator: &mut Generator,
        boards: &mut Vec<Board>,
        rng: &mut impl Rng,
    ) {
        // Drawing until a card can be played is the same as drawing from those that can.
        let mut untried = self.hands[self.turn];
        while !untried.is_empty() {
            let card = any(untried, rng);
            generator.boards_of_card(self.rules, &self.board, self.turn, card, boards);
            if !boards.is_empty() {
                return self.play(card, &boards[below(rng, boards.len())]);
            }
            while untried.remove(card) {}
        }
        self.fold();
    }
}
