//! Commands of clients: every write passes through here on its way from the request to the store.
//!
//! An attempt loads the game, identifies the caller, checks the command, and commits the change. If
//! the game was changed meanwhile, the attempt is repeated. Refusals come in the documented order:
//! no such game, unknown token, wrong role, retry, stale version, wrong phase or turn, content.
//!
//! The content of a request is parsed before it comes here. If it is invalid, it is an error of the
//! caller's own type `E`, which is returned only after the checks that precede it.

mod caller;
mod error;
mod idempotency;
mod joining;
mod quick_join;
mod rematch;

use std::sync::Arc;

use dog_rules::{
    Action, Actor, BySeat, Card, Game, Level, Move, Phase, Seat, SeatKind, Setup, TableSettings,
};
use jiff::{SignedDuration, Timestamp};

pub use self::{
    caller::{Caller, NO_BEARER, Role},
    error::ServiceError,
    idempotency::{IdempotencyKey, Response, Retry, TokenDeriver, random_bytes},
    joining::Join,
    quick_join::{QuickJoin, quick_join},
    rematch::{RematchRequest, ask_rematch, rematch_of, role_in},
};
use crate::store::{
    AdminChanges, CommitResult, Creator, Draft, GameId, JoinPolicy, LoadedGame, NewGame, NewTicket,
    PackedLog, Seating, StartPolicy, Store, StoreError, StoredGame, TICKET_TTL, Timing, TokenHash,
    Tokens, Write, WriteOp, now,
};

/// Maximum number of attempts for a write. Each one but the last failed because another write came
/// first.
const MAX_ATTEMPTS: u32 = 8;

/// The least turn clock that a host may set once cards were dealt, in seconds.
const MIN_TURN_SECONDS: u32 = 10;

/// A write, apart from its command.
pub struct RequestContext {
    pub caller: Caller,
    /// For a request with an `Idempotency-Key`.
    pub retry: Option<Retry>,
    /// What `If-Match` names: the game must be in one of these states.
    pub if_match: Option<NamedStates>,
    /// What `If-None-Match` names: the game must be in none of these states.
    pub if_none_match: Option<NamedStates>,
    /// The version that the game must be at.
    pub version: Option<u64>,
}

/// The states of a game that a condition of a request names.
pub enum NamedStates {
    /// Each state of a game that exists.
    Any,
    /// Those with these tags: a version, alone or with the viewer as in [`etag`].
    List(Vec<String>),
}

impl NamedStates {
    fn include(&self, version: u64, role: Role) -> bool {
        let NamedStates::List(tags) = self else {
            return true;
        };
        let (any, own) = (version.to_string(), format!("{version}-{}", role.tag()));
        tags.iter().any(|tag| *tag == any || *tag == own)
    }
}

/// What a request asks for.
pub enum Command<E> {
    /// Adds a game; the creator is known by the address.
    Create {
        creator: Option<Creator>,
        creation: Result<Creation, E>,
    },
    /// Acts in the game with that id.
    InGame(String, GameCommand<E>),
}

/// What a request asks for in a game.
pub enum GameCommand<E> {
    /// Deals the round: the dealer's seat or the host.
    Deal(Result<(), E>),
    /// Offers a card in the partner exchange, declines or asks: a seat.
    Exchange(Result<ExchangeAction, E>),
    /// Plays a move: the seat to move.
    Play(Result<Move, E>),
    /// Takes an open seat: anyone.
    Join(Result<Join<E>, E>),
    /// Changes who plays the seat with that number: the seat itself or the host.
    ChangeSeat {
        seat: String,
        change: Result<SeatChange<E>, E>,
    },
    /// Changes settings: the host.
    ChangeSettings(Result<SettingsChange<E>, E>),
    /// Gives the host a fresh token: the host.
    RenewHostToken(Result<(), E>),
    /// Gives the seat with that number a fresh token: the seat itself or the host.
    ReissueToken {
        seat: String,
        content: Result<(), E>,
    },
    /// Makes a ticket for a stream: a seat or the host.
    CreateTicket(Result<(), E>),
    /// Removes the game: the host.
    Remove(Result<(), E>),
}

/// What a seat does in the partner exchange.
#[derive(Clone, Copy, Debug)]
pub enum ExchangeAction {
    Offer(Card),
    Decline,
    Ask,
}

