//! The actions of the game: deal, swap, play, and a seat handed over, all in one way; and fresh
//! tokens for seats.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use dog_rules::{Action, Seat};

use super::{App, find, find_seat, write};
use crate::{
    http::{
        answer::{Answer, Memory, random},
        problem::{Code, Problem},
        request::{WriteRequest, etag},
        wire::{
            game::{Changed, FreshToken, Role},
            request::{DealRequest, HandOverRequest, PlayRequest, SwapRequest, TokenRequest},
        },
    },
    store::{
        Draft, Reader, Record, Recorded, Scope, Store, StoreError, TokenHash, Transaction, now,
    },
};

/// Deals the round: the dealer's seat or the host.
#[utoipa::path(post, path = "/v1/games/{id}/deal", operation_id = "deal_cards", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = DealRequest, description = "May be empty."),
    responses((status = 200, description = "The cards are dealt.", body = Changed)),
    security(("token" = [])))]
pub async fn deal_cards(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    change(app, id.into_inner(), request, Wish::Deal).await
}

/// The partner exchange: lay down a card or, where it is optional, decline or ask for it.
#[utoipa::path(post, path = "/v1/games/{id}/swap", operation_id = "swap_cards", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body = SwapRequest,
    responses((status = 200, description = "The answer is laid down.", body = Changed)),
    security(("token" = [])))]
pub async fn swap_cards(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    change(app, id.into_inner(), request, Wish::Swap).await
}

/// Plays a move: any legal one, listed or not.
#[utoipa::path(post, path = "/v1/games/{id}/play", operation_id = "play_move", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body = PlayRequest,
    responses((status = 200, description = "The move is played.", body = Changed)),
    security(("token" = [])))]
pub async fn play_move(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    change(app, id.into_inner(), request, Wish::Play).await
}

/// Hands a seat to a bot, or back to a human: the host, when somebody has left or comes back.
///
/// It is a public event. The seat's token stays good for looking, and for playing once a human
/// plays again; a seat that never had one gets it from `reissue_token`.
#[utoipa::path(put, path = "/v1/games/{id}/seats/{seat}", operation_id = "hand_over_seat", tag = "games",
    params(("id" = String, Path, description = "The game's id."),
        ("seat" = u8, Path, description = "The seat's number.")),
    request_body = HandOverRequest,
    responses((status = 200, description = "Somebody else plays the seat.", body = Changed)),
    security(("token" = [])))]
pub async fn hand_over_seat(
    app: Data<App>,
    path: Path<(String, String)>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let (id, seat) = path.into_inner();
    change(app, id, request, Wish::HandOver(seat)).await
}

/// Gives the seat a fresh token; the old one dies.
///
/// Whoever was sent a token makes it their own in this way. By the host it is a public event.
#[utoipa::path(post, path = "/v1/games/{id}/seats/{seat}/token", operation_id = "reissue_token", tag = "games",
    params(("id" = String, Path, description = "The game's id."),
        ("seat" = u8, Path, description = "The seat's number.")),
    request_body(content = TokenRequest, description = "May be empty."),
    responses((status = 200, description = "The fresh token, shown this once.", body = FreshToken)),
    security(("token" = [])))]
pub async fn reissue_token(
    app: Data<App>,
    path: Path<(String, String)>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let (id, number) = path.into_inner();
    write(&app, move |transaction| {
        let mut record = find(transaction, &id)?;
        let seat = find_seat(&record, &number)?;
        let role = match request.caller.known_role(&record) {
            Ok(role) => role,
            // The seat's own retry comes with the token that its first try has killed.
            Err(unknown) => return request.replay(transaction)?.ok_or(unknown),
        };
        if role != Role::Host && role != Role::Seat(seat) {
            let detail = "only the seat itself and the host reissue its token";
            return Err(Problem::new(Code::Forbidden, detail));
        }
        if let Some(answer) = request.replay(transaction)? {
            return Ok(answer);
        }
        request.check_version(record.game.version(), role)?;
        if record.game.player(seat).bot {
            // Its holder could see a hand that nobody is to see.
            let detail = format!("a bot plays {seat}: hand it to a human first");
            return Err(Problem::new(Code::NoHuman, detail));
        }
        record.check_table_change()?;
        request.content::<TokenRequest>()?;
        let salt = random();
        let tokens = request.tokens(&salt)?;
        let fresh = Some(TokenHash::of(&tokens.seat(seat)));
        if role == Role::Host {
            let mut draft = Draft::new(&record, &Action::ReissueToken { seat })?;
            draft.record.tokens.seats[seat] = fresh;
            transaction.keep(&draft)?;
            record = draft.record;
        } else {
            record.tokens.seats[seat] = fresh;
            transaction.set_tokens(&record.id, &record.tokens)?;
        }
        let memory = Memory::FreshToken {
            seat,
            version: record.game.version(),
            salt,
        };
        request.answer(transaction, memory, tokens)
    })
    .await
}

/// What a request wants of the game.
enum Wish {
    Deal,
    Swap,
    Play,
    /// The seat of that number is to have another player.
    HandOver(String),
}

