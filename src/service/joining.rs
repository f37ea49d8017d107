//! How people come to a seat, leave it and come back.

use std::sync::Arc;

use dog_rules::{
    Action, Phase, Player, Seat, SeatKind,
    name::{checked, default_name},
};

use super::{
    CommandOutcome, Renderers, RequestContext, Response, Role, SeatChange, ServiceError,
    TokenDeriver, draft, etag, random_bytes,
};
use crate::store::{JoinPolicy, Opened, StoredGame, TokenHash, WriteOp};

/// A request to take an open seat.
pub struct Join<E> {
    pub invitation: Option<String>,
    /// The number of the seat; none for the one that is assigned.
    pub seat: Option<u8>,
    /// None for the name that the seat has.
    pub name: Result<Option<String>, E>,
}

/// Takes a seat. All refusals but those of the shape and of an unknown game come from here, in
/// their order.
pub(super) fn join<E: Clone + From<ServiceError>>(
    record: &StoredGame,
    request: &RequestContext,
    join: &Join<E>,
    renderers: &Renderers<E>,
) -> Result<(WriteOp, CommandOutcome), E> {
    let game = &record.game;
    let seats = game.rules().seats;
    let named = join.seat.map(|number| Seat::new(number, seats));
    let named = named.map(|seat| seat.ok_or(ServiceError::SeatNotFound));
    let named = named.transpose()?;
    request.check_version(game.version(), Role::Spectator)?;
    game.check_not_over().map_err(ServiceError::from)?;
    record.check_limit().map_err(ServiceError::from)?;
    let invitation = join.invitation.as_deref().map(TokenHash::of);
    let seat = find_seat(record, invitation, named)?;
    let name = match join.name.clone()? {
        Some(name) => name,
        None => kept_name(game.player(seat), seat, SeatKind::Human),
    };
    let name = game.distinct_name(seat, &name);
    let salt = random_bytes();
    let tokens = TokenDeriver::new(request.retry.as_ref(), &salt)?;
    let mut draft = draft(record, &Action::Join { seat, name })?;
    let next = &mut draft.next;
    next.tokens.seats[seat] = Some(TokenHash::of(&tokens.seat(seat)));
    let seating = Arc::make_mut(&mut next.seating);
    seating.seats[seat].joined = true;
    if record.tokens.host.is_none() && game.phase() == Phase::Seating {
        seating.wait_for_others(!game.has_human(), next.updated_at);
    }
    let role = Role::Seat(seat);
    let response = Response::Joined {
        id: None,
        seat,
        salt,
        etag: etag(draft.next.game.version(), role),
        action: (renderers.changed)(&draft, role)?,
    };
    let tokens = Some(tokens);
    Ok((
        WriteOp::Update(draft.into()),
        CommandOutcome { response, tokens },
    ))
}

/// The seat that a request takes: the one it names, that of its invitation, or the lowest open one,
/// of the team with the fewest people.
fn find_seat(
    record: &StoredGame,
    invitation: Option<TokenHash>,
    named: Option<Seat>,
) -> Result<Seat, ServiceError> {
    let (game, seating) = (&record.game, &record.seating);
    let seats = game.rules().seats;
    let is_open = |seat: Seat| game.player(seat).kind == SeatKind::Open;
    let opened = |seat: Seat| seating.seats[seat].opened;
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
        found.ok_or(ServiceError::WrongInvitation)
    });
    // Whether the request opens an open seat.
    let opens: Box<dyn Fn(Seat) -> bool> = match invited_to.transpose()? {
        Some(Some(seat)) => {
            if named.is_some_and(|named| named != seat) {
                return Err(ServiceError::WrongInvitation);
            }
            return match is_open(seat) {
                true => Ok(seat),
                false => Err(ServiceError::SeatTaken(seat)),
            };
        }
        Some(None) => Box::new(|seat| opened(seat) == Opened::AtCreation),
        None if seating.join == JoinPolicy::Anyone => {
            Box::new(|seat| seating.lets_anyone_take(seat))
        }
        None => return Err(ServiceError::InvitationNeeded),
    };
    if let Some(seat) = named {
        return match (is_open(seat), opens(seat)) {
            (true, true) => Ok(seat),
            (true, false) if invitation.is_some() => Err(ServiceError::WrongInvitation),
            (true, false) => Err(ServiceError::InvitationNeeded),
            (false, _) => Err(ServiceError::SeatTaken(seat)),
        };
    }
    let people = |team: u8| {
        let of_team = Seat::all(seats).filter(|seat| seat.team(seats) == team);
        of_team.filter(|&seat| game.player(seat).is_human()).count()
    };
    let candidates = Seat::all(seats).filter(|&seat| is_open(seat) && opens(seat));
    candidates
        .min_by_key(|seat| (people(seat.team(seats)), seat.number()))
        .ok_or(ServiceError::NoOpenSeat)
}

