//! A seven that is chosen part by part.

use actix_web::HttpResponse;
use dog_rules::{
    BegunSeven, Board, Cards, Placement, Refusal, Rules, Seat, ShortList,
    begun_seven::NextPart,
    judge::{Capture, MoveKind},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{
        errors::errors,
        parameters::{GamePath, GameRequest},
    },
    pool::SHORT_JOB_COST,
    problem::Problem,
    view::moves::PartView,
};

errors! {
    SevenErrors: [READ, IN_TURN], [InvalidRequest, IllegalMove];
}

/// A begun seven, and every part that may come next.
#[derive(Serialize, ToSchema)]
#[schema(as = BegunSeven, example = json!({
    "begun": "7:17>20",
    "left": 4,
    "board": [
        {"track": [20, 30], "goal": [], "kennel": 2, "fresh": false},
        {"track": [], "goal": [], "kennel": 4, "fresh": false},
        {"track": [34], "goal": [], "kennel": 3, "fresh": false},
        {"track": [], "goal": [], "kennel": 4, "fresh": false}
    ],
    "next": [{
        "id": "7:17>20,30>34",
        "part": {
            "seat": 0, "from": "30", "to": "34", "steps": 4, "path": ["31", "32", "33", "34"]
        },
        "left": 0,
        "captures": [{"seat": 2, "from": "34"}],
        "board": [
            {"track": [20, 34], "goal": [], "kennel": 2, "fresh": false},
            {"track": [], "goal": [], "kennel": 4, "fresh": false},
            {"track": [], "goal": [], "kennel": 4, "fresh": false},
            {"track": [], "goal": [], "kennel": 4, "fresh": false}
        ],
        "complete": true,
        "lapsed": 0
    }]
}))]
pub struct SevenView {
    /// The seven so far, as it was sent.
    begun: String,
    /// The steps to be taken; 0 if the seven is complete.
    #[schema(maximum = 7)]
    left: u8,
    /// The board after the parts so far, with one entry per seat.
    board: Vec<Placement>,
    /// Every next part of a piece that has had none, after which such pieces can complete the
    /// seven. Empty if the seven is complete.
    next: Vec<NextPartView>,
}

/// A part of a seven that may come next.
#[derive(Serialize, ToSchema)]
#[schema(as = NextPart)]
pub struct NextPartView {
    /// The seven with this part: a move to be played if it is complete, else the next `begun`.
    #[schema(examples("7:17>20,30>32"))]
    id: String,
    part: PartView,
    /// The steps to be taken after this part; 0 if the seven is then complete.
    #[schema(maximum = 6)]
    left: u8,
    /// The pieces that this part sends to their kennels.
    #[schema(value_type = Vec<Capture>)]
    captures: ShortList<Capture>,
    /// The board after this part, with one entry per seat.
    board: Vec<Placement>,
    /// Whether the seven is then complete.
    complete: bool,
    /// The steps that lapse, because this part wins the game.
    #[schema(maximum = 6)]
    lapsed: u8,
}

impl SevenView {
    /// The next parts of this begun seven, for a seat with this hand.
    ///
    /// # Errors
    /// `illegal_move`: it is not a begun seven, its card is not in the hand, one of its parts
    /// breaks a rule, or it cannot be completed.
    pub fn new(
        rules: &Rules,
        board: &Board,
        seat: Seat,
        hand: Cards,
        text: &str,
    ) -> Result<SevenView, Problem> {
        let begun: BegunSeven = text.parse().map_err(Refusal::Notation)?;
        let so_far = begun.judge(rules, board, seat, hand)?;
        let view = |next: NextPart| NextPartView {
            id: next.begun.to_string(),
            part: PartView::new(rules, MoveKind::Seven, &next.part),
            left: next.left,
            captures: next.captures,
            board: next.board.placements(rules),
            complete: next.left == 0,
            lapsed: next.lapsed,
        };
        let next = begun.next_parts(rules, seat, &so_far);
        Ok(SevenView {
            begun: begun.to_string(),
            left: so_far.left,
            board: so_far.outcome.board.placements(rules),
            next: next.into_iter().map(view).collect(),
        })
    }
}

/// The seven whose next parts are listed.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SevenParams {
    /// The seven so far: `7:` or `joker=7:`, then the parts that are chosen.
    #[param(max_length = 63, example = "7:")]
    #[param(
        pattern = "^(joker=)?7:([gp]?[0-9]{1,2}>[gp]?[0-9]{1,2}(,[gp]?[0-9]{1,2}>[gp]?[0-9]{1,2}){0,6})?$"
    )]
    pub begun: String,
}

/// List the next parts of a seven.
///
/// The parts that may come next in a begun seven of the seat to move.
///
/// A seven is chosen part by part: begin with `7:` or `joker=7:`, then send the `id` of the chosen
/// part as the next `begun`. A complete `id` is a legal move. Following `next` in every way leads
/// to exactly the boards of the list of legal moves.
#[utoipa::path(get, path = "/v1/games/{id}/legal-moves/seven", tag = "play",
    params(GamePath, SevenParams),
    responses((status = 200, description = "The next parts, in a stable order.", body = SevenView,
        links(
            ("list_seven_parts" = (operation_id = "list_seven_parts",
                parameters(("id" = "$request.path.id"), ("begun" = "$response.body#/next/0/id")))))),
        SevenErrors),
    security(("token" = [])))]
pub async fn list_seven_parts(read: GameRequest) -> Result<HttpResponse, Problem> {
    let (stored, seat) = read.game_of_holder().await?;
    stored.game.check_play(seat)?;
    let SevenParams { begun } = read.query()?;
    let pool = &read.app.move_pool;
    pool.answer(&read.request, SHORT_JOB_COST, move || {
        let game = &stored.game;
        SevenView::new(game.rules(), game.board(), seat, game.hand(seat), &begun)
    })
    .await
}
