//! Who plays a seat, and its token.

use std::sync::Arc;

use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};
use dog_rules::{
    Action, Game, Level, Player, Seat, SeatKind,
    name::{NameError, checked, default_name},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use crate::{
    access::{AccessError, Role},
    http::{
        problem::Problem,
        request::WriteRequest,
        secrets::Secret,
        wire::{
            game::{ActionResponse, GameView},
            history::EventView,
            request::given_name,
        },
        write::{Answer, Decision, GameWrite, write},
    },
    store::{TokenHash, WriteOp},
};

/// Changes who plays a seat. A member that is left out keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "bot", "level": "fast"}), min_properties = 1)]
pub struct HandOverRequest {
    /// By the seat itself: `bot` to leave, `human` to come back, `open` to give the seat up. By the
    /// host: `bot`, `open` for somebody else, `human` for a seat that nobody joined.
    kind: Option<SeatKind>,
    /// As for a seat of a new game. Without it the player keeps the name, but a person does not keep
    /// that of a bot.
    #[schema(
        min_length = 1,
        max_length = 40,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
    )]
    name: Option<String>,
    /// As for a seat of a new game.
    level: Option<Level>,
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

impl HandOverRequest {
    /// Whether the seat is opened or given up.
    fn opens(&self) -> bool {
        self.kind == Some(SeatKind::Open)
    }

    /// The player that this makes of the seat's. `of_another` is set if the host sends it about a
    /// person who joined.
    ///
    /// # Errors
    /// What is wrong with it; `forbidden`, if only that person may send it.
    pub fn player(self, game: &Game, seat: Seat, of_another: bool) -> Result<Player, Problem> {
        if self.kind.is_none() && self.name.is_none() && self.level.is_none() {
            let detail = "one of kind, name and level must be there";
            return Err(Problem::wrong_combination(detail));
        }
        let name = given_name(self.name.as_deref(), SeatKind::Bot, "name")?;
        let now = game.player(seat);
        let kind = self.kind.unwrap_or(now.kind);
        if of_another && (kind == SeatKind::Human || name.is_some()) {
            return Err(AccessError::SeatJoined(seat).into());
        }
        let name = match name {
            Some(name) => {
                checked(&name, kind).map_err(|_| Problem::wrong_value("name", NameError::OfBot))?
            }
            None if kind == SeatKind::Open => default_name(seat, kind),
            None if kind == now.kind => now.name.clone(),
            None => kept_name(now, seat, kind),
        };
        Ok(Player {
            name: game.distinct_name(seat, &name),
            kind,
            level: self.level.unwrap_or(now.level),
        })
    }
}

/// The response to a changed seat.
#[derive(Serialize, ToSchema)]
pub struct SeatChanged {
    #[schema(minimum = 1)]
    version: u64,
    events: Vec<EventView>,
    game: GameView,
    /// The invitation to a seat that the host has opened. It is shown only once, and an older one is
    /// invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    invitation: Option<Secret>,
}

impl SeatChanged {
    /// The response to this change.
    pub fn new(change: ActionResponse, invitation: Option<Secret>) -> SeatChanged {
        let ActionResponse {
            version,
            events,
            game,
        } = change;
        SeatChanged {
            version,
            events,
            game,
            invitation,
        }
    }
}

/// Changes who plays a seat, or the player's name or level.
///
/// The seat itself sends `bot` to leave, while a bot plays on and the token stays valid; `human` to
/// come back; `open` to give the seat up for good; or a new name. The host sends `bot`, or `open` to
/// have somebody else take the seat with the invitation in the response, or `human` and names for a
/// seat that nobody joined. It is a public event. Somebody who takes over a seat in the middle of a
/// round has its hand from the next deal on; until then a bot stands in.
#[utoipa::path(put, path = "/v1/games/{id}/seats/{seat}", operation_id = "hand_over_seat", tag = "seats",
    params(("id" = String, Path, description = "The game's id."),
        ("seat" = u8, Path, description = "The seat's number.")),
    request_body = HandOverRequest,
    responses((status = 200, description = "The seat is changed.", body = SeatChanged)),
    security(("token" = [])))]
