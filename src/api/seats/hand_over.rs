//! Who plays a seat, and its token.

use actix_web::{HttpResponse, http::StatusCode};
use dog_bot::Level;
use dog_rules::{
    Action, Game, Player, Seat, SeatKind,
    name::{NameError, checked, default_name},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    access::{AccessError, Role},
    api::{
        errors::errors,
        parameters::{PlayerName, SeatChange, SeatPath, WriteHeaders},
    },
    http::{answer::Answer, secrets::Secret},
    problem::Problem,
    view::game::ActionResponse,
    write::{Decision, write},
};

errors! {
    SeatErrors: [READ, BODY, RETRY, CHANGE, SECRET], [
        Forbidden, GameOver, TooManyVersions, SeatNotFound, TooManyChanges
    ];
}

/// Changes who plays a seat. A member that is left out keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "bot", "level": "fast"}), min_properties = 1)]
pub struct HandOverRequest {
    /// By the seat itself: `bot` to leave, `human` to come back, `open` to give the seat up. By the
    /// host: `bot`, `open` for somebody else, `human` for a seat that nobody joined.
    kind: Option<SeatKind>,
    /// As for a seat of a new game. Without it the player keeps the name, but a person called `Bot`
    /// gets the name `Seat` and the seat's number.
    name: Option<PlayerName>,
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

    /// The player that this makes of the seat's. `is_for_another` is set if the host sends it about
    /// a person who joined.
    ///
    /// # Errors
    /// What is wrong with it; `forbidden`, if only that person may send it.
    pub fn player(self, game: &Game, seat: Seat, is_for_another: bool) -> Result<Player, Problem> {
        if self.kind.is_none() && self.name.is_none() && self.level.is_none() {
            let detail = "one of kind, name and level must be there";
            return Err(Problem::wrong_combination(detail));
        }
        let name = (self.name.as_ref()).map(|name| name.checked(SeatKind::Bot, "name"));
        let name = name.transpose()?;
        let now = game.player(seat);
        let kind = self.kind.unwrap_or(game.kind(seat));
        if is_for_another && (kind == SeatKind::Human || name.is_some()) {
            return Err(AccessError::SeatJoined(seat).into());
        }
        let name = match name {
            Some(name) => checked(&name, kind)
                .map_err(|_| Problem::wrong_value("name", NameError::BotName))?,
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
    #[serde(flatten)]
    change: ActionResponse,
    /// The invitation to a seat that the host has opened. It is shown only once, and an older one
    /// is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    invitation: Option<Secret>,
}

/// Change who plays a seat.
///
/// Changes who plays a seat, or the player's name or level.
///
/// The seat itself sends `bot` to leave, while a bot plays on and the token stays valid; `human` to
/// come back; `open` to give the seat up for good; or a new name. The host sends `bot`, or `open`
/// to have somebody else take the seat with the invitation in the response, or `human` and names
/// for a seat that nobody joined. It is a public event. Somebody who takes over a seat in the
/// middle of a round has its hand from the next deal on; until then a bot stands in.
#[utoipa::path(put, path = "/v1/games/{id}/seats/{seat}", tag = "seats",
    params(SeatPath, WriteHeaders),
    request_body = HandOverRequest,
    responses((status = 200, description = "The seat is changed.", body = SeatChanged),
        SeatErrors),
    security(("token" = [])))]
pub async fn hand_over_seat((app, path, request): SeatChange) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let seat = game.seat_numbered(&path.seat)?;
        let change = game.body::<HandOverRequest>();
        // A person who gives up the seat no longer has a token.
        if change.as_ref().is_ok_and(HandOverRequest::opens)
            && let Some(answer) = game.first_answer_if_revoked()?
        {
            return Ok(answer);
        }
        let role = game.operator().map_or_else(|| game.host_or(seat), Ok)?;
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
        if opens && game.is_match_closed() {
            return Err(AccessError::MatchRunning.into());
        }
        let is_for_another = by_host && game.seating.seats[seat].joined;
        let player = change.player(&game.stored.game, seat, is_for_another)?;
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
        let invitation = secrets.as_ref().map(|_| invitation);
        let body = SeatChanged { change, invitation };
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
