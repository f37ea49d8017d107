//! The legal moves of the seat to move.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};
use dog_rules::moves::Generator;

use super::find;
use crate::api::{
    App,
    pool::QUICK,
    problem::Problem,
    request::Caller,
    wire::{
        moves::LegalMoves,
        query::{MovesParams, query},
    },
};

/// Every legal move of the seat to move, ready to be posted back.
#[utoipa::path(get, path = "/v1/games/{id}/legal-moves", operation_id = "list_legal_moves", tag = "play",
    params(("id" = String, Path, description = "The game's id."), MovesParams),
    responses((status = 200, description = "The moves, in a stable order.", body = LegalMoves)),
    security(("token" = [])))]
pub async fn list_legal_moves(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let store = app.store.clone();
    let text = request.query_string().to_owned();
    app.tables
        .answer(&request, QUICK, move || {
            let record = store.read(|reader| find(reader, &id))?;
            let seat = caller.seat(&record)?;
            let game = &record.game;
            game.check_play(seat)?;
            let params: MovesParams = query(&text)?;
            let moves =
                Generator::new().legal_moves(game.rules(), game.board(), seat, game.hand(seat));
            let version = Some(game.version());
            LegalMoves::new(
                version,
                game.rules(),
                game.board(),
                seat,
                &moves,
                params.boards(),
            )
        })
        .await
}
