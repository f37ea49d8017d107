//! Live streams of a game, and tickets for clients that cannot send a token.

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse, body,
    http::{Method, StatusCode, header},
    web::{Data, Path},
};
use dog_rules::Phase;
use dog_store::{StoredGame, TokenHash};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    access::{Caller, Role},
    api::{
        errors::errors,
        parameters::{GamePath, read_id},
    },
    app::App,
    headers::negotiation::preferred,
    http::json::from_query,
    limits::{ClientAddress, memory::no_memory, streams},
    live::{EventStream, Start, StreamOptions, StreamReader},
    metrics::SkipLatency,
    problem::{Code, Problem, Reason, request_id::RequestId},
    view::{
        change::{ChangeView, Include},
        game::{GameView, MatchOpened, PresenceView, ReactionView, Rematch, ReviewDone},
        message::Format,
        notice::{NoticeMessage, NoticeReader},
    },
};

errors! {
    StreamErrors: [READ], [InvalidRequest, DatabaseFull, TooManyStreams];
}

/// Maximum number of open streams of a process.
pub const MAX_STREAMS: usize = 20_000;

/// Follow a game.
///
/// A live stream of the game: first its present state, then every change as it happens.
///
/// Each message has its version as its id. A stream that is resumed after an id begins with the
/// changes after it. If the game has not reached that version, because the operator restored a
/// backup, the stream begins anew with the game: forget what you knew of it. Messages about who is
/// present and reactions have no id. The stream ends when the game is over; with `after_end=true`
/// it stays open for an hour at most and tells of the rematch and of the review.
#[utoipa::path(get, path = "/v1/games/{id}/events", tag = "games",
    params(GamePath, EventsParams,
        ("Last-Event-ID" = Option<String>, Header, pattern = "^[0-9]{1,19}$", description = "The last \
            version that was received; the stream continues after it. It goes before \
            `last_event_id` in the query.")),
    responses(
        (status = 200, description = "Server-sent events: first `game` with a Game, then a \
            `change` with a Change for each version. A resumed stream has only the later ones; \
            if it begins with `game`, the game has been set back. \
            `presence` with a Presence comes early in the stream and whenever it is another, \
            `reaction` with a SeatReaction when a person reacts, and after the end `rematch` with a \
            Rematch, `review` with a ReviewDone when the review is done or has failed, and at a table of \
            a match `match` with a MatchOpened when both tables of its pair have ended; these \
            have no id. \
            Comments (`:`) keep the connection open. With `Accept: application/x-ndjson`, the same \
            objects are lines: see StreamMessage.",
            content((String = "text/event-stream",
                example = json!("event: change\nid: 19\ndata: {\"version\":19,…}\n\n")), (StreamMessage = "application/x-ndjson"))),
        (status = 204, description = "The game ended with that version, so there is nothing to wait for."),
        StreamErrors),
    security((), ("token" = [])))]
