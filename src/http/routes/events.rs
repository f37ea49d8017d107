//! Live streams of a game, and tickets for clients that cannot send a token.

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse, body,
    http::{Method, StatusCode, header},
    web::{Data, Path},
};
use dog_rules::Phase;
use serde::Deserialize;

use super::{App, load_game, read_id, seats::TokenRequest};
use crate::{
    access::{AccessError, Caller},
    http::{
        headers::{preferred, private_response},
        json::from_query,
        limits::{ClientAddress, connections::Waiting, memory::no_memory},
        metrics::SkipLatency,
        problem::{Code, Problem, Reason},
        request::WriteRequest,
        secrets::Secret,
        stream::{EventStream, Start, StreamOptions, hub::Format},
        wire::{
            change::StreamMessage,
            game::{PresenceView, TicketResponse},
            request::{EventsParams, NoQuery},
        },
        write::{Answer, Decision, write},
    },
    store::{NewTicket, StoredGame, TICKET_TTL, TokenHash, WriteOp, now},
};

/// Maximum number of open streams of a process.
const MAX_STREAMS: usize = 20_000;

/// A live stream of the game: first its present state, then every change as it happens.
///
/// Each message has its version as its id. A stream that is resumed after an id begins with the
/// changes after it. If the game has not reached that version, because the operator restored a
/// backup, the stream begins anew with the game: forget what you knew of it. Messages about who is
/// present have no id. The stream ends when the game is over; with `after_end=true` it stays open
/// for an hour at most and tells of the rematch.
#[utoipa::path(get, path = "/v1/games/{id}/events", operation_id = "stream_events", tag = "games",
    params(("id" = String, Path, description = "The game's id."), EventsParams,
        ("Last-Event-ID" = Option<String>, Header, description = "The last version that was \
            received; the stream continues after it. It overrides the parameter of the same name.")),
    responses(
        (status = 200, description = "Server-sent events: first `game` with a Game, then a \
            `change` with a Change for each version. A resumed stream has only the later ones; \
            if it begins with `game`, the game has been set back. \
            `presence` with a Presence comes early in the stream and whenever it is another, \
            `rematch` with a Rematch after the end; both have no id. \
            Comments (`:`) keep the connection open. With `Accept: application/x-ndjson`, the same \
            objects are lines: see StreamMessage.",
            content((String = "text/event-stream"), (StreamMessage = "application/x-ndjson"))),
        (status = 204, description = "The game ended with that version, so there is nothing to wait for.")),
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
    // Subscribes before it reads the game, so that no change is missed.
    let subscription = app.hub.subscribe(id);
    let record = app.store.game(&id).await?;
    let record = record.ok_or_else(Problem::game_not_found)?;
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
    let after_end = params.after_end.unwrap_or(false);
    let over = record.game.phase() == Phase::Finished;
    if over && !after_end && start == Start::After(record.game.version()) {
        return Ok(HttpResponse::NoContent().finish());
    }
    let mut response = HttpResponse::build(StatusCode::OK);
    response
        .content_type(format.content_type())
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .insert_header((header::VARY, "Authorization, Accept"))
        // Neither a proxy nor the compressor may buffer messages.
        .insert_header(("X-Accel-Buffering", "no"))
        .insert_header((header::CONTENT_ENCODING, "identity"));
    if request.method() == Method::HEAD {
        // A stream has no length (RFC 9110, section 8.6).
        return Ok(response.body(body::None::new()).map_into_boxed_body());
    }
    if let Some(ticket) = ticket {
        // Last of all, so that a refusal does not use it up. Another request may have come first.
        let taken = app.store.take_ticket(&id, &ticket).await?;
        taken.ok_or_else(invalid_ticket)?;
    }
    let connection = app.presence.connection(record.id, role);
    let options = StreamOptions {
        format,
        include: params.include,
        start,
        after_end,
    };
    let caller = (caller, role, client);
    let stream = EventStream::new(subscription, &record, caller, connection, options)?;
    request.extensions_mut().insert(SkipLatency);
    let while_open = (app.metrics.open_stream(), Waiting::begin(&request));
    Ok(response.streaming(stream.stream(while_open)))
}

/// Who is present: the people with an open stream or long poll.
///
/// A seat is present for 5 seconds after its last connection has ended. The view of a game and its
/// ETag do not depend on it.
#[utoipa::path(get, path = "/v1/games/{id}/presence", operation_id = "get_presence", tag = "seats",
    params(("id" = String, Path, description = "The game's id.")),
    responses((status = 200, description = "Who is present.", body = PresenceView)),
    security((), ("token" = [])))]
pub async fn get_presence(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let record = load_game(&app.store, &id).await?;
    caller.role(&record)?;
    let NoQuery {} = from_query(request.query_string())?;
    let connected = app.presence.connected(&record.id).await?;
    let presence = PresenceView::new(&record.game, &connected);
    Ok(private_response(StatusCode::OK).json(presence))
}

/// The ticket in a query, even if the rest of it is invalid.
fn ticket_of(text: &str) -> Option<TokenHash> {
    #[derive(Deserialize)]
    struct TicketQuery {
        ticket: String,
    }
    let parsed = from_query::<TicketQuery>(text);
    parsed.ok().map(|query| TokenHash::new(&query.ticket))
}

/// Where the stream begins: after a version that the game has not reached, which the client saw before
/// the operator restored a backup, with the game as it is now.
///
/// # Errors
/// `invalid_request`, if the last event's id is no version.
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

/// A ticket for one stream, for `EventSource`, which cannot send a token: `?ticket=`.
///
/// It is valid once, and for 30 seconds.
#[utoipa::path(post, path = "/v1/games/{id}/events/ticket", operation_id = "create_ticket", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = TokenRequest, description = "May be empty."),
    responses((status = 200, description = "The ticket, which is shown only once.", body = TicketResponse)),
    security(("token" = [])))]
pub async fn create_ticket(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &id, &request, |game| {
        let role = game.role()?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        let TokenRequest { .. } = game.body()?;
        let secrets = request.secrets()?;
        let token = request.caller.token().ok_or(AccessError::NoToken)?;
        let hash = secrets.hash(Secret::Ticket);
        let op = WriteOp::AddTicket(game.expected_state(), NewTicket { hash, token });
        let body = TicketResponse {
            ticket: Secret::Ticket,
            expires_at: (now() + TICKET_TTL).to_string(),
        };
        let answer = Answer::new(StatusCode::OK, &body)?;
        Ok(Decision::Change(op, answer.with_secrets(secrets)))
    })
    .await
}
