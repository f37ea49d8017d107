//! The board as a picture.

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::header,
    web::{Data, Path},
};

use super::game_not_found;
use crate::{
    api::{
        App,
        problem::Problem,
        request::{Caller, is_known},
        wire::{
            picture::{self, PictureParams},
            query::query,
        },
    },
    store::GameId,
};

/// The media type of a picture.
pub const SVG: &str = "image/svg+xml";

/// The board as a picture, with the last move on it or a preview of another.
///
/// It shows what everybody at the table sees, so it is the same for all. A preview is judged by
/// the board alone, so that it tells nothing of a hand.
#[utoipa::path(get, path = "/v1/games/{id}/board.svg", operation_id = "get_board_picture", tag = "games",
    params(("id" = String, Path, description = "The game's id."), PictureParams,
        ("If-None-Match" = Option<String>, Header, description = "An ETag: answered with 304 if the picture is still the same.")),
    responses(
        (status = 200, description = "The picture, an SVG document of 40 KB at most.", body = String, content_type = "image/svg+xml",
            headers(("ETag" = String, description = "The version, such as \"17-board\", or \"17-preview\" with a move."))),
        (status = 304, description = "The picture is still the one of If-None-Match.")),
    security((), ("token" = [])))]
pub async fn get_board_picture(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let id: GameId = id.parse().map_err(|_| game_not_found())?;
    let record = app.store.game(&id)?.ok_or_else(game_not_found)?;
    caller.role(&record)?;
    let params: PictureParams = query(request.query_string())?;
    let game = &record.game;
    let preview = params.preview(game)?;
    let what = if preview.is_some() {
        "preview"
    } else {
        "board"
    };
    let etag = format!("\"{}-{what}\"", game.version());
    let unchanged = is_known(request.headers(), &etag);
    let mut response = if unchanged {
        HttpResponse::NotModified()
    } else {
        HttpResponse::Ok()
    };
    response
        .insert_header((header::ETAG, etag))
        .insert_header((header::VARY, "Authorization, Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "no-cache"));
    if unchanged {
        return Ok(response.finish());
    }
    // It is drawn in less time than it takes to hand it to another thread and back.
    Ok(drawn(response, picture::of_game(game, preview.as_ref())))
}

/// Answers with a picture, which may do nothing where it is shown: names in it are users' text.
pub fn drawn(mut response: HttpResponseBuilder, svg: String) -> HttpResponse {
    response
        .content_type(SVG)
        .insert_header((
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'",
        ))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(svg)
}
