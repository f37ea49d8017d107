//! Writes: load a game, decide, commit, and again if another write came first.
//!
//! A route's decision is a closure that reads from top to bottom: the order of its lines is the
//! order of its refusals. It computes the change and the answer from what was loaded; both are
//! committed together.

use std::ops::Deref;

use actix_web::{HttpResponse, http::StatusCode};
use dog_rules::{Action, Actor, Seat};
use dog_store::{
    CommitResult, Draft, GameId, LoadedGame, SavedResponse, Store, StoredGame, Write, WriteOp,
};

use crate::{
    access::{AccessError, Role, check_person_plays, find_seat},
    http::{answer::Answer, request::WriteRequest},
    problem::{Code, Problem},
    view::game::ActionResponse,
};

/// Maximum number of attempts. Each one but the last failed because another write came first.
pub const MAX_ATTEMPTS: u32 = 8;

/// What an attempt decides.
pub enum Decision {
    /// To change nothing: the answer to an earlier copy of the request, or one that needs no write.
    Answer(Answer),
    /// To commit this change and answer.
    Change(WriteOp, Answer),
    /// To commit this change, and to attempt it again whether or not another write came first.
    Prepare(WriteOp),
}

/// Carries out a write: loads what it is decided from, decides and commits, and does so again if
/// another write came first, at most this many times.
///
/// # Errors
/// Why nothing was changed.
pub async fn attempt<L>(
    store: &Store,
    request: &WriteRequest,
    attempts: u32,
    load: impl AsyncFn() -> Result<L, Problem>,
    decide: impl Fn(&L) -> Result<Decision, Problem>,
) -> Result<HttpResponse, Problem> {
    for _ in 0..attempts {
        let loaded = load().await?;
        let (op, answer) = match decide(&loaded)? {
            Decision::Answer(answer) => {
                return answer.respond(request.retry.as_ref(), request.gzip);
            }
            Decision::Change(op, answer) => (op, Some(answer)),
            Decision::Prepare(op) => (op, None),
        };
        let save = match (&request.retry, &answer) {
            (Some(retry), Some(answer)) => Some(retry.save(answer)?),
            _ => None,
        };
        let committed = store.commit(Write { op, save }).await?;
        if let (CommitResult::Done, Some(answer)) = (committed, answer) {
            return answer.respond(request.retry.as_ref(), request.gzip);
        }
    }
    let detail = "other writes to this game came first too often";
    Err(Problem::new(Code::Unavailable, detail))
}

/// A write that adds a game.
///
/// # Errors
/// Why none was added.
pub async fn create(
    store: &Store,
    request: &WriteRequest,
    decide: impl Fn() -> Result<Decision, Problem>,
) -> Result<HttpResponse, Problem> {
    let load = async || Ok(store.load(None, request.scope()).await?.saved_response);
    attempt(store, request, MAX_ATTEMPTS, load, |saved| {
        match request.first_answer(saved.as_ref())? {
            Some(answer) => Ok(Decision::Answer(answer)),
            None => decide(),
        }
    })
    .await
}

/// A write in the game with this id.
///
/// # Errors
/// Why nothing was changed; `game_not_found`, if there is no such game.
pub async fn write(
    store: &Store,
    id: &str,
    request: &WriteRequest,
    decide: impl Fn(&GameWrite<'_>) -> Result<Decision, Problem>,
) -> Result<HttpResponse, Problem> {
    let load = load_for_write(store, id, request)?;
    attempt(store, request, MAX_ATTEMPTS, load, |loaded| {
        decide(&GameWrite::new(loaded, request)?)
    })
    .await
}

/// Loads the game with this id, and the answer that was saved for this request.
///
/// # Errors
/// `game_not_found`, if no game can have this id.
pub fn load_for_write<'a>(
    store: &'a Store,
    id: &str,
    request: &'a WriteRequest,
) -> Result<impl AsyncFn() -> Result<LoadedGame, Problem> + 'a, Problem> {
    let id: GameId = id.parse().map_err(|_| Problem::game_not_found())?;
    Ok(async move || {
        let loaded = store.load(Some(&id), request.scope()).await?;
        if let Some(stored) = &loaded.game
            && request.caller.known_role(stored).is_ok()
        {
            store.note_use(stored);
        }
        Ok(loaded)
    })
}

/// A game that a request wants to change.
pub struct GameWrite<'a> {
    pub stored: &'a StoredGame,
    pub request: &'a WriteRequest,
    saved: Option<&'a SavedResponse>,
}

