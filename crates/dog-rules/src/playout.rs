//! A fast game for playouts: the rounds of RULES §7 without names, versions, events or seeds.
//! [`super::game::Game`] is the real game; a playout is a small value to copy and play on. Tests
//! compare the two.
//!
//! No seat knows all that a playout knows. Its hands are dealt at random from the cards that a seat
//! has not seen ([`unseen_hands`]), so a search by playouts does not peek. [`Playout::seen_from`]
//! is what each seat would know in it.

#[cfg(any(test, feature = "testing"))]
mod testing;

use rand::Rng;

use crate::{
    Board, BySeat, Card, Cards, ExchangeAnswer, ExchangeChoice, ExchangeState, Phase, Reshuffle,
    Rules, Seat, SeatView, exchange::choices,
};

/// A game in which every card is known.
#[derive(Clone, Debug)]
pub struct Playout<'a> {
    rules: &'a Rules,
    phase: Phase,
    board: Board,
    hands: BySeat<Cards>,
    round_state: RoundState,
    turn: Seat,
    round: u32,
    beginner: Seat,
    discards: Cards,
    stock: PlayoutStock,
}

/// What each seat did in this round, and the result, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
struct RoundState {
    exchange: BySeat<ExchangeState>,
    asked: BySeat<bool>,
    /// The card that it offered its partner.
    offered: BySeat<Option<Card>>,
    /// The card that it received from its partner.
    received: BySeat<Option<Card>>,
    /// Cards that its partner knows to be in its hand.
    known: BySeat<Cards>,
    folded: BySeat<bool>,
}

impl<'a> Playout<'a> {
    /// The game that a seat sees when it is to act, with these hands, its own included. The offers
    /// of other seats are drawn from their hands. Cards that other pairs have swapped stay unknown,
    /// even to those pairs. Where nobody has cards, the round is to be dealt, which the view's
    /// beginner begins.
    ///
    /// # Panics
    /// If the hands and the discard pile hold more of a card than the deck.
    pub fn from_view(view: &SeatView<'a>, hands: BySeat<Cards>, rng: &mut impl Rng) -> Playout<'a> {
        let partner = view.seat.partner(view.rules.seats);
        let mut round_state = RoundState {
            exchange: view.exchange,
            asked: view.asked,
            folded: view.folded,
            ..RoundState::default()
        };
        let mut stock = view.rules.deck().without(view.discards);
        let mut dealt = false;
        for seat in view.rules.ring().seats() {
            stock = stock.without(hands[seat]);
            dealt |= !hands[seat].is_empty();
            if seat != view.seat && view.exchange[seat] == ExchangeState::Offered {
                round_state.offered[seat] = Some(any(hands[seat], rng));
            }
        }
        round_state.offered[view.seat] = view.offered;
        round_state.received[view.seat] = view.received;
        let held = view.received.filter(|_| view.holds_received);
        round_state.known[view.seat] = held.into_iter().collect();
        round_state.known[partner] = view.known[partner];
        if view.exchange[view.seat] == ExchangeState::Swapped {
            round_state.offered[partner] = view.received;
            round_state.received[partner] = view.offered;
        }
        Playout {
            rules: view.rules,
            phase: if view.exchanging {
                Phase::Exchange
            } else if dealt {
                Phase::Play
            } else {
                Phase::Deal
            },
            board: view.board,
            hands,
            round_state,
            turn: if dealt { view.seat } else { view.beginner },
            round: view.round,
            beginner: view.beginner,
            discards: view.discards,
            stock: PlayoutStock::new(stock),
        }
    }

    /// What this seat would know, as [`super::game::Game::seen_from`] gives it, but without the
    /// past moves, which playouts do not use.
    pub fn seen_from(&self, seat: Seat) -> SeatView<'a> {
        let round_state = &self.round_state;
        let partner = seat.partner(self.rules.seats);
        let received = round_state.received[seat];
        let mut view = SeatView {
            exchanging: self.phase == Phase::Exchange,
            discards: self.discards,
            folded: round_state.folded,
            asked: round_state.asked,
            exchange: round_state.exchange,
            offered: round_state.offered[seat],
            received,
            holds_received: received.is_some_and(|card| round_state.known[seat].contains(card)),
            round: self.round,
            beginner: self.beginner,
            ..SeatView::to_play(self.rules, self.board, seat, self.hands[seat])
        };
        view.known[partner] = round_state.known[partner];
        view.counts = self.hands.map(|hand| hand.len());
        view
    }

