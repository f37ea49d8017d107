//! The list of legal moves (RULES §9): each card of the hand, each board it can lead to, once.

use std::ops::ControlFlow;

use super::{
    board::{Board, Field},
    card::{Card, Cards},
    judge::{self, mover},
    movement::{self, Walk},
    notation::{Action, Move, Part, Place},
    options::Rules,
    ring::{self, bit},
    seat::Seat,
    seen::Seen,
    seven::{Walked, sevens},
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
    let mover = mover(rules, board, seat);
    if rank == Card::Jack {
        return jacks(rules, board, mover, &mut found);
    }
    if rank.leaves_kennel() {
        out(rules, board, mover, &mut found)?;
    }
    let blocks = board.blocks(rules);
    // How the acting seat writes the mover's goal fields.
    let goal = |field| {
        if mover == seat {
            Place::OwnGoal(field)
        } else {
            Place::PartnerGoal(field)
        }
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
        let place = |field| match field {
            Field::Track(field) => Place::Track(field),
            Field::Goal(field) => goal(field),
        };
        found(
            Action::Walk(Part {
                from: place(from),
                to: place(walk.to),
            }),
            &after,
        )
    };
    for from in board.pieces(mover).places() {
        for &steps in rank.forward() {
            movement::forward(rules, board, blocks, mover, from, steps, |walk| {
                go(from, walk)
            })?;
        }
        if let (Card::Four, Field::Track(field)) = (rank, from) {
            if let Ok(walk) = movement::back_along_ring(rules, board, blocks, field) {
                go(from, walk)?;
            }
            if let Ok(walk) = movement::back_into_goal(rules, board, blocks, mover, field) {
                go(from, walk)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// RULES §4, leaving the kennel.
fn out(
    rules: &Rules,
    board: &Board,
    mover: Seat,
    mut found: impl FnMut(Action, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let start = bit(rules.ring().start(mover));
    if board.kennel(mover) > 0 && board.blocks(rules) & start == 0 {
        let mut after = *board;
        after.capture(start);
        after.put_fresh(rules, mover);
        found(Action::Out, &after)?;
    }
    ControlFlow::Continue(())
}

/// RULES §6. Two own pieces, and a jack without effect, leave the board as it is: one move.
fn jacks(
    rules: &Rules,
    board: &Board,
    mover: Seat,
    mut found: impl FnMut(Action, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let unprotected = !board.unswappable(rules);
    let own = board.track(mover) & unprotected;
    for stranger in rules.ring().seats().filter(|&seat| seat != mover) {
        for other in ring::fields(board.track(stranger) & unprotected) {
            for from in ring::fields(own) {
                let mut after = *board;
                let pieces = (Field::Track(from), Field::Track(other));
                judge::swap(rules, &mut after, (mover, pieces.0), (stranger, pieces.1));
                found(Action::Swap(from, other), &after)?;
            }
        }
    }
    let mut pair = ring::fields(own);
    if rules.jack_own_pair
        && let (Some(first), Some(second)) = (pair.next(), pair.next())
    {
        found(Action::Swap(first, second), board)?;
    } else if without_effect(rules, board, mover) {
        found(Action::NoEffect, board)?;
    }
    ControlFlow::Continue(())
}

/// RULES §6, `jack_without_effect`.
pub(super) fn without_effect(rules: &Rules, board: &Board, mover: Seat) -> bool {
    judge::outcome(rules, board, mover, Card::Jack, &Action::NoEffect).is_ok()
}
