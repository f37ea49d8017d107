//! Games: list, read, delete.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::StatusCode,
    rt::time::timeout,
    web::{self, Data},
};
use dog_rules::{Phase, Preset, Seat, SeatKind};
use dog_store::{GameId, GamePage, ListQuery, StoredGame, WriteOp};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::{IntoParams, ToSchema};

use crate::{
    access::{AccessError, Role},
    api::{
        errors::errors,
        parameters::{
            GameChange, GamePath, GameRequest, ReadHeaders, WriteHeaders, in_range, load_game,
        },
    },
    app::App,
    http::{
        answer::Answer,
        content::send_state,
        json::{from_query, to_json},
        range::MAX_INTEGER,
    },
    limits::{gates::is_by_operator, streams},
    metrics::SkipLatency,
    pool::SHORT_JOB_COST,
    problem::Problem,
    view::{
        cache::Rendering,
        game::{GameView, to_act},
        rules::RulesView,
    },
    write::{Decision, GameWrite, MAX_ATTEMPTS, attempt, load_for_write},
};

errors! {
    ListErrors: [], [InvalidRequest, StaleVersion, Forbidden];
    GameErrors: [READ], [InvalidRequest, StaleVersion, TooManyStreams];
    DeleteErrors: [READ, BODY, RETRY, CHANGE], [Forbidden];
}

/// How long a client may wait for a change.
pub const MAX_WAIT: Duration = Duration::from_secs(25);

/// List the public games.
///
/// The public games, newest first, without secrets.
///
/// The list comes in pages: `next` of one page is the `cursor` of the following page. With
/// `open=true` it has the tables with a seat that anyone may take. To follow a list, ask for it
/// every 10 seconds with the last `ETag`. A game that is not over leaves the list when nobody has
/// used it for ten minutes; of one creator at most five tables come before those of others.
#[utoipa::path(get, path = "/v1/games", tag = "games",
    params(ListParams, ReadHeaders),
    responses(
        (status = 200, description = "A page of the list.", body = GameList,
            headers(("ETag" = String, description = "A hash of the page.")),
        links(
            ("get_game" = (operation_id = "get_game",
                parameters(("id" = "$response.body#/games/0/id")))),
            ("list_games" = (operation_id = "list_games",
                parameters(("cursor" = "$response.body#/next")))))),
        (status = 304, description = "The page is still the one of If-None-Match."),
        ListErrors))]
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
    let (page, sizes) = if params.all == Some(true) {
        if !is_by_operator(&request) {
            return Err(AccessError::OperatorOnly("list all games").into());
        }
        let creator = params.creator.as_deref().map(str::parse).transpose();
        let creator = creator.map_err(|_| {
            Problem::wrong_value("creator", "creator must be that of an entry of the list")
        })?;
        // It may read every game, and must not hold up a worker.
        let (store, worker) = (app.store.clone(), Handle::current());
        let listed = web::block(move || worker.block_on(store.all_games(&query, creator)));
        let (page, sizes) = listed.await.map_err(Problem::internal)??;
        (page, Some(sizes))
    } else if params.creator.is_some() {
        let detail = "creator is for all=true only";
        return Err(Problem::wrong_combination(detail));
    } else {
        (app.store.games(&query).await?, None)
    };
    app.move_pool
        .answer_if_changed(&request, SHORT_JOB_COST, move || {
            Ok(GameList::new(&page, sizes.as_ref()))
        })
        .await
}

/// Read a game.
///
/// The game as the caller may see it: a seat, the host, or without a token a spectator.
///
/// With `after_version`, the response waits for the next change. A stream of events is better for
/// clients that can read one.
#[utoipa::path(get, path = "/v1/games/{id}", tag = "games",
    params(GamePath, GameParams,
        ReadHeaders),
    responses(
        (status = 200, description = "The game.", body = GameView,
            headers(("ETag" = String, description = "The version and the viewer, such as \"17-2\"."))),
        (status = 304, description = "The view is still the one of If-None-Match, or the game is \
            still at `after_version`."),
        GameErrors),
    security((), ("token" = [])))]
