//! Taking a seat: with an invitation, at an open table, or at any by quick join.

use std::sync::Arc;

use actix_web::{HttpResponse, http::StatusCode, web::Data};
use dog_rules::{Action, Actor, Phase, Rules, Seat, SeatKind};
use dog_store::{
    Creator, Draft, JoinPolicy, MAX_ADMIN_CHANGES, NewGame, OpenedBy, SeatData, StartPolicy,
    StoredGame, TokenHash,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::hand_over::kept_name;
use crate::{
    access::{AccessError, Caller, Role},
    api::{
        errors::errors,
        games::create::{CreateGame, SeatRequest, new_game},
        parameters::{
            BoundedList, GameChange, GamePath, PlayerName, RetryHeaders, WriteHeaders, client_data,
        },
    },
    app::App,
    http::{
        answer::Answer,
        request::WriteRequest,
        secrets::{Secret, Secrets},
    },
    limits::{ClientAddress, Cost, LimitState},
    problem::Problem,
    view::{
        game::{ActionResponse, GameView},
        rules::{RulesRequest, checked_rules},
    },
    write::{Decision, attempt, write},
};

errors! {
    JoinErrors: [BODY, RETRY, SECRET, GATE], [
        GameNotFound, SeatNotFound, StaleVersion, GameOver, TooManyVersions, InvitationNeeded,
        WrongInvitation, SeatTaken, NoOpenSeat, TooManyChanges
    ];
    QuickJoinErrors: [BODY, RETRY, SECRET, KEY, GATE], [InvalidRules];
}

/// Maximum characters of an invitation: more than any has.
const INVITATION_LENGTH: usize = 100;

/// Takes an open seat.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"invitation": "any-5f2b8c1d9e7a40364bd1c2e8f90a7b53", "name": "Eva"}))]
pub struct JoinRequest {
    /// The invitation, unless anyone may join.
    #[schema(max_length = 100)]
    invitation: Option<String>,
    /// The seat to take; by default an open one of the team with the fewest people.
    #[schema(maximum = 5)]
    seat: Option<u8>,
    /// As for a seat of a new game; by default the name of the open seat.
    name: Option<PlayerName>,
    /// What you attach to the seat: an object of at most 1 KiB without white space and 16 levels,
    /// which only the host and the seat see, in place of what the host has attached to it.
    #[schema(value_type = Option<Object>)]
    data: Option<Box<RawValue>>,
}

/// The response to somebody who took a seat. The token is shown only once.
#[derive(Serialize, ToSchema)]
pub struct Joined {
    seat: Seat,
    /// The seat's token.
    #[schema(value_type = String)]
    token: Secret,
    #[serde(flatten)]
    change: ActionResponse,
}

impl Joined {
    /// The response to somebody who has taken this seat by this change.
    pub fn new(seat: Seat, change: ActionResponse) -> Joined {
        Joined {
            seat,
            token: Secret::Seat(seat),
            change,
        }
    }
}

/// Join a game.
///
/// Takes an open seat, and returns its token, which is shown only once.
///
/// The invitation names what it opens: one seat, or any that has been open since the creation.
/// Without `seat` the caller gets an open one of the team with the fewest people. With an
/// `Idempotency-Key`, a retry gets the same token; the key must carry 128 random bits or more.
#[utoipa::path(post, path = "/v1/games/{id}/join", tag = "seats",
    params(GamePath, WriteHeaders),
    request_body(content = JoinRequest, description = "May be empty where anyone may join."),
    responses((status = 201, description = "The seat is taken.", body = Joined,
        headers(("ETag" = String, description = "The version as the seat sees it.")),
        links(
            ("get_game" = (operation_id = "get_game", parameters(("id" = "$request.path.id")))),
            ("stream_events" = (operation_id = "stream_events",
                parameters(("id" = "$request.path.id")))))),
        JoinErrors))]
pub async fn join_game(
    (app, path, request): GameChange,
    client: ClientAddress,
    limits: Data<LimitState>,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let JoinRequest {
            invitation,
            seat,
            name,
            data,
        } = game.body()?;
        if invitation
            .as_ref()
            .is_some_and(|text| text.len() > INVITATION_LENGTH)
        {
            let detail = "/invitation is too long for an invitation";
            return Err(Problem::wrong_value("invitation", detail));
        }
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        // A token makes no difference.
        Caller::new(None).role(game.stored)?;
        let named = match seat {
            None => None,
            Some(number) => Some(
                Seat::new(number, game.stored.game.rules().seats)
                    .ok_or(AccessError::SeatNotFound)?,
            ),
        };
        // It concerns no state that the client knows, so `If-None-Match` does not count.
        request.check_version(game.stored, Role::Spectator)?;
        game.stored.game.check_not_over()?;
        game.check_limit()?;
        let seat = seat_to_take(game, invitation.as_deref().map(TokenHash::new), named)?;
        let name = given_name(name)?;
        let data = client_data(data, "data")?;
        let secrets = request.secrets()?;
        let mut draft = take_seat(game, seat, name, &secrets)?;
        if let Some(text) = data {
            limits.charge_more(client, Cost::Join, 0, 1)?;
            let person = draft.next.game.person(seat);
            Arc::make_mut(&mut draft.next.data).seats[seat] = Some(SeatData { person, text });
        }
        let role = Role::Seat(seat);
        let change = ActionResponse {
            game: GameView::with_data(&draft.next, role),
            ..ActionResponse::new(&draft.next, &draft.events, role)
        };
        let answer = Answer::new(StatusCode::CREATED, &Joined::new(seat, change))?;
        let answer = answer.with_etag(&draft.next, role).with_secrets(secrets);
        Ok(Decision::Change(draft.into(), answer))
    })
    .await
}

