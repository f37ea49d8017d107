//! Fresh tokens for the host and for seats, and tickets.

use std::sync::Arc;

use actix_web::{HttpResponse, http::StatusCode};
use dog_rules::{Action, Seat};
use dog_store::{NewTicket, TICKET_TTL, TokenHash, WriteOp, now};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    access::{AccessError, Role},
    api::{
        errors::errors,
        parameters::{GameChange, GamePath, SeatChange, SeatPath, VersionRequest, WriteHeaders},
    },
    http::{answer::Answer, secrets::Secret},
    problem::Problem,
    write::{Decision, GameWrite, write},
};

errors! {
    HostTokenErrors: [READ, BODY, RETRY, CHANGE, SECRET], [Forbidden, TooManyChanges];
    SeatTokenErrors: [READ, BODY, RETRY, CHANGE, SECRET], [
        Forbidden, GameOver, TooManyVersions, SeatNotFound, NoHuman, TooManyChanges
    ];
    TicketErrors: [READ, BODY, RETRY, CHANGE, SECRET], [];
}

/// A fresh token for the host. It is shown only once; the old one is invalid.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"token": "f60f1bb2e89d1c8a70f27c4116ede92b"}))]
pub struct FreshHostToken {
    #[schema(value_type = String)]
    pub token: Secret,
}

/// Replace the host's token.
///
/// Gives the host a fresh token; the old one becomes invalid.
///
/// It makes no new version.
#[utoipa::path(post, path = "/v1/games/{id}/host/token", tag = "games",
    params(GamePath, WriteHeaders),
    request_body(content = VersionRequest, description = "May be empty."),
    responses((status = 200, description = "The fresh token, which is shown only once.",
        body = FreshHostToken),
        HostTokenErrors),
    security(("token" = [])))]
pub async fn renew_host_token((app, path, request): GameChange) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        if let Some(answer) = game.first_answer_if_revoked()? {
            return Ok(answer);
        }
        let role = game.host("renew its token")?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        game.check_admin_change()?;
        let VersionRequest { .. } = game.body()?;
        let secrets = request.secrets()?;
        let (mut tokens, mut seating) = (game.tokens.clone(), (*game.seating).clone());
        seating.replace_host_token(&mut tokens, secrets.hash(Secret::Host));
        let op = WriteOp::SetTokens(game.expected_state(), tokens, seating.into());
        let token = Secret::Host;
        let answer = Answer::new(StatusCode::OK, &FreshHostToken { token })?;
        Ok(Decision::Change(op, answer.with_secrets(secrets)))
    })
    .await
}

/// A fresh token for a seat. It is shown only once; the old one is invalid.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"seat": 0, "token": "029ede6114c72f07a8c1d98e2bb1f06f", "version": 19}))]
pub struct FreshToken {
    pub seat: Seat,
    #[schema(value_type = String)]
    pub token: Secret,
    /// The game's version. It changes if the host has sent the request, and at the first renewal
    /// by the seat's person.
    pub version: u64,
}

/// Replace a seat's token.
///
/// Gives the seat a fresh token; the old one becomes invalid.
///
/// A player who was sent a token takes ownership of it in this way: after the first renewal, which
/// is a public event, the host cannot replace it. A renewal by the host is a public event too.
#[utoipa::path(post, path = "/v1/games/{id}/seats/{seat}/token", tag = "seats",
    params(SeatPath, WriteHeaders),
    request_body(content = VersionRequest, description = "May be empty."),
    responses((status = 200, description = "The fresh token, which is shown only once.", body = FreshToken),
        SeatTokenErrors),
    security(("token" = [])))]
pub async fn reissue_token((app, path, request): SeatChange) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let seat = game.seat_numbered(&path.seat)?;
        if let Some(answer) = game.first_answer_if_revoked()? {
            return Ok(answer);
        }
        let role = game.host_or(seat)?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        if !game.stored.game.player(seat).is_human() {
            return Err(AccessError::SeatIsBot(seat).into());
        }
        let joined = game.seating.seats[seat].joined;
        if role == Role::Host {
            if joined {
                return Err(AccessError::SeatJoined(seat).into());
            }
            game.stored.game.check_not_over()?;
            game.check_limit()?;
            game.check_admin_change()?;
        } else {
            game.check_seat_change(seat)?;
        }
        let VersionRequest { .. } = game.body()?;
        let secrets = request.secrets()?;
        let token = Secret::Seat(seat);
        let (op, version) = fresh_token(game, role, seat, secrets.hash(token))?;
        let body = FreshToken {
            seat,
            token,
            version,
        };
        let answer = Answer::new(StatusCode::OK, &body)?.with_secrets(secrets);
        let answer = match role {
            Role::Host => answer.for_another(),
            _ => answer,
        };
        Ok(Decision::Change(op, answer))
    })
    .await
}

/// The write that gives a seat this token, and the version after it. By the host it is a public
/// event, and so is the first renewal by the seat itself, after which the host has no power over
/// the token. Later renewals, and those of a game that is over or at its last version, make no new
/// version.
fn fresh_token(
    game: &GameWrite<'_>,
    role: Role,
    seat: Seat,
    fresh: TokenHash,
) -> Result<(WriteOp, u64), Problem> {
    let joined = game.seating.seats[seat].joined;
    if role == Role::Host || !joined && !game.is_closed() {
        let mut draft = game.draft(&match role {
            Role::Host => Action::ReissueToken { seat },
            _ => Action::RenewToken { seat },
        })?;
        let seating = Arc::make_mut(&mut draft.next.seating);
        seating.replace_token(&mut draft.next.tokens, seat, Some(fresh));
        seating.seats[seat].joined = role != Role::Host;
        let version = draft.next.game.version();
        return Ok((draft.into(), version));
    }
    let (mut tokens, mut seating) = (game.tokens.clone(), (*game.seating).clone());
    seating.replace_token(&mut tokens, seat, Some(fresh));
    let access = &mut seating.seats[seat];
    access.joined = true;
    access.changes += 1;
    let op = WriteOp::SetTokens(game.expected_state(), tokens, seating.into());
    Ok((op, game.stored.game.version()))
}

/// A ticket for one stream. It is shown only once.
#[derive(Serialize, ToSchema)]
#[schema(as = Ticket, example = json!({"ticket": "b29ede6114c72f07a8c1d98e2bb1f06f", "expires_at": "2026-03-14T18:30:35.25Z"}))]
pub struct TicketResponse {
    #[schema(value_type = String)]
    pub ticket: Secret,
    /// When it expires, if it is not used before.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Make a ticket for a stream.
///
/// A ticket for one stream, for `EventSource`, which cannot send a token: `?ticket=`.
///
/// It is valid once, and for 30 seconds.
#[utoipa::path(post, path = "/v1/games/{id}/events/ticket", tag = "games",
    params(GamePath, WriteHeaders),
    request_body(content = VersionRequest, description = "May be empty."),
    responses((status = 200, description = "The ticket, which is shown only once.", body = TicketResponse,
        links(
            ("stream_events" = (operation_id = "stream_events",
                parameters(("id" = "$request.path.id"), ("ticket" = "$response.body#/ticket")))))),
        TicketErrors),
    security(("token" = [])))]
pub async fn create_ticket((app, path, request): GameChange) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let role = game.role()?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        let VersionRequest { .. } = game.body()?;
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
