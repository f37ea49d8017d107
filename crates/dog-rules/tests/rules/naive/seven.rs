//! Sevens, part by part (RULES §5).

use std::collections::{BTreeMap, BTreeSet};

use dog_rules::{Board, Field, Rules, Seat, SevenLanding, SevenPartner, SevenRest, SevenSurplus};
use rand::{Rng, RngExt, seq::IndexedRandom};

use super::table::{Direction, NaivePiece, NaivePieces, NaiveTable, read, write};

/// Which of the partner's pieces take the rest of a seven (RULES §11, `seven_rest`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    /// Any.
    AnyPieces,
    /// One, whichever begins.
    OnePiece,
    /// This one.
    This(NaivePiece),
}

impl Rest {
    /// After a part that has brought this piece where it is now.
    fn after(self, partner: Seat, piece: NaivePiece) -> Rest {
        match self {
            Rest::OnePiece | Rest::This(_) if piece.owner == partner => Rest::This(piece),
            _ => self,
        }
    }
}

/// A part carried out: where the piece ended, and all pieces after it.
struct NaivePart {
    to: Field,
    after: NaivePieces,
}

impl NaiveTable<'_> {
    /// Every way to play a seven.
    pub fn seven(&self, pieces: &NaivePieces) -> BTreeSet<NaivePieces> {
        let mut complete = BTreeSet::new();
        // The results of the parts so far, by the number of steps left.
        let mut left: [BTreeSet<(NaivePieces, Rest)>; 8] = Default::default();
        left[7].insert((pieces.clone(), self.rest(pieces)));
        for steps_left in (1..=7).rev() {
            for (pieces, rest) in std::mem::take(&mut left[steps_left]) {
                if self.lapses(&pieces) {
                    complete.insert(pieces);
                    continue;
                }
                for piece in self.may_move(&pieces, rest) {
                    for steps in 1..=steps_left {
                        for part in self.part(&pieces, piece, steps as u8) {
                            let rest = rest.after(self.partner(), piece.moved_to(part.to));
                            left[steps_left - steps].insert((part.after, rest));
                        }
                    }
                }
            }
        }
        let [all_used, ..] = left;
        complete.extend(all_used.into_iter().map(|(pieces, _)| pieces));
        complete
    }

    /// With `lapses_on_win`, steps that remain once all eight are in their goals lapse.
    fn lapses(&self, pieces: &NaivePieces) -> bool {
        self.rules.seven_surplus == SevenSurplus::LapsesOnWin
            && self.home(pieces, self.seat)
            && self.home(pieces, self.partner())
    }

    /// Who takes the rest of a seven that begins with these pieces. A seat that is home before
    /// plays its partner's pieces as if they were its own.
    fn rest(&self, pieces: &NaivePieces) -> Rest {
        if self.rules.seven_rest == SevenRest::OnePiece && !self.home(pieces, self.seat) {
            Rest::OnePiece
        } else {
            Rest::AnyPieces
        }
    }

    /// The pieces that the next part may move.
    fn may_move(&self, pieces: &NaivePieces, rest: Rest) -> Vec<NaivePiece> {
        if let Rest::This(piece) = rest {
            return vec![piece];
        }
        let seats = match self.rules.seven_partner {
            SevenPartner::WhenHome => BTreeSet::from([self.mover(pieces)]),
            SevenPartner::Always => BTreeSet::from([self.seat, self.partner()]),
        };
        let pieces = pieces.iter().copied();
        pieces
            .filter(|piece| seats.contains(&piece.owner))
            .collect()
    }

    /// A part as in the id of a move.
    fn part_name(&self, piece: NaivePiece, to: Field) -> String {
        let name = |field| match field {
            Field::Track(field) => field.to_string(),
            Field::Goal(field) if piece.owner == self.seat => format!("g{field}"),
            Field::Goal(field) => format!("p{field}"),
        };
        format!("{}>{}", name(piece.field), name(to))
    }

    /// Every way for this piece to take this many steps as a part of a seven.
    fn part(&self, pieces: &NaivePieces, piece: NaivePiece, steps: u8) -> Vec<NaivePart> {
        let mut others = pieces.clone();
        others.remove(&piece);
        let mut parts = Vec::new();
        for walk in self.walks(&others, piece, Direction::Forward, steps) {
            let to = walk.piece.field;
            let stands_there = others.iter().any(|other| other.field == to);
            let must_be_free = self.rules.seven_landing == SevenLanding::MustBeFree;
            if walk.piece.on_track() && stands_there && must_be_free {
                continue;
            }
            if self.is_on_own_piece(&others, walk.piece) {
                continue;
            }
            // Every piece passed on the ring is captured, and so is one at the end.
            let captured =
                |other: &NaivePiece| other.on_track() && walk.stepped.contains(&other.field);
            let mut after = others.clone();
            after.retain(|other| !captured(other));
            after.insert(walk.piece);
            parts.push(NaivePart { to, after });
        }
        parts
    }
}

