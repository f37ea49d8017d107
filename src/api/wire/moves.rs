//! Moves as clients see them, ready to be posted back.

use dog_rules::{
    board::{Board, Field},
    card::Card,
    judge::{self, Capture, Kind, Outcome, PlayedPart},
    moves::LegalMove,
    notation::Move,
    options::Rules,
    seat::Seat,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::board::{self, SeatBoard};
use crate::api::problem::Problem;

/// A legal move. Post its `id` back to play it.
#[derive(Serialize, ToSchema)]
#[schema(as = Move)]
pub struct MoveView {
    /// The move as a text that a person can type, such as `Q:17>29`.
    #[schema(examples("fold", "K:out", "Q:17>29", "7:17>20,62>g1"))]
    id: String,
    /// The card from the hand; null for a fold.
    card: Option<Card>,
    /// The rank that a joker stands for, else null.
    #[serde(rename = "as")]
    as_rank: Option<Card>,
    kind: Kind,
    /// The seat that plays the card.
    seat: Seat,
    /// What moves, in order.
    parts: Vec<PartView>,
    /// The pieces sent to their kennels.
    captures: Vec<CaptureView>,
    /// The board after the move; absent with `board=false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<Vec<SeatBoard>>,
}

/// One piece's part in a move.
#[derive(Serialize, ToSchema)]
#[schema(as = Part)]
pub struct PartView {
    /// Whose piece it is.
    seat: Seat,
    /// `kennel`, a track field as text, or `goal:0` … `goal:3`.
    #[schema(pattern = "^(kennel|[0-9]{1,2}|goal:[0-3])$", examples("17", "kennel"))]
    from: String,
    /// As `from`.
    #[schema(pattern = "^([0-9]{1,2}|goal:[0-3])$", examples("29", "goal:2"))]
    to: String,
    /// Steps taken: 0 for a swap and for leaving the kennel.
    #[schema(maximum = 13)]
    steps: u8,
}

/// A piece sent to its kennel.
#[derive(Serialize, ToSchema)]
#[schema(as = Capture)]
pub struct CaptureView {
    /// Whose piece it was.
    seat: Seat,
    /// The track field where it stood, as text.
    #[schema(pattern = "^[0-9]{1,2}$", examples("29"))]
    from: String,
}

/// Every legal move of a seat.
#[derive(Serialize, ToSchema)]
pub struct LegalMoves {
    /// The game's version; absent in an analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    seat: Seat,
    /// Never empty: if nothing can be played it holds one fold.
    #[schema(min_items = 1)]
    moves: Vec<MoveView>,
}

fn field(field: Field) -> String {
    match field {
        Field::Track(number) => number.to_string(),
        Field::Goal(number) => format!("goal:{number}"),
    }
}

impl From<PlayedPart> for PartView {
    fn from(part: PlayedPart) -> PartView {
        PartView {
            seat: part.seat,
            from: part.from.map_or_else(|| "kennel".to_owned(), field),
            to: field(part.to),
            steps: part.steps,
        }
    }
}

impl From<Capture> for CaptureView {
    fn from(capture: Capture) -> CaptureView {
        CaptureView {
            seat: capture.seat,
            from: capture.from.to_string(),
        }
    }
}

impl MoveView {
    /// A move with what it does, in parts.
    pub fn new(
        mv: &Move,
        kind: Kind,
        seat: Seat,
        parts: Vec<PlayedPart>,
        captures: Vec<Capture>,
        board: Option<Vec<SeatBoard>>,
    ) -> MoveView {
        MoveView {
            id: mv.to_string(),
            card: mv.card(),
            as_rank: mv.announced(),
            kind,
            seat,
            parts: parts.into_iter().map(PartView::from).collect(),
            captures: captures.into_iter().map(CaptureView::from).collect(),
            board,
        }
    }

    /// A move of this seat's with what it does; `board` is left out if the client did not ask for
    /// it.
    pub fn with_outcome(
        rules: &Rules,
        mv: &Move,
        seat: Seat,
        outcome: Outcome,
        with_board: bool,
    ) -> MoveView {
        let Outcome {
            kind,
            parts,
            captures,
            board,
        } = outcome;
        let board = with_board.then(|| board::view(rules, &board));
        MoveView::new(mv, kind, seat, parts, captures, board)
    }
}

/// What a listed move of the seat to move does on this board.
///
/// # Errors
/// `internal`, if the rules contradict themselves: listed, but not legal.
pub fn outcome(
    rules: &Rules,
    before: &Board,
    seat: Seat,
    legal: &LegalMove,
) -> Result<Outcome, Problem> {
    match &legal.mv {
        Move::Fold => Ok(Outcome {
            kind: Kind::Fold,
            parts: Vec::new(),
            captures: Vec::new(),
            board: legal.board,
        }),
        Move::Play { rank, action, .. } => judge::outcome(rules, before, seat, *rank, action)
            .map_err(|_| Problem::internal("a listed move was refused")),
    }
}

impl LegalMoves {
    /// The listed moves of a seat; `version` in a game only.
    ///
    /// # Errors
    /// As [`outcome`].
    pub fn new(
        version: Option<u64>,
        rules: &Rules,
        before: &Board,
        seat: Seat,
        moves: &[LegalMove],
        with_boards: bool,
    ) -> Result<LegalMoves, Problem> {
        let view = |legal: &LegalMove| {
            let outcome = outcome(rules, before, seat, legal)?;
            let mv = &legal.mv;
            Ok(MoveView::with_outcome(
                rules,
                mv,
                seat,
                outcome,
                with_boards,
            ))
        };
        let moves = moves.iter().map(view).collect::<Result<_, Problem>>()?;
        Ok(LegalMoves {
            version,
            seat,
            moves,
        })
    }
}