/// The name of a person who joins.
///
/// # Errors
/// `invalid_request`.
fn given_name(name: Option<PlayerName>) -> Result<Option<String>, Problem> {
    name.map(|name| name.checked(SeatKind::Human, "name"))
        .transpose()
}

/// The seat that a request takes: the one it names, that of its invitation, or the lowest open one,
/// of the team with the fewest people.
fn seat_to_take(
    stored: &StoredGame,
    invitation: Option<TokenHash>,
    named: Option<Seat>,
) -> Result<Seat, AccessError> {
    let (game, seating) = (&stored.game, &stored.seating);
    let seats = game.rules().seats;
    let is_open = |seat: Seat| game.player(seat).kind == SeatKind::Open;
    let opened = |seat: Seat| seating.seats[seat].opened_by;
    let invited_to = invitation.map(|presented| {
        // All hashes are compared, each in constant time, even after a match.
        let mut found = None;
        for seat in Seat::all(seats) {
            if seating.seats[seat].invitation == Some(presented) {
                found = Some(Some(seat));
            }
        }
        if seating.invitation == Some(presented) {
            found = Some(None);
        }
        found.ok_or(AccessError::WrongInvitation)
    });
    // Whether the request opens an open seat.
    let opens: Box<dyn Fn(Seat) -> bool> = match invited_to.transpose()? {
        Some(Some(seat)) => {
            if named.is_some_and(|named| named != seat) {
                return Err(AccessError::WrongInvitation);
            }
            return match is_open(seat) {
                true => Ok(seat),
                false => Err(AccessError::SeatTaken(seat)),
            };
        }
        Some(None) => Box::new(|seat| opened(seat) == OpenedBy::Creation),
        None if seating.join == JoinPolicy::Anyone => {
            Box::new(|seat| seating.lets_anyone_take(seat))
        }
        None => return Err(AccessError::InvitationNeeded),
    };
    if let Some(seat) = named {
        return match (is_open(seat), opens(seat)) {
            (true, true) => Ok(seat),
            (true, false) if invitation.is_some() => Err(AccessError::WrongInvitation),
            (true, false) => Err(AccessError::InvitationNeeded),
            (false, _) => Err(AccessError::SeatTaken(seat)),
        };
    }
    let people = |team: u8| {
        let team_seats = Seat::all(seats).filter(|seat| seat.team(seats) == team);
        team_seats
            .filter(|&seat| game.player(seat).is_human())
            .count()
    };
    let candidates = Seat::all(seats).filter(|&seat| is_open(seat) && opens(seat));
    candidates
        .min_by_key(|seat| (people(seat.team(seats)), seat.number()))
        .ok_or(AccessError::NoOpenSeat)
}

/// The game in which somebody has taken this seat, by this name or that of the seat.
fn take_seat(
    stored: &StoredGame,
    seat: Seat,
    name: Option<String>,
    secrets: &Secrets,
) -> Result<Draft, Problem> {
    let game = &stored.game;
    let name = name.unwrap_or_else(|| kept_name(game.player(seat), seat, SeatKind::Human));
    let name = game.distinct_name(seat, &name);
    let mut draft = Draft::new(stored, &Action::Join { seat, name }, Actor::Player)?;
    let next = &mut draft.next;
    next.tokens.seats[seat] = Some(secrets.hash(Secret::Seat(seat)));
    let seating = Arc::make_mut(&mut next.seating);
    seating.seats[seat].joined = true;
    if stored.tokens.host.is_none() && game.phase() == Phase::Seating {
        seating.wait_for_others(!game.has_human(), next.updated_at);
    }
    Ok(draft)
}

/// Maximum number of attempts. Each one but the last failed because another process came first;
/// callers at one process wait for each other.
const MAX_ATTEMPTS: u32 = 100;

/// The turn clock, in seconds.
const TURN_SECONDS: u32 = 60;

/// The pace of bots, which people can follow, in milliseconds.
const BOT_PACE_MS: u32 = 1000;

