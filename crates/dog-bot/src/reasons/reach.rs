//! What one card could do on a board: capture a piece, or take it into its goal.

use dog_rules::{
    Board, Card, Generator, Rules, Seat, SevenLanding,
    movement::Walker,
    ring::{self, bit},
};

/// The farthest that a card moves a piece.
pub(super) const REACH: u8 = 13;
/// The steps of a seven.
const SEVEN: u8 = 7;

/// The opponents of a seat in turn order.
pub(super) fn opponents(rules: &Rules, seat: Seat) -> impl Iterator<Item = Seat> + use<> {
    let seats = rules.seats;
    (1..seats)
        .map(move |offset| seat.plus(offset, seats))
        .filter(move |other| other.team(seats) != seat.team(seats))
}

/// The first opponent that could capture the owner's piece on this track field with one card, as the
/// list of legal moves has it (tests compare them), but mostly without the list.
pub(super) fn attacker(rules: &Rules, board: &Board, owner: Seat, field: u8) -> Option<Seat> {
    opponents(rules, owner)
        .find(|&other| captures_by_a_walk(rules, board, other, field))
        .or_else(|| {
            opponents(rules, owner)
                .find(|&other| captures_past_its_block(rules, board, other, (owner, field)))
        })
}

/// Whether a single walk or a piece out of the kennel captures on this field, which another team
/// holds. Every number of steps up to 13 is that of a card; with six or less a seven captures no more
/// than these.
fn captures_by_a_walk(rules: &Rules, board: &Board, other: Seat, field: u8) -> bool {
    let ring = rules.ring();
    let walker = Walker::new(rules, board, board.mover(rules, other));
    if walker.blocks & bit(field) != 0 {
        return false;
    }
    let pieces = board.track(walker.owner);
    let mut ahead = ring::fields(pieces & ring.path_back(field, REACH));
    let behind = ring.forward(field, 4);
    ahead.any(|from| {
        let steps = ring.distance(from, field);
        (steps != SEVEN || rules.seven_landing == SevenLanding::Captures)
            && walker.along_ring(from, steps).is_ok()
    }) || pieces & bit(behind) != 0 && walker.back_along_ring(behind).is_ok()
        || field == ring.start(walker.owner) && board.kennel(walker.owner) > 0
}

/// Whether a seven captures this piece after its first parts have moved a block of the same team out
/// of the way. This is rare, and only the list of sevens tells.
fn captures_past_its_block(
    rules: &Rules,
    board: &Board,
    other: Seat,
    (owner, field): (Seat, u8),
) -> bool {
    let (ring, blocks) = (rules.ring(), board.blocks(rules));
    let pieces = board.track(other) | board.track(other.partner(rules.seats));
    let mut behind = ring::fields(pieces & ring.path_back(field, SEVEN));
    let has_block = |from| blocks & pieces & ring.path(from, ring.distance(from, field)) != 0;
    if blocks & bit(field) != 0 || !behind.any(has_block) {
        return false;
    }
    let mut captured = false;
    Generator::new().each_of_card(rules, board, other, Card::Seven, |found| {
        captured = captured || {
            let captures = found.outcome().captures;
            captures
                .iter()
                .any(|capture| (capture.seat, capture.from) == (owner, field))
        };
    });
    captured
}

/// Whether one walk, by some card, takes the owner's piece on this track field into its goal.
pub(super) fn is_near_goal(rules: &Rules, board: &Board, owner: Seat, field: u8) -> bool {
    let walker = Walker::new(rules, board, owner);
    (1..=REACH).any(|steps| walker.into_goal(field, steps).is_ok())
        || walker.back_into_goal(field).is_ok()
}

/// The sum of the steps that the seat's pieces have to their goal. A piece on the track has those to
/// its door and one more; a fresh one on its door has the whole lap before it, as
/// [`Board::walked`] says. A piece in the goal has none, and one in the kennel has one more than any
/// on the track.
pub(super) fn steps_to_goal(rules: &Rules, board: &Board, seat: Seat) -> u32 {
    let lap = rules.ring().length();
    let on_track = ring::fields(board.track(seat))
        .map(|field| u32::from(lap - board.walked(rules, seat, field)) + 1);
    on_track.sum::<u32>() + u32::from(board.kennel(seat)) * (u32::from(lap) + 2)
}