/// A change of who plays a seat. What is none stays as it is.
#[derive(Clone, Debug)]
pub struct SeatChange<E> {
    pub kind: Option<SeatKind>,
    /// A name that a bot may have.
    pub name: Option<String>,
    pub level: Option<Level>,
    /// The error if a person may not have the name.
    pub name_of_bot: E,
}

/// A change of settings. What is none stays as it is.
#[derive(Clone, Debug)]
pub struct SettingsChange<E> {
    /// The turn clock, or none to remove it.
    pub turn_seconds: Option<Option<u32>>,
    pub bot_pace_ms: Option<u32>,
    pub listed: Option<bool>,
    /// The error if the turn clock is too short for a game that has begun.
    pub too_short: E,
}

/// A game to add.
pub enum Creation {
    /// A new game.
    New {
        setup: Setup,
        listed: bool,
        timing: Timing,
        join: JoinPolicy,
        start: StartPolicy,
        /// After how many seconds seats that are still open are given to bots.
        bots_after_seconds: Option<u32>,
    },
    /// A finished game with its log; all entries of the log have the time `at`.
    Imported {
        game: Box<Game>,
        log: PackedLog,
        at: Timestamp,
        listed: bool,
    },
}

impl<E> GameCommand<E> {
    /// Whether it may kill the token of its caller.
    fn kills_token(&self) -> bool {
        match self {
            GameCommand::ReissueToken { .. } | GameCommand::RenewHostToken(_) => true,
            GameCommand::ChangeSeat { change, .. } => {
                let kind = change.as_ref().ok().and_then(|change| change.kind);
                kind == Some(SeatKind::Open)
            }
            _ => false,
        }
    }
}

/// How responses are written as JSON.
pub struct Renderers<E> {
    /// A game as this role may see it.
    pub game: fn(&StoredGame, Role) -> Result<String, E>,
    /// A game after an action, with the events of the action.
    pub changed: fn(&Draft, Role) -> Result<String, E>,
    /// A rematch as this role may see it.
    pub rematch: fn(&StoredGame, Role) -> Result<String, E>,
}

/// A response, and the tokens in it.
pub struct CommandOutcome {
    pub response: Response,
    /// None if the response has no tokens.
    pub tokens: Option<TokenDeriver>,
}

impl CommandOutcome {
    /// An outcome without tokens.
    fn plain(status: u16, etag: Option<String>, body: String) -> CommandOutcome {
        let response = Response::Plain { status, etag, body };
        let tokens = None;
        CommandOutcome { response, tokens }
    }
}

/// The `ETag` of a game at this version as this role sees it.
pub fn etag(version: u64, role: Role) -> String {
    format!("\"{version}-{}\"", role.tag())
}

/// The game's seat with that number.
///
/// # Errors
/// `seat_not_found`.
pub fn find_seat(record: &StoredGame, number: &str) -> Result<Seat, ServiceError> {
    let seat = number.parse().ok();
    seat.and_then(|seat| Seat::new(seat, record.game.rules().seats))
        .filter(|seat| seat.number().to_string() == number)
        .ok_or(ServiceError::SeatNotFound)
}

/// Carries out a command: loads the game, computes the change and commits it. If another write came
/// first, it tries again.
///
/// # Errors
/// Why nothing was changed.
pub async fn execute<E: Clone + From<ServiceError>>(
    store: &Store,
    request: &RequestContext,
    command: &Command<E>,
    renderers: &Renderers<E>,
) -> Result<CommandOutcome, E> {
    let id = match command {
        Command::Create { .. } => None,
        Command::InGame(id, _) => Some(id.parse().map_err(|_| ServiceError::GameNotFound)?),
    };
    for _ in 0..MAX_ATTEMPTS {
        let loaded = store.load(id.as_ref(), request.scope()).await;
        let (effect, outcome) = attempt(
            &loaded.map_err(ServiceError::from)?,
            request,
            command,
            renderers,
        )?;
        let Some(effect) = effect else {
            return Ok(outcome);
        };
        let write = request.write(effect, &outcome.response)?;
        if store.commit(write).await.map_err(ServiceError::from)? == CommitResult::Done {
            return Ok(outcome);
        }
    }
    Err(ServiceError::Contended.into())
}