pub async fn get_game(read: GameRequest) -> Result<HttpResponse, Problem> {
    let (mut stored, mut role) = read.game().await?;
    let (app, request) = (&read.app, &read.request);
    let GameParams { after_version } = read.query()?;
    let after_version = in_range("after_version", after_version, 0, MAX_INTEGER)?;
    // The client may know a later version, from before the operator restored a backup.
    let is_known = |version| after_version == Some(version);
    if let Some(known) = after_version
        && is_known(stored.game.version())
        && stored.game.phase() != Phase::Finished
    {
        request.extensions_mut().insert(SkipLatency);
        let _open = streams::begin(request, role != Role::Spectator)?;
        let connection = app.presence.connection(stored.id, role);
        wait(app, stored.id, known).await?;
        stored = load_game(&app.store, &read.path.id).await?;
        role = match (read.caller.role(&stored), connection) {
            (Err(error), Some(connection)) => {
                connection.lose_seat();
                return Err(error.into());
            }
            (role, _) => role?,
        };
    }
    let is_known = is_known(stored.game.version());
    send_state(request, &stored, role, is_known, || {
        let render = || Ok(to_json(&GameView::with_data(&stored, role))?.into());
        app.views.get(&stored, Rendering::Game(role), render)
    })
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

/// Removes a game. The body may be empty; unknown fields are ignored.
#[derive(Deserialize, ToSchema)]
pub struct RemoveRequest {
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// Remove a game.
///
/// Removes the game; only its host may do so.
///
/// Its streams end, and later requests get 404.
#[utoipa::path(delete, path = "/v1/games/{id}", tag = "games",
    params(GamePath, WriteHeaders),
    responses((status = 204, description = "The game is removed."),
        DeleteErrors),
    security(("token" = [])))]
pub async fn delete_game((app, path, request): GameChange) -> Result<HttpResponse, Problem> {
    let load = load_for_write(&app.store, &path.id, &request)?;
    attempt(&app.store, &request, MAX_ATTEMPTS, load, |loaded| {
        if loaded.game.is_none()
            && let Some(answer) = request.first_answer(loaded.saved_response.as_ref())?
        {
            return Ok(Decision::Answer(answer));
        }
        let game = GameWrite::new(loaded, &request)?;
        let role = match (request.by_operator, game.table) {
            (true, _) => Role::Host,
            (false, None) => game.host("remove a game")?,
            (false, Some(_)) => {
                game.role()?;
                return Err(AccessError::OperatorOnly("remove a table of a match").into());
            }
        };
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        let RemoveRequest { .. } = game.body()?;
        let op = WriteOp::Remove(game.expected_state());
        Ok(Decision::Change(op, Answer::empty(StatusCode::NO_CONTENT)))
    })
    .await
}

/// A page of the public list of games, newest first.
#[derive(Serialize, ToSchema)]
pub struct GameList {
    games: Vec<GameSummary>,
    /// Send it as `cursor` for the next page; null on the last page.
    #[schema(required)]
    next: Option<String>,
}

/// A game in the public list.
#[derive(Serialize, ToSchema)]
pub struct GameSummary {
    id: String,
    version: u64,
    /// The preset of the rules.
    preset: Preset,
    rules: RulesView,
    phase: Phase,
    round: u32,
    #[schema(required)]
    turn: Option<Seat>,
    /// The seats that the game waits for.
    #[schema(max_items = 6)]
    to_act: Vec<Seat>,
    #[schema(required)]
    winner: Option<u8>,
    /// The seats' names, in turn order.
    names: Vec<String>,
    /// One entry per seat, in turn order.
    seats: Vec<ListedSeat>,
    /// The number of seats that anyone may take, without an invitation.
    #[schema(maximum = 6)]
    open_seats: usize,
    /// Seconds that a seat has to act; null without a turn clock.
    #[schema(required)]
    turn_seconds: Option<u32>,
    /// Whether the game was imported from a record and not played on this server.
    imported: bool,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
    /// Whether the game may be in public lists. This and the next members are there for the
    /// operator only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    listed: Option<bool>,
    /// The bytes that the game and its log take.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    size: Option<u64>,
    /// A keyed hash of the address that created the game, while it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    creator: Option<String>,
    /// When the server is to act in it, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    due: Option<String>,
}

