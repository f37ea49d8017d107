//! The routes and their handlers.

mod events;
pub mod games;
pub mod history;
pub mod join;
mod meta;
mod moves;
mod page;
pub mod play;
pub mod rematch;
pub mod seats;

use std::{
    future::{Ready, ready},
    sync::Arc,
};

use actix_web::{
    FromRequest, Handler, HttpRequest, HttpResponse, HttpResponseBuilder, Resource, Responder,
    Route, Scope,
    dev::{HttpServiceFactory, ServiceRequest},
    guard as methods,
    http::{Method, header},
    middleware::from_fn,
    web::{self, Bytes, ServiceConfig},
};
use dog_bot::net::nets::Nets;
use tokio::sync::Mutex;
use utoipa::OpenApi;
use utoipa_swagger_ui::Config;

pub use self::meta::{Readiness, StaticFiles};
use super::{
    limits::{Cost, guard, memory::BodyMemory},
    metrics::Metrics,
    network::HomeNetwork,
    pool::WorkerPool,
    problem::{Code, Problem},
    stream::{Hub, PresenceTracker},
    views::ViewCache,
};
use crate::{
    player_models::ModelCache,
    store::{GameId, Store, StoredGame},
};

/// The operations, for the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(
    meta::list_rules,
    meta::get_layout,
    games::create_game,
    games::list_games,
    games::get_game,
    games::delete_game,
    games::get_board_picture,
    games::change_settings,
    join::join_game,
    join::quick_join,
    seats::hand_over_seat,
    seats::reissue_token,
    games::renew_host_token,
    rematch::ask_rematch,
    rematch::get_rematch,
    history::get_history,
    history::import_game,
    events::stream_events,
    events::get_presence,
    events::create_ticket,
    play::deal_cards,
    play::swap_cards,
    moves::list_legal_moves,
    moves::list_seven_parts,
    play::play_move,
    moves::suggest_move,
    moves::analyse_legal_moves,
    moves::analyse_seven_parts,
    moves::analyse_suggest_move,
    meta::get_health,
    meta::get_readiness,
    meta::get_metrics,
    meta::get_openapi,
    meta::list_addresses,
))]
pub struct Operations;

/// The shared state of the handlers. Games are in the store only.
pub struct App {
    pub store: Store,
    /// Wakes requests that wait for a game to change.
    pub hub: Arc<Hub>,
    /// Who is connected.
    pub presence: Arc<PresenceTracker>,
    /// Held by the quick join that is taking a seat.
    pub quick_joins: Mutex<()>,
    /// The pool for players: lists of moves and of games.
    pub move_pool: Arc<WorkerPool>,
    /// The pool for long logs: histories, streams that catch up, imports.
    pub history_pool: Arc<WorkerPool>,
    /// The pool for advice and analysis, so that these do not delay players.
    pub advice_pool: WorkerPool,
    /// What bots and advice evaluate positions with.
    pub nets: Arc<Nets>,
    /// How the seats of games play.
    pub models: Arc<ModelCache>,
    /// Cached views of games.
    pub views: ViewCache,
    /// The memory for large bodies.
    pub memory: Arc<BodyMemory>,
    /// For `/metrics`.
    pub metrics: Metrics,
    /// The last result of `/readyz`.
    pub readiness: Readiness,
    pub openapi: Bytes,
    pub files: StaticFiles,
    pub docs: Arc<Config<'static>>,
    pub network: HomeNetwork,
    /// Whether the page is served.
    pub page: bool,
}

/// A path with its methods.
struct RouteDef {
    resource: Resource,
    /// The allowed methods, each followed by a comma.
    allow: String,
    /// The cost of each method; others cost a request.
    costs: Vec<(Method, Cost)>,
}

impl RouteDef {
    fn new(path: &str) -> RouteDef {
        RouteDef {
            resource: web::resource(path),
            allow: String::new(),
            costs: Vec::new(),
        }
    }

    /// Adds a handler for this method at this cost. GET also adds HEAD.
    fn on<F, Args>(mut self, method: Method, cost: Cost, handler: F) -> RouteDef
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.costs.push((method.clone(), cost));
        let route = if method == Method::GET {
            self.costs.push((Method::HEAD, cost));
            self.allow += "GET, HEAD, ";
            web::route().guard(methods::Any(methods::Get()).or(methods::Head()))
        } else {
            self.allow += &format!("{method}, ");
            web::method(method)
        };
        self.resource = self.resource.route(route.to(handler));
        self
    }

    /// The resource with its limits. Other methods get 405 with an `Allow` header.
    fn resource(self) -> impl HttpServiceFactory + 'static {
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
        let costs = self.costs;
        let limit = move |request: ServiceRequest, next| {
            let of_method = costs.iter().find(|(method, _)| method == request.method());
            guard(
                of_method.map_or(Cost::Request, |&(_, cost)| cost),
                request,
                next,
            )
        };
        self.resource
            .default_service(web::to(other))
            .wrap(from_fn(limit))
    }
}