/// Takes a seat at any table.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"rules": {"preset": "hausregeln"}, "name": "Eva"}))]
pub struct QuickJoinRequest {
    /// The rules of the table; `dogspiel-it` by default.
    #[serde(default)]
    rules: Option<RulesRequest>,
    /// As for a seat of a new game; by default `Seat` and its number.
    name: Option<PlayerName>,
}

/// The response to a quick join, with the seat's token, which is shown only once.
#[derive(Serialize, ToSchema)]
pub struct QuickJoined {
    /// The game's id.
    id: String,
    #[serde(flatten)]
    joined: Joined,
}

/// Join any table.
///
/// Takes a seat at the oldest table that waits for people with these rules, or at a new one.
///
/// All such tables were made this way. They have no host, the server deals, and each seat has 60
/// seconds to act. 60 seconds after the first person has sat down, people who are not
/// [present](#/seats/get_presence) lose their seats, and bots take the open ones. The first action
/// of a person who was never there has 15 seconds; from then on a bot plays until the person comes.
#[utoipa::path(post, path = "/v1/join", tag = "seats",
    params(RetryHeaders),
    request_body(content = QuickJoinRequest, description = "May be empty."),
    responses((status = 201, description = "The seat is taken.", body = QuickJoined,
        headers(("Location" = String, description = "The game's path."),
            ("ETag" = String, description = "The version as the seat sees it.")),
        links(
            ("get_game" = (operation_id = "get_game", parameters(("id" = "$response.body#/id")))),
            ("stream_events" = (operation_id = "stream_events",
                parameters(("id" = "$response.body#/id")))))),
        QuickJoinErrors))]
pub async fn quick_join(
    app: Data<App>,
    client: ClientAddress,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    let wanted = request.body::<QuickJoinRequest>()?;
    let rules = checked_rules(wanted.rules)?;
    let name = given_name(wanted.name)?;
    // Refuses a weak key before it makes a table.
    request.secrets()?;
    let prefix = key_prefix(&rules)?;
    // The callers at one process do not race.
    let _turn = app.quick_joins.turn(&prefix).await?;
    let load = async || {
        let saved = app.store.load(None, request.scope()).await?.saved_response;
        let found = app.store.oldest_in_seating(&prefix, MAX_ADMIN_CHANGES);
        Ok((saved, found.await?))
    };
    attempt(
        &app.store,
        &request,
        MAX_ATTEMPTS,
        load,
        |(saved, (table, last_key))| {
            if let Some(answer) = request.first_answer(saved.as_ref())? {
                return Ok(Decision::Answer(answer));
            }
            let Some(table) = table else {
                let mut new = new_table(&rules, creator)?;
                new.unique_key = Some(next_key(&prefix, last_key.as_deref()));
                return Ok(Decision::Prepare(new.into()));
            };
            table.game.check_not_over()?;
            let seat = seat_to_take(table, None, None)?;
            let secrets = request.secrets()?;
            let draft = take_seat(table, seat, name.clone(), &secrets)?;
            let role = Role::Seat(seat);
            let change = ActionResponse::new(&draft.next, &draft.events, role);
            let (id, joined) = (table.id.to_string(), Joined::new(seat, change));
            let body = QuickJoined { id, joined };
            let answer = Answer::new(StatusCode::CREATED, &body)?;
            let answer = answer
                .with_etag(&draft.next, role)
                .with_location(format_args!("/v1/games/{}", table.id))
                .with_secrets(secrets);
            Ok(Decision::Change(draft.into(), answer))
        },
    )
    .await
}

/// The beginning of the unique keys of tables with these rules.
fn key_prefix(rules: &Rules) -> Result<String, Problem> {
    let rules = serde_json::to_vec(rules).map_err(Problem::internal)?;
    let digest = Sha256::digest(rules);
    Ok(format!("quick join {} ", hex::encode(&digest[..16])))
}

/// The unique key after the last one with this prefix.
fn next_key(prefix: &str, last: Option<&str>) -> String {
    let number = last.and_then(|key| u64::from_str_radix(key.strip_prefix(prefix)?, 16).ok());
    format!("{prefix}{:016x}", number.map_or(0, |number| number + 1))
}

/// A table without a host, at which anyone may sit down.
fn new_table(rules: &Rules, creator: Option<Creator>) -> Result<NewGame, Problem> {
    let seats = Seat::all(rules.seats).map(|_| SeatRequest {
        kind: Some(SeatKind::Open),
        ..SeatRequest::default()
    });
    let table = CreateGame {
        seats: Some(BoundedList(seats.collect())),
        // As soon as somebody has taken a seat.
        listed: Some(false),
        bot_pace_ms: Some(BOT_PACE_MS),
        turn_seconds: Some(TURN_SECONDS),
        join: Some(JoinPolicy::Anyone),
        start: Some(StartPolicy::Full),
        ..CreateGame::default()
    };
    let table = table.table_by(rules.clone())?;
    let mut new = new_game(&table, creator, &Secrets::new(None)?)?;
    new.game.tokens.host = None;
    Ok(new)
}
