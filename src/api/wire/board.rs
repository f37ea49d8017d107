//! The board as clients see and send it.

use dog_rules::{
    board::{Board, Placement},
    options::Rules,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::problem::Problem;

/// Where one seat's four pieces stand.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"track": [0, 17], "goal": [2], "kennel": 1, "fresh": true}))]
pub struct SeatBoard {
    /// Track fields, ascending.
    #[schema(max_items = 4)]
    track: Vec<u8>,
    /// Own goal fields, ascending: 0 is nearest the ring.
    #[schema(max_items = 4)]
    goal: Vec<u8>,
    /// Pieces in the kennel.
    #[schema(maximum = 4)]
    kennel: u8,
    /// Whether the piece on the own start is fresh.
    fresh: bool,
}

/// Where one seat's four pieces stand, as a request says it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"track": [0, 17], "goal": [2], "fresh": true}))]
pub struct SeatBoardRequest {
    /// Track fields.
    #[serde(default)]
    track: Vec<u8>,
    /// Own goal fields, 0 to 3.
    #[serde(default)]
    goal: Vec<u8>,
    /// Pieces in the kennel; if left out, those that stand nowhere else.
    kennel: Option<u8>,
    /// Whether the piece on the own start is fresh.
    #[serde(default)]
    fresh: bool,
}

/// The board, one entry a seat.
pub fn view(rules: &Rules, board: &Board) -> Vec<SeatBoard> {
    let view = |placement: Placement| SeatBoard {
        kennel: placement.kennel.unwrap_or_default(),
        track: placement.track,
        goal: placement.goal,
        fresh: placement.fresh,
    };
    board.placements(rules).into_iter().map(view).collect()
}

/// The board that a request describes.
///
/// # Errors
/// `invalid_board`, saying what cannot stand so.
pub fn board(rules: &Rules, request: Vec<SeatBoardRequest>) -> Result<Board, Problem> {
    let placement = |seat: SeatBoardRequest| Placement {
        track: seat.track,
        goal: seat.goal,
        kennel: seat.kennel,
        fresh: seat.fresh,
    };
    let placements: Vec<Placement> = request.into_iter().map(placement).collect();
    Ok(Board::place(rules, &placements)?)
}
