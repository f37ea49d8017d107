//! The routes: each handler parses, asks the domain, answers.

mod change;
mod events;
mod games;
pub mod history;
mod meta;
mod moves;

use std::{
    future::{Ready, ready},
    sync::Arc,
};

use actix_web::{
    FromRequest, Handler, HttpRequest, HttpResponse, HttpResponseBuilder, Resource, Responder,
    Scope, guard,
    http::{Method, header},
    web::{self, Bytes, ServiceConfig},
};
use dog_bot::net::nets::Nets;
use dog_rules::Seat;
use utoipa::OpenApi;
use utoipa_swagger_ui::Config;

pub use self::meta::{CompressedFiles, Readiness};
use super::{
    answer::Answer,
    limits::memory::BodyMemory,
    metrics::Metrics,
    pool::Pool,
    problem::{Code, Problem},
    stream::hub::Hub,
};
use crate::store::{GameId, Reader, Record, Store, Transaction};

/// The operations, for the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(
    meta::list_rules,
    games::create_game,
    games::list_games,
    games::get_game,
    games::delete_game,
    games::get_board_picture,
    change::reissue_token,
    history::get_history,
    history::import_game,
    events::stream_events,
    events::create_ticket,
    change::hand_over_seat,
    change::deal_cards,
    change::swap_cards,
    moves::list_legal_moves,
    change::play_move,
    moves::suggest_move,
    moves::analyse_legal_moves,
    moves::analyse_suggest_move,
    meta::get_health,
    meta::get_readiness,
    meta::get_metrics,
    meta::get_openapi,
))]
pub struct Operations;

/// What the handlers work with. Nothing of a game is kept here: everything is in the store.
pub struct App {
    pub store: Store,
    /// Where those wait who wait for games to change.
    pub hub: Arc<Hub>,
    /// For those who play: lists of moves, lists of games.
    pub tables: Arc<Pool>,
    /// For long logs: history, streams that catch up, imports.
    pub pages: Arc<Pool>,
    /// For those who ask: advice and analysis. Its load never holds up the tables.
    pub advisers: Pool,
    /// What the advisers judge by.
    pub nets: Arc<Nets>,
    /// What large bodies hold.
    pub memory: Arc<BodyMemory>,
    /// What is counted, for `/metrics`.
    pub metrics: Metrics,
    /// The last answer of `/readyz`.
    pub readiness: Readiness,
    pub openapi: Bytes,
    pub compressed: CompressedFiles,
    pub docs: Arc<Config<'static>>,
}

/// One path and the methods it takes.
struct Path {
    resource: Resource,
    /// The methods, each with a comma after it.
    allow: String,
}

impl Path {
    fn new(path: &str) -> Path {
        Path {
            resource: web::resource(path),
            allow: String::new(),
        }
    }

    /// Serves this method; with GET also HEAD, in the same way without the body.
    fn on<F, Args>(mut self, method: Method, handler: F) -> Path
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let route = if method == Method::GET {
            self.allow += "GET, HEAD, ";
            web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
        } else {
            self.allow += &format!("{method}, ");
            web::method(method)
        };
        self.resource = self.resource.route(route.to(handler));
        self
    }

    /// The resource; other methods get a 405 that names those there are.
    fn resource(self) -> Resource {
        let allow = self.allow + "OPTIONS";
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
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    let of_games = [
        Path::new("/v1/games")
            .on(GET, games::list_games)
            .on(POST, games::create_game),
        Path::new("/v1/games/import").on(POST, history::import_game),
    ];
    let of_a_game = [
        Path::new("/play").on(POST, change::play_move),
        Path::new("")
            .on(GET, games::get_game)
            .on(Method::DELETE, games::delete_game),
        Path::new("/legal-moves").on(GET, moves::list_legal_moves),
        Path::new("/suggest-move").on(GET, moves::suggest_move),
        Path::new("/swap").on(POST, change::swap_cards),
        Path::new("/deal").on(POST, change::deal_cards),
        Path::new("/board.svg").on(GET, games::get_board_picture),
        Path::new("/history").on(GET, history::get_history),
        Path::new("/events").on(GET, events::stream_events),
        Path::new("/events/ticket").on(POST, events::create_ticket),
        Path::new("/seats/{seat}").on(Method::PUT, change::hand_over_seat),
        Path::new("/seats/{seat}/token").on(POST, change::reissue_token),
    ];
    let others = [
        Path::new("/v1/rules").on(GET, meta::list_rules),
        Path::new("/v1/analysis/legal-moves").on(POST, moves::analyse_legal_moves),
        Path::new("/v1/analysis/suggest-move").on(POST, moves::analyse_suggest_move),
        Path::new("/healthz").on(GET, meta::get_health),
        Path::new("/readyz").on(GET, meta::get_readiness),
        Path::new("/metrics").on(GET, meta::get_metrics),
        Path::new("/openapi.json").on(GET, meta::get_openapi),
        Path::new("/docs").on(GET, meta::redirect_to_docs),
        Path::new("/docs/{file:.*}").on(GET, meta::get_docs),
    ];
    let game = web::scope("/v1/games/{id}");
    let of_a_game = of_a_game.into_iter().map(Path::resource);
    let of_a_game = of_a_game.fold(game, Scope::service);
    for path in of_games {
        config.service(path.resource());
    }
    config.service(of_a_game);
    for path in others {
        config.service(path.resource());
    }
}

/// What is answered where nothing is served.
pub async fn route_not_found(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let detail = format!("nothing is served under {}", request.path());
    Err(Problem::new(Code::RouteNotFound, detail))
}

/// Does a write, and answers with what came of it.
async fn write(
    app: &App,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<Answer, Problem> + Send + 'static,
) -> Result<HttpResponse, Problem> {
    Ok(app.store.write(work).await?.into())
}

/// The media type of a picture.
const SVG: &str = "image/svg+xml";

/// Answers with a picture, which may do nothing where it is shown: names in it are users' text.
fn picture(mut response: HttpResponseBuilder, svg: String) -> HttpResponse {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    response
        .content_type(SVG)
        .insert_header((header::CONTENT_SECURITY_POLICY, policy))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(svg)
}

/// The id that this text stands for; `game_not_found` if it is none.
fn read_id(id: &str) -> Result<GameId, Problem> {
    id.parse().map_err(|_| Problem::game_not_found())
}

/// The game of that id, outside a transaction.
fn look(store: &Store, id: &str) -> Result<Record, Problem> {
    let record = store.game(&read_id(id)?)?;
    record.ok_or_else(Problem::game_not_found)
}

/// The game of that id.
fn find(reader: &Reader<'_>, id: &str) -> Result<Record, Problem> {
    let record = reader.game(&read_id(id)?)?;
    record.ok_or_else(Problem::game_not_found)
}

/// The game's seat of that number, or `seat_not_found`.
fn find_seat(record: &Record, number: &str) -> Result<Seat, Problem> {
    let seat = number.parse().ok();
    seat.and_then(|seat| Seat::new(seat, record.game.rules().seats))
        .filter(|seat| seat.number().to_string() == number)
        .ok_or_else(|| Problem::new(Code::SeatNotFound, "the game has no such seat"))
}