/// Carries out a wish. It is worked out beside the other requests, and again if somebody else was
/// quicker to change the game; only then does the outcome of the one hold up the others.
async fn change(
    app: Data<App>,
    id: String,
    request: WriteRequest,
    wish: Wish,
) -> Result<HttpResponse, Problem> {
    let asked = Asked { id, request, wish };
    let new = match asked.foresee(&app.store) {
        Some(new) => new,
        None => match app.store.read(|reader| asked.outcome(reader))? {
            Outcome::Replayed(answer) => return Ok(answer.into()),
            Outcome::New(new) => new,
        },
    };
    // What was worked out comes back, so that the writer has no work with throwing it away.
    let outcome = app.store.write_checked(move |transaction| {
        match new.keep(transaction) {
            Err(StoreError::Stale(_)) => {}
            kept => return Ok(kept.map(|()| Outcome::New(new))?),
        }
        let outcome = asked.outcome(transaction)?;
        if let Outcome::New(new) = &outcome {
            new.keep(transaction)?;
        }
        Ok::<_, Problem>(outcome)
    });
    Ok(match outcome.await? {
        Outcome::Replayed(answer) => answer.into(),
        Outcome::New(new) => new.answer.into(),
    })
}

/// What a wish comes to, as long as the game stays as it is.
enum Outcome {
    /// The very request was carried out before, with this answer.
    Replayed(Answer),
    New(Box<New>),
}

/// What is to be written and answered.
struct New {
    draft: Draft,
    answer: Answer,
    /// The answer, to be remembered under the request's key.
    recorded: Option<(Scope, Recorded)>,
}

impl New {
    /// Writes it.
    fn keep(&self, transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
        transaction.keep(&self.draft)?;
        match &self.recorded {
            Some((scope, recorded)) => transaction.remember(scope, recorded, now()),
            None => Ok(()),
        }
    }
}

/// Somebody's wish of a game.
struct Asked {
    id: String,
    request: WriteRequest,
    wish: Wish,
}

impl Asked {
    /// What it comes to. The order of refusals is that of the documentation: no such game, unknown
    /// token, wrong role, replay, a bot's seat, stale version, wrong phase or turn, content.
    fn outcome(&self, reader: &Reader<'_>) -> Result<Outcome, Problem> {
        let record = find(reader, &self.id)?;
        let (actor, role) = self.part(&record)?;
        match self.request.replay(reader)? {
            Some(answer) => Ok(Outcome::Replayed(answer)),
            None => self.carry_out(&record, actor, role).map(Outcome::New),
        }
    }

    /// What it comes to if the game is still as it was last seen, which spares a look into the
    /// database. Keeping it shows whether it is. A refusal could not be told from one that is out
    /// of date, and a request with a key may have been carried out before: neither is foreseen.
    fn foresee(&self, store: &Store) -> Option<Box<New>> {
        if self.request.key.is_some() {
            return None;
        }
        let record = store.last_seen(&self.id.parse().ok()?)?;
        let (actor, role) = self.part(&record).ok()?;
        self.carry_out(&record, actor, role).ok()
    }

    /// Who acts, if a seat does and not the host, and what the caller is.
    fn part(&self, record: &Record) -> Result<(Option<Seat>, Role), Problem> {
        let handed_over = match &self.wish {
            Wish::HandOver(number) => Some(find_seat(record, number)?),
            _ => None,
        };
        let caller = self.request.caller;
        let role = caller.known_role(record)?;
        let actor = match (&self.wish, role) {
            (Wish::HandOver(_), Role::Host) => handed_over,
            (Wish::HandOver(_), _) => {
                let detail = "only the host hands over a seat";
                return Err(Problem::new(Code::Forbidden, detail));
            }
            (Wish::Deal, Role::Host) => None,
            _ => Some(caller.seat(record)?),
        };
        Ok((actor, role))
    }

    /// The action that the body asks for, if the phase and the turn are right.
    fn action(&self, record: &Record, actor: Option<Seat>) -> Result<Action, Problem> {
        let (request, game) = (&self.request, &record.game);
        match (&self.wish, actor) {
            (Wish::HandOver(_), Some(seat)) => {
                game.check_not_over()?;
                record.check_table_change()?;
                let request: HandOverRequest = request.content()?;
                let player = request.player(seat, game.player(seat))?;
                Ok(Action::HandOver { seat, player })
            }
            (Wish::Swap, Some(seat)) => {
                game.check_exchange(seat)?;
                record.check_play()?;
                request.content::<SwapRequest>()?.action(seat)
            }
            (Wish::Play, Some(seat)) => {
                game.check_play(seat)?;
                record.check_play()?;
                request.content::<PlayRequest>()?.action(seat)
            }
            (_, by) => {
                game.check_deal(by)?;
                record.check_play()?;
                request.content::<DealRequest>()?;
                Ok(Action::Deal { by })
            }
        }
    }

    /// The game after it, and the answer.
    fn carry_out(
        &self,
        record: &Record,
        actor: Option<Seat>,
        role: Role,
    ) -> Result<Box<New>, Problem> {
        let request = &self.request;
        if let Some(seat) = actor
            && !matches!(self.wish, Wish::HandOver(_))
            && record.game.player(seat).bot
        {
            let detail = format!("a bot plays {seat} until the host hands it back");
            return Err(Problem::new(Code::Forbidden, detail));
        }
        request.check_version(record.game.version(), role)?;
        let draft = Draft::new(record, &self.action(record, actor)?)?;
        let changed = Changed::new(&draft.record, draft.events.clone(), role);
        let memory = Memory::Plain {
            status: 200,
            etag: Some(etag(draft.record.game.version(), role)),
            body: serde_json::to_string(&changed).map_err(Problem::internal)?,
        };
        Ok(Box::new(New {
            recorded: request.recorded(&memory)?,
            answer: memory.answer(|salt| request.tokens(salt))?,
            draft,
        }))
    }
}
