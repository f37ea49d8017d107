//! Games: create, list, read, draw, remove.

use std::time::{Duration, Instant};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::{StatusCode, header},
    rt::time::timeout,
    web::{Data, Path},
};
use dog_rules::Phase;

use super::{App, execute, execute_in_game, load_game, picture};
use crate::{
    http::{
        headers::{check_if_match, is_not_modified, private_response, send_content},
        json::from_query,
        limits::{ClientAddress, connections::Waiting},
        metrics::SkipLatency,
        pool::SHORT_JOB_COST,
        problem::Problem,
        request::WriteRequest,
        wire::{
            game::{Created, GameList, GameView},
            picture::{PictureParams, of_game},
            request::{CreateGame, GameParams, ListParams, RemoveRequest},
        },
    },
    service::{Caller, Command, GameCommand, etag},
    store::{GameId, ListQuery},
};

/// How long a client may wait for a change.
const MAX_WAIT: Duration = Duration::from_secs(25);

/// Creates a game and returns its tokens, which are shown only once.
///
/// With an `Idempotency-Key`, a retry gets the same response with the same tokens; the key must
/// carry 128 random bits or more.
#[utoipa::path(post, path = "/v1/games", operation_id = "create_game", tag = "games",
    request_body(content = CreateGame, description = "All fields may be omitted, and so may the body."),
    responses((status = 201, description = "The game and its tokens.", body = Created,
        headers(("Location" = String, description = "The game's \
            path."), ("ETag" = String, description = "The version as the host sees it.")))))]
pub async fn create_game(
    app: Data<App>,
    client: ClientAddress,
    body: WriteRequest<CreateGame>,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    let creation = body.content.and_then(CreateGame::creation);
    execute(&app, &body.context, Command::Create { creator, creation }).await
}

/// The public games, newest first, without secrets.
///
/// The list comes in pages: `next` of one page is the `cursor` of the following page. With
/// `open=true` it has the tables with a seat that anyone may take. To follow a list, ask for it every
/// 10 seconds with the last `ETag`.
#[utoipa::path(get, path = "/v1/games", operation_id = "list_games", tag = "games",
    params(ListParams, ("If-None-Match" = Option<String>, Header, description = "An ETag; the \
        response is 304 if the page is still the same.")),
    responses(
        (status = 200, description = "A page of the list.", body = GameList,
            headers(("ETag" = String, description = "A hash of the page."))),
        (status = 304, description = "The page is still the one of If-None-Match.")))]
pub async fn list_games(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let params: ListParams = from_query(request.query_string())?;
    let (phase, limit) = (params.phase, params.limit()?);
    let cursor = params.cursor.as_deref().map(str::parse).transpose();
    let after = cursor.map_err(|_| {
        Problem::wrong_value("cursor", "cursor must be `next` of an earlier response")
    })?;
    let query = ListQuery {
        phase,
        open: params.open.unwrap_or(false),
        after,
        limit,
    };
    let page = app.store.games(&query).await?;
    let list = move || {
        let next = page.next.map(|next| next.to_string());
        Ok(GameList::new(&page.games, next))
    };
    app.move_pool
        .answer_if_changed(&request, SHORT_JOB_COST, list)
        .await
}

/// The game as the caller may see it: a seat, the host, or without a token a spectator.
///
/// With `after_version`, the response waits for the next change. A stream of events is better for
/// clients that can read one.
#[utoipa::path(get, path = "/v1/games/{id}", operation_id = "get_game", tag = "games",
    params(("id" = String, Path, description = "The game's id."), GameParams,
        ("If-None-Match" = Option<String>, Header, description = "An ETag; the response is 304 if \
            the view is still the same.")),
    responses(
        (status = 200, description = "The game.", body = GameView,
            headers(("ETag" = String, description = "The version and the viewer, such as \"17-2\"."))),
        (status = 304, description = "The view is still the one of If-None-Match, or the game is \
            still at `after_version`.")),
    security((), ("token" = [])))]