/// A seat of a game in the public list.
#[derive(Serialize, ToSchema)]
#[schema(as = SeatInList)]
pub struct ListedSeat {
    seat: Seat,
    /// The seat's team: seats opposite each other play together.
    #[schema(maximum = 2)]
    team: u8,
    name: String,
    kind: SeatKind,
}

impl GameSummary {
    /// The summary; with the `size` for the operator.
    fn new(stored: &StoredGame, size: Option<u64>) -> GameSummary {
        let game = &stored.game;
        let rules = game.rules();
        let seat = |seat: Seat| {
            let player = game.player(seat);
            ListedSeat {
                seat,
                team: seat.team(rules.seats),
                name: player.name.clone(),
                kind: game.kind(seat),
            }
        };
        GameSummary {
            id: stored.id.to_string(),
            version: game.version(),
            preset: rules.preset,
            rules: RulesView::from(rules.options()),
            phase: game.phase(),
            round: game.round(),
            turn: game.turn(),
            to_act: to_act(stored),
            winner: game.winner(),
            names: game
                .players()
                .iter()
                .map(|player| player.name.clone())
                .collect(),
            seats: Seat::all(rules.seats).map(seat).collect(),
            open_seats: stored.seats_for_anyone().count(),
            turn_seconds: stored.timing.turn_seconds,
            imported: stored.imported,
            created_at: stored.created_at.to_string(),
            updated_at: stored.updated_at.to_string(),
            listed: size.map(|_| stored.listed),
            size,
            creator: stored
                .creator
                .filter(|_| size.is_some())
                .map(|creator| creator.to_string()),
            due: size.and_then(|_| Some(stored.due_at(stored.updated_at)?.to_string())),
        }
    }
}

impl GameList {
    /// A page of the list; for the operator with the games' sizes in bytes.
    pub fn new(page: &GamePage, sizes: Option<&HashMap<GameId, u64>>) -> GameList {
        let summary = |stored: &StoredGame| {
            let size = sizes.map(|sizes| sizes.get(&stored.id).copied().unwrap_or_default());
            GameSummary::new(stored, size)
        };
        GameList {
            games: page.games.iter().map(summary).collect(),
            next: page.next.map(|next| next.to_string()),
        }
    }
}

/// Default number of games on a page of the list.
const DEFAULT_LIST_LIMIT: u32 = 20;

/// Maximum number of games on a page of the list.
const MAX_LIST_LIMIT: u32 = 100;

/// How to wait for a change.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GameParams {
    /// While the game is at this version, wait for the next one, up to 25 seconds; then the answer
    /// is 304.
    #[param(format = "int64", maximum = 9_007_199_254_740_991_u64)]
    after_version: Option<u64>,
}

/// Which games to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// Only games in this phase.
    pub phase: Option<Phase>,
    /// Whether to list only tables with a seat that anyone may take; false by default.
    pub open: Option<bool>,
    /// Whether to list all games, also unlisted ones; for the operator, with the key as
    /// `Dog-Token`.
    pub all: Option<bool>,
    /// Of all games, only those of this creator, as `creator` of an entry names it.
    #[param(pattern = "^[0-9a-f]{32}$")]
    pub creator: Option<String>,
    /// Where to continue: `next` of an earlier response.
    #[param(pattern = "^(0|[1-9a-f][0-9a-f]{0,14}|[1-7][0-9a-f]{15})$")]
    pub cursor: Option<String>,
    /// Maximum number of games; 20 by default.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

impl ListParams {
    /// Maximum number of games.
    pub fn limit(&self) -> Result<u32, Problem> {
        let limit = in_range("limit", self.limit, 1, MAX_LIST_LIMIT)?;
        Ok(limit.unwrap_or(DEFAULT_LIST_LIMIT))
    }
}