pub async fn stream_events(
    app: Data<App>,
    path: Path<GamePath>,
    caller: Caller,
    client: ClientAddress,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let types = Format::ALL.map(Format::content_type);
    let content_type = preferred(request.headers(), &types);
    let id = read_id(&path.id)?;
    // Subscribes before it reads the game, so that no change is missed.
    let subscription = app.hub.subscribe(id);
    let stored = app.store.game(&id).await?;
    let stored = stored.ok_or_else(Problem::game_not_found)?;
    let params: Result<EventsParams, Problem> = from_query(request.query_string());
    let ticket = match (&params, caller.token()) {
        (Ok(params), None) => params.ticket.as_deref().map(TokenHash::new),
        // A wrong ticket is refused before a wrong parameter.
        (Err(_), None) => ticket_of(request.query_string()),
        // With a token, the ticket is ignored.
        (_, Some(_)) => None,
    };
    let caller = match &ticket {
        Some(ticket) => {
            let token = app.store.ticket(&id, ticket).await?;
            Caller::new(Some(token.ok_or_else(invalid_ticket)?))
        }
        None => caller,
    };
    let role = caller.role(&stored)?;
    let params = params?;
    let start = start(&request, &params, &stored)?;
    let format = Format::from_content_type(content_type?);
    if app.hub.waiting() > MAX_STREAMS {
        return Err(Problem::new(Code::Unavailable, "too many streams are open"));
    }
    if app.memory.is_full() {
        return Err(no_memory());
    }
    let after_end = params.after_end.unwrap_or(false);
    let over = stored.game.phase() == Phase::Finished;
    if over && !after_end && start == Start::After(stored.game.version()) {
        return Ok(HttpResponse::NoContent().finish());
    }
    let mut response = HttpResponse::build(StatusCode::OK);
    response
        .content_type(format.content_type())
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .insert_header((header::VARY, "Authorization, Accept"))
        // No proxy may buffer messages.
        .insert_header(("X-Accel-Buffering", "no"));
    if request.method() == Method::HEAD {
        // A stream has no length (RFC 9110, section 8.6).
        return Ok(response.body(body::None::new()).map_into_boxed_body());
    }
    let open = streams::begin(&request, role != Role::Spectator)?;
    let connection = app.presence.connection(stored.id, role);
    let options = StreamOptions {
        format,
        include: params.include,
        start,
        after_end,
    };
    let reader = StreamReader {
        caller,
        role,
        viewer: role.viewer(&stored.game),
        client,
    };
    let notice = Some(NoticeReader::new(&app.notice));
    let stream =
        EventStream::new(subscription, &stored, reader, connection, options, notice).await?;
    if let Some(ticket) = ticket {
        // Last of all, so that a refusal does not use it up. Another request may have come first.
        let taken = app.store.take_ticket(&id, &ticket).await?;
        taken.ok_or_else(invalid_ticket)?;
    }
    request.extensions_mut().insert(SkipLatency);
    let while_open = (app.metrics.open_stream(), open);
    let while_open = (RequestId::of(&request), while_open);
    Ok(response.streaming(stream.stream(while_open)))
}

/// The ticket in a query, even if the rest of it is invalid.
fn ticket_of(text: &str) -> Option<TokenHash> {
    #[derive(Deserialize, IntoParams)]
    struct TicketQuery {
        ticket: String,
    }
    let parsed = from_query::<TicketQuery>(text);
    parsed.ok().map(|query| TokenHash::new(&query.ticket))
}

/// Where the stream begins: after a version that the game has not reached, which the client saw
/// before the operator restored a backup, with the game as it is now.
///
/// # Errors
/// `invalid_request`, if the last event's id is not a version.
fn start(
    request: &HttpRequest,
    params: &EventsParams,
    stored: &StoredGame,
) -> Result<Start, Problem> {
    let header = request.headers().get("last-event-id");
    let text = match header {
        Some(value) => Some(value.to_str().unwrap_or("?")),
        None => params.last_event_id.as_deref(),
    };
    let Some(text) = text else {
        return Ok(Start::Game);
    };
    let now = stored.game.version();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(version) if digits && version <= now => Ok(Start::After(version)),
        Ok(_) if digits => Ok(Start::Game),
        _ => {
            let detail = "the last event's id must be a version, which is a number";
            Err(Problem::wrong_value("last_event_id", detail))
        }
    }
}

fn invalid_ticket() -> Problem {
    let detail = "the ticket does not belong to this game, was used, or has expired";
    Problem::new(Code::Unauthorized, detail).because(Reason::InvalidTicket)
}

/// Where a stream begins, and a ticket for it.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsParams {
    /// The last version that was received; the stream continues after it. For clients that cannot
    /// send the header `Last-Event-ID`, which goes first.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub last_event_id: Option<String>,
    /// A ticket in place of a token, for clients that cannot send one.
    pub ticket: Option<String>,
    /// What the newest change includes besides its events.
    #[param(inline)]
    pub include: Option<Include>,
    /// Whether the stream stays open after the end of the game, for an hour at most, and tells of
    /// the rematch, of the review and of the end of a match's pair; false by default.
    pub after_end: Option<bool>,
}

/// A line of a stream as NDJSON: the first is a Game, each later one a Change, one for each new
/// version. A resumed stream has only the later ones; if it begins with a Game, the game has been
/// set back. A Presence comes early in the stream and whenever it is another, a SeatReaction when a
/// person reacts, and after the end a Rematch, a ReviewDone and at a table of a match a MatchOpened;
/// these have no version. Empty lines keep the connection open; skip them.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "it is written piece by piece; only its schema is used"
)]
pub enum StreamMessage {
    Game(Box<GameView>),
    Change(Box<ChangeView>),
    Presence(PresenceView),
    Rematch(Box<Rematch>),
    Reaction(ReactionView),
    Review(ReviewDone),
    Match(MatchOpened),
    Notice(NoticeMessage<'static>),
}
