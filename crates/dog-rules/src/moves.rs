//! The list of legal moves (RULES §9): each card of the hand, each board it can lead to, once.

use std::ops::ControlFlow;

use crate::{
    Board, Card, Cards, Field, Move, Rules, Seat,
    movement::{Walk, Walker},
    notation::{Action, Part, Place},
    ring::{self, bit},
    seven::{Seen, Walked, sevens},
};

/// A legal move and the board it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegalMove {
    pub mv: Move,
    pub board: Board,
}

/// Lists moves. Holds memory for boards that may be met twice; keep one to list many.
#[derive(Default)]
pub struct Generator {
    /// By one seven.
    seen: Seen,
    /// By the ranks of one joker.
    joker: Seen,
}

impl Generator {
    /// A generator with no memory yet.
    pub fn new() -> Generator {
        Generator::default()
    }

    /// Every legal move of a seat with this hand, cards in sorting order. If nothing can be
    /// played the list holds exactly one move: fold (RULES §9).
    pub fn legal_moves(
        &mut self,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        hand: Cards,
    ) -> Vec<LegalMove> {
        let mut moves = Vec::new();
        for card in hand.kinds() {
            self.moves_of_card(rules, board, seat, card, &mut moves);
        }
        if moves.is_empty() {
            moves.push(LegalMove {
                mv: Move::Fold,
                board: *board,
            });
        }
        moves
    }

    /// Adds every legal move of one card to `moves`: a joker as each rank.
    pub fn moves_of_card(
        &mut self,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        card: Card,
        moves: &mut Vec<LegalMove>,
    ) {
        for &rank in played_as(&card) {
            let mut add = |action, board: &Board| {
                let mv = Move::Play { card, rank, action };
                moves.push(LegalMove { mv, board: *board });
                ControlFlow::Continue(())
            };
            let _ = if rank == Card::Seven {
                sevens(rules, board, seat, &mut self.seen, |walked, board| {
                    add(Action::Seven(walked.parts()), board)
                })
            } else {
                of_simple_rank(rules, board, seat, rank, add)
            };
        }
    }

    /// Adds every board that one card leads to, each once, whatever a joker is announced as
    /// (RULES §9, for counting). Cheaper than the moves.
    pub fn boards_of_card(
        &mut self,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        card: Card,
        boards: &mut Vec<Board>,
    ) {
        let Generator { seen, joker } = self;
        joker.clear();
        for &rank in played_as(&card) {
            let mut add = |board: &Board| {
                // Two ranks may lead to one board: an ace and a king out of the kennel do.
                if card != Card::Joker || joker.insert(board) {
                    boards.push(*board);
                }
                ControlFlow::Continue(())
            };
            let _ = if rank == Card::Seven {
                sevens(rules, board, seat, seen, |_, board| add(board))
            } else {
                of_simple_rank(rules, board, seat, rank, |_, board| add(board))
            };
        }
    }

    /// Whether any card of the hand has a legal move (RULES §4, must play).
    pub fn can_play(&mut self, rules: &Rules, board: &Board, seat: Seat, hand: Cards) -> bool {
        hand.kinds()
            .any(|card| self.can_play_card(rules, board, seat, card))
    }

    /// Whether this card has a legal move.
    pub fn can_play_card(&mut self, rules: &Rules, board: &Board, seat: Seat, card: Card) -> bool {
        played_as(&card).iter().any(|&rank| {
            let found = if rank == Card::Seven {
                let stop = |_: &Walked, _: &Board| ControlFlow::Break(());
                sevens(rules, board, seat, &mut self.seen, stop)
            } else {
                of_simple_rank(rules, board, seat, rank, |_, _| ControlFlow::Break(()))
            };
            found.is_break()
        })
    }
}

/// The ranks a card can be played as.
fn played_as(card: &Card) -> &[Card] {
    match card {
        Card::Joker => &Card::RANKS,
        card => std::slice::from_ref(card),
    }
}

/// Every action of a rank other than the seven.
fn of_simple_rank(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    rank: Card,
    mut found: impl FnMut(Action, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mover = board.mover(rules, seat);
    let walker = Walker::new(rules, board, mover);
    if rank == Card::Jack {
        return jacks(walker, &mut found);
    }
    if rank.leaves_kennel() {
        out(walker, &mut found)?;
    }
    // How the acting seat writes the mover's fields.
    let place = |field| match field {
        Field::Track(field) => Place::Track(field),
        Field::Goal(field) if mover == seat => Place::OwnGoal(field),
        Field::Goal(field) => Place::PartnerGoal(field),
    };
    // A piece that captures another of its own leaves the same board whichever it captures: the
    // other one's field becomes its own. So of such moves of one piece only the first is listed.
    let mut captured_own = 0;
    let mut go = |from: Field, walk: Walk| {
        let mut after = *board;
        if let (Field::Track(from), Field::Track(field)) = (from, walk.to) {
            if board.pieces(mover).stand_on(field) {
                if captured_own & bit(from) != 0 {
                    return ControlFlow::Continue(());
                }
                captured_own |= bit(from);
            }
            after.capture(bit(field));
        }
        after.relocate(rules, mover, from, walk.to);
        let (from, to) = (place(from), place(walk.to));
        found(Action::Walk(Part { from, to }), &after)
    };
    for from in board.pieces(mover).places() {
        for &steps in rank.forward() {
            walker.forward(from, steps, |walk| go(from, walk))?;
        }
        if let (Card::Four, Field::Track(field)) = (rank, from) {
            if let Ok(walk) = walker.back_along_ring(field) {
                go(from, walk)?;
            }
            if let Ok(walk) = walker.back_into_goal(field) {
                go(from, walk)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// RULES §4, leaving the kennel.
fn out(
    walker: Walker,
    mut found: impl FnMut(Action, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let start = bit(walker.rules.ring().start(walker.owner));
    if walker.board.kennel(walker.owner) > 0 && walker.blocks & start == 0 {
        let mut after = *walker.board;
        after.capture(start);
        after.put_fresh(walker.rules, walker.owner);
        found(Action::Out, &after)?;
    }
    ControlFlow::Continue(())
}

/// RULES §6. Two own pieces, and a jack without effect, leave the board as it is: one move.
fn jacks(
    walker: Walker,
    mut found: impl FnMut(Action, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (rules, board, mover) = (walker.rules, walker.board, walker.owner);
    let unprotected = !board.unswappable(rules);
    let own = board.track(mover) & unprotected;
    for stranger in rules.ring().seats().filter(|&seat| seat != mover) {
        for other in ring::fields(board.track(stranger) & unprotected) {
            for from in ring::fields(own) {
                let mut after = *board;
                after.swap(rules, (mover, from), (stranger, other));
                found(Action::Swap(from, other), &after)?;
            }
        }
    }
    let mut pair = ring::fields(own);
    if rules.jack_own_pair
        && let (Some(first), Some(second)) = (pair.next(), pair.next())
    {
        found(Action::Swap(first, second), board)?;
    } else if rules.jack_without_effect && board.alone_on_track(mover) {
        found(Action::NoEffect, board)?;
    }
    ControlFlow::Continue(())
}
