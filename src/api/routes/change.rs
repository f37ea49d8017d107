//! The actions of the game: deal, swap, play, and a seat handed over. One way to change a game,
//! for all of them.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use dog_rules::{
    event::Action,
    game::{ActionRefusal, Game},
    judge::Refusal,
    seat::Seat,
};

use super::{find, find_seat};
use crate::{
    api::{
        App,
        answer::{Answer, Keepsake, Memory},
        problem::{Code, Problem},
        request::{WriteRequest, etag},
        wire::{
            game::{Changed, Role},
            request::{DealRequest, HandOverRequest, PlayRequest, Swap, SwapRequest},
        },
    },
    store::{Draft, Reader, Record, Store, StoreError, Transaction},
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

/// What a request wants of the game.
enum Wish {
    Deal,
    Swap,
    Play,
    /// The seat of that number is to have another player.
    HandOver(String),
}

impl Wish {
    /// Who acts; nobody's seat if the host has it done.
    fn actor(&self, request: &WriteRequest, record: &Record) -> Result<Option<Seat>, Problem> {
        if let Wish::HandOver(number) = self {
            let seat = find_seat(record, number)?;
            return match request.caller.known_role(record)? {
                Role::Host => Ok(Some(seat)),
                _ => Err(Problem::new(
                    Code::Forbidden,
                    "only the host hands over a seat",
                )),
            };
        }
        if matches!(self, Wish::Deal) && request.caller.known_role(record)? == Role::Host {
            return Ok(None);
        }
        request.caller.seat(record).map(Some)
    }

    /// Refuses what a seat asks for while a bot plays it. A replay comes before this.
    fn check_player(&self, game: &Game, actor: Option<Seat>) -> Result<(), Problem> {
        match (self, actor) {
            (Wish::Deal | Wish::Swap | Wish::Play, Some(seat)) if game.player(seat).bot => {
                let detail = format!("a bot plays {seat} until the host hands it back");
                Err(Problem::new(Code::Forbidden, detail))
            }
            _ => Ok(()),
        }
    }

    /// Whether the phase and the turn are right.
    fn check(&self, game: &Game, actor: Option<Seat>) -> Result<(), ActionRefusal> {
        match (self, actor) {
            (Wish::HandOver(_), _) => game.check_not_over(),
            (Wish::Swap, Some(seat)) => game.check_exchange(seat),
            (Wish::Play, Some(seat)) => game.check_play(seat),
            (_, by) => game.check_deal(by),
        }
    }

    /// The action that the body asks for.
    fn action(
        &self,
        request: &WriteRequest,
        game: &Game,
        actor: Option<Seat>,
    ) -> Result<Action, Problem> {
        match (self, actor) {
            (Wish::HandOver(_), Some(seat)) => {
                let request: HandOverRequest = request.content()?;
                let player = request.player(seat, game.player(seat))?;
                Ok(Action::HandOver { seat, player })
            }
            (Wish::Swap, Some(seat)) => Ok(match request.content::<SwapRequest>()?.swap()? {
                Swap::Card(card) => Action::Offer { seat, card },
                Swap::Decline => Action::Decline { seat },
                Swap::Ask => Action::Ask { seat },
            }),
            (Wish::Play, Some(seat)) => {
                let id = request.content::<PlayRequest>()?.id;
                let mv = id
                    .parse()
                    .map_err(|error| Problem::new(Code::IllegalMove, Refusal::Notation(error)))?;
                Ok(Action::Play { seat, mv })
            }
            (_, by) => {
                request.content::<DealRequest>()?;
                Ok(Action::Deal { by })
            }
        }
    }
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
    keepsake: Option<Keepsake>,
}

impl New {
    /// Writes it.
    ///
    /// # Errors
    /// As [`Transaction::keep`].
    fn keep(&self, transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
        transaction.keep(&self.draft)?;
        match &self.keepsake {
            Some(keepsake) => keepsake.keep(transaction),
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
        if self.request.key().is_some() {
            return None;
        }
        let record = store.last_seen(&self.id.parse().ok()?)?;
        let (actor, role) = self.part(&record).ok()?;
        self.carry_out(&record, actor, role).ok()
    }

    /// Who acts, if a seat does, and what the caller is.
    fn part(&self, record: &Record) -> Result<(Option<Seat>, Role), Problem> {
        let actor = self.wish.actor(&self.request, record)?;
        Ok((actor, self.request.caller.known_role(record)?))
    }

    /// The game after it, and the answer.
    fn carry_out(
        &self,
        record: &Record,
        actor: Option<Seat>,
        role: Role,
    ) -> Result<Box<New>, Problem> {
        let Asked { request, wish, .. } = self;
        wish.check_player(&record.game, actor)?;
        request.check_version(record.game.version(), role)?;
        wish.check(&record.game, actor)?;
        match wish {
            Wish::HandOver(_) => record.check_table_change()?,
            _ => record.check_play()?,
        }
        let action = wish.action(request, &record.game, actor)?;
        let draft = Draft::new(record, &action)?;
        let changed = Changed::new(&draft.record, draft.events.clone(), role);
        let memory = Memory::Plain {
            status: 200,
            etag: Some(etag(draft.record.game.version(), role)),
            body: serde_json::to_string(&changed).map_err(Problem::internal)?,
        };
        Ok(Box::new(New {
            keepsake: request.keepsake(&memory)?,
            answer: memory.answer(None)?,
            draft,
        }))
    }
}
