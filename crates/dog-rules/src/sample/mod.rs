//! One random legal way to play a card, without listing them all.
//!
//! What is drawn:
//!
//! * **A rank that carries one piece:** a piece, uniformly among those that can walk (the kennel
//!   counts as one, if a piece can leave it), then uniformly one of its ways.
//! * **A jack:** uniformly among the boards.
//! * **A joker:** a rank, uniformly among those that can be played, then as that rank.
//! * **A seven:** the pieces in the goal, deeper ones first, then those on the ring in any order,
//!   each with a random number of steps that leaves no more than the rest may be able to take.
//!   Where that fails a few times, or all four may come home: uniformly among the boards.
//!
//! Every board that the list has can be drawn (RULES §9), and no other.

use std::ops::ControlFlow;

use rand::Rng;

use super::{
    board::{Board, Field, PIECES},
    card::{Card, Cards},
    judge::{mover, swap},
    movement::{self, Walk},
    moves::without_effect,
    options::{Rules, SevenPartner},
    ring::{Fields, bit},
    seat::Seat,
    seen::Seen,
    seven::{STEPS, sevens},
};

mod seven;

use seven::DrawnSeven;

/// Draws sevens this often before it lists them.
const ATTEMPTS: u32 = 8;

/// A number below `n`, from one word: no number is more likely than another by more than n in 2³².
#[inline]
pub(super) fn below(rng: &mut impl Rng, n: usize) -> usize {
    ((u64::from(rng.next_u32()) * n as u64) >> 32) as usize
}

/// Plays cards at random. Holds the memory that listing a seven takes, so that playing allocates
/// none.
pub struct Sampler {
    seen: Seen,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler::new()
    }
}

impl Sampler {
    /// A sampler with room for the sevens of eight pieces, all of which may walk.
    pub fn new() -> Sampler {
        Sampler {
            seen: Seen::with_room(4096),
        }
    }

    /// Draws a card, uniformly among those of the hand that can be played, and plays it in a
    /// random way; `None`, and nothing changed, if none can be played.
    #[inline]
    pub fn play_any(
        &mut self,
        rules: &Rules,
        board: &mut Board,
        seat: Seat,
        hand: Cards,
        rng: &mut impl Rng,
    ) -> Option<Card> {
        let mover = mover(rules, board, seat);
        // To draw until a card can be played is to draw from those that can.
        let mut untried = hand.of_kinds(useful(rules, board, mover));
        while !untried.is_empty() {
            let card = untried.nth(below(rng, untried.len().into()) as u8);
            if self.play_with(rules, board, seat, mover, card, rng) {
                return Some(card);
            }
            untried = untried.without_kind(card);
        }
        None
    }

    /// Plays a card in a random way; `false`, and nothing changed, if it cannot be played.
    pub fn play(
        &mut self,
        rules: &Rules,
        board: &mut Board,
        seat: Seat,
        card: Card,
        rng: &mut impl Rng,
    ) -> bool {
        let mover = mover(rules, board, seat);
        self.play_with(rules, board, seat, mover, card, rng)
    }

    #[inline]
    fn play_with(
        &mut self,
        rules: &Rules,
        board: &mut Board,
        seat: Seat,
        mover: Seat,
        card: Card,
        rng: &mut impl Rng,
    ) -> bool {
        match card {
            Card::Joker => self.joker(rules, board, seat, mover, rng),
            Card::Seven => self.seven(rules, board, seat, mover, rng),
            Card::Jack => jack(rules, board, mover, rng),
            rank => carry(rules, board, mover, rank, rng),
        }
    }

    fn joker(
        &mut self,
        rules: &Rules,
        board: &mut Board,
        seat: Seat,
        mover: Seat,
        rng: &mut impl Rng,
    ) -> bool {
        let mut untried = useful(rules, board, mover).without_kind(Card::Joker);
        while !untried.is_empty() {
            let rank = untried.nth(below(rng, untried.len().into()) as u8);
            if self.play_with(rules, board, seat, mover, rank, rng) {
                return true;
            }
            untried = untried.without_kind(rank);
        }
        false
    }

    fn seven(
        &mut self,
        rules: &Rules,
        board: &mut Board,
        seat: Seat,
        mover: Seat,
        rng: &mut impl Rng,
    ) -> bool {
        let before = *board;
        let partner = seat.partner(rules.seats);
        let movers: &[Seat] = match rules.seven_partner {
            SevenPartner::Always => &[seat, partner],
            SevenPartner::WhenHome => &[mover],
        };
        let draw = DrawnSeven::of(rules, board, movers);
        if !draw.may_come_home {
            if draw.most < STEPS {
                return false;
            }
            for _ in 0..ATTEMPTS {
                if draw.clone().carry_out(rules, board, rng) {
                    return true;
                }
                *board = before;
            }
        }
        let mut found = 0;
        let _ = sevens(rules, &before, seat, &mut self.seen, |_, after| {
            found += 1;
            if found == 1 || below(rng, found) == 0 {
                *board = *after;
            }
            ControlFlow::Continue(())
        });
        found > 0
    }
}

