//! The board of a request.

use dog_rules::{Board, Placement, Rules, position};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    api::parameters::BoundedList,
    problem::{Code, Problem, Reason},
};

/// Where one seat's four pieces stand, in a request.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"track": [0, 17], "goal": [2], "fresh": true}))]
pub struct SeatBoardRequest {
    /// Track fields.
    #[serde(default)]
    track: Vec<u8>,
    /// Fields of its own goal, 0 to 3.
    #[serde(default)]
    goal: Vec<u8>,
    /// Pieces in the kennel; by default those that stand nowhere else.
    #[schema(maximum = 4)]
    kennel: Option<u8>,
    /// Whether the piece on its own start is fresh.
    #[serde(default)]
    fresh: bool,
}

/// The board of a request, which names it as a list or as text.
///
/// # Errors
/// `invalid_board`, if it is impossible; `invalid_request`, if there is none or there are both.
pub fn read_board(
    rules: &Rules,
    board: Option<BoundedList<SeatBoardRequest>>,
    position: Option<&str>,
) -> Result<Board, Problem> {
    let BoundedList(board) = match (board, position) {
        (Some(board), None) => board,
        (None, Some(position)) => return Ok(position::read(rules, position)?),
        (Some(_), Some(_)) => {
            let detail = "send board or position, not both: they are two ways to say the same";
            return Err(Problem::wrong_combination(detail));
        }
        (None, None) => {
            let missing = Problem::new(Code::InvalidRequest, "/board or /position is missing");
            return Err(missing
                .because(Reason::Missing)
                .at("/board".to_owned(), None));
        }
    };
    let placement = |seat: SeatBoardRequest| Placement {
        track: seat.track,
        goal: seat.goal,
        kennel: seat.kennel,
        fresh: seat.fresh,
    };
    let placements: Vec<Placement> = board.into_iter().map(placement).collect();
    Ok(Board::place(rules, &placements)?)
}