    /// What comes next: [`Playout::deal`], [`Playout::answer`], or [`Playout::play`] and
    /// [`Playout::fold`].
    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn rules(&self) -> &'a Rules {
        self.rules
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    pub fn hand(&self, seat: Seat) -> Cards {
        self.hands[seat]
    }

    /// Each seat's hand.
    pub fn hands(&self) -> &BySeat<Cards> {
        &self.hands
    }

    /// The seat to move. In other phases, the seat that begins or has won.
    pub fn turn(&self) -> Seat {
        self.turn
    }

    /// The round, from 1; in the deal phase, the one to be dealt.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The team that has won, once one has.
    pub fn winner(&self) -> Option<u8> {
        (self.phase == Phase::Finished).then(|| self.turn.team(self.rules.seats))
    }

    /// Deals a round (RULES §7.2).
    pub fn deal(&mut self, rng: &mut impl Rng) {
        debug_assert_eq!(self.phase, Phase::Deal);
        let seats = self.rules.seats;
        let size = self.rules.deal_sizes.in_round(self.round);
        if self.rules.reshuffle == Reshuffle::BeforeDeal && self.stock.len < size * seats {
            // All cards are in the stock or on the discard pile.
            self.stock = PlayoutStock::new(self.rules.deck());
            self.discards = Cards::EMPTY;
        }
        for _ in 0..size {
            for offset in 0..seats {
                if self.stock.is_empty() {
                    self.stock = PlayoutStock::new(self.discards);
                    self.discards = Cards::EMPTY;
                }
                let card = self.stock.draw(rng);
                self.hands[self.beginner.plus(offset, seats)].add(card);
            }
        }
        self.phase = Phase::Exchange;
    }

    /// What a seat may do in the exchange now, as [`super::game::Game::exchange_choices`] says it.
    pub fn exchange_choices(&self, seat: Seat) -> &'static [ExchangeChoice] {
        if self.phase != Phase::Exchange {
            return &[];
        }
        let partner = seat.partner(self.rules.seats);
        let parts = &self.round_state.exchange;
        choices(self.rules.exchange, parts[seat], parts[partner])
    }

    /// A seat that may ask says "help!" (RULES §7.3).
    pub fn ask(&mut self, seat: Seat) {
        debug_assert!(self.exchange_choices(seat).contains(&ExchangeChoice::Ask));
        let partner = seat.partner(self.rules.seats);
        let parts = &mut self.round_state.exchange;
        parts[seat] = ExchangeState::Asked;
        if parts[partner] == ExchangeState::Passed {
            parts[partner] = ExchangeState::Pending;
        }
        self.round_state.asked[seat] = true;
    }

    /// A seat offers a card of its hand, declines or passes, as it may. Play begins when every team
    /// is done (RULES §7.3).
    pub fn answer(&mut self, seat: Seat, answer: ExchangeAnswer) {
        debug_assert!(!self.exchange_choices(seat).is_empty());
        let partner = seat.partner(self.rules.seats);
        match answer {
            ExchangeAnswer::Passed => {
                let parts = &mut self.round_state.exchange;
                parts[seat] = ExchangeState::Passed;
                if parts[partner] == ExchangeState::Passed {
                    parts[seat] = ExchangeState::Kept;
                    parts[partner] = ExchangeState::Kept;
                }
            }
            ExchangeAnswer::Declined => {
                self.round_state.exchange[seat] = ExchangeState::Declined;
                self.round_state.exchange[partner] = ExchangeState::Kept;
            }
            ExchangeAnswer::Offered(own) => {
                self.round_state.exchange[seat] = ExchangeState::Offered;
                self.round_state.offered[seat] = Some(own);
                if let Some(theirs) = self.round_state.offered[partner] {
                    self.pass_card(own, seat, partner);
                    self.pass_card(theirs, partner, seat);
                }
            }
        }
        use ExchangeState::*;
        let mut seats = self.rules.ring().seats();
        if seats.all(|seat| matches!(self.round_state.exchange[seat], Declined | Swapped | Kept)) {
            self.phase = Phase::Play;
            self.turn = self.beginner;
        }
    }

    /// One half of a swap: the card goes from the giver to the taker.
    fn pass_card(&mut self, card: Card, giver: Seat, taker: Seat) {
        self.hands[giver].remove(card);
        self.hands[taker].add(card);
        self.round_state.exchange[taker] = ExchangeState::Swapped;
        self.round_state.received[taker] = Some(card);
        self.round_state.known[taker] = Cards::one(card);
    }

    /// The seat to move plays a card of its hand that leads to this board (RULES §7.4 and §7.5).
    pub fn play(&mut self, card: Card, after: &Board) {
        debug_assert_eq!(self.phase, Phase::Play);
        self.board = *after;
        self.hands[self.turn].remove(card);
        self.round_state.known[self.turn].remove(card);
        self.discards.add(card);
        if self.board.team_home(self.rules, self.turn) {
            self.phase = Phase::Finished;
        } else {
            self.next_turn();
        }
    }

    /// The seat to move folds, since it can play nothing.
    pub fn fold(&mut self) {
        debug_assert_eq!(self.phase, Phase::Play);
        let hand = std::mem::take(&mut self.hands[self.turn]);
        self.discards.add_all(hand);
        self.round_state.folded[self.turn] = true;
        self.round_state.known[self.turn] = Cards::EMPTY;
        self.next_turn();
    }

    fn next_turn(&mut self) {
        let next = self
            .turn
            .next_of(self.rules.seats, |seat| !self.hands[seat].is_empty());
        match next {
            Some(seat) => self.turn = seat,
            None => {
                self.phase = Phase::Deal;
                self.round_state = RoundState::default();
                self.round += 1;
                self.beginner = self.beginner.next(self.rules.seats);
                self.turn = self.beginner;
            }
        }
    }
}