/// The kinds of cards that a seat moving these pieces may be able to play: all, or with no piece on
/// the ring those few that leave the kennel or move in the goal.
#[inline]
fn useful(rules: &Rules, board: &Board, mover: Seat) -> Cards {
    const LEAVE_KENNEL: Cards = Cards::each(&[Card::Ace, Card::King, Card::Joker]);
    const IN_GOAL: Cards = Cards::each(&[Card::Ace, Card::Two, Card::Three, Card::Joker]);
    const SEVEN: Cards = Cards::each(&[Card::Seven, Card::Joker]);
    if board.pieces(mover).on_track() > 0 {
        return Cards::KINDS;
    }
    let mut kinds = Cards::EMPTY;
    if board.kennel(mover) > 0 {
        kinds = kinds.or(LEAVE_KENNEL);
    }
    if board.pieces(mover).in_goal() > 0 {
        kinds = kinds.or(IN_GOAL);
    }
    if rules.seven_partner == SevenPartner::Always {
        kinds = kinds.or(SEVEN);
    }
    kinds
}

/// RULES §4: a piece leaves the kennel or walks, forward or four back.
fn carry(rules: &Rules, board: &mut Board, mover: Seat, rank: Card, rng: &mut impl Rng) -> bool {
    let blocks = board.blocks(rules);
    let start = bit(rules.ring().start(mover));
    let leaves = rank.leaves_kennel() && board.kennel(mover) > 0 && blocks & start == 0;
    // Those on the ring come first, then those in the goal, which have three steps to walk at most.
    let pieces = board.pieces(mover);
    let mut untried = [0, 1, 2, 3];
    let within_goal = rank.forward()[0] < PIECES;
    let mut len = usize::from(if within_goal {
        pieces.outside()
    } else {
        pieces.on_track()
    });
    if leaves {
        untried[len] = pieces.outside();
        len += 1;
    }
    while len > 0 {
        let drawn = below(rng, len);
        let piece = pieces.place(untried[drawn]);
        let Some(from) = piece else {
            board.capture(start);
            board.put_fresh(rules, mover);
            return true;
        };
        if let Some(to) = any_way(rules, board, blocks, mover, rank, from, rng) {
            if let Field::Track(field) = to {
                board.capture(bit(field));
            }
            board.relocate(rules, mover, from, to);
            return true;
        }
        len -= 1;
        untried[drawn] = untried[len];
    }
    false
}

/// Where one piece goes with a card, each way with equal chances.
#[inline]
fn any_way(
    rules: &Rules,
    board: &Board,
    blocks: Fields,
    mover: Seat,
    rank: Card,
    from: Field,
    rng: &mut impl Rng,
) -> Option<Field> {
    let mut ways = 0;
    let mut drawn = None;
    let mut add = |walk: Walk| {
        ways += 1;
        if ways == 1 || below(rng, ways) == 0 {
            drawn = Some(walk.to);
        }
        ControlFlow::Continue(())
    };
    for &steps in rank.forward() {
        let _ = movement::forward(rules, board, blocks, mover, from, steps, &mut add);
    }
    if let (Card::Four, Field::Track(from)) = (rank, from) {
        if let Ok(walk) = movement::back_along_ring(rules, board, blocks, from) {
            let _ = add(walk);
        }
        if let Ok(walk) = movement::back_into_goal(rules, board, blocks, mover, from) {
            let _ = add(walk);
        }
    }
    drawn
}

/// RULES §6.
fn jack(rules: &Rules, board: &mut Board, mover: Seat, rng: &mut impl Rng) -> bool {
    let unprotected = !board.unswappable(rules);
    let own = board.track(mover) & unprotected;
    let others = board.occupied() & !board.track(mover) & unprotected;
    let swaps = count(own) * count(others);
    let own_pair = rules.jack_own_pair && count(own) > 1;
    let choices = swaps + usize::from(own_pair);
    if choices == 0 {
        return without_effect(rules, board, mover);
    }
    let choice = below(rng, choices);
    if choice < swaps {
        let from = nth_field(own, choice % count(own));
        let other = nth_field(others, choice / count(own));
        let stranger = board.owner(rules, other).expect("a piece stands there");
        let (from, other) = (Field::Track(from), Field::Track(other));
        swap(rules, board, (mover, from), (stranger, other));
    }
    true
}

fn count(fields: Fields) -> usize {
    fields.count_ones() as usize
}

/// The field in this place, counted from 0, of a set that has so many.
#[inline]
fn nth_field(mut fields: Fields, place: usize) -> u8 {
    for _ in 0..place {
        fields &= fields - 1;
    }
    fields.trailing_zeros() as u8
}
