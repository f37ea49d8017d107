//! Who plays: joining a game, changing a seat, tokens, settings, and the rematch.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Data, Path},
};

use super::{App, execute_in_game, load_game};
use crate::{
    http::{
        answer::{RENDERERS, json, respond},
        headers::{check_if_match, is_not_modified, private_response},
        json::from_query,
        limits::ClientAddress,
        problem::Problem,
        request::WriteRequest,
        wire::{
            game::{
                ActionResponse, FreshHostToken, FreshToken, Joined, QuickJoined, Rematch,
                SeatChanged,
            },
            request::{
                HandOverRequest, JoinRequest, NoQuery, QuickJoinRequest, RematchBody,
                SettingsRequest, TokenRequest,
            },
        },
    },
    service::{self, Caller, GameCommand, RequestContext, ServiceError, etag, rematch_of, role_in},
};
use actix_web::http::StatusCode;

/// Takes an open seat, and returns its token, which is shown only once.
///
/// The invitation names what it opens: one seat, or any that has been open since the creation.
/// Without `seat` the caller gets an open one of the team with the fewest people. With an
/// `Idempotency-Key`, a retry gets the same token; the key must carry 128 random bits or more.
#[utoipa::path(post, path = "/v1/games/{id}/join", operation_id = "join_game", tag = "seats",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = JoinRequest, description = "May be empty where anyone may join."),
    responses((status = 201, description = "The seat is taken.", body = Joined,
        headers(("ETag" = String, description = "The version as the seat sees it.")))))]
pub async fn join_game(
    app: Data<App>,
    id: Path<String>,
    body: WriteRequest<JoinRequest>,
) -> Result<HttpResponse, Problem> {
    let command = GameCommand::Join(body.content.and_then(JoinRequest::join));
    execute_in_game(&app, id.into_inner(), &body.context, command).await
}

/// Takes a seat at the oldest table that waits for people with these rules, or at a new one.
///
/// All such tables were made this way. They have no host, the server deals, and each seat has 60
/// seconds to act. 60 seconds after the first person has sat down, people who are not
/// [present](#/seats/get_presence) lose their seats, and bots take the open ones. The first action of
/// a person who was never there has 15 seconds.
#[utoipa::path(post, path = "/v1/join", operation_id = "quick_join", tag = "seats",
    request_body(content = QuickJoinRequest, description = "May be empty."),
    responses((status = 201, description = "The seat is taken.", body = QuickJoined,
        headers(("Location" = String, description = "The game's path."),
            ("ETag" = String, description = "The version as the seat sees it.")))))]
pub async fn quick_join(
    app: Data<App>,
    client: ClientAddress,
    body: WriteRequest<QuickJoinRequest>,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    let wanted = body.content.and_then(QuickJoinRequest::wanted);
    // No condition can be about a game that the client does not know.
    let request = RequestContext {
        if_match: None,
        if_none_match: None,
        ..body.context
    };
    let (store, turn) = (&app.store, &app.quick_joins);
    respond(service::quick_join(store, turn, creator, &request, &wanted, &RENDERERS).await?)
}

/// Changes who plays a seat, or the player's name or level.
///
/// The seat itself sends `bot` to leave, while a bot plays on and the token stays valid; `human` to
/// come back; `open` to give the seat up for good; or a new name. The host sends `bot`, or `open` to
/// have somebody else take the seat with the invitation in the response, or `human` and names for a
/// seat that nobody joined. It is a public event. Somebody who takes over a seat in the middle of a
/// round has its hand from the next deal on; until then a bot stands in.
#[utoipa::path(put, path = "/v1/games/{id}/seats/{seat}", operation_id = "hand_over_seat", tag = "seats",
    params(("id" = String, Path, description = "The game's id."),
        ("seat" = u8, Path, description = "The seat's number.")),
    request_body = HandOverRequest,
    responses((status = 200, description = "The seat is changed.", body = SeatChanged)),
    security(("token" = [])))]
pub async fn hand_over_seat(
    app: Data<App>,
    path: Path<(String, String)>,
    body: WriteRequest<HandOverRequest>,
) -> Result<HttpResponse, Problem> {
    let (id, seat) = path.into_inner();
    let change = body.content.and_then(HandOverRequest::change);
    let command = GameCommand::ChangeSeat { seat, change };
    execute_in_game(&app, id, &body.context, command).await
}

/// Gives the seat a fresh token; the old one becomes invalid.
///
/// A player who was sent a token takes ownership of it in this way: after the first renewal, which
/// is a public event, the host cannot replace it. A renewal by the host is a public event too.
#[utoipa::path(post, path = "/v1/games/{id}/seats/{seat}/token", operation_id = "reissue_token", tag = "seats",
    params(("id" = String, Path, description = "The game's id."),
        ("seat" = u8, Path, description = "The seat's number.")),
    request_body(content = TokenRequest, description = "May be empty."),
    responses((status = 200, description = "The fresh token, which is shown only once.", body = FreshToken)),
    security(("token" = [])))]