/// The game to add. An imported game has a token for its host, who may remove it, and no others.
fn new_game(
    creation: &Creation,
    creator: Option<Creator>,
    tokens: &TokenDeriver,
) -> Result<NewGame, StoreError> {
    let now = now();
    let record = |game: Game, listed| StoredGame {
        id: GameId::random(),
        listed,
        imported: false,
        creator,
        created_at: now,
        updated_at: now,
        tokens: Tokens {
            host: Some(TokenHash::of(&tokens.host())),
            seats: BySeat::default(),
        },
        seating: Arc::default(),
        timing: Timing::default(),
        admin_changes: AdminChanges::default(),
        deadline: None,
        game: game.into(),
    };
    match creation {
        Creation::New {
            setup,
            listed,
            timing,
            join,
            start,
            bots_after_seconds,
        } => {
            let game = Game::new(setup.clone());
            let event = game.last_event().clone();
            let mut record = record(game, *listed);
            let mut seating = Seating {
                join: *join,
                start: *start,
                bots_at: bots_after_seconds
                    .map(|seconds| now + SignedDuration::from_secs(seconds.into())),
                ..Seating::default()
            };
            for seat in Seat::all(record.game.rules().seats) {
                match record.game.player(seat).kind {
                    SeatKind::Human => {
                        record.tokens.seats[seat] = Some(TokenHash::of(&tokens.seat(seat)));
                    }
                    SeatKind::Open if *join == JoinPolicy::Invited => {
                        let invitation = TokenHash::of(&tokens.invitation(Some(seat)));
                        seating.seats[seat].invitation = Some(invitation);
                        seating.invitation = Some(TokenHash::of(&tokens.invitation(None)));
                    }
                    SeatKind::Open | SeatKind::Bot => {}
                }
            }
            record.seating = seating.into();
            record.timing = *timing;
            NewGame::created(record, &event)
        }
        Creation::Imported {
            game,
            log,
            at,
            listed,
        } => {
            let mut record = record((**game).clone(), *listed);
            record.imported = true;
            (record.created_at, record.updated_at) = (*at, *at);
            NewGame::finished(record, log.clone())
        }
    }
}

impl RequestContext {
    /// Where the response is saved; none without an `Idempotency-Key`.
    fn scope(&self) -> Option<&crate::store::Scope> {
        self.retry.as_ref().map(Retry::scope)
    }

    /// What to commit: the change, and the response to save.
    fn write(&self, effect: WriteOp, response: &Response) -> Result<Write, ServiceError> {
        let save = self.retry.as_ref().map(|retry| retry.save(response));
        let save = save.transpose()?;
        Ok(Write { op: effect, save })
    }

    /// The outcome of the first try of this request, from the saved response.
    fn saved_outcome(
        &self,
        saved: &crate::store::SavedResponse,
    ) -> Result<CommandOutcome, ServiceError> {
        let retry = self.retry.as_ref();
        let retry = retry.ok_or(ServiceError::Internal("a response was saved without a key"))?;
        let response = retry.saved_response(saved)?;
        let tokens = match &response {
            Response::Plain { .. } => None,
            Response::Created { salt, .. }
            | Response::FreshToken { salt, .. }
            | Response::FreshHostToken { salt }
            | Response::Opened { salt, .. }
            | Response::Joined { salt, .. }
            | Response::Ticket { salt, .. } => Some(TokenDeriver::new(Some(retry), salt)?),
        };
        Ok(CommandOutcome { response, tokens })
    }

    /// Refuses a write in a game that is in a state which the request excludes.
    fn check_conditions(&self, version: u64, role: Role) -> Result<(), ServiceError> {
        let excluded = self.if_none_match.as_ref();
        if excluded.is_some_and(|states| states.include(version, role)) {
            return Err(ServiceError::StaleVersion(version));
        }
        self.check_version(version, role)
    }

    /// Refuses a write that names another version than the present one.
    fn check_version(&self, version: u64, role: Role) -> Result<(), ServiceError> {
        let named = self.if_match.as_ref();
        let matches = named.is_none_or(|states| states.include(version, role));
        if matches && self.version.is_none_or(|known| known == version) {
            return Ok(());
        }
        Err(ServiceError::StaleVersion(version))
    }
}

