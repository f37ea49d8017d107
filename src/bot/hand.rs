//! What cards are worth to the seat that holds them, in steps, over and above a plain card.

use crate::rules::{
    board::Board,
    card::{Card, Cards},
    judge, movement,
    options::Rules,
    ring,
    seat::Seat,
};

const ACE: f64 = 8.0;
const FOUR: f64 = 3.0;
const SEVEN: f64 = 5.0;
const JACK: f64 = 3.0;
const KING: f64 = 3.0;
const JOKER: f64 = 20.0;
/// A card that takes a piece into the goal.
const FITS: f64 = 3.0;
/// Any other card: something to play.
const PLAIN: f64 = 0.0;
/// The first card that leaves the kennel, with pieces waiting there.
const WAY_OUT: f64 = 4.0;
/// The same, with no piece on the ring, so that other cards are of no use without it.
const ONLY_WAY_OUT: f64 = 15.0;
/// Each further one, while pieces are waiting for it.
const MORE_WAYS_OUT: f64 = 2.0;

/// The worth of holding these cards.
pub fn worth(rules: &Rules, board: &Board, seat: Seat, hand: Cards) -> f64 {
    let need = Need::of(rules, board, seat);
    let ways_out = Card::ALL
        .into_iter()
        .filter(|&card| leaves_kennel(card))
        .map(|card| hand.count(card))
        .sum();
    let held: f64 = hand
        .kinds()
        .map(|card| f64::from(hand.count(card)) * of_card(card))
        .sum();
    if need.stuck && ways_out == 0 {
        return 0.0;
    }
    held + need.ways_out(ways_out) + FITS * fitting(rules, board, seat, hand)
}

/// How many kinds of these cards, sevens and jokers aside, take a piece into the goal.
fn fitting(rules: &Rules, board: &Board, seat: Seat, hand: Cards) -> f64 {
    let owner = judge::mover(rules, board, seat);
    let blocks = board.blocks(rules);
    let fits = |card: &Card| {
        ring::fields(board.track(owner)).any(|from| {
            card.forward()
                .iter()
                .any(|&steps| movement::into_goal(rules, board, blocks, owner, from, steps).is_ok())
        })
    };
    hand.kinds().filter(fits).count() as f64
}

/// What one more card is worth to a seat whose hand is unknown and lacks a way out of the
/// kennel with this probability.
pub fn worth_to(rules: &Rules, board: &Board, seat: Seat, card: Card, without: f64) -> f64 {
    let need = Need::of(rules, board, seat);
    if leaves_kennel(card) {
        let first = need.ways_out(1);
        let second = need.ways_out(2) - first;
        return of_card(card) + without * first + (1.0 - without) * second;
    }
    if need.stuck {
        of_card(card) * (1.0 - without)
    } else {
        of_card(card)
    }
}

/// Whether the card, played as itself or as some rank, leaves the kennel.
pub fn leaves_kennel(card: Card) -> bool {
    card == Card::Joker || card.leaves_kennel()
}

fn of_card(card: Card) -> f64 {
    match card {
        Card::Ace => ACE,
        Card::Four => FOUR,
        Card::Seven => SEVEN,
        Card::Jack => JACK,
        Card::King => KING,
        Card::Joker => JOKER,
        _ => PLAIN,
    }
}

/// What the pieces that a seat moves ask of its cards.
struct Need {
    /// Pieces in the kennel.
    waiting: u8,
    /// Whether none is on the ring.
    stuck: bool,
}

impl Need {
    fn of(rules: &Rules, board: &Board, seat: Seat) -> Need {
        let mover = judge::mover(rules, board, seat);
        Need {
            waiting: board.kennel(mover),
            stuck: board.track(mover) == 0,
        }
    }

    fn ways_out(&self, held: u8) -> f64 {
        let used = held.min(self.waiting);
        if used == 0 {
            return 0.0;
        }
        let first = if self.stuck { ONLY_WAY_OUT } else { WAY_OUT };
        first + MORE_WAYS_OUT * f64::from(used - 1)
    }
}
