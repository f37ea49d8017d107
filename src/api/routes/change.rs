//! The actions of the game: deal, swap, play, and a seat handed over. One way to change a game,
//! for all of them.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};

use super::{find, find_seat};
use crate::{
    api::{
        App,
        answer::{Answer, Memory},
        problem::{Code, Problem},
        request::{WriteRequest, etag},
        wire::{
            game::{Changed, Role},
            request::{DealRequest, HandOverRequest, PlayRequest, Swap, SwapRequest},
        },
    },
    rules::{
        event::{Action, Event},
        game::{ActionRefusal, Game},
        refusal::Refusal,
        seat::Seat,
    },
    store::Record,
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
        let seat = request.caller.seat(record)?;
        if record.game.player(seat).bot {
            let detail = format!("a bot plays {seat} until the host hands it back");
            return Err(Problem::new(Code::Forbidden, detail));
        }
        Ok(Some(seat))
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

/// Carries out a wish in one transaction. The order of refusals is that of the documentation:
/// no such game, unknown token, wrong role, replay, stale version, wrong phase or turn, content.
async fn change(
    app: Data<App>,
    id: String,
    request: WriteRequest,
    wish: Wish,
) -> Result<HttpResponse, Problem> {
    let done = app
        .store
        .write(move |transaction| -> Result<Done, Problem> {
            let mut record = find(transaction, &id)?;
            let actor = wish.actor(&request, &record)?;
            let role = request.caller.known_role(&record)?;
            if let Some(answer) = request.replay(transaction)? {
                return Ok(Done::Answered(answer));
            }
            request.check_version(record.game.version(), role)?;
            wish.check(&record.game, actor)?;
            let action = wish.action(&request, &record.game, actor)?;
            let events = transaction.apply(&mut record, action)?;
            if request.key().is_none() {
                return Ok(Done::Changed(Box::new(record), events, role));
            }
            let memory = memory(&record, events, role)?;
            let answer = memory.answer(None)?;
            request.remember(transaction, || memory)?;
            Ok(Done::Answered(answer))
        });
    Ok(match done.await? {
        Done::Answered(answer) => answer.into(),
        Done::Changed(record, events, role) => memory(&record, events, role)?.answer(None)?.into(),
    })
}

/// What came of a wish.
enum Done {
    /// The answer, where it was part of the write.
    Answered(Answer),
    /// What the answer is to tell. It is put into words only now, when others can write again.
    Changed(Box<Record>, Vec<Event>, Role),
}

/// The answer, as it is remembered.
///
/// # Errors
/// None that can happen: a change has a JSON form.
fn memory(record: &Record, events: Vec<Event>, role: Role) -> Result<Memory, Problem> {
    let changed = Changed::new(record, events, role);
    Ok(Memory::Plain {
        status: 200,
        etag: Some(etag(record.game.version(), role)),
        body: serde_json::to_string(&changed).map_err(Problem::internal)?,
    })
}
