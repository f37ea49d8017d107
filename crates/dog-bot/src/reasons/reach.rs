//! What one card could do on a board: capture a piece, or take it into its goal.

use std::ops::RangeInclusive;

use dog_rules::{
    Board, Card, Generator, Rules, Seat, SevenLanding, SevenPartner,
    board::PIECES,
    movement::Walker,
    ring::{self, bit},
};

/// The farthest that a card moves a piece.
pub(super) const REACH: u8 = 13;
/// The steps of a seven.
pub(super) const SEVEN: u8 = 7;

/// The opponents of a seat in turn order.
pub(super) fn opponents(rules: &Rules, seat: Seat) -> impl Iterator<Item = Seat> + use<> {
    let seats = rules.seats;
    (1..seats)
        .map(move |offset| seat.plus(offset, seats))
        .filter(move |other| other.team(seats) != seat.team(seats))
}

/// The first opponent that could capture the owner's piece on this track field with one card. It
/// agrees with the lists of legal moves (tests compare them), but makes no list.
pub(super) fn attacker(rules: &Rules, board: &Board, owner: Seat, field: u8) -> Option<Seat> {
    opponents(rules, owner).find(|&other| captures(rules, board, other, field))
}

/// Whether the other seat captures on this field, where another team has a piece, by a single walk
/// or out of the kennel.
///
/// That is enough, because every number of steps up to 13 is on some card. What a seven passes
/// within six steps, another card reaches. If it moves the partner's pieces too, the partner can do
/// so itself. If its first parts move a block of its own team out of the way of another piece, the
/// block stands nearer and captures by itself.
fn captures(rules: &Rules, board: &Board, other: Seat, field: u8) -> bool {
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

/// Whether one walk, by some card, takes the owner's piece on this track field into its goal.
pub(super) fn is_near_goal(rules: &Rules, board: &Board, owner: Seat, field: u8) -> bool {
    let walker = Walker::new(rules, board, owner);
    (1..=REACH).any(|steps| walker.into_goal(field, steps).is_ok())
        || walker.back_into_goal(field).is_ok()
}

/// Whether a card that the seat plays takes the owner's piece on this track field into its goal, by
/// a single walk; of a seven only one of these many steps.
pub(super) fn walks_home(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    (owner, field): (Seat, u8),
    card: Card,
    seven: RangeInclusive<u8>,
) -> bool {
    let walker = Walker::new(rules, board, owner);
    let goes = |steps: u8| walker.into_goal(field, steps).is_ok();
    let by_seven = |steps: RangeInclusive<u8>| steps.into_iter().any(goes);
    let is_mover = board.mover(rules, seat) == owner;
    match card {
        Card::Joker if is_mover => is_near_goal(rules, board, owner, field),
        Card::Joker | Card::Seven => {
            (is_mover || rules.seven_partner == SevenPartner::Always) && by_seven(seven)
        }
        _ => {
            let mut steps = card.forward().iter();
            is_mover
                && (steps.any(|&steps| goes(steps))
                    || card == Card::Four && walker.back_into_goal(field).is_ok())
        }
    }
}

/// Whether the seat's team can end the game with one card, where all but one of its pieces are at
/// home.
pub(super) fn can_win(generator: &mut Generator, rules: &Rules, board: &Board, seat: Seat) -> bool {
    let team = [seat, seat.partner(rules.seats)];
    let at_home: u8 = team.iter().map(|&seat| board.pieces(seat).in_goal()).sum();
    let mut boards = Vec::new();
    at_home == 2 * PIECES - 1
        && Card::RANKS.into_iter().any(|card| {
            generator.boards_of_card(rules, board, seat, card, &mut boards);
            boards.iter().any(|board| board.team_home(rules, seat))
        })
}

/// The sum of the steps that the seat's pieces have to their goal. A piece on the track has those
/// to its door and one more; a fresh one on its door has the whole lap ahead of it, as
/// [`Board::walked`] says. A piece in the goal has none, and one in the kennel has one more than
/// any on the track.
pub(super) fn steps_to_goal(rules: &Rules, board: &Board, seat: Seat) -> u32 {
    let lap = rules.ring().length();
    let on_track = ring::fields(board.track(seat))
        .map(|field| u32::from(lap - board.walked(rules, seat, field)) + 1);
    on_track.sum::<u32>() + u32::from(board.kennel(seat)) * (u32::from(lap) + 2)
}
