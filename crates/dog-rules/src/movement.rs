//! How one piece walks (RULES §4): along the ring, into the goal, inside it, and four back.
//!
//! Every rule about steps is here, once. The list of moves and the judge of a single move both call
//! these functions.

use std::ops::ControlFlow;

use thiserror::Error;

use crate::{
    Board, Field, Rules, Seat,
    board::PIECES,
    notation::{NotedField, Part},
    ring::Fields,
};

/// A walk that the rules allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Where it ends.
    pub to: Field,
    /// The ring fields stepped on, the last one included. A seven captures there (RULES §5).
    pub stepped: Fields,
}

/// A walk that a listed move takes: whose piece, from where to where, and its steps.
#[derive(Clone, Copy, Default)]
pub(super) struct PieceMove {
    pub(super) owner: Seat,
    pub(super) from: Field,
    pub(super) to: Field,
    pub(super) steps: u8,
    /// The walk, written as the acting seat sees it.
    pub(super) part: Part,
}

impl PieceMove {
    /// A walk of the owner's piece, when `seat` acts.
    #[inline(always)]
    pub(super) fn new(seat: Seat, owner: Seat, from: Field, to: Field, steps: u8) -> PieceMove {
        let part = Part {
            from: NotedField::new(from, owner == seat),
            to: NotedField::new(to, owner == seat),
        };
        PieceMove {
            owner,
            from,
            to,
            steps,
            part,
        }
    }

    /// The ring fields stepped on, for a walk forward.
    pub(super) fn stepped(&self, rules: &Rules) -> Fields {
        match (self.from, self.to) {
            (Field::Track(from), Field::Track(_)) => rules.ring().path(from, self.steps),
            (Field::Track(from), Field::Goal(to)) => rules.ring().path(from, self.steps - to - 1),
            (Field::Goal(_), _) => 0,
        }
    }
}

/// Why a piece cannot walk like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MoveBlocked {
    #[error(
        "field {field} is blocked: {seat}'s {}",
        if *.fresh { "fresh piece" } else { "piece on its start" }
    )]
    Block { field: u8, seat: Seat, fresh: bool },
    #[error("goal field {field} is occupied: no piece lands on or passes another in the goal")]
    GoalOccupied { field: u8 },
    #[error("there is nothing beyond goal 3")]
    BeyondGoal,
    #[error("the steps do not reach the goal")]
    GoalOutOfReach,
    #[error("a fresh piece must leave its start before it may enter the goal")]
    FreshOnDoor,
    #[error("a piece walking back enters the goal only from beyond its start, over the door")]
    NotOverStart,
    #[error("by these rules no piece walks backward into the goal")]
    NoBackwardEntry,
}

/// The pieces of one seat on a board, and the blocks that may stop them.
#[derive(Clone, Copy)]
pub struct Walker<'a> {
    pub rules: &'a Rules,
    pub board: &'a Board,
    pub owner: Seat,
    /// The fields where a block stands.
    pub blocks: Fields,
}

