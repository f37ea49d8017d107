//! The actions of play: deal, swap and play.

use actix_web::HttpResponse;
use dog_rules::{Action, ActionRefusal, Card, Game, Move, Refusal, Seat};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use utoipa::ToSchema;

use crate::{
    access::Role,
    api::{
        errors::errors,
        parameters::{GameChange, GamePath, VersionRequest, WriteHeaders, card_of},
    },
    problem::Problem,
    view::game::ActionResponse,
    write::write,
};

errors! {
    DealErrors: [READ, BODY, RETRY, CHANGE, ACTION], [SeatsOpen];
    SwapErrors: [READ, BODY, RETRY, CHANGE, ACTION], [UnknownCard, CardNotInHand, IllegalExchange];
    PlayErrors: [READ, BODY, RETRY, CHANGE, ACTION], [IllegalMove];
}

/// Deal the round.
///
/// Deals the round: the dealer's seat or the host.
///
/// The cards come from the shuffle seed, so the dealer cannot influence them.
#[utoipa::path(post, path = "/v1/games/{id}/deal", tag = "play",
    params(GamePath, WriteHeaders),
    request_body(content = VersionRequest, description = "May be empty."),
    responses((status = 200, description = "The cards are dealt.", body = ActionResponse,
        links(
            ("swap_cards" = (operation_id = "swap_cards", parameters(("id" = "$request.path.id")))),
            ("suggest_move" = (operation_id = "suggest_move",
                parameters(("id" = "$request.path.id")))))),
        DealErrors),
    security(("token" = [])))]
pub async fn deal_cards((app, path, request): GameChange) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let role = game.role()?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        let by = match role {
            Role::Seat(seat) => Some(seat),
            Role::Host | Role::Spectator => None,
        };
        by.map_or(Ok(()), |seat| game.check_person_plays(seat))?;
        game.check_state(role)?;
        game.stored.game.check_deal(by)?;
        game.check_limit()?;
        let VersionRequest { .. } = game.body()?;
        game.act(role, &Action::Deal { by })
    })
    .await
}

/// An answer in the exchange: exactly one of `card`, `decline`, `ask` and `pass`.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"card": "K"}), min_properties = 1)]
pub struct SwapRequest {
    /// The card to offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Card>)]
    pub card: Option<String>,
    /// True to decline, unless the exchange is mandatory. False is the same as absent, here and
    /// below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decline: Option<bool>,
    /// True to ask for a card ("help!"), unless the exchange is mandatory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<bool>,
    /// True to do without asking, where the exchange is on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<bool>,
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version", skip_serializing_if = "Option::is_none")]
    _version: Option<u64>,
}

impl SwapRequest {
    /// The request that gives this answer.
    ///
    /// # Errors
    /// Never in practice: the action is an answer in the exchange.
    pub fn answering(action: &Action) -> Result<SwapRequest, Problem> {
        let mut swap = SwapRequest::default();
        match action {
            Action::Offer { card, .. } => swap.card = Some(card.name().to_owned()),
            Action::Decline { .. } => swap.decline = Some(true),
            Action::Ask { .. } => swap.ask = Some(true),
            Action::Pass { .. } => swap.pass = Some(true),
            _ => return Err(Problem::internal("a decision is not a choice")),
        }
        Ok(swap)
    }

    /// The action of this seat; exactly one field must be set.
    ///
    /// # Errors
    /// `unknown_card`; `invalid_request`, if not exactly one field is set.
    pub fn action(self, seat: Seat) -> Result<Action, Problem> {
        let [decline, ask, pass] =
            [self.decline, self.ask, self.pass].map(|choice| choice == Some(true));
        match (self.card, decline, ask, pass) {
            (Some(card), false, false, false) => {
                let card = card_of(&card, "/card".to_owned())?;
                Ok(Action::Offer { seat, card })
            }
            (None, true, false, false) => Ok(Action::Decline { seat }),
            (None, false, true, false) => Ok(Action::Ask { seat }),
            (None, false, false, true) => Ok(Action::Pass { seat }),
            _ => Err(Problem::wrong_combination(
                r#"send one of {"card": "K"}, {"decline": true}, {"ask": true} and {"pass": true}"#,
            )),
        }
    }
}