pub async fn reissue_token(
    app: Data<App>,
    path: Path<(String, String)>,
    body: WriteRequest<TokenRequest>,
) -> Result<HttpResponse, Problem> {
    let (id, seat) = path.into_inner();
    let content = body.content.map(drop);
    let command = GameCommand::ReissueToken { seat, content };
    execute_in_game(&app, id, &body.context, command).await
}

/// Gives the host a fresh token; the old one becomes invalid.
///
/// It makes no new version.
#[utoipa::path(post, path = "/v1/games/{id}/host/token", operation_id = "renew_host_token", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = TokenRequest, description = "May be empty."),
    responses((status = 200, description = "The fresh token, which is shown only once.", body = FreshHostToken)),
    security(("token" = [])))]
pub async fn renew_host_token(
    app: Data<App>,
    id: Path<String>,
    body: WriteRequest<TokenRequest>,
) -> Result<HttpResponse, Problem> {
    let command = GameCommand::RenewHostToken(body.content.map(drop));
    execute_in_game(&app, id.into_inner(), &body.context, command).await
}

/// Changes the turn clock, the pace of bots, or whether the game is listed: the host.
///
/// It is a public event. A clock counts from the next turn on.
#[utoipa::path(patch, path = "/v1/games/{id}", operation_id = "change_settings", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    request_body = SettingsRequest,
    responses((status = 200, description = "The settings are changed.", body = ActionResponse)),
    security(("token" = [])))]
pub async fn change_settings(
    app: Data<App>,
    id: Path<String>,
    body: WriteRequest<SettingsRequest>,
) -> Result<HttpResponse, Problem> {
    let command = GameCommand::ChangeSettings(body.content.and_then(SettingsRequest::change));
    execute_in_game(&app, id.into_inner(), &body.context, command).await
}

/// Asks for the next game of the same people: the first who asks makes it, and the others get it.
///
/// It has the same rules, clock and tokens, and the next seat deals first. It begins when all people
/// have asked, or when the host deals.
#[utoipa::path(post, path = "/v1/games/{id}/rematch", operation_id = "ask_rematch", tag = "seats",
    params(("id" = String, Path, description = "The id of the finished game.")),
    request_body(content = RematchBody, description = "May be empty."),
    responses((status = 201, description = "The next game, which this request has made.", body = Rematch,
        headers(("ETag" = String, description = "The version of the next game as the caller sees it."))),
        (status = 200, description = "The next game, which was made before.", body = Rematch)),
    security(("token" = [])))]
pub async fn ask_rematch(
    app: Data<App>,
    id: Path<String>,
    client: ClientAddress,
    body: WriteRequest<RematchBody>,
) -> Result<HttpResponse, Problem> {
    let (store, creator) = (&app.store, client.creator(&app.store));
    let content = body.content.map(RematchBody::request);
    let asked = service::ask_rematch(store, &id, creator, &body.context, &content, &RENDERERS);
    respond(asked.await?)
}

/// The next game of the same people, if somebody has asked for it.
///
/// A token of the finished game is valid in the next game too, unless it was renewed in one of them.
#[utoipa::path(get, path = "/v1/games/{id}/rematch", operation_id = "get_rematch", tag = "seats",
    params(("id" = String, Path, description = "The id of the finished game."),
        ("If-None-Match" = Option<String>, Header, description = "An ETag; the response is 304 if \
            the next game is still the same.")),
    responses((status = 200, description = "The next game.", body = Rematch,
        headers(("ETag" = String, description = "The version of the next game as the caller sees it."))),
        (status = 304, description = "The next game is still the one of If-None-Match.")),
    security((), ("token" = [])))]
pub async fn get_rematch(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let record = load_game(&app.store, &id).await?;
    caller.role(&record)?;
    let NoQuery {} = from_query(request.query_string())?;
    let next = rematch_of(&app.store, &record.id).await?;
    let next = next.ok_or(ServiceError::NoRematch)?;
    let role = role_in(&next, caller);
    let etag = etag(next.game.version(), role);
    check_if_match(request.headers(), &[&etag])?;
    if is_not_modified(request.headers(), &etag) {
        let mut response = private_response(StatusCode::NOT_MODIFIED);
        return Ok(response.insert_header((header::ETAG, etag)).finish());
    }
    let body = json(&Rematch::new(&next, role))?;
    let mut response = private_response(StatusCode::OK);
    response.insert_header((header::ETAG, etag));
    Ok(response.content_type("application/json").body(body))
}
