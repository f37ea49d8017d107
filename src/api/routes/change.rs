//! The actions of the game: deal, swap, play. One way to change a game, for all three.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};

use super::find;
use crate::{
    api::{
        App,
        answer::{Answer, Memory},
        problem::{Code, Problem},
        request::{WriteRequest, etag},
        wire::{
            game::{Changed, Role},
            request::{DealRequest, PlayRequest, Swap, SwapRequest},
        },
    },
    rules::{
        event::Action,
        game::{ActionRefusal, Game},
        refusal::Refusal,
        seat::Seat,
    },
    store::{LogEntry, Record, Transaction, now},
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
    change(app, id, request, Wish::Deal).await
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
    change(app, id, request, Wish::Swap).await
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
    change(app, id, request, Wish::Play).await
}

/// What a request wants of the game.
#[derive(Clone, Copy)]
enum Wish {
    Deal,
    Swap,
    Play,
}

impl Wish {
    /// Who acts; nobody's seat if the host has the round dealt.
    fn actor(self, request: &WriteRequest, record: &Record) -> Result<Option<Seat>, Problem> {
        match (self, request.caller.known_role(record)?) {
            (Wish::Deal, Role::Host) => Ok(None),
            _ => request.caller.seat(record).map(Some),
        }
    }

    /// Whether the phase and the turn are right.
    fn check(self, game: &Game, actor: Option<Seat>) -> Result<(), ActionRefusal> {
        match (self, actor) {
            (Wish::Swap, Some(seat)) => game.check_exchange(seat),
            (Wish::Play, Some(seat)) => game.check_play(seat),
            (_, by) => game.check_deal(by),
        }
    }

    /// The action that the body asks for.
    fn action(self, request: &WriteRequest, actor: Option<Seat>) -> Result<Action, Problem> {
        match (self, actor) {
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
    id: Path<String>,
    request: WriteRequest,
    wish: Wish,
) -> Result<HttpResponse, Problem> {
    let answer = app
        .store
        .write(move |transaction| -> Result<Answer, Problem> {
            let mut record = find(transaction, &id)?;
            let role = request.caller.known_role(&record)?;
            let actor = wish.actor(&request, &record)?;
            if let Some(answer) = request.replay(transaction)? {
                return Ok(answer);
            }
            request.check_version(record.game.version(), role)?;
            wish.check(&record.game, actor)?;
            let action = wish.action(&request, actor)?;
            let changed = apply(transaction, &mut record, action, role)?;
            let body = serde_json::to_string(&changed).map_err(Problem::internal)?;
            let etag = Some(etag(record.game.version(), role));
            let memory = Memory::Plain {
                status: 200,
                etag,
                body,
            };
            let answer = memory.answer(None)?;
            request.remember(transaction, || memory)?;
            Ok(answer)
        });
    Ok(answer.await?.into())
}

/// Applies an action to the game and keeps what came of it: the one way to change a stored game.
///
/// # Errors
/// The game refuses the action, or the store fails.
pub fn apply(
    transaction: &mut Transaction<'_>,
    record: &mut Record,
    action: Action,
    role: Role,
) -> Result<Changed, Problem> {
    let before = record.game.version();
    let events = record.game.apply(&action)?;
    let entry = LogEntry {
        version: record.game.version(),
        at: now(),
        action: Some(action),
        events: events.clone(),
    };
    transaction.update(record, before, &entry)?;
    Ok(Changed::new(record, events, role))
}