/// Computes the change that a command makes to the loaded game, and the response. The change is
/// none if the request is a retry. Every refusal except those of the store comes from here, in the
/// documented order.
fn attempt<E: Clone + From<ServiceError>>(
    loaded: &LoadedGame,
    request: &RequestContext,
    command: &Command<E>,
    renderers: &Renderers<E>,
) -> Result<(Option<WriteOp>, CommandOutcome), E> {
    let saved_outcome = || {
        let saved = loaded.saved_response.as_ref();
        saved.map(|saved| request.saved_outcome(saved)).transpose()
    };
    let (record, command) = match (command, &loaded.game) {
        (Command::Create { creator, creation }, _) => {
            if let Some(outcome) = saved_outcome()? {
                return Ok((None, outcome));
            }
            let (effect, outcome) = create(creation, *creator, request, renderers)?;
            return Ok((Some(effect), outcome));
        }
        (Command::InGame(_, command), Some(record)) => (record, command),
        // The game and its tokens are gone, but a retry of its removal gets the saved response.
        (Command::InGame(_, command), None) => {
            let outcome = match command {
                GameCommand::Remove(_) => saved_outcome()?,
                _ => None,
            };
            return Ok((None, outcome.ok_or(ServiceError::GameNotFound)?));
        }
    };
    if let GameCommand::Join(join) = command {
        let join = join.as_ref().map_err(Clone::clone)?;
        if let Some(outcome) = saved_outcome()? {
            return Ok((None, outcome));
        }
        let (effect, outcome) = joining::join(record, request, join, renderers)?;
        return Ok((Some(effect), outcome));
    }
    let named = match command {
        GameCommand::ChangeSeat { seat, .. } | GameCommand::ReissueToken { seat, .. } => {
            Some(find_seat(record, seat)?)
        }
        _ => None,
    };
    let role = match (request.caller.known_role(record), command.kills_token()) {
        (Ok(role), _) => role,
        // A retry of the request that has killed the token it comes with. The host's requests for
        // a seat kill another one.
        (Err(unknown), true) => {
            let outcome = saved_outcome()?.filter(|outcome| !outcome.response.is_for_another());
            return Ok((None, outcome.ok_or(unknown)?));
        }
        (Err(unknown), false) => return Err(unknown.into()),
    };
    let actor = acting_seat(command, role, named)?;
    if let Some(outcome) = saved_outcome()? {
        return Ok((None, outcome));
    }
    if let (Some(seat), None) = (actor, named)
        && record.game.bot_plays(seat)
    {
        let stands_in = record.game.player(seat).is_human();
        return Err(match stands_in {
            true => ServiceError::StandInPlays(seat).into(),
            false => ServiceError::BotPlays(seat).into(),
        });
    }
    request.check_conditions(record.game.version(), role)?;
    let (effect, outcome) = match command {
        GameCommand::ReissueToken { content, .. } => {
            let seat = actor.ok_or(ServiceError::SeatNotFound)?;
            reissue_token(record, request, role, seat, content)?
        }
        GameCommand::RenewHostToken(content) => {
            record.check_admin_change().map_err(ServiceError::from)?;
            content.clone()?;
            renew_host_token(record, request)?
        }
        GameCommand::ChangeSeat { change, .. } => {
            let seat = actor.ok_or(ServiceError::SeatNotFound)?;
            joining::change_seat(record, request, role, seat, change, renderers)?
        }
        GameCommand::CreateTicket(content) => {
            content.clone()?;
            create_ticket(record, request)?
        }
        GameCommand::Remove(content) => {
            content.clone()?;
            let outcome = CommandOutcome::plain(204, None, String::new());
            (WriteOp::Remove(record.expected_state()), outcome)
        }
        _ => {
            let action = action(command, record, actor)?;
            let draft = draft(record, &action)?;
            let etag = etag(draft.next.game.version(), role);
            let body = (renderers.changed)(&draft, role)?;
            let outcome = CommandOutcome::plain(200, Some(etag), body);
            (WriteOp::Update(draft.into()), outcome)
        }
    };
    Ok((Some(effect), outcome))
}

