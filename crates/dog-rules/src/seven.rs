//! Every board a seven can lead to (RULES §5), each found once.
//!
//! The pieces walk one after another. Each takes one part of any length, or none, and walks only
//! after all pieces that stand within seven steps ahead of it. This order reaches every board:
//!
//! * A piece captures one ahead of it by passing or reaching it, whichever of the two walks first.
//!   The one ahead can do nothing to the one behind. So whatever the two do in another order they
//!   also do in this one, and a field or a start that the one ahead leaves is free.
//! * In the goal, deeper pieces come first, and then those that enter behind them.
//! * Pieces farther apart do not affect each other, in any order.
//! * On a ring of 60 fields or more, eight pieces never form a closed chain with gaps of seven
//!   steps or less, so such an order exists.
//!
//! If no two pieces can meet, every split of the steps leads to a different board. If some can
//! meet, a board may be reached twice: a piece may walk before it is captured, or either of two
//! pieces at the door enters the goal while the other walks past. Then the boards found are
//! remembered.

use std::ops::ControlFlow;

use crate::{
    Board, BySeat, Field, Rules, Seat, SevenLanding, SevenPartner, SevenRest, SevenSurplus,
    ShortList,
    board::PIECES,
    movement::{PieceMove, Walker},
    ring::{self, Fields, bit},
};

/// The number of steps of a seven.
pub(super) const STEPS: u8 = 7;

/// Finds every board that a seven of the seat leads to, and calls `found` with its parts and the
/// board until it breaks. `seen` is scratch memory.
#[inline]
pub(super) fn sevens(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    seen: &mut BoardSet,
    found: impl FnMut(&ShortList<PieceMove>, &Board) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let team = [seat, seat.partner(rules.seats)];
    let movers = movers(rules, board, &team);
    let order = PieceOrder::new(rules, movers, |seat| (board.track(seat), board.goal(seat)));
    seen.clear();
    let mut search = SevenSearch {
        rules,
        seat,
        partner_next: movers == [seat],
        walked: ShortList::new(),
        remember: order.meet,
        order,
        seen,
        found,
    };
    search.walk(0, STEPS, board)
}

/// Whether a seven with this many steps left, of which at least one is taken, can be completed by
/// pieces that have had no part. The pieces of `moved` have had one.
pub(super) fn can_complete(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    left: u8,
    moved: &PieceSet,
) -> bool {
    let team = [seat, seat.partner(rules.seats)];
    let movers = movers(rules, board, &team);
    let order = PieceOrder::new(rules, movers, |seat| moved.not_in(board, seat));
    let rest_has_begun = movers != [seat] && moved.any_of(seat);
    if rest_has_begun && rules.seven_rest == SevenRest::OnePiece && moved.any_of(team[1]) {
        return false;
    }
    let mut search = SevenSearch {
        rules,
        seat,
        // No piece of the partner's has had a part as long as these are not all in the goal.
        partner_next: movers == [seat],
        walked: ShortList::new(),
        // The first board found ends the search.
        remember: false,
        order,
        seen: &mut BoardSet::default(),
        found: |_: &_, _: &_| ControlFlow::Break(()),
    };
    if rest_has_begun {
        search.rest(left, board).is_break()
    } else {
        search.walk(0, left, board).is_break()
    }
}

/// The seats whose pieces the next part of a seven may move, of a seat and its partner.
#[inline]
pub(super) fn movers<'a>(rules: &Rules, board: &Board, team: &'a [Seat; 2]) -> &'a [Seat] {
    match rules.seven_partner {
        SevenPartner::Always => team,
        SevenPartner::WhenHome if board.home(team[0]) => &team[1..],
        SevenPartner::WhenHome => &team[..1],
    }
}

/// Whether the steps that are left of a seven lapse (RULES §5, `lapses_on_win`).
#[inline]
pub(super) fn lapses(rules: &Rules, board: &Board, seat: Seat) -> bool {
    rules.seven_surplus == SevenSurplus::LapsesOnWin && board.team_home(rules, seat)
}

/// Some of the pieces on a board, by where they stand.
#[derive(Clone, Copy, Default)]
pub(super) struct PieceSet {
    track: BySeat<Fields>,
    goal: BySeat<u8>,
}

impl PieceSet {
    /// Adds the piece of this seat on this field.
    pub fn insert(&mut self, seat: Seat, place: Field) {
        match place {
            Field::Track(field) => self.track[seat] |= bit(field),
            Field::Goal(field) => self.goal[seat] |= 1 << field,
        }
    }

