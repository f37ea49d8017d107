//! Responses to writes.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use dog_rules::Seat;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    problem::Problem,
    wire::game::{
        ActionResponse, Created, FreshHostToken, FreshToken, GameView, Rematch, TicketResponse,
    },
};
use crate::service::{CommandOutcome, Renderers, Response};

/// How games are rendered in the responses to writes.
pub const RENDERERS: Renderers<Problem> = Renderers {
    game: |record, role| json(&GameView::new(record, role)),
    changed: |draft, role| json(&ActionResponse::new(&draft.next, &draft.events, role)),
    rematch: |record, role| json(&Rematch::new(record, role)),
};

/// The value as JSON.
pub fn json(value: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(Problem::internal)
}

/// The response to a write, with its tokens.
///
/// # Errors
/// `internal`, if the saved response is inconsistent.
pub fn respond(outcome: CommandOutcome) -> Result<HttpResponse, Problem> {
    let tokens = || {
        let tokens = outcome.tokens.as_ref();
        tokens.ok_or_else(|| Problem::internal("a response lacks its tokens"))
    };
    match outcome.response {
        Response::Plain { status, etag, body } => {
            let status = StatusCode::from_u16(status).map_err(Problem::internal)?;
            Ok(send(status, etag, None, body))
        }
        Response::Created {
            id,
            seats,
            bots,
            open,
            invited,
            etag,
            game,
            ..
        } => {
            let tokens = tokens()?;
            let token = |seat| (!bots.contains(&seat)).then(|| tokens.seat(seat));
            let game: &RawValue = serde_json::from_str(&game).map_err(Problem::internal)?;
            let location = format!("/v1/games/{id}");
            let invitation = |seat| {
                let is_open = open.contains(&seat);
                is_open.then(|| tokens.invitation(Some(seat)))
            };
            let has_open = !open.is_empty();
            let body = json(&Created {
                id,
                seat_tokens: Seat::all(seats).map(token).collect(),
                host_token: tokens.host(),
                invitations: has_open
                    .then(|| invited.then(|| Seat::all(seats).map(invitation).collect())),
                invitation: has_open.then(|| invited.then(|| tokens.invitation(None))),
                game,
            })?;
            Ok(send(StatusCode::CREATED, Some(etag), Some(location), body))
        }
        Response::FreshToken { seat, version, .. } => {
            let token = tokens()?.seat(seat);
            let body = json(&FreshToken {
                seat,
                token,
                version,
            })?;
            Ok(send(StatusCode::OK, None, None, body))
        }
        Response::FreshHostToken { .. } => {
            let token = tokens()?.host();
            let body = json(&FreshHostToken { token })?;
            Ok(send(StatusCode::OK, None, None, body))
        }
        Response::Opened {
            seat, etag, action, ..
        } => {
            let invitation = json(&tokens()?.invitation(Some(seat)))?;
            let body = with_members(action, &format!("\"invitation\":{invitation}"));
            Ok(send(StatusCode::OK, Some(etag), None, body))
        }
        Response::Joined {
            id,
            seat,
            etag,
            action,
            ..
        } => {
            let token = json(&tokens()?.seat(seat))?;
            let number = seat.number();
            let mut members = format!("\"seat\":{number},\"token\":{token}");
            if let Some(id) = &id {
                members += &format!(",\"id\":{}", json(id)?);
            }
            let location = id.map(|id| format!("/v1/games/{id}"));
            let body = with_members(action, &members);
            Ok(send(StatusCode::CREATED, Some(etag), location, body))
        }
        Response::Ticket { expires_at, .. } => {
            let ticket = tokens()?.ticket();
            let body = json(&TicketResponse { ticket, expires_at })?;
            Ok(send(StatusCode::OK, None, None, body))
        }
    }
}

/// The object in JSON with more members, written as JSON too.
fn with_members(mut object: String, members: &str) -> String {
    object.pop();
    object + "," + members + "}"
}

fn send(
    status: StatusCode,
    etag: Option<String>,
    location: Option<String>,
    body: String,
) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    response.insert_header((header::CACHE_CONTROL, "no-store"));
    if let Some(etag) = etag {
        response.insert_header((header::ETAG, etag));
    }
    if let Some(location) = location {
        response.insert_header((header::LOCATION, location));
    }
    if body.is_empty() {
        return response.finish();
    }
    response.content_type("application/json").body(body)
}