impl<'a> Walker<'a> {
    /// The owner's pieces on this board.
    #[inline]
    pub fn new(rules: &'a Rules, board: &'a Board, owner: Seat) -> Walker<'a> {
        let blocks = board.blocks(rules);
        Walker {
            rules,
            board,
            owner,
            blocks,
        }
    }

    /// Calls `show` with every walk of `steps` forward that the rules allow the piece on `from`,
    /// until it breaks. A walk along the ring and a walk into the goal are two.
    #[inline]
    pub fn forward(
        &self,
        from: Field,
        steps: u8,
        mut show: impl FnMut(Walk) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match from {
            Field::Track(from) => {
                if let Ok(walk) = self.along_ring(from, steps) {
                    show(walk)?;
                }
                if let Ok(walk) = self.into_goal(from, steps) {
                    show(walk)?;
                }
            }
            Field::Goal(from) => {
                if let Ok(walk) = self.inside_goal(from, steps) {
                    show(walk)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Walks `steps` forward. `to` decides whether the walk stays on the ring or goes into the
    /// goal.
    ///
    /// # Errors
    /// Those of the walk that is taken.
    #[inline]
    pub(super) fn towards(&self, from: Field, to: Field, steps: u8) -> Result<Walk, MoveBlocked> {
        match (from, to) {
            (Field::Goal(from), _) => self.inside_goal(from, steps),
            (Field::Track(from), Field::Track(_)) => self.along_ring(from, steps),
            (Field::Track(from), Field::Goal(_)) => self.into_goal(from, steps),
        }
    }

    /// `steps` forward from a track field, staying on the ring.
    ///
    /// # Errors
    /// [`MoveBlocked::Block`].
    #[inline]
    pub fn along_ring(&self, from: u8, steps: u8) -> Result<Walk, MoveBlocked> {
        let ring = self.rules.ring();
        let stepped = self.unblocked(ring.path(from, steps))?;
        let to = Field::Track(ring.forward(from, steps));
        Ok(Walk { to, stepped })
    }

    /// `steps` forward from a track field, over the door and into the owner's goal.
    ///
    /// # Errors
    /// The goal is out of reach, too short, occupied or blocked, or the piece must leave its door.
    #[inline(always)]
    pub fn into_goal(&self, from: u8, steps: u8) -> Result<Walk, MoveBlocked> {
        let ring = self.rules.ring();
        let to_door = ring.distance(from, ring.door(self.owner));
        if steps <= to_door {
            return Err(MoveBlocked::GoalOutOfReach);
        }
        if to_door == 0 && self.board.must_leave_door(self.rules, self.owner) {
            return Err(MoveBlocked::FreshOnDoor);
        }
        let stepped = self.unblocked(ring.path(from, to_door))?;
        let to = self.deeper(None, steps - to_door)?;
        Ok(Walk { to, stepped })
    }

    /// `steps` deeper from a goal field of the owner's.
    ///
    /// # Errors
    /// A goal field on the way is occupied, or the walk goes beyond goal 3.
    #[inline]
    pub fn inside_goal(&self, from: u8, steps: u8) -> Result<Walk, MoveBlocked> {
        let to = self.deeper(Some(from), steps)?;
        Ok(Walk { to, stepped: 0 })
    }

    /// Four back from a track field, staying on the ring (RULES §4, backward 4).
    ///
    /// # Errors
    /// [`MoveBlocked::Block`].
    #[inline]
    pub fn back_along_ring(&self, from: u8) -> Result<Walk, MoveBlocked> {
        let ring = self.rules.ring();
        let stepped = self.unblocked(ring.path_back(from, 4))?;
        let to = Field::Track(ring.backward(from, 4));
        Ok(Walk { to, stepped })
    }

    /// Whether a walk may end there (RULES §11, `capture_own`).
    #[inline]
    pub fn may_land(&self, to: Field) -> bool {
        match to {
            Field::Track(field) if !self.rules.capture_own => {
                !self.board.pieces(self.owner).stand_on(field)
            }
            _ => true,
        }
    }

    /// Four back from beyond the piece's own start onto the door, then into the goal (RULES §4,
    /// backward 4, and §11).
    ///
    /// # Errors
    /// The rules forbid it, the field is too near or too far, or the way is occupied or blocked.
    #[inline]
    pub fn back_into_goal(&self, from: u8) -> Result<Walk, MoveBlocked> {
        if !self.rules.backward_into_goal {
            return Err(MoveBlocked::NoBackwardEntry);
        }
        let ring = self.rules.ring();
        let to_door = ring.distance(ring.door(self.owner), from);
        // At least one step must remain.
        if from == ring.start(self.owner) || !(1..=3).contains(&to_door) {
            return Err(MoveBlocked::NotOverStart);
        }
        let stepped = self.unblocked(ring.path_back(from, to_door))?;
        let to = self.deeper(None, 4 - to_door)?;
        Ok(Walk { to, stepped })
    }

    /// `steps` into the goal: from its door (`None`) or from one of its fields.
    #[inline]
    fn deeper(&self, from: Option<u8>, steps: u8) -> Result<Field, MoveBlocked> {
        let first = from.map_or(0, |field| field + 1);
        let to = first + steps - 1;
        if to >= PIECES {
            return Err(MoveBlocked::BeyondGoal);
        }
        let stepped = ((1u8 << steps) - 1) << first;
        let occupied = self.board.goal(self.owner) & stepped;
        if occupied != 0 {
            let field = occupied.trailing_zeros() as u8;
            return Err(MoveBlocked::GoalOccupied { field });
        }
        Ok(Field::Goal(to))
    }

    /// The path, if it has no block. A walk of at most 13 steps meets at most one start, since
    /// starts are at least 15 fields apart.
    #[inline]
    fn unblocked(&self, path: Fields) -> Result<Fields, MoveBlocked> {
        let hit = self.blocks & path;
        if hit == 0 {
            return Ok(path);
        }
        let field = hit.trailing_zeros() as u8;
        let seat = self.rules.ring().whose_start(field);
        let fresh = self.board.fresh(seat);
        Err(MoveBlocked::Block { field, seat, fresh })
    }
}
