//! The next game of the same people.

use dog_rules::{
    Action, Actor, BySeat, Game, Phase, Player, Seat, SeatKind, Seed, Setup,
    name::{checked, default_name, distinct},
};

use super::{
    Caller, CommandOutcome, MAX_ATTEMPTS, Renderers, RequestContext, Role, ServiceError, etag,
    random_bytes,
};
use crate::store::{
    AdminChanges, CommitResult, Creator, Draft, GameId, NewGame, Seating, Store, StoreError,
    StoredGame, Tokens, WAIT_FOR_OTHERS, WriteOp, now,
};

/// A request for a rematch.
pub struct RematchRequest<E> {
    /// The old seat of whoever sits at each new one; none to leave all as they are. The first
    /// caller's counts.
    pub seats: Option<Vec<u8>>,
    /// The error if it is not a permutation of the seats.
    pub wrong_seats: E,
}

/// The rematch of this game, if somebody has asked for one.
///
/// # Errors
/// The store cannot be read.
pub async fn rematch_of(store: &Store, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
    store.game_by_unique_key(&unique_key(id)).await
}

fn unique_key(id: &GameId) -> String {
    format!("rematch of {id}")
}

/// Asks for a rematch of a finished game: makes it, or tells that the caller will play. The game
/// belongs to the address that makes it.
///
/// # Errors
/// Why nothing was changed.
pub async fn ask_rematch<E: Clone + From<ServiceError>>(
    store: &Store,
    id: &str,
    creator: Option<Creator>,
    request: &RequestContext,
    content: &Result<RematchRequest<E>, E>,
    renderers: &Renderers<E>,
) -> Result<CommandOutcome, E> {
    let id = id.parse().map_err(|_| ServiceError::GameNotFound)?;
    for _ in 0..MAX_ATTEMPTS {
        let loaded = store.load(Some(&id), request.scope()).await;
        let loaded = loaded.map_err(ServiceError::from)?;
        let old = loaded.game.ok_or(ServiceError::GameNotFound)?;
        let role = request.caller.known_role(&old)?;
        let asker = asker(&old, role)?;
        if let Some(saved) = &loaded.saved_response {
            return Ok(request.saved_outcome(saved)?);
        }
        request.check_version(old.game.version(), role)?;
        if old.game.phase() != Phase::Finished {
            return Err(ServiceError::GameNotOver.into());
        }
        let content = content.as_ref().map_err(Clone::clone)?;
        let order = order(&old.game, content)?;
        let next = rematch_of(store, &id).await.map_err(ServiceError::from)?;
        let (effect, status, game, role) = match next {
            None => {
                let new = new_game(&old, &order, asker, creator);
                let mut new = new.map_err(ServiceError::from)?;
                new.unique_key = Some(unique_key(&id));
                new.follows = Some((id, old.game.version()));
                let game = new.game.clone();
                let role = role_in(&game, request.caller);
                (WriteOp::Insert(new.into()), 201, game, role)
            }
            Some(next) => match role_in(&next, request.caller) {
                role @ Role::Seat(seat) if next.game.awaits(seat) => {
                    let action = Action::AskRematch { seat };
                    let draft = Draft::new(&next, &action, Actor::Player);
                    let draft = draft.map_err(ServiceError::from)?;
                    let game = draft.next.clone();
                    (WriteOp::Update(draft.into()), 200, game, role)
                }
                role => (WriteOp::SaveResponse, 200, next, role),
            },
        };
        let etag = etag(game.game.version(), role);
        let body = (renderers.rematch)(&game, role)?;
        let outcome = CommandOutcome::plain(status, Some(etag), body);
        let write = request.write(effect, &outcome.response)?;
        if matches!((&write.op, &write.save), (WriteOp::SaveResponse, None)) {
            return Ok(outcome);
        }
        if store.commit(write).await.map_err(ServiceError::from)? == CommitResult::Done {
            return Ok(outcome);
        }
    }
    Err(ServiceError::Contended.into())
}

/// The caller's role in the rematch. A token that was renewed in one of the two games is a
/// stranger's in the other.
pub fn role_in(next: &StoredGame, caller: Caller) -> Role {
    caller.role(next).unwrap_or(Role::Spectator)
}

/// The seat that asks; none if the host does.
fn asker(old: &StoredGame, role: Role) -> Result<Option<Seat>, ServiceError> {
    match role {
        Role::Seat(seat) if !old.game.player(seat).is_human() => Err(ServiceError::BotPlays(seat)),
        Role::Seat(seat) => Ok(Some(seat)),
        Role::Host => Ok(None),
        Role::Spectator => Err(ServiceError::NoToken),
    }
}

/// The old seat of each new one.
fn order<E: Clone>(old: &Game, request: &RematchRequest<E>) -> Result<Vec<Seat>, E> {
    let seats = old.rules().seats;
    let Some(numbers) = &request.seats else {
        return Ok(Seat::all(seats).collect());
    };
    let old_seats = numbers.iter().map(|&number| Seat::new(number, seats));
    let order: Option<Vec<Seat>> = old_seats.collect();
    let order = order.filter(|order| Seat::all(seats).all(|seat| order.contains(&seat)));
    order
        .filter(|order| order.len() == usize::from(seats))
        .ok_or_else(|| request.wrong_seats.clone())
}

/// The next game: the same rules, people and tokens, with the seats in this order. It waits for all
/// people but the one who asks for it.
fn new_game(
    old: &StoredGame,
    order: &[Seat],
    asker: Option<Seat>,
    creator: Option<Creator>,
) -> Result<NewGame, StoreError> {
    let now = now();
    let rules = old.game.rules().clone();
    let mut tokens = Tokens {
        host: old.tokens.host,
        seats: BySeat::default(),
    };
    let mut seating = Seating {
        join: old.seating.join,
        start: old.seating.start,
        bots_at: old.tokens.host.is_none().then(|| now + WAIT_FOR_OTHERS),
        ..Seating::default()
    };
    let (mut players, mut awaited) = (Vec::<Player>::new(), Vec::new());
    for (seat, &from) in Seat::all(rules.seats).zip(order) {
        let player = old.game.player(from);
        let kind = match (player.kind, old.tokens.seats[from]) {
            // Nobody has a token of a seat of an imported game.
            (SeatKind::Human, None) => SeatKind::Open,
            (SeatKind::Human, token) => {
                tokens.seats[seat] = token;
                seating.seats[seat].joined = old.seating.seats[from].joined;
                if asker != Some(from) {
                    awaited.push(seat);
                }
                SeatKind::Human
            }
            (SeatKind::Bot | SeatKind::Open, _) => SeatKind::Bot,
        };
        // Old and imported games may have names that nobody can have now.
        let name = checked(&player.name, kind).unwrap_or_else(|_| default_name(seat, kind));
        let name = distinct(&name, players.iter().map(|other| other.name.as_str()));
        players.push(Player {
            name,
            kind,
            level: player.level,
        });
    }
    let game = Game::new(Setup {
        first_dealer: Some(old.game.first_dealer().next(rules.seats)),
        rules,
        players,
        seed: Seed::new(random_bytes()),
        seed_given: false,
        awaited,
    });
    let event = game.last_event().clone();
    let stored = StoredGame {
        id: GameId::random(),
        listed: old.listed,
        imported: false,
        creator,
        created_at: now,
        updated_at: now,
        tokens,
        seating: seating.into(),
        timing: old.timing,
        admin_changes: AdminChanges::default(),
        deadline: None,
        game: game.into(),
    };
    NewGame::created(stored, &event)
}
