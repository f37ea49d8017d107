//! What cards are worth to the seat that holds them, in steps, over and above a plain card. The
//! numbers in brackets are as in [`super::evaluate`].

use dog_rules::{
    board::Board,
    card::{Card, Cards},
    movement::Walker,
    options::Rules,
    ring,
    seat::Seat,
};

/// An ace on any board (52). Fours and jacks were tried too: no worth could be measured.
const ACE: f64 = 8.0;
/// A seven (52).
const SEVEN: f64 = 10.0;
/// A king (51).
const KING: f64 = 4.0;
/// A joker (60).
const JOKER: f64 = 50.0;
/// A card that takes a piece into the goal (51).
const FITS: f64 = 4.0;
/// A card that leaves the kennel, with pieces waiting there (55); a second one is worth no more.
const WAY_OUT: f64 = 8.0;
/// The same, with no piece on the ring, so that other cards are of no use without it (56).
const ONLY_WAY_OUT: f64 = 25.0;

/// The worth of holding these cards.
pub fn worth(rules: &Rules, board: &Board, seat: Seat, hand: Cards) -> f64 {
    let need = Need::of(rules, board, seat);
    let way_out = hand.kinds().any(leaves_kennel);
    if need.stuck && !way_out {
        return 0.0;
    }
    let held = hand
        .kinds()
        .map(|card| f64::from(hand.count(card)) * of_card(card));
    let way_out = if way_out { need.way_out() } else { 0.0 };
    held.sum::<f64>() + way_out + FITS * fitting(rules, board, seat, hand)
}

/// How many kinds of these cards, sevens and jokers aside, take a piece into the goal.
fn fitting(rules: &Rules, board: &Board, seat: Seat, hand: Cards) -> f64 {
    let owner = board.mover(rules, seat);
    let walker = Walker::new(rules, board, owner);
    let fits = |card: &Card| {
        let enters = |from| {
            let mut steps = card.forward().iter();
            steps.any(|&steps| walker.into_goal(from, steps).is_ok())
        };
        ring::fields(board.track(owner)).any(enters)
    };
    hand.kinds().filter(fits).count() as f64
}

/// What one more card is worth to a seat whose hand is unknown and lacks a way out of the kennel
/// with this probability.
pub fn worth_to(rules: &Rules, board: &Board, seat: Seat, card: Card, lacking: f64) -> f64 {
    let need = Need::of(rules, board, seat);
    if leaves_kennel(card) {
        of_card(card) + lacking * need.way_out()
    } else if need.stuck {
        of_card(card) * (1.0 - lacking)
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
        Card::Seven => SEVEN,
        Card::King => KING,
        Card::Joker => JOKER,
        _ => 0.0,
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
        let mover = board.mover(rules, seat);
        Need {
            waiting: board.kennel(mover),
            stuck: board.track(mover) == 0,
        }
    }

    /// What it is worth to have a way out of the kennel.
    fn way_out(&self) -> f64 {
        match (self.waiting, self.stuck) {
            (0, _) => 0.0,
            (_, true) => ONLY_WAY_OUT,
            (_, false) => WAY_OUT,
        }
    }
}
