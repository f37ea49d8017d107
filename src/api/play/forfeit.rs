//! Giving up.

use actix_web::HttpResponse;
use dog_rules::Action;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    access::{AccessError, Role},
    api::{
        errors::errors,
        parameters::{GameChange, GamePath, WriteHeaders},
    },
    problem::Problem,
    view::game::ActionResponse,
    write::write,
};

errors! {
    ForfeitErrors: [READ, BODY, RETRY, CHANGE], [
        Forbidden, GameOver, WrongPhase, TooManyVersions, TooManyChanges
    ];
}

/// Gives up, or takes that back. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"forfeit": true}))]
pub struct ForfeitRequest {
    /// False to take it back; true by default.
    forfeit: Option<bool>,
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// Give up.
///
/// The seat's person gives up the game, or takes that back. The team has lost once all its people
/// have given up.
///
/// Bots agree, and so do people who are away, also if they leave later. Only the team sees who gives
/// up, as `gives_up` of its seats; the change has no events for anybody else until the game is over.
/// Whoever says the same again makes another version. Of three teams none gives up: a person hands
/// the seat over to a bot.
#[utoipa::path(post, path = "/v1/games/{id}/forfeit", tag = "play",
    params(GamePath, WriteHeaders),
    request_body(content = ForfeitRequest, description = "May be empty."),
    responses((status = 200, description = "The team knows, or the game is over.", body = ActionResponse),
        ForfeitErrors),
    security(("token" = [])))]
pub async fn forfeit_game((app, path, request): GameChange) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let seat = game.seat()?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        let role = Role::Seat(seat);
        if !game.stored.game.player(seat).is_human() {
            return Err(AccessError::BotPlays(seat).into());
        }
        game.check_state(role)?;
        game.stored.game.check_forfeit()?;
        game.check_limit()?;
        game.check_seat_change(seat)?;
        let ForfeitRequest { forfeit, .. } = game.body()?;
        let offered = forfeit.unwrap_or(true);
        game.act(role, &Action::Forfeit { seat, offered })
    })
    .await
}
