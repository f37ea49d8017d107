//! What clients may do with games: the one path of every write, from the request to the store.
//!
//! Each attempt looks at the game as it is, finds out who calls, checks and works out what is to
//! change, and commits it. If the game was changed meanwhile, all of it is done again. The order of
//! refusals is that of the documentation: no such game, unknown token, wrong role, replay, stale
//! version, wrong phase or turn, content.
//!
//! What a request asks for comes as the caller of this module has read it; an error of that is the
//! caller's own, of type `E`, and is told when its turn has come.

mod caller;
mod error;
mod idempotency;

use dog_rules::{Action, BySeat, Card, Game, Level, Move, Player, Seat, Setup};
use jiff::{SignedDuration, Timestamp};

pub use self::{
    caller::{Caller, Role},
    error::Error,
    idempotency::{IdempotencyKey, Response, Retry, TokenMaker, random},
};
use crate::store::{
    Committed, Creator, Draft, Effect, GameId, Look, NewGame, PackedLog, Record, Store, StoreError,
    TableChanges, Tempo, Ticket, TokenHash, Tokens, Write, now,
};

/// Times that a write is worked out at most. Somebody else was quicker each time but the last.
const MOST_ATTEMPTS: u32 = 8;

/// How long a ticket is good.
const TICKET_LIFE: SignedDuration = SignedDuration::from_secs(30);

/// A write, apart from what it asks for.
pub struct Request {
    pub caller: Caller,
    /// For a request with an `Idempotency-Key`.
    pub retry: Option<Retry>,
    /// The tags of `If-Match`, of which one must be that of the game.
    pub if_match: Option<Vec<String>>,
    /// The version that the game must be at.
    pub version: Option<u64>,
}

/// What a request asks for.
pub enum Command<E> {
    /// Adds a game for whoever has this address.
    Create {
        creator: Option<Creator>,
        creation: Result<Creation, E>,
    },
    /// Acts in the game of that id.
    InGame(String, Act<E>),
}

/// What a request asks for in a game.
pub enum Act<E> {
    /// Deals the round: the dealer's seat or the host.
    Deal(Result<(), E>),
    /// Answers in the partner exchange: a seat.
    Swap(Result<Swap, E>),
    /// Plays a move: the seat to move.
    Play(Result<Move, E>),
    /// Hands the seat of that number to another player: the host.
    HandOver {
        seat: String,
        to: Result<HandOver, E>,
    },
    /// Gives the seat of that number a fresh token: the seat itself or the host.
    ReissueToken {
        seat: String,
        content: Result<(), E>,
    },
    /// Makes a ticket for a stream: a seat or the host.
    CreateTicket(Result<(), E>),
    /// Removes the game: the host.
    Remove(Result<(), E>),
}

/// An answer in the partner exchange.
#[derive(Clone, Copy, Debug)]
pub enum Swap {
    Card(Card),
    Decline,
    Ask,
}

/// Who is to play a seat.
#[derive(Clone, Debug)]
pub struct HandOver {
    pub bot: bool,
    /// As it was, if it is left out.
    pub name: Option<String>,
    pub level: Level,
}

/// A game that is to be added.
pub enum Creation {
    /// One that begins.
    New {
        setup: Setup,
        listed: bool,
        tempo: Tempo,
    },
    /// One that is over, with its log, every entry of which is of that time.
    Imported {
        game: Box<Game>,
        log: PackedLog,
        at: Timestamp,
        listed: bool,
    },
}

/// How the caller of this module writes down what its clients get to see, as JSON.
pub struct Views<E> {
    /// A game as this role may see it.
    pub game: fn(&Record, Role) -> Result<String, E>,
    /// A game after an action, with what came of it.
    pub changed: fn(&Draft, Role) -> Result<String, E>,
}

/// A response, and the tokens in it.
pub struct Outcome {
    pub response: Response,
    /// None if it has none.
    pub tokens: Option<TokenMaker>,
}

impl Outcome {
    /// One without tokens.
    fn plain(status: u16, etag: Option<String>, body: String) -> Outcome {
        let response = Response::Plain { status, etag, body };
        let tokens = None;
        Outcome { response, tokens }
    }
}

/// The `ETag` of a game at this version as this role sees it.
pub fn etag(version: u64, role: Role) -> String {
    format!("\"{version}-{}\"", role.tag())
}

