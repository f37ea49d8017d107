//! The board as clients see and send it, and moves, ready to be posted back.

use std::borrow::Cow;

use dog_rules::{
    Board, Card, Cards, Field, Generator, LegalMove, Move, Outcome, Placement, Rules, Seat,
    ShortList,
    judge::{self, Capture, MoveKind, PlayedPart},
};
use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        Ref, RefOr,
        schema::{AnyOfBuilder, ArrayBuilder, ObjectBuilder, Schema, Type},
    },
};

use crate::problem::Problem;

/// A board as text, as [`dog_rules::position`] reads and writes it.
pub struct PositionString;

impl PartialSchema for PositionString {
    fn schema() -> RefOr<Schema> {
        let place = "(g[0-3]|(0|-?[1-9][0-9]?)(@[0-5])?f?)";
        let seat = format!("(-|{place}( *, *{place}| +{place}){{0,3}})");
        let about = "A board as text: the pieces of each seat, in turn order. A piece is on a track \
            field, on `g0` to `g3` of its goal, or relative to a start: `5@2` is five fields after \
            the start of seat 2, `-3@2` three before it. `f` marks a fresh piece. Pieces not named \
            are in the kennel; `-` alone is the empty board.";
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(format!("^ *(-|{seat}( */ *{seat}){{3,5}}) *$")))
            .description(Some(about))
            .examples(["0f 9 g2 / 17 / - / 60"])
            .into()
    }
}

impl ToSchema for PositionString {
    fn name() -> Cow<'static, str> {
        "Position".into()
    }
}

/// A legal move. Post its `id` back to play it.
#[derive(Serialize, ToSchema)]
#[schema(as = Move)]
pub struct MoveView {
    /// The move as a text, such as `Q:17>29`.
    #[schema(examples("fold", "K:out", "Q:17>29", "7:17>20,62>g1"))]
    pub id: String,
    /// The card from the hand; null for a fold.
    #[schema(required)]
    card: Option<Card>,
    /// The rank that a joker stands for, else null.
    #[serde(rename = "as")]
    #[schema(required)]
    as_rank: Option<Card>,
    kind: MoveKind,
    /// The seat that plays the card.
    seat: Seat,
    /// What moves, in order.
    parts: Vec<PartView>,
    /// The pieces sent to their kennels.
    #[schema(value_type = Vec<Capture>)]
    captures: ShortList<Capture>,
    /// The board after the move; absent with `board=false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<Vec<Placement>>,
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
    #[schema(
        value_type = String,
        pattern = "^([0-9]{1,2}|goal:[0-3])$",
        examples("29", "goal:2")
    )]
    to: Field,
    /// Number of steps; 0 for a swap and for leaving the kennel.
    #[schema(maximum = 13)]
    steps: u8,
    /// Every place that the piece walks over, written as in `to`, which is the last. Empty for a
    /// swap and for leaving the kennel.
    #[schema(value_type = Vec<String>, max_items = 13, example = json!(["18", "19", "goal:0"]))]
    path: Vec<Field>,
}

impl PartView {
    /// A part of a move of this kind.
    pub fn new(rules: &Rules, kind: MoveKind, part: &PlayedPart) -> PartView {
        PartView {
            seat: part.seat,
            from: part
                .from
                .map_or_else(|| "kennel".to_owned(), |from| from.to_string()),
            to: part.to,
            steps: part.steps,
            path: part.path(rules, kind),
        }
    }
}

impl MoveView {
    /// A move of this seat and its outcome; `with_board` includes the board.
    pub fn new(
        rules: &Rules,
        mv: &Move,
        seat: Seat,
        outcome: Outcome,
        with_board: bool,
    ) -> MoveView {
        MoveView {
            id: mv.to_string(),
            card: mv.card(),
            as_rank: mv.announced(),
            kind: outcome.kind,
            seat,
            parts: outcome
                .parts
                .iter()
                .map(|part| PartView::new(rules, outcome.kind, part))
                .collect(),
            captures: outcome.captures,
            board: with_board.then(|| outcome.board.placements(rules)),
        }
    }
}

/// The schema of a list of moves that is null if it is too long.
pub fn moves_or_null() -> Schema {
    or_null(ArrayBuilder::new().items(Ref::from_schema_name(MoveView::name())))
}

/// This schema or null, for a member that may also be absent.
pub fn or_null(schema: impl Into<RefOr<Schema>>) -> Schema {
    let null = ObjectBuilder::new().schema_type(Type::Null);
    AnyOfBuilder::new().item(schema).item(null).into()
}

/// The outcome of a legal move on this board; `internal`, if the move is refused.
pub fn outcome(rules: &Rules, before: &Board, seat: Seat, mv: &Move) -> Result<Outcome, Problem> {
    match mv {
        Move::Fold => Ok(Outcome::fold(before)),
        Move::Play { rank, action, .. } => judge::outcome(rules, before, seat, *rank, action)
            .map_err(|_| Problem::internal("a listed move was refused")),
    }
}

/// What a list of moves is to have.
#[derive(Clone, Copy)]
pub struct MovesOptions {
    /// The card whose moves are listed; by default every card's.
    pub card: Option<Card>,
    /// Whether each move has the board after it.
    pub with_boards: bool,
}

/// The legal moves of a seat with this hand, of one card or of all.
pub fn list_moves(
    generator: &mut Generator,
    rules: &Rules,
    board: &Board,
    seat: Seat,
    hand: Cards,
    MovesOptions { card, with_boards }: MovesOptions,
) -> Vec<MoveView> {
    let moves = match card {
        None => generator.legal_moves(rules, board, seat, hand),
        Some(card) => {
            let mut moves = Vec::new();
            if hand.contains(card) {
                generator.each_of_card(rules, board, seat, card, |found| {
                    moves.push(found.legal_move());
                });
            }
            moves
        }
    };
    moves
        .into_iter()
        .map(|LegalMove { mv, outcome }| MoveView::new(rules, &mv, seat, outcome, with_boards))
        .collect()
}
