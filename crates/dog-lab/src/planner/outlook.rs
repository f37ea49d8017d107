//! What a board on the way through a hand is worth: greedy's terms, with captures weighed by the
//! cards that the others may still hold.

use dog_bot::evaluate::{OUT, Position, WON, worth_of_hand};
use dog_rules::{
    board::Board,
    card::{Card, Cards},
    options::{Rules, SevenLanding},
    ring::{self, Fields, bit},
    seat::{BySeat, Seat},
    view::SeatView,
};

/// The share of what a piece would lose that counts for each rank by which it can be captured: of
/// the planning team.
const EXPOSED: f64 = 0.13;
/// The same of the others.
const EXPOSED_OTHERS: f64 = 0.03;
/// How much of that counts against a seat that has no card left in this round (1 instead: 56.7,
/// against 58.1).
const IDLE: f64 = 0.2;
/// How much counts of what a later card does to the others: their pieces will have moved by then
/// (1 instead: 55.4, against 56.3).
const OTHERS_LATER: f64 = 0.2;

/// A board and the cards that are left to play on it.
pub type Stage = (Board, Cards);

/// What a board is worth to a team, in steps.
#[derive(Clone, Copy, Debug)]
pub struct Worth {
    pub value: f64,
    pub won: bool,
    /// What the other teams have after the plan's first card.
    others_first: f64,
}

/// What a seat's view tells about captures to come.
pub struct Outlook<'a> {
    rules: &'a Rules,
    /// How likely ranks are that carry a piece so many steps forward, as its index, a seven
    /// included where it captures; in ranks of a whole deck.
    ahead: [f64; 14],
    /// The same of those that carry a piece four back.
    back: f64,
    /// The same of those that leave the kennel.
    out: f64,
    /// Cards each seat holds.
    counts: BySeat<u8>,
}

impl<'a> Outlook<'a> {
    /// The outlook of a seat, by the cards it has not seen.
    pub fn of(view: &SeatView<'a>) -> Outlook<'a> {
        let ranks = unseen_ranks(view);
        let of = |card: Card| ranks[card as usize];
        let joker = of(Card::Joker);
        let mut ahead = [joker; 14];
        for card in Card::RANKS {
            for &steps in card.forward() {
                ahead[usize::from(steps)] += of(card);
            }
        }
        let last = match view.rules.seven_landing {
            SevenLanding::Captures => 7,
            SevenLanding::MustBeFree => 6,
        };
        for ranks in &mut ahead[1..=last] {
            *ranks += of(Card::Seven);
        }
        Outlook {
            rules: view.rules,
            ahead,
            back: of(Card::Four) + joker,
            out: of(Card::Ace) + of(Card::King) + joker,
            counts: view.counts,
        }
    }

    /// The rules of the game.
    pub fn rules(&self) -> &'a Rules {
        self.rules
    }

    /// The worth of a board for the seat's team when the plan begins there.
    pub fn first(&self, (board, hand): &Stage, seat: Seat) -> Worth {
        self.worth(board, *hand, seat, 0, None)
    }

    /// The worth of a board that comes later in a plan, when `played` cards more have been played
    /// than on its first one; `before` is any board before it.
    pub fn later(&self, (board, hand): &Stage, seat: Seat, played: usize, before: &Worth) -> Worth {
        self.worth(board, *hand, seat, played, Some(before.others_first))
    }

    fn worth(
        &self,
        board: &Board,
        hand: Cards,
        seat: Seat,
        played: usize,
        others_first: Option<f64>,
    ) -> Worth {
        let position = Position::new(self.rules, board);
        let team = |first: Seat, exposed: f64| -> f64 {
            [first, first.partner(self.rules.seats)]
                .into_iter()
                .map(|seat| {
                    let risk = self.risk(board, &position, seat, played, hand.is_empty());
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
                - OTHERS_LATER * (others - others_first)
        };
        Worth {
            value,
            won,
            others_first,
        }
    }

    /// What the seat's pieces would lose by being captured, each as often as there are ranks that
    /// capture it.
    fn risk(
        &self,
        board: &Board,
        position: &Position,
        seat: Seat,
        played: usize,
        round_ends: bool,
    ) -> f64 {
        let blocks = board.blocks(self.rules);
        let exposed = board.track(seat) & !blocks;
        ring::fields(exposed)
            .map(|field| {
                let ranks: f64 = position
                    .others(seat)
                    .map(|other| {
                        // After the last card of a hand another round begins.
                        let idle = !round_ends && usize::from(self.counts[other]) <= played;
                        let active = if idle { IDLE } else { 1.0 };
                        active * self.ranks_against(board, blocks, other, field)
                    })
                    .sum();
                ranks * (OUT + position.progress(seat, field))
            })
            .sum()
    }

    /// How many ranks in the other seat's hand capture a piece on this field.
    fn ranks_against(&self, board: &Board, blocks: Fields, other: Seat, field: u8) -> f64 {
        let ring = self.rules.ring();
        let pieces = board.track(other);
        let mut ranks = 0.0;
        let farthest = self.ahead.len() as u8 - 1;
        for from in ring::fields(pieces & ring.path_back(field, farthest)) {
            let steps = ring.distance(from, field);
            if blocks & ring.path(from, steps) == 0 {
                ranks += self.ahead[usize::from(steps)];
            }
        }
        let behind = ring.forward(field, 4);
        if pieces & bit(behind) != 0 && blocks & ring.path_back(behind, 4) == 0 {
            ranks += self.back;
        }
        if field == ring.start(other) && board.kennel(other) > 0 {
            ranks += self.out;
        }
        ranks
    }
}

/// How many of each card a hand of unseen cards has, against a card of which the full deck has
/// eight.
fn unseen_ranks(view: &SeatView) -> [f64; Card::ALL.len()] {
    let deck = view.rules.deck();
    let unseen = unseen(view);
    let scale = f64::from(deck.len()) / f64::from(unseen.len().max(1));
    Card::ALL.map(|card| f64::from(unseen.count(card)) * scale / 8.0)
}

/// The cards of which the seat does not know where they are.
pub fn unseen(view: &SeatView) -> Cards {
    let mut seen = view.gone;
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
