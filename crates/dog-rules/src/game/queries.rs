//! What a whole game says about itself. Much of it is hidden from a seat (see [`crate::view`]).

use super::{Game, Phase, SeedOrigin};
use crate::{Board, Card, Cards, Dealer, Event, Player, Rules, Seat};

impl Game {
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The number of changes so far; creation is 1.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The round being played or, in the deal phase, the next one; from 1.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The game as it was at set-up, where its log begins.
    pub fn at_creation(&self) -> Game {
        Game {
            seed_origin: self.seed_origin,
            ..Game::new(self.setup())
        }
    }

    /// Who dealt the first round.
    pub fn first_dealer(&self) -> Seat {
        self.first_dealer
    }

    /// Whether it is known who deals first and begins. In the seating it may still have to be
    /// drawn.
    pub fn dealer_known(&self) -> bool {
        !(self.draws_dealer && self.phase == Phase::Seating)
    }

    /// Who deals this round (RULES §7.4). See [`Game::dealer_known`].
    pub fn dealer(&self) -> Seat {
        match self.rules.dealer {
            Dealer::Rotates => self.rotated(self.first_dealer),
            Dealer::Fixed => self.first_dealer,
        }
    }

    /// The seat that begins this round: the one after the dealer or, with a fixed dealer, one seat
    /// further each round (RULES §7.4).
    pub fn beginner(&self) -> Seat {
        self.rotated(self.first_dealer.next(self.rules.seats))
    }

    /// The seat that was `first` in round 1 and moves on by one each round.
    fn rotated(&self, first: Seat) -> Seat {
        let seats = u32::from(self.rules.seats);
        first.plus(((self.round - 1) % seats) as u8, self.rules.seats)
    }

    /// The number of cards dealt to each seat in this round.
    pub fn deal_size(&self) -> u8 {
        self.rules.deal_sizes.in_round(self.round)
    }

    /// The seat to move, in the play phase.
    pub fn turn(&self) -> Option<Seat> {
        self.turn
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The number of cards left to deal before the discard pile is shuffled.
    pub fn stock_size(&self) -> u8 {
        self.stock.len() as u8
    }

    /// The cards left to deal; the next one is the last. Nobody at the table sees them.
    pub fn stock(&self) -> &[Card] {
        &self.stock
    }

    /// The discard pile, which is face up.
    pub fn discards(&self) -> Cards {
        self.discards
    }

    /// Whether a round was dealt.
    pub fn is_dealt(&self) -> bool {
        self.round > 1 || !matches!(self.phase, Phase::Seating | Phase::Deal)
    }

    /// The winning team, once there is one.
    pub fn winner(&self) -> Option<u8> {
        self.winner
    }

    /// The players, one per seat.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// The players at set-up, one per seat. The host may have handed seats over since.
    pub fn first_players(&self) -> &[Player] {
        self.first_players.as_deref().unwrap_or(&self.players)
    }

    /// Who plays a seat.
    pub fn player(&self, seat: Seat) -> &Player {
        &self.players[usize::from(seat.number())]
    }

    /// Whether people came, went or were away, or settings were changed. If so, the record has
    /// lines that those of other games do not have.
    pub fn seats_changed(&self) -> bool {
        self.seats_changed
    }

    /// SHA-256 of the shuffle seed.
    pub fn commitment(&self) -> String {
        self.seed.commitment()
    }

    /// The shuffle seed, once the game is over. That of a duplicate is a secret until the other table
    /// has ended, too, which the rules do not know.
    pub fn seed_at_end(&self) -> Option<String> {
        (self.phase == Phase::Finished).then(|| self.seed.hex())
    }

    /// Whether another table plays the same cards.
    pub fn is_duplicate(&self) -> bool {
        matches!(self.seed_origin, SeedOrigin::Shared(_))
    }

    /// Whether the creator chose the shuffle seed.
    pub fn seed_given(&self) -> bool {
        self.seed_origin == SeedOrigin::Given(true)
    }

    /// The first event of the last action, in full: show it through [`Event::redacted_for`]. What a
    /// team says about giving up is no such event until the game is over.
    pub fn last_event(&self) -> &Event {
        &self.last_event
    }

    /// A seat's hand: its own secret. An offered card counts as in the hand until the swap.
    pub fn hand(&self, seat: Seat) -> Cards {
        self.state(seat).hand
    }

    /// The number of cards a seat holds.
    pub fn cards(&self, seat: Seat) -> u8 {
        self.state(seat).hand.len()
    }

    /// Whether a seat has folded in this round.
    pub fn folded(&self, seat: Seat) -> bool {
        self.state(seat).folded
    }
}