/// Answer in the exchange.
///
/// The partner exchange: offer a card, ask for one, decline or pass.
///
/// `choices` says what a seat may do now. An offered card stays hidden, and the partners' cards
/// change hands when both have offered one. Where the exchange is `on_request`, a seat asks or
/// passes first; if one asks, its partner offers a card or declines, and then the one that asked
/// offers one.
#[utoipa::path(post, path = "/v1/games/{id}/swap", tag = "play",
    params(GamePath, WriteHeaders),
    request_body(content = SwapRequest, examples(
        ("offer" = (summary = "Offer a card", value = json!({"card": "K"}))),
        ("ask" = (summary = "Ask for a card", value = json!({"ask": true}))),
        ("decline" = (summary = "Decline", value = json!({"decline": true}))),
        ("pass" = (summary = "Do without asking", value = json!({"pass": true}))))),
    responses((status = 200, description = "The answer is accepted.", body = ActionResponse,
        links(
            ("list_legal_moves" = (operation_id = "list_legal_moves",
                parameters(("id" = "$request.path.id")))),
            ("suggest_move" = (operation_id = "suggest_move",
                parameters(("id" = "$request.path.id")))))),
        SwapErrors),
    security(("token" = [])))]
pub async fn swap_cards(change: GameChange) -> Result<HttpResponse, Problem> {
    act(change, Game::check_exchange, SwapRequest::action).await
}

/// Plays a move.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"move": "Q:17>29"}))]
pub struct PlayRequest {
    /// A move id: one of those listed, or any legal one.
    #[schema(value_type = Move)]
    #[serde(rename = "move")]
    id: String,
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version", skip_serializing_if = "Option::is_none")]
    _version: Option<u64>,
}

impl PlayRequest {
    /// The request that plays the move with this id.
    pub fn new(id: String) -> PlayRequest {
        PlayRequest { id, _version: None }
    }

    /// The action of this seat; `illegal_move`, if the id is not that of a move.
    pub fn action(self, seat: Seat) -> Result<Action, Problem> {
        let mv = self.id.parse().map_err(Refusal::Notation)?;
        Ok(Action::Play { seat, mv })
    }
}

/// Play a move.
///
/// Plays a move: any legal one, listed or not.
///
/// `list_legal_moves` lists moves whose ids can be sent here.
#[utoipa::path(post, path = "/v1/games/{id}/play", tag = "play",
    params(GamePath, WriteHeaders),
    request_body = PlayRequest,
    responses((status = 200, description = "The move is played.", body = ActionResponse,
        links(
            ("list_legal_moves" = (operation_id = "list_legal_moves",
                parameters(("id" = "$request.path.id")))),
            ("deal_cards" = (operation_id = "deal_cards", parameters(("id" = "$request.path.id")))))),
        PlayErrors),
    security(("token" = [])))]
pub async fn play_move(change: GameChange) -> Result<HttpResponse, Problem> {
    act(change, Game::check_play, PlayRequest::action).await
}

/// Carries out the action of the calling seat that the body asks for, if the seat may act.
async fn act<T: DeserializeOwned + ToSchema>(
    (app, path, request): GameChange,
    check: fn(&Game, Seat) -> Result<(), ActionRefusal>,
    action: fn(T, Seat) -> Result<Action, Problem>,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let seat = game.seat()?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_person_plays(seat)?;
        game.check_state(Role::Seat(seat))?;
        check(&game.stored.game, seat)?;
        game.check_limit()?;
        let action = action(game.body()?, seat)?;
        game.act(Role::Seat(seat), &action)
    })
    .await
}