/// Deals the cards that a seat has not seen. Every seat gets its number of cards, those known to be
/// in its hand included; the rest is random. If there are too few cards for these numbers, which no
/// real game has, the last hands are smaller.
pub fn unseen_hands(view: &SeatView, rng: &mut impl Rng) -> BySeat<Cards> {
    let mut hands = view.known;
    hands[view.seat] = view.hand;
    let mut unseen = view.rules.deck().without(view.discards);
    for seat in view.rules.ring().seats() {
        unseen = unseen.without(hands[seat]);
    }
    let mut unseen = PlayoutStock::new(unseen);
    for seat in view.rules.ring().seats() {
        while hands[seat].len() < view.counts[seat] && !unseen.is_empty() {
            hands[seat].add(unseen.draw(rng));
        }
    }
    hands
}

/// A random number below `n`, from one word. The bias is at most n in 2³².
#[inline]
fn below(rng: &mut impl Rng, n: usize) -> usize {
    ((u64::from(rng.next_u32()) * n as u64) >> 32) as usize
}

/// A random card of a hand that is not empty.
fn any(hand: Cards, rng: &mut impl Rng) -> Card {
    hand.nth(below(rng, hand.len().into()) as u8)
}

/// The number of cards in the largest deck (RULES §2): twice 52 and 12 jokers.
const MAX_CARDS: usize = 116;

/// The cards to deal. Where their order is unknown, any of them may be the next.
#[derive(Clone, Debug)]
struct PlayoutStock {
    len: u8,
    /// Whether the last card is the next.
    is_ordered: bool,
    cards: [Card; MAX_CARDS],
}

impl PlayoutStock {
    fn new(cards: Cards) -> PlayoutStock {
        let mut stock = PlayoutStock {
            len: cards.len(),
            is_ordered: false,
            cards: [Card::Joker; MAX_CARDS],
        };
        for (place, card) in stock.cards.iter_mut().zip(cards.sorted()) {
            *place = card;
        }
        stock
    }

    fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the next card. The stock must not be empty.
    #[inline]
    fn draw(&mut self, rng: &mut impl Rng) -> Card {
        let drawn = if self.is_ordered {
            usize::from(self.len) - 1
        } else {
            below(rng, self.len.into())
        };
        let card = self.cards[drawn];
        self.len -= 1;
        self.cards[drawn] = self.cards[usize::from(self.len)];
        card
    }
}