    /// Removes the piece of this seat on this field.
    pub fn remove(&mut self, seat: Seat, place: Field) {
        match place {
            Field::Track(field) => self.track[seat] &= !bit(field),
            Field::Goal(field) => self.goal[seat] &= !(1 << field),
        }
    }

    /// Whether any is the seat's.
    fn any_of(&self, seat: Seat) -> bool {
        self.track[seat] != 0 || self.goal[seat] != 0
    }

    /// Where the seat's other pieces stand, as sets of track and goal fields.
    fn not_in(&self, board: &Board, seat: Seat) -> (Fields, u8) {
        let (track, goal) = (self.track[seat], self.goal[seat]);
        (board.track(seat) & !track, board.goal(seat) & !goal)
    }

    /// Where the seat's other pieces stand.
    pub fn others(&self, board: &Board, seat: Seat) -> impl Iterator<Item = Field> {
        let (track, goal) = self.not_in(board, seat);
        let goal = ring::fields(goal.into()).map(Field::Goal);
        ring::fields(track).map(Field::Track).chain(goal)
    }
}

struct SevenSearch<'a, Found> {
    rules: &'a Rules,
    seat: Seat,
    /// Whether the partner's pieces follow once all the seat's own are in the goal.
    partner_next: bool,
    order: PieceOrder,
    /// The parts taken so far.
    walked: ShortList<PieceMove>,
    /// Whether a board might be found twice.
    remember: bool,
    seen: &'a mut BoardSet,
    found: Found,
}

impl<Found: FnMut(&ShortList<PieceMove>, &Board) -> ControlFlow<()>> SevenSearch<'_, Found> {
    /// Tries every way for the pieces from this place in the order on to take the steps that are
    /// left.
    fn walk(&mut self, place: usize, left: u8, board: &Board) -> ControlFlow<()> {
        if left == 0 {
            return self.report(board);
        }
        if place == self.order.len {
            return self.lapse(left, board);
        }
        let (owner, from) = self.order.pieces[place];
        let walker = Walker::new(self.rules, board, owner);
        // The last piece takes all steps, unless it is the fourth to come home.
        let last = place + 1 == self.order.len;
        let fourth = board.pieces(owner).in_goal() == PIECES - 1;
        let least = if last && !fourth { left } else { 1 };
        for steps in (least..=left).rev() {
            walker.forward(from, steps, |walk| {
                if !may_end(&walker, walk.to) {
                    return ControlFlow::Continue(());
                }
                let mut after = *board;
                after.capture(walk.stepped);
                after.relocate(self.rules, owner, from, walk.to);
                let piece_move = PieceMove::new(self.seat, owner, from, walk.to, steps);
                self.walked.push(piece_move);
                let flow = self.walk(place + 1, left - steps, &after);
                // Cheaper than `pop`, which returns the part and clears its place.
                self.walked.set_len(self.walked.len() - 1);
                flow
            })?;
        }
        self.walk(place + 1, left, board)
    }

    /// There are steps left but no pieces: the partner's pieces follow, or the steps lapse.
    fn lapse(&mut self, left: u8, board: &Board) -> ControlFlow<()> {
        if self.partner_next && board.home(self.seat) {
            let partner = self.seat.partner(self.rules.seats);
            let order = PieceOrder::new(self.rules, &[partner], |partner| {
                (board.track(partner), board.goal(partner))
            });
            self.remember |= order.meet;
            self.partner_next = false;
            let own = std::mem::replace(&mut self.order, order);
            let flow = self.rest(left, board);
            self.order = own;
            self.partner_next = true;
            return flow;
        }
        // Nothing lapses on the board where the seven begins: it takes at least one step.
        if left < STEPS && lapses(self.rules, board, self.seat) {
            return self.report(board);
        }
        ControlFlow::Continue(())
    }

    /// The partner's pieces take the steps that a seven has left when it brings the seat's last
    /// piece home: any of them, or one takes all (RULES §11, `seven_rest`).
    fn rest(&mut self, left: u8, board: &Board) -> ControlFlow<()> {
        if self.rules.seven_rest == SevenRest::AnyPieces {
            return self.walk(0, left, board);
        }
        if left < STEPS && lapses(self.rules, board, self.seat) {
            return self.report(board);
        }
        let all = self.order;
        for &piece in &all.pieces[..all.len] {
            (self.order.len, self.order.pieces[0]) = (1, piece);
            self.walk(0, left, board)?;
        }
        ControlFlow::Continue(())
    }

    fn report(&mut self, board: &Board) -> ControlFlow<()> {
        if self.remember && !self.seen.insert(board) {
            return ControlFlow::Continue(());
        }
        (self.found)(&self.walked, board)
    }
}

