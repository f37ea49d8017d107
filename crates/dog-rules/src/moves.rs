//! The list of legal moves (RULES §9): for each card of the hand, each board it can lead to, once.

use std::ops::ControlFlow;

use crate::{
    Board, Card, Cards, Field, Move, Outcome, Rules, Seat, ShortList,
    judge::{MoveKind, PlayedPart, add_captures},
    movement::{PieceMove, Walk, Walker},
    notation::{CardUse, Parts},
    ring::{self, bit},
    seven::{BoardSet, sevens},
};

/// A legal move and what it does. [`judge`](crate::judge::judge) computes the same outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegalMove {
    pub mv: Move,
    pub outcome: Outcome,
}

/// A legal move when it is found: the board it leads to, and the rest on request.
pub struct FoundMove<'a> {
    context: &'a CardContext<'a>,
    card_use: FoundUse<'a>,
    /// The board after the move.
    pub board: &'a Board,
}

/// Who plays a card, as which rank, on which board.
struct CardContext<'a> {
    rules: &'a Rules,
    before: &'a Board,
    card: Card,
    rank: Card,
}

/// The use of a card, as the search finds it.
#[derive(Clone, Copy)]
enum FoundUse<'a> {
    /// A piece of this seat's leaves its kennel.
    Out(Seat),
    /// A piece advances or retreats.
    Walk(MoveKind, PieceMove),
    /// The mover's piece, and another seat's or another of its own.
    Swap((Seat, u8), (Seat, u8)),
    NoEffect,
    Seven(&'a ShortList<PieceMove>),
}

impl FoundMove<'_> {
    /// The move.
    #[inline(always)]
    pub fn mv(&self) -> Move {
        let action = match self.card_use {
            FoundUse::Out(_) => CardUse::Out,
            FoundUse::Walk(_, walk) => CardUse::Walk(walk.part),
            FoundUse::Swap((_, own), (_, other)) => CardUse::Swap(own, other),
            FoundUse::NoEffect => CardUse::NoEffect,
            FoundUse::Seven(walks) => CardUse::Seven(parts(walks)),
        };
        Move::Play {
            card: self.context.card,
            rank: self.context.rank,
            action,
        }
    }

    /// What the move does.
    pub fn outcome(&self) -> Outcome {
        let CardContext { rules, before, .. } = *self.context;
        let mut outcome = Outcome {
            kind: MoveKind::NoEffect,
            parts: ShortList::new(),
            captures: ShortList::new(),
            board: *self.board,
        };
        let mut moved = |seat, from, to, steps| {
            outcome.parts.push(PlayedPart {
                seat,
                from,
                to,
                steps,
            });
        };
        outcome.kind = match self.card_use {
            FoundUse::Out(owner) => {
                let start = rules.ring().start(owner);
                moved(owner, None, Field::Track(start), 0);
                add_captures(&mut outcome.captures, rules, before, bit(start));
                MoveKind::LeaveKennel
            }
            FoundUse::Walk(kind, walk) => {
                moved(walk.owner, Some(walk.from), walk.to, walk.steps);
                if let Field::Track(field) = walk.to {
                    add_captures(&mut outcome.captures, rules, before, bit(field));
                }
                kind
            }
            FoundUse::Swap((mover, own), (other_owner, other)) => {
                let (own, other) = (Field::Track(own), Field::Track(other));
                moved(mover, Some(own), other, 0);
                moved(other_owner, Some(other), own, 0);
                MoveKind::Swap
            }
            FoundUse::NoEffect => MoveKind::NoEffect,
            FoundUse::Seven(walks) => {
                let mut board = *before;
                for walk in walks.iter() {
                    moved(walk.owner, Some(walk.from), walk.to, walk.steps);
                    let stepped = walk.stepped(rules);
                    add_captures(&mut outcome.captures, rules, &board, stepped);
                    board.capture(stepped);
                    board.relocate(rules, walk.owner, walk.from, walk.to);
                }
                MoveKind::Seven
            }
        };
        outcome
    }

    /// The move, and what it does.
    pub fn legal_move(&self) -> LegalMove {
        LegalMove {
            mv: self.mv(),
            outcome: self.outcome(),
        }
    }
}