/// A game to add, and its tokens.
fn create<E: Clone + From<ServiceError>>(
    creation: &Result<Creation, E>,
    creator: Option<Creator>,
    request: &RequestContext,
    renderers: &Renderers<E>,
) -> Result<(WriteOp, CommandOutcome), E> {
    let salt = random_bytes();
    let tokens = TokenDeriver::new(request.retry.as_ref(), &salt)?;
    let creation = creation.as_ref().map_err(Clone::clone)?;
    let new = new_game(creation, creator, &tokens).map_err(ServiceError::from)?;
    let record = &new.game;
    let seats = record.game.rules().seats;
    let without_token = |seat: &Seat| record.tokens.seats[*seat].is_none();
    let is_open = |seat: &Seat| record.game.player(*seat).kind == SeatKind::Open;
    let response = Response::Created {
        id: record.id.to_string(),
        seats,
        bots: Seat::all(seats).filter(without_token).collect(),
        open: Seat::all(seats).filter(is_open).collect(),
        invited: record.seating.join == JoinPolicy::Invited,
        salt,
        etag: etag(record.game.version(), Role::Host),
        game: (renderers.game)(record, Role::Host)?,
    };
    let tokens = Some(tokens);
    Ok((
        WriteOp::Insert(new.into()),
        CommandOutcome { response, tokens },
    ))
}

/// The seat that acts or is changed; none if the host acts for no seat.
///
/// # Errors
/// `forbidden`, if this role may not do it.
fn acting_seat<E>(
    command: &GameCommand<E>,
    role: Role,
    named: Option<Seat>,
) -> Result<Option<Seat>, ServiceError> {
    match (command, role) {
        (GameCommand::ChangeSeat { .. } | GameCommand::ReissueToken { .. }, Role::Host) => {
            Ok(named)
        }
        (GameCommand::ChangeSeat { .. } | GameCommand::ReissueToken { .. }, Role::Seat(seat))
            if Some(seat) == named =>
        {
            Ok(named)
        }
        (GameCommand::ChangeSeat { .. } | GameCommand::ReissueToken { .. }, _) => {
            Err(ServiceError::AnotherSeat)
        }
        (GameCommand::ChangeSettings(_) | GameCommand::RenewHostToken(_), Role::Host) => Ok(None),
        (GameCommand::ChangeSettings(_), _) => Err(ServiceError::HostOnly("change settings")),
        (GameCommand::RenewHostToken(_), _) => Err(ServiceError::HostOnly("renew its token")),
        (GameCommand::Remove(_), Role::Host) | (GameCommand::CreateTicket(_), _) => Ok(None),
        (GameCommand::Remove(_), _) => Err(ServiceError::HostOnly("remove a game")),
        (GameCommand::Deal(_), Role::Host) => Ok(None),
        (_, Role::Seat(seat)) => Ok(Some(seat)),
        (_, _) => Err(ServiceError::SeatOnly),
    }
}

/// The action that a command asks for, if the phase and the turn are right.
fn action<E: Clone + From<ServiceError>>(
    command: &GameCommand<E>,
    record: &StoredGame,
    actor: Option<Seat>,
) -> Result<Action, E> {
    let game = &record.game;
    let refused = |refusal: dog_rules::ActionRefusal| ServiceError::from(refusal);
    match (command, actor) {
        (GameCommand::ChangeSettings(change), _) => {
            game.check_not_over().map_err(refused)?;
            record.check_limit().map_err(ServiceError::from)?;
            record.check_admin_change().map_err(ServiceError::from)?;
            let change = change.as_ref().map_err(Clone::clone)?;
            let dealt = game.round() > 1 || !matches!(game.phase(), Phase::Seating | Phase::Deal);
            let seconds = change.turn_seconds.flatten();
            if dealt && seconds.is_some_and(|seconds| seconds < MIN_TURN_SECONDS) {
                return Err(change.too_short.clone());
            }
            let settings = TableSettings {
                turn_seconds: change.turn_seconds.unwrap_or(record.timing.turn_seconds),
                bot_pace_ms: change.bot_pace_ms.unwrap_or(record.timing.bot_pace_ms),
                listed: change.listed.unwrap_or(record.listed),
            };
            Ok(Action::ChangeSettings { settings })
        }
        (GameCommand::Exchange(exchange), Some(seat)) => {
            game.check_exchange(seat).map_err(refused)?;
            record.check_limit().map_err(ServiceError::from)?;
            Ok(match exchange.clone()? {
                ExchangeAction::Offer(card) => Action::Offer { seat, card },
                ExchangeAction::Decline => Action::Decline { seat },
                ExchangeAction::Ask => Action::Ask { seat },
            })
        }
        (GameCommand::Play(mv), Some(seat)) => {
            game.check_play(seat).map_err(refused)?;
            record.check_limit().map_err(ServiceError::from)?;
            let mv = mv.clone()?;
            Ok(Action::Play { seat, mv })
        }
        (GameCommand::Deal(content), by) => {
            game.check_deal(by).map_err(refused)?;
            record.check_limit().map_err(ServiceError::from)?;
            content.clone()?;
            Ok(Action::Deal { by })
        }
        _ => Err(ServiceError::Internal("this command is not an action").into()),
    }
}