/// The game's seat of that number.
///
/// # Errors
/// `seat_not_found`.
pub fn find_seat(record: &Record, number: &str) -> Result<Seat, Error> {
    let seat = number.parse().ok();
    seat.and_then(|seat| Seat::new(seat, record.game.rules().seats))
        .filter(|seat| seat.number().to_string() == number)
        .ok_or(Error::SeatNotFound)
}

/// Carries out a command: looks, works out what is to change, and commits it, again if somebody
/// else was quicker.
///
/// # Errors
/// Why nothing was changed.
pub async fn execute<E: Clone + From<Error>>(
    store: &Store,
    request: &Request,
    command: &Command<E>,
    views: &Views<E>,
) -> Result<Outcome, E> {
    let id = match command {
        Command::Create { .. } => None,
        Command::InGame(id, _) => Some(id.parse().map_err(|_| Error::GameNotFound)?),
    };
    for _ in 0..MOST_ATTEMPTS {
        let look = store.look(id.as_ref(), request.scope()).await;
        let (effect, outcome) = attempt(&look.map_err(Error::from)?, request, command, views)?;
        let Some(effect) = effect else {
            return Ok(outcome);
        };
        let write = request.write(effect, &outcome.response)?;
        if store.commit(write).await.map_err(Error::from)? == Committed::Done {
            return Ok(outcome);
        }
    }
    Err(Error::Contended.into())
}