/// Whether a part may end there (RULES §5, `must_be_free`, and §11, `capture_own`).
#[inline]
pub(super) fn may_end(walker: &Walker, to: Field) -> bool {
    meets_must_be_free(walker.rules, walker.board, to) && walker.may_land(to)
}

/// Whether a part may end there by `must_be_free` (RULES §5).
#[inline]
pub(super) fn meets_must_be_free(rules: &Rules, board: &Board, to: Field) -> bool {
    match (rules.seven_landing, to) {
        (SevenLanding::MustBeFree, Field::Track(field)) => board.occupied() & bit(field) == 0,
        _ => true,
    }
}

/// The pieces that may walk, each after those it could meet.
#[derive(Clone, Copy)]
struct PieceOrder {
    len: usize,
    pieces: [(Seat, Field); 2 * PIECES as usize],
    /// Whether any two on the ring could meet.
    meet: bool,
}

impl PieceOrder {
    /// The pieces of these seats; `pieces` tells where they stand on the track and in the goal. If
    /// none can meet, they are in order by seat, track before goal, then by field.
    #[inline]
    fn new(rules: &Rules, movers: &[Seat], pieces: impl Fn(Seat) -> (Fields, u8)) -> PieceOrder {
        let mut order = PieceOrder {
            len: 0,
            pieces: [(movers[0], Field::Goal(0)); 2 * PIECES as usize],
            meet: false,
        };
        let mut ring: BySeat<Fields> = BySeat::default();
        let mut goal: BySeat<u8> = BySeat::default();
        let mut on_ring = 0;
        for &seat in movers {
            (ring[seat], goal[seat]) = pieces(seat);
            // A piece on the innermost field cannot move.
            goal[seat] &= !(1 << (PIECES - 1));
            on_ring |= ring[seat];
        }
        let all = on_ring;
        while on_ring != 0 || movers.iter().any(|&seat| goal[seat] != 0) {
            for &seat in movers {
                for field in ring::fields(ring[seat]) {
                    let within_reach = rules.ring().path(field, STEPS);
                    order.meet |= within_reach & all != 0;
                    let to_door = rules.ring().distance(field, rules.ring().door(seat));
                    if within_reach & on_ring == 0 && (to_door >= STEPS || goal[seat] == 0) {
                        ring[seat] &= !bit(field);
                        on_ring &= !bit(field);
                        order.push(seat, Field::Track(field));
                    }
                }
                // Deeper pieces first.
                for field in (0..PIECES)
                    .rev()
                    .filter(|field| goal[seat] >> field & 1 != 0)
                {
                    order.push(seat, Field::Goal(field));
                }
                goal[seat] = 0;
            }
        }
        order
    }

    fn push(&mut self, seat: Seat, field: Field) {
        self.pieces[self.len] = (seat, field);
        self.len += 1;
    }
}

/// A set of boards that keeps its memory when it is cleared.
#[derive(Default)]
pub(super) struct BoardSet {
    boards: Vec<Board>,
    /// Open addressing: the index + 1 of a board, 0 for an empty slot. A power of two long.
    slots: Vec<u32>,
}

impl BoardSet {
    const MIN_SLOTS: usize = 64;

    /// Removes every board.
    #[inline]
    pub fn clear(&mut self) {
        if self.boards.is_empty() {
            return;
        }
        self.boards.clear();
        self.slots.truncate(BoardSet::MIN_SLOTS);
        self.slots.fill(0);
    }

    /// Adds a board. Returns `false` if it was there.
    pub fn insert(&mut self, board: &Board) -> bool {
        if self.boards.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = board.hash32() as usize & mask;
        while let Some(index) = (self.slots[slot] as usize).checked_sub(1) {
            if self.boards[index] == *board {
                return false;
            }
            slot = (slot + 1) & mask;
        }
        self.boards.push(*board);
        self.slots[slot] = self.boards.len() as u32;
        true
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 4).max(BoardSet::MIN_SLOTS);
        self.slots.clear();
        self.slots.resize(len, 0);
        for (index, board) in self.boards.iter().enumerate() {
            let mut slot = board.hash32() as usize & (len - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }
}