/// The draft of an action of a client.
fn draft(record: &StoredGame, action: &Action) -> Result<Draft, ServiceError> {
    Ok(Draft::new(record, action, Actor::Player)?)
}

/// Gives a seat a fresh token. By the host it is a public event, and so is the first renewal by the
/// seat itself, after which the host has no power over the token. Later renewals, and those of a
/// game that is over or at its last version, make no new version.
fn reissue_token<E: Clone + From<ServiceError>>(
    record: &StoredGame,
    request: &RequestContext,
    role: Role,
    seat: Seat,
    content: &Result<(), E>,
) -> Result<(WriteOp, CommandOutcome), E> {
    if !record.game.player(seat).is_human() {
        return Err(ServiceError::NoHuman(seat).into());
    }
    let joined = record.seating.seats[seat].joined;
    if role == Role::Host {
        if joined {
            return Err(ServiceError::SeatJoined(seat).into());
        }
        record.game.check_not_over().map_err(ServiceError::from)?;
        record.check_limit().map_err(ServiceError::from)?;
        record.check_admin_change().map_err(ServiceError::from)?;
    } else {
        record.check_seat_change(seat).map_err(ServiceError::from)?;
    }
    content.clone()?;
    let salt = random_bytes();
    let tokens = TokenDeriver::new(request.retry.as_ref(), &salt)?;
    let fresh = Some(TokenHash::of(&tokens.seat(seat)));
    let (effect, version) = if role == Role::Host || !joined && !record.is_closed() {
        let action = match role {
            Role::Host => Action::ReissueToken { seat },
            _ => Action::RenewToken { seat },
        };
        let mut draft = draft(record, &action)?;
        let seating = Arc::make_mut(&mut draft.next.seating);
        seating.replace_token(&mut draft.next.tokens, seat, fresh);
        seating.seats[seat].joined = role != Role::Host;
        let version = draft.next.game.version();
        (WriteOp::Update(draft.into()), version)
    } else {
        let (mut all, mut seating) = (record.tokens.clone(), (*record.seating).clone());
        seating.replace_token(&mut all, seat, fresh);
        let access = &mut seating.seats[seat];
        access.joined = true;
        access.changes += 1;
        let effect = WriteOp::SetTokens(record.expected_state(), all, seating.into());
        (effect, record.game.version())
    };
    let response = Response::FreshToken {
        seat,
        version,
        salt,
        by_host: role == Role::Host,
    };
    let tokens = Some(tokens);
    Ok((effect, CommandOutcome { response, tokens }))
}

/// Gives the host a fresh token.
fn renew_host_token(
    record: &StoredGame,
    request: &RequestContext,
) -> Result<(WriteOp, CommandOutcome), ServiceError> {
    let salt = random_bytes();
    let tokens = TokenDeriver::new(request.retry.as_ref(), &salt)?;
    let (mut all, mut seating) = (record.tokens.clone(), (*record.seating).clone());
    seating.replace_host_token(&mut all, TokenHash::of(&tokens.host()));
    let effect = WriteOp::SetTokens(record.expected_state(), all, seating.into());
    let response = Response::FreshHostToken { salt };
    let tokens = Some(tokens);
    Ok((effect, CommandOutcome { response, tokens }))
}

/// A ticket that stands for the caller's token.
fn create_ticket(
    record: &StoredGame,
    request: &RequestContext,
) -> Result<(WriteOp, CommandOutcome), ServiceError> {
    let salt = random_bytes();
    let tokens = TokenDeriver::new(request.retry.as_ref(), &salt)?;
    let token = request.caller.token();
    let token = token.ok_or(ServiceError::NoToken)?;
    let expires_at = now() + TICKET_TTL;
    let ticket = NewTicket {
        hash: TokenHash::of(&tokens.ticket()),
        token,
    };
    let response = Response::Ticket {
        salt,
        expires_at: expires_at.to_string(),
    };
    let tokens = Some(tokens);
    let effect = WriteOp::AddTicket(record.expected_state(), ticket);
    Ok((effect, CommandOutcome { response, tokens }))
}
