//! Why a move is refused, in the rules' words.

use std::fmt;

use thiserror::Error;

use super::{
    card::Card,
    movement::Obstacle,
    notation::{NotationError, Place},
    seat::Seat,
};

/// Why a move is refused, in the rules' words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("this is no move: {0}")]
    Notation(#[from] NotationError),
    #[error("there is no {0} in the hand")]
    NotInHand(Card),
    #[error("a card in the hand can be played, so one must be played")]
    MustPlay,
    #[error("{0}")]
    Obstacle(#[from] Obstacle),
    #[error("there is no track field {field}, the last one is {last}")]
    OffTrack { field: u8, last: u8 },
    #[error("no piece stands on {0}")]
    NoPiece(PlaceName),
    #[error("the piece on {place} is {owner}'s, this move takes {mover}'s pieces")]
    NotThePiece {
        place: PlaceName,
        owner: Seat,
        mover: Seat,
    },
    #[error("{0}'s kennel is empty")]
    KennelEmpty(Seat),
    #[error("a piece goes into no goal but its own")]
    ForeignGoal,
    #[error("no piece leaves the goal or moves backward in it")]
    LeavesGoal,
    #[error("the {card} does not carry a piece from {from} to {to}")]
    WrongSteps {
        card: Card,
        from: PlaceName,
        to: PlaceName,
    },
    #[error("the two pieces of a swap stand on two fields")]
    SwapWithItself,
    #[error("by these rules a jack swaps with another seat's piece, not with one's own")]
    SwapOwnPair,
    #[error("the piece on field {field} cannot be swapped: it is {seat}'s {}", if *.fresh { "fresh piece" } else { "piece on its start" })]
    SwapProtected { field: u8, seat: Seat, fresh: bool },
    #[error("by these rules a jack is not played without effect")]
    NoEffectNotPlayed,
    #[error("a jack is played without effect only with a piece of {0}'s on the ring")]
    NoEffectNobodyOnRing(Seat),
    #[error(
        "a jack is played without effect only while no other seat's piece is on the ring, and {seat}'s stands on field {field}"
    )]
    NoEffectStranger { seat: Seat, field: u8 },
    #[error("a part of a seven takes 1 to 7 steps forward: {from} to {to} is none")]
    SevenPart { from: PlaceName, to: PlaceName },
    #[error("part {part} of the seven may not end on field {field}: it must be free")]
    SevenLanding { part: usize, field: u8 },
    #[error("the parts of a seven add up to 7 steps, not {0}")]
    SevenSteps(u8),
}

/// A place as the texts of refusals name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceName(pub Place);

impl fmt::Display for PlaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::Track(field) => write!(f, "field {field}"),
            Place::OwnGoal(field) => write!(f, "goal {field}"),
            Place::PartnerGoal(field) => write!(f, "the partner's goal {field}"),
        }
    }
}

impl Refusal {
    /// Names the part of the seven that was refused.
    pub(super) fn in_part(self, part: usize) -> Refusal {
        match self {
            Refusal::SevenLanding { field, .. } => Refusal::SevenLanding { part, field },
            other => other,
        }
    }
}