/// A game as it is added. An imported one has a host, who may remove it, and no other token.
fn new_game(
    creation: &Creation,
    creator: Option<Creator>,
    tokens: &TokenMaker,
) -> Result<NewGame, StoreError> {
    let now = now();
    let record = |game: Game, listed| Record {
        id: GameId::random(),
        listed,
        imported: false,
        creator,
        created_at: now,
        updated_at: now,
        tokens: Tokens {
            host: TokenHash::of(&tokens.host()),
            seats: BySeat::default(),
        },
        tempo: Tempo::default(),
        changes: TableChanges::default(),
        deadline: None,
        game: game.into(),
    };
    match creation {
        Creation::New {
            setup,
            listed,
            tempo,
        } => {
            let game = Game::new(setup.clone());
            let event = game.last_event().clone();
            let mut record = record(game, *listed);
            for seat in Seat::all(record.game.rules().seats) {
                let human = !record.game.player(seat).bot;
                record.tokens.seats[seat] = human.then(|| TokenHash::of(&tokens.seat(seat)));
            }
            record.tempo = *tempo;
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

impl Request {
    /// Where the response is saved, if it is to be.
    fn scope(&self) -> Option<&crate::store::Scope> {
        self.retry.as_ref().map(Retry::scope)
    }

    /// What is to be committed, with the response.
    fn write(&self, effect: Effect, response: &Response) -> Result<Write, Error> {
        let save = self.retry.as_ref().map(|retry| retry.save(response));
        let save = save.transpose()?;
        Ok(Write { effect, save })
    }

    /// The response that this very request got before.
    fn replay(&self, saved: &crate::store::SavedResponse) -> Result<Outcome, Error> {
        let retry = self.retry.as_ref();
        let retry = retry.ok_or(Error::Internal("a response was saved for no key"))?;
        let response = retry.replay(saved)?;
        let tokens = match &response {
            Response::Plain { .. } => None,
            Response::Created { salt, .. }
            | Response::FreshToken { salt, .. }
            | Response::Ticket { salt, .. } => Some(TokenMaker::new(Some(retry), salt)?),
        };
        Ok(Outcome { response, tokens })
    }

    /// Refuses a write whose author knew another version than the game is at.
    fn check_version(&self, version: u64, role: Role) -> Result<(), Error> {
        let is_known = |tags: &Vec<String>| {
            let own = format!("{version}-{}", role.tag());
            tags.iter()
                .any(|tag| *tag == version.to_string() || *tag == own)
        };
        let matches = self.if_match.as_ref().is_none_or(is_known);
        if matches && self.version.is_none_or(|known| known == version) {
            return Ok(());
        }
        Err(Error::StaleVersion(version))
    }
}

/// Works out what a command comes to in the state that was looked at: what is to change, or nothing
/// if the very request was carried out before, and the response. Every refusal but those of the
/// store is found here, in the order of the documentation.
fn attempt<E: Clone + From<Error>>(
    look: &Look,
    request: &Request,
    command: &Command<E>,
    views: &Views<E>,
) -> Result<(Option<Effect>, Outcome), E> {
    let replay = || {
        let saved = look.saved.as_ref();
        saved.map(|saved| request.replay(saved)).transpose()
    };
    let (record, act) = match (command, &look.game) {
        (Command::Create { creator, creation }, _) => {
            if let Some(outcome) = replay()? {
                return Ok((None, outcome));
            }
            let (effect, outcome) = create(creation, *creator, request, views)?;
            return Ok((Some(effect), outcome));
        }
        (Command::InGame(_, act), Some(record)) => (record, act),
        // The game is gone, with its tokens; whoever removed it is told so again.
        (Command::InGame(_, act), None) => {
            let replayed = match act {
                Act::Remove(_) => replay()?,
                _ => None,
            };
            return Ok((None, replayed.ok_or(Error::GameNotFound)?));
        }
    };
    let named = match act {
        Act::HandOver { seat, .. } | Act::ReissueToken { seat, .. } => {
            Some(find_seat(record, seat)?)
        }
        _ => None,
    };
    let role = match (request.caller.known_role(record), act) {
        (Ok(role), _) => role,
        // The seat's own retry comes with the token that its first try has killed.
        (Err(unknown), Act::ReissueToken { .. }) => {
            let outcome = replay()?.ok_or(unknown)?;
            return Ok((None, outcome));
        }
        (Err(unknown), _) => return Err(unknown.into()),
    };
    let actor = actor(act, role, named)?;
    if let Some(outcome) = replay()? {
        return Ok((None, outcome));
    }
    if let (Some(seat), None) = (actor, named)
        && record.game.player(seat).bot
    {
        return Err(Error::BotPlays(seat).into());
    }
    request.check_version(record.game.version(), role)?;
    let (effect, outcome) = match act {
        Act::ReissueToken { content, .. } => {
            let seat = actor.ok_or(Error::SeatNotFound)?;
            reissue_token(record, request, role, seat, content)?
        }
        Act::CreateTicket(content) => {
            content.clone()?;
            create_ticket(record, request)?
        }
        Act::Remove(content) => {
            content.clone()?;
            let outcome = Outcome::plain(204, None, String::new());
            (Effect::Remove(record.seen()), outcome)
        }
        _ => {
            let action = action(act, record, actor)?;
            let draft = Draft::new(record, &action).map_err(Error::from)?;
            let etag = etag(draft.record.game.version(), role);
            let body = (views.changed)(&draft, role)?;
            let outcome = Outcome::plain(200, Some(etag), body);
            (Effect::Update(draft.into()), outcome)
        }
    };
    Ok((Some(effect), outcome))
}

/// A game to add, and its tokens.
fn create<E: Clone + From<Error>>(
    creation: &Result<Creation, E>,
    creator: Option<Creator>,
    request: &Request,
    views: &Views<E>,
) -> Result<(Effect, Outcome), E> {
    let salt = random();
    let tokens = TokenMaker::new(request.retry.as_ref(), &salt)?;
    let creation = creation.as_ref().map_err(Clone::clone)?;
    let new = new_game(creation, creator, &tokens).map_err(Error::from)?;
    let record = &new.record;
    let seats = record.game.rules().seats;
    let without_token = |seat: &Seat| record.tokens.seats[*seat].is_none();
    let response = Response::Created {
        id: record.id.to_string(),
        seats,
        bots: Seat::all(seats).filter(without_token).collect(),
        salt,
        etag: etag(record.game.version(), Role::Host),
        game: (views.game)(record, Role::Host)?,
    };
    let tokens = Some(tokens);
    Ok((Effect::Insert(new.into()), Outcome { response, tokens }))
}

/// The seat that acts, or is acted upon; none if the host acts for no seat.
///
/// # Errors
/// `forbidden`, if this role may not do that.
fn actor<E>(act: &Act<E>, role: Role, named: Option<Seat>) -> Result<Option<Seat>, Error> {
    match (act, role) {
        (Act::HandOver { .. }, Role::Host) => Ok(named),
        (Act::HandOver { .. }, _) => Err(Error::Forbidden("only the host hands over a seat")),
        (Act::ReissueToken { .. }, Role::Host) => Ok(named),
        (Act::ReissueToken { .. }, Role::Seat(seat)) if Some(seat) == named => Ok(named),
        (Act::ReissueToken { .. }, _) => Err(Error::Forbidden(
            "only the seat itself and the host reissue its token",
        )),
        (Act::Remove(_), Role::Host) | (Act::CreateTicket(_), _) => Ok(None),
        (Act::Remove(_), _) => Err(Error::Forbidden("only the host removes a game")),
        (Act::Deal(_), Role::Host) => Ok(None),
        (_, Role::Seat(seat)) => Ok(Some(seat)),
        (_, _) => Err(Error::Forbidden("this is for seats, the host has no cards")),
    }
}

/// The action of the game that a request asks for, if the phase and the turn are right.
fn action<E: Clone + From<Error>>(
    act: &Act<E>,
    record: &Record,
    actor: Option<Seat>,
) -> Result<Action, E> {
    let game = &record.game;
    let refused = |refusal: dog_rules::ActionRefusal| Error::from(refusal);
    match (act, actor) {
        (Act::HandOver { to, .. }, Some(seat)) => {
            game.check_not_over().map_err(refused)?;
            record.check_table_change().map_err(Error::from)?;
            let HandOver { bot, name, level } = to.clone()?;
            let name = name.unwrap_or_else(|| game.player(seat).name.clone());
            let player = Player { name, bot, level };
            Ok(Action::HandOver { seat, player })
        }
        (Act::Swap(swap), Some(seat)) => {
            game.check_exchange(seat).map_err(refused)?;
            record.check_play().map_err(Error::from)?;
            Ok(match swap.clone()? {
                Swap::Card(card) => Action::Offer { seat, card },
                Swap::Decline => Action::Decline { seat },
                Swap::Ask => Action::Ask { seat },
            })
        }
        (Act::Play(mv), Some(seat)) => {
            game.check_play(seat).map_err(refused)?;
            record.check_play().map_err(Error::from)?;
            let mv = mv.clone()?;
            Ok(Action::Play { seat, mv })
        }
        (Act::Deal(content), by) => {
            game.check_deal(by).map_err(refused)?;
            record.check_play().map_err(Error::from)?;
            content.clone()?;
            Ok(Action::Deal { by })
        }
        _ => Err(Error::Internal("an act is no action").into()),
    }
}

/// A fresh token for a seat: by the host as a public event, by the seat itself without a version.
fn reissue_token<E: Clone + From<Error>>(
    record: &Record,
    request: &Request,
    role: Role,
    seat: Seat,
    content: &Result<(), E>,
) -> Result<(Effect, Outcome), E> {
    if record.game.player(seat).bot {
        return Err(Error::NoHuman(seat).into());
    }
    if role == Role::Host {
        record.game.check_not_over().map_err(Error::from)?;
    }
    record.check_table_change().map_err(Error::from)?;
    content.clone()?;
    let salt = random();
    let tokens = TokenMaker::new(request.retry.as_ref(), &salt)?;
    let fresh = Some(TokenHash::of(&tokens.seat(seat)));
    let (effect, version) = if role == Role::Host {
        let action = Action::ReissueToken { seat };
        let mut draft = Draft::new(record, &action).map_err(Error::from)?;
        draft.record.tokens.seats[seat] = fresh;
        let version = draft.record.game.version();
        (Effect::Update(draft.into()), version)
    } else {
        let mut all = record.tokens.clone();
        all.seats[seat] = fresh;
        let effect = Effect::SetTokens(record.seen(), all);
        (effect, record.game.version())
    };
    let response = Response::FreshToken {
        seat,
        version,
        salt,
    };
    let tokens = Some(tokens);
    Ok((effect, Outcome { response, tokens }))
}

/// A ticket that stands for the caller's token.
fn create_ticket(record: &Record, request: &Request) -> Result<(Effect, Outcome), Error> {
    let salt = random();
    let tokens = TokenMaker::new(request.retry.as_ref(), &salt)?;
    let token = request.caller.token();
    let token = token.ok_or(Error::Unauthorized("this needs a token of this game's"))?;
    let expires_at = now() + TICKET_LIFE;
    let ticket = Ticket {
        hash: TokenHash::of(&tokens.ticket()),
        token,
        expires_at,
    };
    let response = Response::Ticket {
        salt,
        expires_at: expires_at.to_string(),
    };
    let tokens = Some(tokens);
    let effect = Effect::AddTicket(record.seen(), ticket);
    Ok((effect, Outcome { response, tokens }))
}
