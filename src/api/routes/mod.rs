//! The routes: each handler parses, asks the domain, answers.

mod advice;
mod analysis;
mod change;
mod events;
mod games;
mod history;
mod meta;
mod moves;
mod picture;
mod rules;
mod tokens;

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, Handler, HttpRequest, HttpResponse, Resource, Responder, Route, Scope, guard,
    http::{Method, header},
    web::{self, ServiceConfig},
};
use dog_rules::seat::Seat;
use utoipa::OpenApi;

pub use self::meta::CompressedFiles;
use super::problem::{Code, Problem};
use crate::store::{GameId, Reader, Record};

/// The operations, for the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(
    rules::list_rules,
    games::create_game,
    games::list_games,
    games::get_game,
    games::delete_game,
    picture::get_board_picture,
    tokens::reissue_token,
    history::get_history,
    history::import_game,
    events::stream_events,
    events::create_ticket,
    change::hand_over_seat,
    change::deal_cards,
    change::swap_cards,
    moves::list_legal_moves,
    change::play_move,
    advice::suggest_move,
    analysis::analyse_legal_moves,
    analysis::analyse_suggest_move,
    meta::get_health,
    meta::get_readiness,
    meta::get_metrics,
    meta::get_openapi,
))]
pub struct Operations;

/// One path and the methods it takes.
struct Path {
    resource: Resource,
    allow: Vec<&'static str>,
}

impl Path {
    fn new(path: &str) -> Path {
        Path {
            resource: web::resource(path),
            allow: Vec::new(),
        }
    }

    /// Serves GET, and HEAD in the same way without the body.
    fn get<F, Args>(self, handler: F) -> Path
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let get = web::route()
            .guard(guard::Any(guard::Get()).or(guard::Head()))
            .to(handler);
        self.route(&["GET", "HEAD"], get)
    }

    fn post<F, Args>(self, handler: F) -> Path
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.route(&["POST"], web::post().to(handler))
    }

    fn put<F, Args>(self, handler: F) -> Path
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.route(&["PUT"], web::put().to(handler))
    }

    fn delete<F, Args>(self, handler: F) -> Path
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.route(&["DELETE"], web::delete().to(handler))
    }

    fn route(mut self, methods: &[&'static str], route: Route) -> Path {
        self.allow.extend(methods);
        self.resource = self.resource.route(route);
        self
    }

    /// The resource; other methods get a 405 that names those there are.
    fn resource(self) -> Resource {
        let mut allow = self.allow;
        allow.push("OPTIONS");
        let allow = allow.join(", ");
        let other = move |request: HttpRequest| -> Ready<Result<HttpResponse, Problem>> {
            ready(if request.method() == Method::OPTIONS {
                Ok(HttpResponse::NoContent()
                    .insert_header((header::ALLOW, allow.as_str()))
                    .finish())
            } else {
                Err(Problem::method_not_allowed(&allow))
            })
        };
        self.resource.default_service(web::to(other))
    }
}

/// Registers every route. Paths are tried one after another, so those of a game stand together
/// under their common beginning, and those that are asked for often come first.
pub fn configure(config: &mut ServiceConfig) {
    for path in [
        Path::new("/v1/games")
            .get(games::list_games)
            .post(games::create_game),
        Path::new("/v1/games/import").post(history::import_game),
    ] {
        config.service(path.resource());
    }
    let of_a_game = [
        Path::new("/play").post(change::play_move),
        Path::new("")
            .get(games::get_game)
            .delete(games::delete_game),
        Path::new("/legal-moves").get(moves::list_legal_moves),
        Path::new("/suggest-move").get(advice::suggest_move),
        Path::new("/swap").post(change::swap_cards),
        Path::new("/deal").post(change::deal_cards),
        Path::new("/board.svg").get(picture::get_board_picture),
        Path::new("/history").get(history::get_history),
        Path::new("/events").get(events::stream_events),
        Path::new("/events/ticket").post(events::create_ticket),
        Path::new("/seats/{seat}").put(change::hand_over_seat),
        Path::new("/seats/{seat}/token").post(tokens::reissue_token),
    ];
    let game = web::scope("/v1/games/{id}");
    let of_a_game = of_a_game.into_iter().map(Path::resource);
    config.service(of_a_game.fold(game, Scope::service));
    for path in [
        Path::new("/v1/rules").get(rules::list_rules),
        Path::new("/v1/analysis/legal-moves").post(analysis::analyse_legal_moves),
        Path::new("/v1/analysis/suggest-move").post(analysis::analyse_suggest_move),
        Path::new("/healthz").get(meta::get_health),
        Path::new("/readyz").get(meta::get_readiness),
        Path::new("/metrics").get(meta::get_metrics),
        Path::new("/openapi.json").get(meta::get_openapi),
        Path::new("/docs").get(meta::redirect_to_docs),
        Path::new("/docs/{file:.*}").get(meta::get_docs),
    ] {
        config.service(path.resource());
    }
}

/// What is answered where nothing is served.
pub async fn route_not_found(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let detail = format!("nothing is served under {}", request.path());
    Err(Problem::new(Code::RouteNotFound, detail))
}

/// The game of that id.
///
/// # Errors
/// `game_not_found`, also for a text that is no id; or the store fails.
fn find(reader: &Reader<'_>, id: &str) -> Result<Record, Problem> {
    let id: GameId = id.parse().map_err(|_| game_not_found())?;
    reader.game(&id)?.ok_or_else(game_not_found)
}

/// The game's seat of that number.
///
/// # Errors
/// `seat_not_found`.
fn find_seat(record: &Record, number: &str) -> Result<Seat, Problem> {
    let seat = number.parse().ok();
    seat.and_then(|seat| Seat::new(seat, record.game.rules().seats))
        .filter(|seat| seat.number().to_string() == number)
        .ok_or_else(|| Problem::new(Code::SeatNotFound, "the game has no such seat"))
}

pub(super) fn game_not_found() -> Problem {
    Problem::new(Code::GameNotFound, "no game has this id")
}
