//! Why a card of the hand cannot be played.

use crate::{
    Board, Card, Field, Generator, Refusal, Rules, Seat, judge,
    movement::{MoveBlocked, Walker},
    moves::played_as,
    notation::CardUse,
    ring,
    seven::{self, STEPS},
};

impl Generator {
    /// Why a seat cannot play this card, or `None` if the card has a legal move.
    ///
    /// Every use of the card is refused, and often each for another reason. The first of these
    /// that applies is returned, as it tells a player most:
    ///
    /// 1. a block in the way,
    /// 2. an occupied field on which a seven would end,
    /// 3. a piece of the same seat on which a piece would end,
    /// 4. a piece that is protected from a swap,
    /// 5. an occupied field of the goal,
    /// 6. a seven whose steps the pieces cannot all take,
    /// 7. a goal that is too short,
    /// 8. no piece on the ring,
    /// 9. a swap of two pieces of one's own,
    /// 10. a jack without effect.
    ///
    /// Of several refusals of one kind, the first in the order of the pieces is returned.
    pub fn why_unplayable(
        &mut self,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        card: Card,
    ) -> Option<Refusal> {
        if self.can_play_card(rules, board, seat, card) {
            return None;
        }
        let mover = board.mover(rules, seat);
        let mut refusals = Vec::new();
        if board.track(mover) == 0 {
            refusals.push(Refusal::NobodyOnRing(mover));
        }
        for &rank in played_as(&card) {
            match rank {
                Card::Seven => refused_sevens(rules, board, seat, &mut refusals),
                Card::Jack => refused_jacks(rules, board, seat, &mut refusals),
                _ => refused_walks(&Walker::new(rules, board, mover), rank, &mut refusals),
            }
        }
        refusals.into_iter().min_by_key(precedence)
    }
}

/// The place of a refusal in the order of [`Generator::why_unplayable`].
fn precedence(refusal: &Refusal) -> u8 {
    match refusal {
        Refusal::Obstacle(MoveBlocked::Block { .. }) => 1,
        Refusal::SevenLanding { .. } => 2,
        Refusal::OwnPiece { .. } => 3,
        Refusal::SwapProtected { .. } => 4,
        Refusal::Obstacle(MoveBlocked::GoalOccupied { .. }) => 5,
        Refusal::SevenNotCompleted(_) => 6,
        Refusal::Obstacle(MoveBlocked::BeyondGoal) => 7,
        Refusal::NobodyOnRing(_) => 8,
        Refusal::SwapOwnPair => 9,
        _ => 10,
    }
}

/// Why no piece walks by this rank. A piece on the ring may always walk past its goal, so only a
/// block or a piece of its own seat stops it. A card that leaves the kennel is refused only if a
/// piece is on the ring: either that piece is on the start, or the kennel is empty.
fn refused_walks(walker: &Walker, rank: Card, refusals: &mut Vec<Refusal>) {
    for from in walker.board.pieces(walker.owner).places() {
        for &steps in rank.forward() {
            let walk = match from {
                Field::Track(from) => walker.along_ring(from, steps),
                Field::Goal(from) => walker.inside_goal(from, steps),
            };
            refusals.extend(match walk {
                Err(blocked) => Some(blocked.into()),
                Ok(walk) => own_piece(walker, walk.to),
            });
        }
    }
}

/// Why a walk may not end there, if it ends on a piece of the same seat (RULES §11,
/// `capture_own`).
fn own_piece(walker: &Walker, to: Field) -> Option<Refusal> {
    match to {
        Field::Track(field) if !walker.may_land(to) => Some(Refusal::OwnPiece { field }),
        _ => None,
    }
}

/// Why no seven can be played: why the pieces on the ring do not walk all of it, and that those in
/// the goal cannot.
fn refused_sevens(rules: &Rules, board: &Board, seat: Seat, refusals: &mut Vec<Refusal>) {
    let team = [seat, seat.partner(rules.seats)];
    for &owner in seven::movers(rules, board, &team) {
        let walker = Walker::new(rules, board, owner);
        for from in board.pieces(owner).places() {
            let Field::Track(from) = from else {
                refusals.push(Refusal::SevenNotCompleted(STEPS));
                continue;
            };
            match walker.along_ring(from, STEPS) {
                Err(blocked) => refusals.push(blocked.into()),
                Ok(walk) if !seven::meets_must_be_free(rules, board, walk.to) => {
                    let field = rules.ring().forward(from, STEPS);
                    refusals.push(Refusal::SevenLanding { field });
                }
                Ok(walk) => refusals.extend(own_piece(&walker, walk.to)),
            }
        }
    }
}

/// Why no jack can be played: why no two pieces are swapped, and why it has an effect.
fn refused_jacks(rules: &Rules, board: &Board, seat: Seat, refusals: &mut Vec<Refusal>) {
    let own = board.track(board.mover(rules, seat));
    for from in ring::fields(own) {
        for other in ring::fields(board.occupied() & !ring::bit(from)) {
            let swap = judge::outcome(rules, board, seat, Card::Jack, &CardUse::Swap(from, other));
            refusals.extend(swap.err());
        }
    }
    let nothing = judge::outcome(rules, board, seat, Card::Jack, &CardUse::NoEffect);
    refusals.extend(nothing.err());
}