pub async fn get_game(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let mut record = load_game(&app.store, &id).await?;
    let mut role = caller.role(&record)?;
    let GameParams { after_version } = from_query(request.query_string())?;
    // The client may know a later version, of before the operator restored a backup.
    let is_known = |version| after_version == Some(version);
    if let Some(known) = after_version
        && is_known(record.game.version())
        && record.game.phase() != Phase::Finished
    {
        request.extensions_mut().insert(SkipLatency);
        let _waiting = Waiting::begin(&request);
        let connection = app.presence.connection(record.id, role);
        wait(&app, record.id, known).await?;
        record = load_game(&app.store, &id).await?;
        role = match (caller.role(&record), connection) {
            (Err(error), Some(connection)) => {
                connection.lose_seat();
                return Err(error.into());
            }
            (role, _) => role?,
        };
    }
    let version = record.game.version();
    let etag = etag(version, role);
    let of_version = version.to_string();
    check_if_match(request.headers(), &[&etag, &of_version])?;
    let unchanged = is_known(version) || is_not_modified(request.headers(), &etag);
    let mut response = private_response(match unchanged {
        true => StatusCode::NOT_MODIFIED,
        false => StatusCode::OK,
    });
    response.insert_header((header::ETAG, etag));
    if unchanged {
        return Ok(response.finish());
    }
    let view = app.views.of_game(&record, role)?;
    Ok(response.content_type("application/json").body(view))
}

/// Waits while the game is at this version, at most [`MAX_WAIT`].
async fn wait(app: &App, id: GameId, known: u64) -> Result<(), Problem> {
    let mut subscription = app.hub.subscribe(id);
    let until = Instant::now() + MAX_WAIT;
    // The version is read after the subscription, so that no change is missed.
    while !subscription.closed()
        && app
            .store
            .version(&id)
            .await?
            .is_some_and(|now| now == known)
    {
        let left = until.saturating_duration_since(Instant::now());
        if timeout(left, subscription.changed()).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// The board as a picture, with the last move on it or a preview of another.
///
/// It shows only what everybody at the table sees, so it is the same for all. A preview depends on
/// the board alone, so it reveals nothing about a hand.
#[utoipa::path(get, path = "/v1/games/{id}/board.svg", operation_id = "get_board_picture", tag = "games",
    params(("id" = String, Path, description = "The game's id."), PictureParams,
        ("If-None-Match" = Option<String>, Header, description = "An ETag; the response is 304 if \
            the picture is still the same.")),
    responses(
        (status = 200, description = "The picture, an SVG document of 40 KB at \
            most.", body = String, content_type = "image/svg+xml",
            headers(("ETag" = String, description = "A hash of the picture."))),
        (status = 304, description = "The picture is still the one of If-None-Match.")),
    security((), ("token" = [])))]
pub async fn get_board_picture(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let record = load_game(&app.store, &id).await?;
    caller.role(&record)?;
    let params: PictureParams = from_query(request.query_string())?;
    let game = &record.game;
    let preview = params.preview(game)?;
    let options = params.options(game.rules())?;
    // Drawing takes less time than passing it to another thread.
    let svg = of_game(game, preview.as_ref(), options);
    // A later build may draw the same board otherwise, so the version does not identify a picture.
    let mut response = picture(HttpResponse::Ok());
    response
        .insert_header((header::VARY, "Authorization, Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "no-cache"));
    send_content(&request, &mut response, svg.into_bytes())
}

/// Removes the game; only its host may do so.
///
/// Its streams end, and later requests get 404.
#[utoipa::path(delete, path = "/v1/games/{id}", operation_id = "delete_game", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    responses((status = 204, description = "The game is removed.")),
    security(("token" = [])))]
pub async fn delete_game(
    app: Data<App>,
    id: Path<String>,
    body: WriteRequest<RemoveRequest>,
) -> Result<HttpResponse, Problem> {
    let command = GameCommand::Remove(body.content.map(drop));
    execute_in_game(&app, id.into_inner(), &body.context, command).await
}