pub async fn hand_over_seat(
    app: Data<App>,
    path: Path<(String, String)>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let (id, number) = path.into_inner();
    write(&app.store, &id, &request, |game| {
        let seat = game.seat_numbered(&number)?;
        let change = game.body::<HandOverRequest>();
        // Who gives up the seat has no token any more.
        if change.as_ref().is_ok_and(HandOverRequest::opens)
            && let Some(answer) = game.first_answer_if_revoked()?
        {
            return Ok(answer);
        }
        let role = game.host_or(seat)?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        game.stored.game.check_not_over()?;
        game.check_limit()?;
        match role {
            Role::Host => game.check_admin_change()?,
            _ => game.check_seat_change(seat)?,
        }
        let change = change?;
        let (opens, by_host) = (change.opens(), role == Role::Host);
        let of_another = by_host && game.seating.seats[seat].joined;
        let player = change.player(&game.stored.game, seat, of_another)?;
        let mut draft = game.draft(&match by_host {
            true => Action::HandOver { seat, player },
            false => Action::ChangeSeat { seat, player },
        })?;
        let invitation = Secret::Invitation(Some(seat));
        let secrets = (opens && by_host).then(|| request.secrets()).transpose()?;
        if opens {
            let invitation = secrets.as_ref().map(|secrets| secrets.hash(invitation));
            draft.open_seat(seat, invitation);
        }
        let change = ActionResponse::new(&draft.next, &draft.events, role);
        let body = SeatChanged::new(change, secrets.as_ref().map(|_| invitation));
        let mut answer = Answer::new(StatusCode::OK, &body)?.with_etag(&draft.next, role);
        if let Some(secrets) = secrets {
            answer = answer.with_secrets(secrets).for_another();
        }
        Ok(Decision::Change(draft.into(), answer))
    })
    .await
}

/// The name of this player of the seat, if a player of that kind may have it, or the default one.
pub fn kept_name(player: &Player, seat: Seat, kind: SeatKind) -> String {
    checked(&player.name, kind).unwrap_or_else(|_| default_name(seat, kind))
}

/// Gives a seat a fresh token. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct TokenRequest {
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// A fresh token for a seat. It is shown only once; the old one is invalid.
#[derive(Serialize, ToSchema)]
pub struct FreshToken {
    pub seat: Seat,
    #[schema(value_type = String)]
    pub token: Secret,
    /// The game's version, which changes only if the host has sent the request.
    pub version: u64,
}

/// Gives the seat a fresh token; the old one becomes invalid.
///
/// A player who was sent a token takes ownership of it in this way: after the first renewal, which
/// is a public event, the host cannot replace it. A renewal by the host is a public event too.
#[utoipa::path(post, path = "/v1/games/{id}/seats/{seat}/token", operation_id = "reissue_token", tag = "seats",
    params(("id" = String, Path, description = "The game's id."),
        ("seat" = u8, Path, description = "The seat's number.")),
    request_body(content = TokenRequest, description = "May be empty."),
    responses((status = 200, description = "The fresh token, which is shown only once.", body = FreshToken)),
    security(("token" = [])))]
pub async fn reissue_token(
    app: Data<App>,
    path: Path<(String, String)>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let (id, number) = path.into_inner();
    write(&app.store, &id, &request, |game| {
        let seat = game.seat_numbered(&number)?;
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
        let TokenRequest { .. } = game.body()?;
        let secrets = request.secrets()?;
        let token = Secret::Seat(seat);
        let (op, version) = fresh_token(game, role, seat, secrets.hash(token))?;
        let answer = Answer::new(
            StatusCode::OK,
            &FreshToken {
                seat,
                token,
                version,
            },
        )?;
        let answer = answer.with_secrets(secrets);
        Ok(Decision::Change(
            op,
            match role {
                Role::Host => answer.for_another(),
                _ => answer,
            },
        ))
    })
    .await
}

/// The write that gives a seat this token, and the version after it. By the host it is a public event,
/// and so is the first renewal by the seat itself, after which the host has no power over the token.
/// Later renewals, and those of a game that is over or at its last version, make no new version.
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
