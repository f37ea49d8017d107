//! A second, slow and naive implementation of the cards, to check the library (RULES §3 to §6).
//!
//! It is written from the text of the rules alone, in the same order and words. The pieces are a
//! plain set, and walks are single steps. It uses none of the library's walking, judging or
//! listing, only the types (seats, cards, fields), the options as data, and [`Board::place`] and
//! [`Board::placements`] to convert boards.

mod seven;
mod table;

use std::collections::{BTreeSet, HashSet};

use dog_rules::{Board, Card, JackWithoutEffectWhen, Rules, Seat};

pub use seven::{NaiveBegunSeven, random_seven};
use table::{Direction, NaivePiece, NaivePieces, NaiveTable, read, write};

/// Every board that this card of the seat can lead to.
pub fn boards(rules: &Rules, board: &Board, seat: Seat, card: Card) -> HashSet<Board> {
    let table = NaiveTable { rules, seat };
    let pieces = read(rules, board);
    let after = table.card(&pieces, card);
    after.iter().map(|pieces| write(rules, pieces)).collect()
}

/// RULES §3: what each card may do.
impl NaiveTable<'_> {
    fn card(&self, pieces: &NaivePieces, card: Card) -> BTreeSet<NaivePieces> {
        let forward = |steps| self.one_forward(pieces, steps);
        let out = || self.out(pieces);
        let any_of = |ways: Vec<Vec<NaivePieces>>| ways.into_iter().flatten().collect();
        match card {
            Card::Ace => any_of(vec![out(), forward(1), forward(11)]),
            Card::Two => any_of(vec![forward(2)]),
            Card::Three => any_of(vec![forward(3)]),
            Card::Four => any_of(vec![forward(4), self.one_four_backward(pieces)]),
            Card::Five => any_of(vec![forward(5)]),
            Card::Six => any_of(vec![forward(6)]),
            Card::Seven => self.seven(pieces),
            Card::Eight => any_of(vec![forward(8)]),
            Card::Nine => any_of(vec![forward(9)]),
            Card::Ten => any_of(vec![forward(10)]),
            Card::Jack => any_of(vec![self.jack(pieces)]),
            Card::Queen => any_of(vec![forward(12)]),
            Card::King => any_of(vec![out(), forward(13)]),
            Card::Joker => {
                let ranks = Card::RANKS.into_iter();
                ranks.flat_map(|rank| self.card(pieces, rank)).collect()
            }
        }
    }

    /// One of the mover's pieces walks this many steps forward.
    fn one_forward(&self, pieces: &NaivePieces, steps: u8) -> Vec<NaivePieces> {
        self.one_walks(pieces, Direction::Forward, steps)
    }

    /// One of the mover's pieces walks four steps backward.
    fn one_four_backward(&self, pieces: &NaivePieces) -> Vec<NaivePieces> {
        self.one_walks(pieces, Direction::Backward, 4)
    }

    fn one_walks(&self, pieces: &NaivePieces, direction: Direction, steps: u8) -> Vec<NaivePieces> {
        let mut ways = Vec::new();
        let mover = self.mover(pieces);
        for &piece in pieces.iter().filter(|piece| piece.owner == mover) {
            let mut others = pieces.clone();
            others.remove(&piece);
            for walk in self.walks(&others, piece, direction, steps) {
                if self.is_on_own_piece(&others, walk.piece) {
                    continue;
                }
                // Landing captures, passing does not.
                let mut after = others.clone();
                if walk.piece.on_track() {
                    after.retain(|other| other.field != walk.piece.field);
                }
                after.insert(walk.piece);
                ways.push(after);
            }
        }
        ways
    }

    /// RULES §4, leaving the kennel.
    fn out(&self, pieces: &NaivePieces) -> Vec<NaivePieces> {
        let mover = self.mover(pieces);
        let start = self.start(mover);
        let outside = pieces.iter().filter(|piece| piece.owner == mover);
        if outside.count() == 4 || self.is_block(pieces, start) {
            return vec![];
        }
        let out = NaivePiece {
            owner: mover,
            field: start,
            fresh: true,
        };
        if self.is_on_own_piece(pieces, out) {
            return vec![];
        }
        let mut after = pieces.clone();
        after.retain(|other| other.field != start);
        after.insert(out);
        vec![after]
    }

    /// RULES §6.
    fn jack(&self, pieces: &NaivePieces) -> Vec<NaivePieces> {
        let mover = self.mover(pieces);
        let on_ring = || pieces.iter().filter(|piece| piece.on_track());
        let may_swap =
            || on_ring().filter(|piece| !self.protected(piece, self.rules.start_swap_protection));
        let mut ways = Vec::new();
        for own in may_swap().filter(|piece| piece.owner == mover) {
            for other in may_swap().filter(|other| other.field != own.field) {
                if other.owner == mover && !self.rules.jack_own_pair {
                    continue;
                }
                let mut after = pieces.clone();
                after.remove(own);
                after.remove(other);
                after.insert(own.moved_to(other.field));
                after.insert(other.moved_to(own.field));
                ways.push(after);
            }
        }
        let some_own = on_ring().any(|piece| piece.owner == mover);
        let no_stranger = on_ring().all(|piece| piece.owner == mover);
        let no_swap = self.rules.jack_without_effect_when == JackWithoutEffectWhen::NoSwapPossible
            && ways.is_empty();
        if self.rules.jack_without_effect && some_own && (no_stranger || no_swap) {
            ways.push(pieces.clone());
        }
        ways
    }
}
