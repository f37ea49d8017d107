//! Who is present at a game.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};

use super::{
    errors::errors,
    parameters::{GamePath, NoQuery, load_game},
    view::PresenceView,
};
use crate::{
    access::Caller,
    app::App,
    http::{headers::private_response, json::from_query, problem::Problem},
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
pub async fn get_presence(
    app: Data<App>,
    path: Path<GamePath>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let stored = load_game(&app.store, &path.id).await?;
    caller.role(&stored)?;
    let NoQuery {} = from_query(request.query_string())?;
    let connected = app.presence.connected(&stored.id).await?;
    let presence = PresenceView::new(&stored.game, &connected);
    Ok(private_response(StatusCode::OK).json(presence))
}
