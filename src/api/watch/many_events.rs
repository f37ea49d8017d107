//! One live stream of many games.

use actix_web::{HttpMessage, HttpRequest, HttpResponse, http::header, web::Data};
use dog_rules::Phase;
use dog_store::TokenHash;
use serde::Deserialize;
use utoipa::ToSchema;

use super::events::MAX_STREAMS;
use crate::{
    access::{Caller, Role},
    api::{
        errors::errors,
        parameters::{BoundedList, read_id},
    },
    app::App,
    http::{
        json::from_query,
        request::{Body, NoQuery},
    },
    limits::{
        ClientAddress, Cost, LimitState,
        memory::no_memory,
        streams::{StreamClient, WaitingResponse},
    },
    live::{EventStream, GameLine, ManyGames, Start, StreamOptions, StreamReader},
    metrics::SkipLatency,
    problem::{Code, Problem, request_id::RequestId},
    view::message::Format,
};

errors! {
    ManyStreamsErrors: [BODY], [];
}

/// Maximum number of games of a stream.
const MAX_GAMES: usize = 256;

/// Follows many games.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"games": [
    {"id": "3greww0c87bewv0nam07asx29d"},
    {"id": "06zgrb0wmrqk9y7ttx2vbkhq1r", "after_version": 17}
]}))]
pub struct FollowGames {
    #[schema(value_type = Vec<FollowedGame>, min_items = 1, max_items = 256)]
    games: BoundedList<FollowedGame, MAX_GAMES>,
}

/// A game to follow.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FollowedGame {
    /// The game's id.
    id: String,
    /// A token of the game; without one, its lines are those of a spectator.
    token: Option<String>,
    /// The last version that was received; the lines continue after it.
    #[schema(format = "int64", maximum = 9_007_199_254_740_991_u64)]
    after_version: Option<u64>,
}

/// Follow many games.
///
/// One live stream of up to 256 games, as lines of JSON.
///
/// The lines are those of the games' own streams, each with its `game_id`. A game begins with a Game,
/// with the changes after `after_version`, or with a `closed` line that says what is wrong. A
/// `closed` line without a problem is the end of a game; the others go on. To resume the stream, send
/// the request again with the last versions. It does not show anybody as present. Each game counts as
/// a request and as a stream.
#[utoipa::path(post, path = "/v1/events", tag = "games",
    request_body = FollowGames,
    responses((status = 200, description = "The lines: see GameLine. Empty lines keep the \
        connection open; skip them.", content((GameLine = "application/x-ndjson"))),
        ManyStreamsErrors))]
pub async fn stream_many_events(
    app: Data<App>,
    client: ClientAddress,
    limits: Data<LimitState>,
    request: HttpRequest,
    body: Body<FollowGames>,
) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    let games = body.content?.games.not_empty("games")?;
    limits.charge_more(client, Cost::Request, games.len() as u32 - 1, 0)?;
    if app.memory.is_full() {
        return Err(no_memory());
    }
    let counted = StreamClient::new(&request);
    let open = async move |id: &str, game: FollowedGame| {
        let id = read_id(id)?;
        // Subscribes before it reads the game, so that no change is missed.
        let subscription = app.hub.subscribe(id);
        let stored = app.store.game(&id).await?;
        let stored = stored.ok_or_else(Problem::game_not_found)?;
        let token = game.token.filter(|token| !token.is_empty());
        let caller = Caller::new(token.map(|token| TokenHash::new(&token)));
        let role = caller.role(&stored)?;
        let now = stored.game.version();
        let start = match game.after_version {
            Some(version) if version <= now => Start::After(version),
            _ => Start::Game,
        };
        if stored.game.phase() == Phase::Finished && start == Start::After(now) {
            return Ok(None);
        }
        if app.hub.waiting() > MAX_STREAMS {
            let detail = "too many streams are open";
            return Err(Problem::new(Code::TooManyStreams, detail));
        }
        let counted = counted.count(role != Role::Spectator)?;
        let options = StreamOptions {
            format: Format::Ndjson,
            include: None,
            start,
            after_end: false,
        };
        let reader = StreamReader {
            caller,
            role,
            viewer: role.viewer(&stored.game),
            client,
        };
        let stream = EventStream::new(subscription, &stored, reader, None, options, None).await?;
        Ok(Some((stream, (counted, app.metrics.open_stream()))))
    };
    request.extensions_mut().insert(SkipLatency);
    let games = games.into_iter().map(|game| (game.id.clone(), game));
    let many = ManyGames::new(RequestId::of(&request), games.collect(), open);
    Ok(HttpResponse::Ok()
        .content_type(Format::Ndjson.content_type())
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .insert_header(("X-Accel-Buffering", "no"))
        .streaming(many.stream(WaitingResponse::begin(&request))))
}
