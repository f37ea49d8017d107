//! Stateless analysis: a position in, moves or advice out. Nothing is stored.

use actix_web::{HttpRequest, HttpResponse, web::Data};

use super::advice::advise;
use crate::{
    api::{
        App,
        problem::Problem,
        request::Body,
        wire::{
            advice::{Advice, Target},
            analysis::{AdviceAnalysis, AdvicePosition, MovesAnalysis, Position},
            moves::LegalMoves,
            request::{MovesParams, NoQuery, query},
        },
    },
    rules::moves::Generator,
};

/// Every legal move in a position with a hand.
#[utoipa::path(post, path = "/v1/analysis/legal-moves", operation_id = "analyse_legal_moves", tag = "analysis",
    params(MovesParams),
    request_body = MovesAnalysis,
    responses((status = 200, description = "The moves, in a stable order.", body = LegalMoves)))]
pub async fn analyse_legal_moves(
    app: Data<App>,
    request: HttpRequest,
    Body(body): Body,
) -> Result<HttpResponse, Problem> {
    let params: MovesParams = query(request.query_string())?;
    app.advisers
        .answer(move || {
            let Position {
                rules,
                board,
                seat,
                hand,
            } = Position::read(body)?;
            let moves = Generator::new().legal_moves(&rules, &board, seat, hand);
            LegalMoves::new(None, &rules, &board, seat, &moves, params.boards())
        })
        .await
}

/// Ranked advice in a position with a hand and what the seat knows.
#[utoipa::path(post, path = "/v1/analysis/suggest-move", operation_id = "analyse_suggest_move", tag = "analysis",
    request_body = AdviceAnalysis,
    responses((status = 200, description = "The advice, best first.", body = Advice)))]
pub async fn analyse_suggest_move(
    app: Data<App>,
    request: HttpRequest,
    Body(body): Body,
) -> Result<HttpResponse, Problem> {
    let NoQuery {} = query(request.query_string())?;
    let nets = app.nets.clone();
    app.advisers
        .answer(move || {
            let position = AdvicePosition::read(body)?;
            let target = Target {
                game: "/v1/games/{id}".to_owned(),
                version: None,
            };
            advise(&nets, &position.view()?, &position.params, &target)
        })
        .await
}