/// The name of this player of the seat, if a player of that kind may have it, or the default one.
fn kept_name(player: &Player, seat: Seat, kind: SeatKind) -> String {
    checked(&player.name, kind).unwrap_or_else(|_| default_name(seat, kind))
}

/// Changes who plays a seat, on behalf of the seat itself or of the host.
pub(super) fn change_seat<E: Clone + From<ServiceError>>(
    record: &StoredGame,
    request: &RequestContext,
    role: Role,
    seat: Seat,
    change: &Result<SeatChange<E>, E>,
    renderers: &Renderers<E>,
) -> Result<(WriteOp, CommandOutcome), E> {
    let game = &record.game;
    game.check_not_over().map_err(ServiceError::from)?;
    record.check_limit().map_err(ServiceError::from)?;
    if role == Role::Host {
        record.check_admin_change().map_err(ServiceError::from)?;
    } else {
        record.check_seat_change(seat).map_err(ServiceError::from)?;
    }
    let SeatChange {
        kind,
        name,
        level,
        name_of_bot,
    } = change.clone()?;
    let now = game.player(seat);
    let kind = kind.unwrap_or(now.kind);
    let joined = record.seating.seats[seat].joined;
    if role == Role::Host && joined && (kind == SeatKind::Human || name.is_some()) {
        return Err(ServiceError::SeatJoined(seat).into());
    }
    let opens = kind == SeatKind::Open;
    let name = match name {
        Some(name) => checked(&name, kind).map_err(|_| name_of_bot)?,
        None if opens => default_name(seat, kind),
        None if kind == now.kind => now.name.clone(),
        None => kept_name(now, seat, kind),
    };
    let player = Player {
        name: game.distinct_name(seat, &name),
        kind,
        level: level.unwrap_or(now.level),
    };
    let action = match role {
        Role::Host => Action::HandOver { seat, player },
        _ => Action::ChangeSeat { seat, player },
    };
    let mut draft = draft(record, &action)?;
    let etag = etag(draft.next.game.version(), role);
    if !opens {
        let body = (renderers.changed)(&draft, role)?;
        let outcome = CommandOutcome::plain(200, Some(etag), body);
        return Ok((WriteOp::Update(draft.into()), outcome));
    }
    let salt = random_bytes();
    let by_host = role == Role::Host;
    let tokens = by_host.then(|| TokenDeriver::new(request.retry.as_ref(), &salt));
    let tokens = tokens.transpose()?;
    let invitation = tokens.as_ref().map(|tokens| tokens.invitation(Some(seat)));
    let invitation = invitation.as_deref().map(TokenHash::of);
    draft.open_seat(seat, invitation);
    let action = (renderers.changed)(&draft, role)?;
    let outcome = match tokens {
        Some(_) => CommandOutcome {
            response: Response::Opened {
                seat,
                salt,
                etag,
                action,
            },
            tokens,
        },
        None => CommandOutcome::plain(200, Some(etag), action),
    };
    Ok((WriteOp::Update(draft.into()), outcome))
}