/// A seven after some of its parts.
#[derive(Clone)]
pub struct NaiveBegunSeven {
    pieces: NaivePieces,
    /// The pieces that have had no part.
    waiting: BTreeSet<NaivePiece>,
    rest: Rest,
    left: u8,
}

impl NaiveBegunSeven {
    /// No part is chosen yet.
    pub fn new(rules: &Rules, board: &Board, seat: Seat) -> NaiveBegunSeven {
        let pieces = read(rules, board);
        NaiveBegunSeven {
            waiting: pieces.clone(),
            rest: NaiveTable { rules, seat }.rest(&pieces),
            pieces,
            left: 7,
        }
    }

    /// The next parts after which the seven can be completed, each as in an id, and what follows it.
    pub fn next(&self, rules: &Rules, seat: Seat) -> BTreeMap<String, NaiveBegunSeven> {
        let table = NaiveTable { rules, seat };
        let mut next = self.parts(&table);
        next.retain(|_, begun| begun.completes(&table));
        next
    }

    /// Whether nothing is left to do.
    pub fn is_complete(&self, rules: &Rules, seat: Seat) -> bool {
        self.left == 0 || NaiveTable { rules, seat }.lapses(&self.pieces)
    }

    fn completes(&self, table: &NaiveTable) -> bool {
        self.left == 0
            || table.lapses(&self.pieces)
            || self
                .parts(table)
                .values()
                .any(|begun| begun.completes(table))
    }

    fn parts(&self, table: &NaiveTable) -> BTreeMap<String, NaiveBegunSeven> {
        let mut parts = BTreeMap::new();
        if table.lapses(&self.pieces) {
            return parts;
        }
        let movable = table.may_move(&self.pieces, self.rest).into_iter();
        for piece in movable.filter(|piece| self.waiting.contains(piece)) {
            for steps in 1..=self.left {
                for NaivePart { to, after } in table.part(&self.pieces, piece, steps) {
                    let mut waiting = self.waiting.clone();
                    waiting.remove(&piece);
                    // A captured piece no longer waits, even if this one is where it stood.
                    waiting.remove(&piece.moved_to(to));
                    waiting.retain(|piece| after.contains(piece));
                    let begun = NaiveBegunSeven {
                        pieces: after,
                        waiting,
                        rest: self.rest.after(table.partner(), piece.moved_to(to)),
                        left: self.left - steps,
                    };
                    parts.insert(table.part_name(piece, to), begun);
                }
            }
        }
        parts
    }
}

/// The parts of a random seven, written as in its id, and its board. None if it leads nowhere.
pub fn random_seven(
    rng: &mut impl Rng,
    rules: &Rules,
    board: &Board,
    seat: Seat,
) -> Option<(String, Board)> {
    let table = NaiveTable { rules, seat };
    let mut pieces = read(rules, board);
    let mut rest = table.rest(&pieces);
    let mut names = Vec::new();
    let mut left = 7;
    while left > 0 && !table.lapses(&pieces) {
        let piece = *table.may_move(&pieces, rest).choose(rng)?;
        let steps = rng.random_range(1..=left);
        let mut parts = table.part(&pieces, piece, steps);
        if parts.is_empty() {
            return None;
        }
        let part = parts.swap_remove(rng.random_range(0..parts.len()));
        names.push(table.part_name(piece, part.to));
        rest = rest.after(table.partner(), piece.moved_to(part.to));
        pieces = part.after;
        left -= steps;
    }
    Some((names.join(","), write(rules, &pieces)))
}
