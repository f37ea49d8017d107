//! Who is present at a game.

use actix_web::{HttpResponse, http::StatusCode};

use crate::{
    api::{
        errors::errors,
        parameters::{GamePath, GameRequest},
    },
    http::{content::private_response, request::NoQuery},
    problem::Problem,
    view::game::PresenceView,
};

errors! {
    PresenceErrors: [READ], [InvalidRequest];
}

/// See who is present.
///
/// Who is present: the people with an open stream or long poll.
///
/// A seat is present for 5 seconds after its last connection has ended. The view of a game and its
/// ETag do not depend on it.
#[utoipa::path(get, path = "/v1/games/{id}/presence", tag = "seats",
    params(GamePath),
    responses((status = 200, description = "Who is present.", body = PresenceView),
        PresenceErrors),
    security((), ("token" = [])))]
pub async fn get_presence(read: GameRequest) -> Result<HttpResponse, Problem> {
    let (stored, _) = read.game().await?;
    let NoQuery {} = read.query()?;
    let connected = read.app.presence.connected(&stored.id).await?;
    let presence = PresenceView::new(&stored.game, &connected);
    Ok(private_response(StatusCode::OK).json(presence))
}
