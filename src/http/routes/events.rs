//! Live streams of a game, and tickets for those who cannot send a token.

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::{Method, StatusCode, header},
    web::{Data, Path},
};
use dog_rules::Phase;
use serde::Deserialize;

use super::{App, execute_in_game, read_id};
use crate::{
    http::{
        headers::preferred,
        limits::{ClientAddress, memory::no_memory},
        metrics::SkipLatency,
        problem::{Code, Problem},
        request::WriteRequest,
        stream::{EventStream, Start, hub::Format},
        wire::{
            game::TicketResponse,
            history::LogEntryView,
            request::{EventsParams, TokenRequest, query},
        },
    },
    service::{Caller, GameCommand},
    store::{StoredGame, TokenHash},
};

/// Streams that one process keeps open.
const MAX_STREAMS: usize = 20_000;

/// A live stream of the game: first as it is, then every change as it happens.
///
/// Each has its version as its id. Resumed after an id, the stream begins with what came after it.
/// It ends by itself with the game.
#[utoipa::path(get, path = "/v1/games/{id}/events", operation_id = "stream_events", tag = "games",
    params(("id" = String, Path, description = "The game's id."), EventsParams,
        ("Last-Event-ID" = Option<String>, Header, description = "The last version that was received: the stream goes on after it. It takes the place of the parameter of that name.")),
    responses(
        (status = 200, description = "Server-sent events: `game` with a Game first, then `change` with a LogEntry each; or, by `Accept`, the same a line each.",
            content((String = "text/event-stream"), (LogEntryView = "application/x-ndjson"))),
        (status = 204, description = "The game ended with that version: there is nothing to wait for.")),
    security((), ("token" = [])))]
pub async fn stream_events(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    client: ClientAddress,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let types = Format::ALL.map(Format::content_type);
    let content_type = preferred(request.headers(), &types);
    let id = read_id(&id)?;
    // Whoever waits before looking misses nothing.
    let subscription = app.hub.subscribe(id);
    let record = app.store.game(&id).await?;
    let record = record.ok_or_else(Problem::game_not_found)?;
    let params: Result<EventsParams, Problem> = query(request.query_string());
    let ticket = match (&params, caller.token()) {
        (Ok(params), None) => params.ticket.as_deref().map(TokenHash::of),
        // Whose it is counts before what is wrong beside it.
        (Err(_), None) => ticket_of(request.query_string()),
        // Whoever sends a token needs no ticket.
        (_, Some(_)) => None,
    };
    let caller = match &ticket {
        Some(ticket) => {
            let token = app.store.ticket(&id, ticket).await?;
            Caller::new(Some(token.ok_or_else(no_ticket)?))
        }
        None => caller,
    };
    let role = caller.role(&record)?;
    let params = params?;
    let start = start(&request, &params, &record)?;
    let format = Format::of(content_type?);
    if app.hub.waiting() > MAX_STREAMS {
        return Err(Problem::new(Code::Unavailable, "too many streams are open"));
    }
    if app.memory.is_full() {
        return Err(no_memory());
    }
    let over = record.game.phase() == Phase::Finished;
    if over && start == Start::After(record.game.version()) {
        return Ok(HttpResponse::NoContent().finish());
    }
    let mut response = HttpResponse::build(StatusCode::OK);
    response
        .content_type(format.content_type())
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .insert_header((header::VARY, "Authorization, Accept"))
        // Neither a proxy nor a compressor is to keep messages back until there are more.
        .insert_header(("X-Accel-Buffering", "no"))
        .insert_header((header::CONTENT_ENCODING, "identity"));
    if request.method() == Method::HEAD {
        return Ok(response.finish());
    }
    if let Some(ticket) = ticket {
        // Last of all, so that a refusal does not use it up; another may have been faster.
        let taken = app.store.take_ticket(&id, &ticket).await?;
        taken.ok_or_else(no_ticket)?;
    }
    let viewing = EventStream::new(subscription, &record, (caller, role, client), format, start)?;
    request.extensions_mut().insert(SkipLatency);
    Ok(response.streaming(viewing.stream(app.metrics.open_stream())))
}

/// The ticket in a query of whatever shape.
fn ticket_of(text: &str) -> Option<TokenHash> {
    #[derive(Deserialize)]
    struct Ticketed {
        ticket: String,
    }
    let ticketed = query::<Ticketed>(text);
    ticketed.ok().map(|query| TokenHash::of(&query.ticket))
}

/// Where the stream is to begin; `invalid_request`, if the last event's id is none of this game's.
fn start(
    request: &HttpRequest,
    params: &EventsParams,
    record: &StoredGame,
) -> Result<Start, Problem> {
    let header = request.headers().get("last-event-id");
    let text = match header {
        Some(value) => Some(value.to_str().unwrap_or("?")),
        None => params.last_event_id.as_deref(),
    };
    let Some(text) = text else {
        return Ok(Start::Game);
    };
    let now = record.game.version();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(version) if digits && version <= now => Ok(Start::After(version)),
        _ => {
            let detail = format!("the last event's id must be a version from 0 to {now}");
            Err(Problem::invalid(detail))
        }
    }
}

fn no_ticket() -> Problem {
    let detail = "the ticket is none of this game's, or was used, or has expired";
    Problem::new(Code::Unauthorized, detail)
}

/// A ticket for one stream, for `EventSource`, which cannot send a token: `?ticket=`.
///
/// It is good once, and for 30 seconds.
#[utoipa::path(post, path = "/v1/games/{id}/events/ticket", operation_id = "create_ticket", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = TokenRequest, description = "May be empty."),
    responses((status = 200, description = "The ticket, shown this once.", body = TicketResponse)),
    security(("token" = [])))]
pub async fn create_ticket(
    app: Data<App>,
    id: Path<String>,
    body: WriteRequest<TokenRequest>,
) -> Result<HttpResponse, Problem> {
    let command = GameCommand::CreateTicket(body.content.map(drop));
    execute_in_game(&app, id.into_inner(), &body.context, command).await
}
