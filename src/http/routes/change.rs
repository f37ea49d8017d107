//! The actions of play: deal, swap and play.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};

use super::{App, execute_in_game};
use crate::{
    http::{
        problem::Problem,
        request::WriteRequest,
        wire::{
            game::ActionResponse,
            request::{DealRequest, PlayRequest, SwapRequest, SwapRequestSchema},
        },
    },
    service::GameCommand,
};

/// Deals the round: the dealer's seat or the host.
///
/// The cards come from the shuffle seed, so the dealer cannot influence them.
#[utoipa::path(post, path = "/v1/games/{id}/deal", operation_id = "deal_cards", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = DealRequest, description = "May be empty."),
    responses((status = 200, description = "The cards are dealt.", body = ActionResponse)),
    security(("token" = [])))]
pub async fn deal_cards(
    app: Data<App>,
    id: Path<String>,
    body: WriteRequest<DealRequest>,
) -> Result<HttpResponse, Problem> {
    let command = GameCommand::Deal(body.content.map(drop));
    execute_in_game(&app, id.into_inner(), &body.context, command).await
}

/// The partner exchange: offer a card or, where the exchange is optional, decline or ask for it.
///
/// All seats answer, in any order. An offered card stays hidden, and the partners' cards change
/// hands when both have offered one.
#[utoipa::path(post, path = "/v1/games/{id}/swap", operation_id = "swap_cards", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = SwapRequestSchema, examples(
        ("offer" = (summary = "Offer a card", value = json!({"card": "K"}))),
        ("decline" = (summary = "Decline, if the exchange is optional", value = json!({"decline": true}))),
        ("ask" = (summary = "Ask for a card, if the exchange is optional", value = json!({"ask": true}))))),
    responses((status = 200, description = "The offer, refusal or request is \
        accepted.", body = ActionResponse)),
    security(("token" = [])))]
pub async fn swap_cards(
    app: Data<App>,
    id: Path<String>,
    body: WriteRequest<SwapRequest>,
) -> Result<HttpResponse, Problem> {
    let command = GameCommand::Exchange(body.content.and_then(SwapRequest::action));
    execute_in_game(&app, id.into_inner(), &body.context, command).await
}

/// Plays a move: any legal one, listed or not.
///
/// `list_legal_moves` lists moves whose ids can be sent here.
#[utoipa::path(post, path = "/v1/games/{id}/play", operation_id = "play_move", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body = PlayRequest,
    responses((status = 200, description = "The move is played.", body = ActionResponse)),
    security(("token" = [])))]
pub async fn play_move(
    app: Data<App>,
    id: Path<String>,
    body: WriteRequest<PlayRequest>,
) -> Result<HttpResponse, Problem> {
    let command = GameCommand::Play(body.content.and_then(PlayRequest::mv));
    execute_in_game(&app, id.into_inner(), &body.context, command).await
}