// Not inlined, so that `mv` is small enough to be.
#[inline(never)]
fn parts(walks: &ShortList<PieceMove>) -> Parts {
    walks.iter().map(|walk| walk.part).collect()
}

/// Lists moves. Its memory holds boards that may be reached twice; reuse one for many lists.
#[derive(Default)]
pub struct Generator {
    /// The boards of the current seven.
    seen: BoardSet,
    /// The boards of the current joker, under any rank.
    joker: BoardSet,
}

impl Generator {
    /// A generator with nothing in its memory.
    pub fn new() -> Generator {
        Generator::default()
    }

    /// Every legal move of a seat with this hand, in the sorting order of the cards. If nothing can
    /// be played, the list holds exactly one move: fold (RULES §9).
    pub fn legal_moves(
        &mut self,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        hand: Cards,
    ) -> Vec<LegalMove> {
        let mut moves = Vec::new();
        for card in hand.ranks() {
            self.each_of_card(rules, board, seat, card, |found| {
                moves.push(found.legal_move());
            });
        }
        if moves.is_empty() {
            moves.push(LegalMove {
                mv: Move::Fold,
                outcome: Outcome::fold(board),
            });
        }
        moves
    }

    /// Calls `show` with every legal move of one card. A joker's are listed under each rank.
    pub fn each_of_card(
        &mut self,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        card: Card,
        mut show: impl FnMut(FoundMove),
    ) {
        let _ = card_uses(&mut self.seen, rules, board, seat, card, |found| {
            show(found);
            ControlFlow::Continue(())
        });
    }

    /// The first listed move of one card that leads to this board.
    pub fn move_to(
        &mut self,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        card: Card,
        after: &Board,
    ) -> Option<Move> {
        let mut reached = None;
        let _ = card_uses(&mut self.seen, rules, board, seat, card, |found| {
            if found.board != after {
                return ControlFlow::Continue(());
            }
            reached = Some(found.mv());
            ControlFlow::Break(())
        });
        reached
    }

    /// Makes `boards` the list of every board that one card leads to, each once, whatever a joker is
    /// announced as (RULES §9, for counting). This is faster than listing the moves.
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
        boards.clear();
        let _ = card_uses(seen, rules, board, seat, card, |found| {
            // Two ranks may lead to the same board, such as an ace and a king out of the kennel.
            if card != Card::Joker || joker.insert(found.board) {
                boards.push(*found.board);
            }
            ControlFlow::Continue(())
        });
    }

    /// Whether any card of the hand has a legal move (RULES §4, must play).
    pub fn can_play(&mut self, rules: &Rules, board: &Board, seat: Seat, hand: Cards) -> bool {
        hand.ranks()
            .any(|card| self.can_play_card(rules, board, seat, card))
    }

    /// Whether this card has a legal move.
    pub fn can_play_card(&mut self, rules: &Rules, board: &Board, seat: Seat, card: Card) -> bool {
        card_uses(&mut self.seen, rules, board, seat, card, |_| {
            ControlFlow::Break(())
        })
        .is_break()
    }
}

/// Calls `show` with every move of one card, until it breaks.
#[inline]
fn card_uses(
    seen: &mut BoardSet,
    rules: &Rules,
    board: &Board,
    seat: Seat,
    card: Card,
    mut show: impl FnMut(FoundMove) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for &rank in played_as(&card) {
        let context = CardContext {
            rules,
            before: board,
            card,
            rank,
        };
        let mut found = |card_use: FoundUse, board: &Board| {
            show(FoundMove {
                context: &context,
                card_use,
                board,
            })
        };
        if rank == Card::Seven {
            sevens(rules, board, seat, seen, |parts, after| {
                found(FoundUse::Seven(parts), after)
            })?;
        } else {
            simple_rank_uses(rules, board, seat, rank, found)?;
        }
    }
    ControlFlow::Continue(())
}

