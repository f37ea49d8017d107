//! Stateless analysis: a position in, moves or advice out, or a picture. Nothing is stored.

use actix_web::{HttpRequest, HttpResponse, http::header, web::Data};
use dog_bot::Choice;
use dog_rules::moves::{Generator, LegalMove};

use super::{
    advice::{advise, suggestions},
    picture::{SVG, drawn},
};
use crate::api::{
    App, accept,
    limits::Client,
    pool::QUICK,
    problem::Problem,
    request::Body,
    wire::{
        advice::{Advice, Target},
        analysis::{AdviceAnalysis, AdvicePosition, MovesAnalysis, Position},
        moves::{self, LegalMoves},
        picture::{self, AnalysisParams, Preview},
        query::{AdviceParams, NoQuery, query},
    },
};

/// The forms in which an analysis is to be had.
const FORMS: [&str; 2] = ["application/json", SVG];

/// Every legal move in a position with a hand; or as a picture the position, or one of the moves.
#[utoipa::path(post, path = "/v1/analysis/legal-moves", operation_id = "analyse_legal_moves", tag = "analysis",
    params(AnalysisParams),
    request_body = MovesAnalysis,
    responses((status = 200, description = "The moves, in a stable order; or a picture, if Accept prefers image/svg+xml.",
        content((LegalMoves = "application/json"), (String = "image/svg+xml")))))]
pub async fn analyse_legal_moves(
    app: Data<App>,
    request: HttpRequest,
    Body {
        value,
        memory: _memory,
    }: Body,
) -> Result<HttpResponse, Problem> {
    let form = accept::preferred(request.headers(), &FORMS)?;
    let params: AnalysisParams = query(request.query_string())?;
    if form == SVG {
        let draw = move || {
            let Position {
                rules,
                board,
                seat,
                hand,
            } = Position::read(value)?;
            let preview = |id| Preview::of_hand(&rules, &board, seat, hand, id);
            let preview = params.preview().map(preview).transpose()?;
            Ok(picture::of_position(&rules, &board, seat, preview.as_ref()))
        };
        return Ok(answer(
            app.advisers.run(Client::of(&request), QUICK, draw).await?,
        ));
    }
    let boards = params.boards()?;
    app.advisers
        .answer(&request, QUICK, move || {
            let Position {
                rules,
                board,
                seat,
                hand,
            } = Position::read(value)?;
            let moves = Generator::new().legal_moves(&rules, &board, seat, hand);
            LegalMoves::new(None, &rules, &board, seat, &moves, boards)
        })
        .await
}

/// Ranked advice in a position with a hand and what the seat knows; or a picture of the best move.
#[utoipa::path(post, path = "/v1/analysis/suggest-move", operation_id = "analyse_suggest_move", tag = "analysis",
    request_body = AdviceAnalysis,
    responses((status = 200, description = "The advice, best first; or a picture, if Accept prefers image/svg+xml.",
        content((Advice = "application/json"), (String = "image/svg+xml")))))]
pub async fn analyse_suggest_move(
    app: Data<App>,
    request: HttpRequest,
    Body {
        value,
        memory: _memory,
    }: Body,
) -> Result<HttpResponse, Problem> {
    let form = accept::preferred(request.headers(), &FORMS)?;
    let NoQuery {} = query(request.query_string())?;
    let here = app.clone();
    let cost = AdviceParams::of_body(&value).map_or(QUICK, |params| params.cost());
    if form == SVG {
        let draw = move || {
            let position = AdvicePosition::read(value)?;
            let view = position.view()?;
            let (rules, board, seat) = (view.rules, &view.board, view.seat);
            let best = suggestions(&here, &view, &position.params.thinking()?)
                .into_iter()
                .next();
            let Some(Choice::Play(mv)) = best.map(|best| best.choice) else {
                return Err(Problem::internal("advice without a move"));
            };
            let legal = LegalMove { mv, board: *board };
            let outcome = moves::outcome(rules, board, seat, &legal)?;
            let preview = Preview::new(seat, mv, outcome);
            Ok(picture::of_position(rules, board, seat, Some(&preview)))
        };
        return Ok(answer(
            app.advisers.run(Client::of(&request), cost, draw).await?,
        ));
    }
    app.advisers
        .answer(&request, cost, move || {
            let position = AdvicePosition::read(value)?;
            let target = Target {
                game: "/v1/games/{id}".to_owned(),
                version: None,
            };
            advise(&here, &position.view()?, &position.params, &target)
        })
        .await
}

fn answer(svg: String) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::VARY, "Authorization, Accept, Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "private, no-cache"));
    drawn(response, svg)
}