/// Its game.
impl Deref for GameWrite<'_> {
    type Target = StoredGame;

    fn deref(&self) -> &StoredGame {
        self.stored
    }
}

impl<'a> GameWrite<'a> {
    /// # Errors
    /// `game_not_found`.
    pub fn new(
        loaded: &'a LoadedGame,
        request: &'a WriteRequest,
    ) -> Result<GameWrite<'a>, Problem> {
        Ok(GameWrite {
            stored: loaded.game.as_ref().ok_or_else(Problem::game_not_found)?,
            request,
            saved: loaded.saved_response.as_ref(),
        })
    }

    /// The answer to the first copy of this request, if this is a retry.
    ///
    /// # Errors
    /// `idempotency_key_reused`.
    pub fn first_answer(&self) -> Result<Option<Decision>, Problem> {
        let answer = self.request.first_answer(self.saved)?;
        Ok(answer.map(Decision::Answer))
    }

    /// The same for a retry whose token the first copy has revoked. The host's requests for a seat
    /// revoke that of another.
    ///
    /// # Errors
    /// `idempotency_key_reused`.
    pub fn first_answer_if_revoked(&self) -> Result<Option<Decision>, Problem> {
        if self.role().is_ok() {
            return Ok(None);
        }
        let answer = self.request.first_answer(self.saved)?;
        let answer = answer.filter(|answer| !answer.is_for_another);
        Ok(answer.map(Decision::Answer))
    }

    /// The role of a caller with a token.
    ///
    /// # Errors
    /// `unauthorized`, `token_replaced`.
    pub fn role(&self) -> Result<Role, Problem> {
        Ok(self.request.caller.known_role(self.stored)?)
    }

    /// Checks that the caller is the host, who alone may do this.
    ///
    /// # Errors
    /// `unauthorized`, `token_replaced`, `forbidden`.
    pub fn host(&self, what: &'static str) -> Result<Role, Problem> {
        match self.role()? {
            Role::Host => Ok(Role::Host),
            _ => Err(AccessError::HostOnly(what).into()),
        }
    }

    /// The role of the operator, who may do to any game what its host may in some routes, but to a
    /// table of a match.
    pub fn operator(&self) -> Option<Role> {
        let by_operator = self.request.by_operator && self.table.is_none();
        by_operator.then_some(Role::Host)
    }

    /// The seat that calls.
    ///
    /// # Errors
    /// `unauthorized`, `token_replaced`, `forbidden`.
    pub fn seat(&self) -> Result<Seat, Problem> {
        Ok(self.request.caller.seat(self.stored)?)
    }

    /// The seat with this number.
    ///
    /// # Errors
    /// `seat_not_found`.
    pub fn seat_numbered(&self, number: &str) -> Result<Seat, Problem> {
        Ok(find_seat(self.stored, number)?)
    }

    /// The role of the host or of this seat, which alone may do this.
    ///
    /// # Errors
    /// `unauthorized`, `token_replaced`, `forbidden`.
    pub fn host_or(&self, seat: Seat) -> Result<Role, Problem> {
        match self.role()? {
            role if role == Role::Host || role == Role::Seat(seat) => Ok(role),
            _ => Err(AccessError::NotYourSeat.into()),
        }
    }

    /// Checks that the seat's person plays it, not a bot.
    ///
    /// # Errors
    /// `forbidden`.
    pub fn check_person_plays(&self, seat: Seat) -> Result<(), Problem> {
        Ok(check_person_plays(&self.game, seat)?)
    }

    /// Checks that the game is in a state that the request allows.
    ///
    /// # Errors
    /// `stale_version`.
    pub fn check_state(&self, role: Role) -> Result<(), Problem> {
        self.request.check_state(self.stored, role)
    }

    /// The content of the body.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn body<T: serde::de::DeserializeOwned + utoipa::ToSchema>(&self) -> Result<T, Problem> {
        self.request.body()
    }

    /// The change by an action of this role, and the game after it.
    ///
    /// # Errors
    /// Why the game refuses it.
    pub fn act(&self, role: Role, action: &Action) -> Result<Decision, Problem> {
        let draft = self.draft(action)?;
        let body = ActionResponse::new(&draft.next, &draft.events, role);
        let answer = Answer::new(StatusCode::OK, &body)?.with_etag(&draft.next, role);
        Ok(Decision::Change(draft.into(), answer))
    }

    /// The game after an action.
    ///
    /// # Errors
    /// Why the game refuses it.
    pub fn draft(&self, action: &Action) -> Result<Draft, Problem> {
        Ok(Draft::new(self.stored, action, Actor::Player)?)
    }
}