/// The ranks a card can be played as.
pub(super) fn played_as(card: &Card) -> &[Card] {
    match card {
        Card::Joker => &Card::RANKS,
        card => std::slice::from_ref(card),
    }
}

/// Every use of a rank other than the seven.
fn simple_rank_uses(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    rank: Card,
    mut found: impl FnMut(FoundUse, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mover = board.mover(rules, seat);
    let walker = Walker::new(rules, board, mover);
    if rank == Card::Jack {
        return jacks(walker, &mut found);
    }
    if rank.leaves_kennel() {
        out(walker, &mut found)?;
    }
    // A piece that captures a piece of its own seat leaves the same board whichever piece that is:
    // one leaves its field and the other takes it over. So only the first such move of each piece
    // is listed.
    let mut captured_own = 0;
    let mut go = |kind, from: Field, walk: Walk, steps| {
        let mut after = *board;
        if let (Field::Track(from), Field::Track(field)) = (from, walk.to) {
            if board.pieces(mover).stand_on(field) {
                if !rules.capture_own || captured_own & bit(from) != 0 {
                    return ControlFlow::Continue(());
                }
                captured_own |= bit(from);
            }
            after.capture(bit(field));
        }
        after.relocate(rules, mover, from, walk.to);
        let piece_move = PieceMove::new(seat, mover, from, walk.to, steps);
        found(FoundUse::Walk(kind, piece_move), &after)
    };
    for from in board.pieces(mover).places() {
        for &steps in rank.forward() {
            walker.forward(from, steps, |walk| go(MoveKind::Advance, from, walk, steps))?;
        }
        if let (Card::Four, Field::Track(field)) = (rank, from) {
            if let Ok(walk) = walker.back_along_ring(field) {
                go(MoveKind::Retreat, from, walk, 4)?;
            }
            if let Ok(walk) = walker.back_into_goal(field) {
                go(MoveKind::Retreat, from, walk, 4)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// RULES §4, leaving the kennel.
fn out(
    walker: Walker,
    mut found: impl FnMut(FoundUse, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let start = bit(walker.rules.ring().start(walker.owner));
    if walker.board.kennel(walker.owner) > 0
        && walker.blocks & start == 0
        && walker.may_land(Field::Track(walker.rules.ring().start(walker.owner)))
    {
        let mut after = *walker.board;
        after.capture(start);
        after.put_fresh(walker.rules, walker.owner);
        found(FoundUse::Out(walker.owner), &after)?;
    }
    ControlFlow::Continue(())
}

/// RULES §6. A swap of two pieces of one's own and a jack without effect both leave the board as it
/// is, so they are listed as one move.
fn jacks(
    walker: Walker,
    mut found: impl FnMut(FoundUse, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (rules, board, mover) = (walker.rules, walker.board, walker.owner);
    let unprotected = !board.swap_protected(rules);
    let own = board.track(mover) & unprotected;
    for other_owner in rules.ring().seats().filter(|&seat| seat != mover) {
        for other in ring::fields(board.track(other_owner) & unprotected) {
            for from in ring::fields(own) {
                let mut after = *board;
                after.swap(rules, (mover, from), (other_owner, other));
                found(FoundUse::Swap((mover, from), (other_owner, other)), &after)?;
            }
        }
    }
    let mut pair = ring::fields(own);
    if rules.jack_own_pair
        && let (Some(first), Some(second)) = (pair.next(), pair.next())
    {
        found(FoundUse::Swap((mover, first), (mover, second)), board)?;
    } else if board.jack_without_effect(rules, mover) {
        found(FoundUse::NoEffect, board)?;
    }
    ControlFlow::Continue(())
}
