//! How one piece walks (RULES §4): along the ring, into the goal, inside it, and four back.
//!
//! Every rule about steps stands here once; the list of moves and the judgement of a single move
//! both ask these functions.

use std::ops::ControlFlow;

use thiserror::Error;

use super::{
    board::{Board, Field, PIECES},
    options::{GoalEntry, Rules},
    ring::Fields,
    seat::Seat,
};

/// A walk that the rules allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Where it ends.
    pub to: Field,
    /// The ring fields stepped on, the last one included. A seven captures there (RULES §5).
    pub stepped: Fields,
}

/// Why a piece cannot walk so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Obstacle {
    #[error("field {field} is blocked: {seat}'s {}", if *.fresh { "fresh piece" } else { "piece on its start" })]
    Block { field: u8, seat: Seat, fresh: bool },
    #[error("goal field {field} is occupied: no piece lands on or passes another in the goal")]
    GoalOccupied { field: u8 },
    #[error("there is nothing beyond goal 3")]
    BeyondGoal,
    #[error("the steps do not reach the goal")]
    GoalOutOfReach,
    #[error("a fresh piece must leave its start before it may enter the goal")]
    FreshOnDoor,
    #[error("a piece walking back enters the goal only over its own start onto the door before it")]
    NotOverStart,
    #[error("no piece walks backward into the goal by these rules")]
    NoBackwardEntry,
}

/// `steps` forward from a track field, staying on the ring.
///
/// # Errors
/// [`Obstacle::Block`].
#[inline]
pub fn along_ring(
    rules: &Rules,
    board: &Board,
    blocks: Fields,
    from: u8,
    steps: u8,
) -> Result<Walk, Obstacle> {
    let stepped = rules.ring().path(from, steps);
    unblocked(rules, board, blocks & stepped)?;
    let to = Field::Track(rules.ring().forward(from, steps));
    Ok(Walk { to, stepped })
}

/// `steps` forward from a track field, over the door and into the owner's goal.
///
/// # Errors
/// The goal is out of reach, too short, occupied or blocked, or the piece is fresh on its door.
#[inline(always)]
pub fn into_goal(
    rules: &Rules,
    board: &Board,
    blocks: Fields,
    owner: Seat,
    from: u8,
    steps: u8,
) -> Result<Walk, Obstacle> {
    let to_door = rules.ring().distance(from, rules.ring().door(owner));
    if steps <= to_door {
        return Err(Obstacle::GoalOutOfReach);
    }
    if rules.goal_entry == GoalEntry::OnStart && to_door == 0 && board.fresh(owner) {
        return Err(Obstacle::FreshOnDoor);
    }
    let stepped = rules.ring().path(from, to_door);
    unblocked(rules, board, blocks & stepped)?;
    let to = deeper(board, owner, None, steps - to_door)?;
    Ok(Walk { to, stepped })
}

/// Shows every walk of `steps` forward that the rules allow the owner's piece on `from`, until
/// `show` breaks off: along the ring and into the goal are two.
#[inline]
pub fn forward(
    rules: &Rules,
    board: &Board,
    blocks: Fields,
    owner: Seat,
    from: Field,
    steps: u8,
    mut show: impl FnMut(Walk) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match from {
        Field::Track(from) => {
            if let Ok(walk) = along_ring(rules, board, blocks, from, steps) {
                show(walk)?;
            }
            if let Ok(walk) = into_goal(rules, board, blocks, owner, from, steps) {
                show(walk)?;
            }
        }
        Field::Goal(from) => {
            if let Ok(walk) = inside_goal(board, owner, from, steps) {
                show(walk)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// `steps` deeper from a goal field of the owner's.
///
/// # Errors
/// A goal field on the way is occupied, or there are not so many.
#[inline]
pub fn inside_goal(board: &Board, owner: Seat, from: u8, steps: u8) -> Result<Walk, Obstacle> {
    let to = deeper(board, owner, Some(from), steps)?;
    Ok(Walk { to, stepped: 0 })
}

/// Four back from a track field, staying on the ring (RULES §4, backward 4).
///
/// # Errors
/// [`Obstacle::Block`].
#[inline]
pub fn back_along_ring(
    rules: &Rules,
    board: &Board,
    blocks: Fields,
    from: u8,
) -> Result<Walk, Obstacle> {
    let stepped = rules.ring().path_back(from, 4);
    unblocked(rules, board, blocks & stepped)?;
    let to = Field::Track(rules.ring().backward(from, 4));
    Ok(Walk { to, stepped })
}

/// Four back over the own start onto the door, then into the goal (RULES §4, backward 4).
///
/// # Errors
/// Not by these rules, not from this field, occupied or blocked.
#[inline]
pub fn back_into_goal(
    rules: &Rules,
    board: &Board,
    blocks: Fields,
    owner: Seat,
    from: u8,
) -> Result<Walk, Obstacle> {
    if !rules.backward_into_goal {
        return Err(Obstacle::NoBackwardEntry);
    }
    let past_start = rules.ring().distance(rules.ring().start(owner), from);
    // Onto the door are one step more than onto the start; at least one must remain.
    if !(1..=2).contains(&past_start) {
        return Err(Obstacle::NotOverStart);
    }
    let to_door = past_start + 1;
    let stepped = rules.ring().path_back(from, to_door);
    unblocked(rules, board, blocks & stepped)?;
    let to = deeper(board, owner, None, 4 - to_door)?;
    Ok(Walk { to, stepped })
}

/// `steps` into the goal: from its door (`None`) or from one of its fields.
#[inline]
fn deeper(board: &Board, owner: Seat, from: Option<u8>, steps: u8) -> Result<Field, Obstacle> {
    let first = from.map_or(0, |field| field + 1);
    let to = first + steps - 1;
    if to >= PIECES {
        return Err(Obstacle::BeyondGoal);
    }
    let stepped = ((1u8 << steps) - 1) << first;
    let occupied = board.goal(owner) & stepped;
    if occupied != 0 {
        let field = occupied.trailing_zeros() as u8;
        return Err(Obstacle::GoalOccupied { field });
    }
    Ok(Field::Goal(to))
}

/// Refuses if a block was hit. A walk of 13 steps or less meets one start at most, since starts
/// are 15 fields or more apart.
#[inline]
fn unblocked(rules: &Rules, board: &Board, hit: Fields) -> Result<(), Obstacle> {
    if hit == 0 {
        return Ok(());
    }
    let field = hit.trailing_zeros() as u8;
    let seat = rules.ring().whose_start(field);
    Err(Obstacle::Block {
        field,
        seat,
        fresh: board.fresh(seat),
    })
}