/// Registers all routes. Paths are tried in order, so those of a game are grouped under their common
/// prefix, and frequent ones come first.
pub fn configure(config: &mut ServiceConfig) {
    use Cost::{Advice, Free, Import, Join, NewGame, Request, Write};
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    let of_games = [
        RouteDef::new("/v1/games")
            .on(GET, Request, games::list_games)
            .on(POST, NewGame, games::create_game),
        RouteDef::new("/v1/games/import").on(POST, Import, history::import_game),
    ];
    let of_a_game = [
        RouteDef::new("/play").on(POST, Write, play::play_move),
        RouteDef::new("")
            .on(GET, Request, games::get_game)
            .on(Method::PATCH, Write, games::change_settings)
            .on(Method::DELETE, Write, games::delete_game),
        RouteDef::new("/legal-moves").on(GET, Request, moves::list_legal_moves),
        RouteDef::new("/legal-moves/seven").on(GET, Request, moves::list_seven_parts),
        RouteDef::new("/suggest-move").on(GET, Advice, moves::suggest_move),
        RouteDef::new("/swap").on(POST, Write, play::swap_cards),
        RouteDef::new("/deal").on(POST, Write, play::deal_cards),
        RouteDef::new("/board.svg").on(GET, Request, games::get_board_picture),
        RouteDef::new("/history").on(GET, Request, history::get_history),
        RouteDef::new("/events").on(GET, Request, events::stream_events),
        RouteDef::new("/events/ticket").on(POST, Write, events::create_ticket),
        RouteDef::new("/presence").on(GET, Request, events::get_presence),
        RouteDef::new("/join").on(POST, Join, join::join_game),
        RouteDef::new("/seats/{seat}").on(Method::PUT, Write, seats::hand_over_seat),
        RouteDef::new("/seats/{seat}/token").on(POST, Write, seats::reissue_token),
        RouteDef::new("/host/token").on(POST, Write, games::renew_host_token),
        RouteDef::new("/rematch")
            .on(GET, Request, rematch::get_rematch)
            .on(POST, NewGame, rematch::ask_rematch),
    ];
    let others = [
        RouteDef::new("/v1/join").on(POST, NewGame, join::quick_join),
        RouteDef::new("/v1/rules").on(GET, Request, meta::list_rules),
        RouteDef::new("/v1/layout").on(GET, Request, meta::get_layout),
        RouteDef::new("/v1/addresses").on(GET, Request, meta::list_addresses),
        RouteDef::new("/v1/analysis/legal-moves").on(POST, Advice, moves::analyse_legal_moves),
        RouteDef::new("/v1/analysis/legal-moves/seven").on(
            POST,
            Advice,
            moves::analyse_seven_parts,
        ),
        RouteDef::new("/v1/analysis/suggest-move").on(POST, Advice, moves::analyse_suggest_move),
        RouteDef::new("/healthz").on(GET, Free, meta::get_health),
        RouteDef::new("/readyz").on(GET, Free, meta::get_readiness),
        RouteDef::new("/metrics").on(GET, Request, meta::get_metrics),
        RouteDef::new("/openapi.json").on(GET, Request, meta::get_openapi),
        RouteDef::new("/").on(GET, Request, page::get_page),
        RouteDef::new("/style.css").on(GET, Request, page::get_page),
        RouteDef::new("/icon.svg").on(GET, Request, page::get_page),
        RouteDef::new("/src/{file:.*}").on(GET, Request, page::get_page),
        RouteDef::new("/vendor/{file:.*}").on(GET, Request, page::get_page),
        RouteDef::new("/lang/{file:.*}").on(GET, Request, page::get_page),
        RouteDef::new("/docs").on(GET, Request, meta::redirect_docs),
        RouteDef::new("/docs/{file:.*}").on(GET, Request, meta::get_docs),
    ];
    let game = web::scope("/v1/games/{id}");
    let of_a_game = of_a_game.into_iter().map(RouteDef::resource);
    let of_a_game = of_a_game.fold(game, Scope::service);
    for path in of_games {
        config.service(path.resource());
    }
    config.service(of_a_game);
    for path in others {
        config.service(path.resource());
    }
}

/// The handler for unknown paths, with the limits.
pub fn not_found() -> Route {
    let limit = |request: ServiceRequest, next| guard(Cost::Request, request, next);
    web::to(route_not_found).wrap(from_fn(limit))
}

async fn route_not_found(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let detail = format!("there is no route {}", request.path());
    Err(Problem::new(Code::RouteNotFound, detail))
}

/// The media type of a picture.
const SVG: &str = "image/svg+xml";

/// The response for a picture, which may run nothing in a browser, because it contains users' names.
fn picture(mut response: HttpResponseBuilder) -> HttpResponseBuilder {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    response
        .content_type(SVG)
        .insert_header((header::CONTENT_SECURITY_POLICY, policy));
    response
}

/// Parses an id; `game_not_found` if it is invalid.
fn read_id(id: &str) -> Result<GameId, Problem> {
    id.parse().map_err(|_| Problem::game_not_found())
}

/// Loads the game with that id.
async fn load_game(store: &Store, id: &str) -> Result<StoredGame, Problem> {
    let record = store.game(&read_id(id)?).await?;
    record.ok_or_else(Problem::game_not_found)
}
