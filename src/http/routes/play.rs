//! The actions of play: deal, swap and play.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use dog_rules::{Action, Card, Move, Refusal, Seat};
use serde::{Deserialize, Serialize, Serializer};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, schema::Type},
};

use super::App;
use crate::{
    access::Role,
    http::{
        problem::Problem,
        request::WriteRequest,
        wire::{game::ActionResponse, request::card_of},
        write::write,
    },
};

/// Deals the round. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct DealRequest {
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// Deals the round: the dealer's seat or the host.
///
/// The cards come from the shuffle seed, so the dealer cannot influence them.
#[utoipa::path(post, path = "/v1/games/{id}/deal", operation_id = "deal_cards", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = DealRequest, description = "May be empty."),
    responses((status = 200, description = "The cards are dealt.", body = ActionResponse)),
    security(("token" = [])))]
pub async fn deal_cards(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &id, &request, |game| {
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
        let DealRequest { .. } = game.body()?;
        game.act(role, &Action::Deal { by })
    })
    .await
}

/// An answer in the exchange: exactly one of `card`, `decline` and `ask`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwapRequest {
    card: Option<String>,
    decline: Option<bool>,
    ask: Option<bool>,
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// An answer in the exchange.
///
/// This is how the OpenAPI document describes a [`SwapRequest`]. The server also accepts null and
/// false for what is not chosen.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = SwapRequest, description = "An answer in the exchange.")]
#[expect(dead_code, reason = "only its schema is used")]
pub enum SwapRequestSchema {
    Offer(GiveCard),
    Decline(DeclineExchange),
    Ask(AskForCard),
}

/// Offers a card to the partner.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct GiveCard {
    /// The card to offer.
    card: Card,
    /// Refuse with 412 unless the game is at this version.
    version: Option<u64>,
}

/// Declines, where the exchange is optional.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct DeclineExchange {
    #[schema(inline)]
    decline: True,
    /// Refuse with 412 unless the game is at this version.
    version: Option<u64>,
}

/// Asks for a card ("help!"), where the exchange is optional.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct AskForCard {
    #[schema(inline)]
    ask: True,
    /// Refuse with 412 unless the game is at this version.
    version: Option<u64>,
}

/// The value of a field that chooses something by being there: always true.
#[derive(Clone, Copy)]
pub struct True;

impl Serialize for True {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl PartialSchema for True {
    fn schema() -> RefOr<Schema> {
        let flag = ObjectBuilder::new().schema_type(Type::Boolean);
        flag.enum_values(Some([true])).into()
    }
}

impl ToSchema for True {}

impl SwapRequest {
    /// The action of this seat; exactly one field must be set.
    ///
    /// # Errors
    /// `unknown_card`; `invalid_request`, if not exactly one field is set.
    pub fn action(self, seat: Seat) -> Result<Action, Problem> {
        match (self.card, self.decline, self.ask) {
            (Some(card), None | Some(false), None | Some(false)) => {
                let card = card_of(&card, "/card".to_owned())?;
                Ok(Action::Offer { seat, card })
            }
            (None, Some(true), None | Some(false)) => Ok(Action::Decline { seat }),
            (None, None | Some(false), Some(true)) => Ok(Action::Ask { seat }),
            _ => Err(Problem::wrong_combination(
                r#"send one of {"card": "K"}, {"decline": true} and {"ask": true}"#,
            )),
        }
    }
}

/// The partner exchange: offer a card or, where the exchange is optional, decline or ask for it.
///
/// All seats answer, in any order. An offered card stays hidden, and the partners' cards change
/// hands when both have offered one.
#[utoipa::path(post, path = "/v1/games/{id}/swap", operation_id = "swap_cards", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = SwapRequestSchema, examples(
        ("offer" = (summary = "Offer a card", value = json!({"card": "K"}))),
        ("decline" = (summary = "Decline, if the exchange is optional", value = json!({"decline": true}))),
        ("ask" = (summary = "Ask for a card, if the exchange is optional", value = json!({"ask": true}))))),
    responses((status = 200, description = "The offer, refusal or request is \
        accepted.", body = ActionResponse)),
    security(("token" = [])))]
pub async fn swap_cards(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &id, &request, |game| {
        let seat = game.seat()?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_person_plays(seat)?;
        game.check_state(Role::Seat(seat))?;
        game.stored.game.check_exchange(seat)?;
        game.check_limit()?;
        let action = game.body::<SwapRequest>()?.action(seat)?;
        game.act(Role::Seat(seat), &action)
    })
    .await
}

/// Plays a move.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"move": "Q:17>29"}))]
pub struct PlayRequest {
    /// A move id: one of those listed, or any legal one.
    #[serde(rename = "move")]
    id: String,
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

impl PlayRequest {
    /// The move; `illegal_move`, if the id is not that of a move.
    pub fn mv(self) -> Result<Move, Problem> {
        let mv = self.id.parse().map_err(Refusal::Notation)?;
        Ok(mv)
    }
}

/// Plays a move: any legal one, listed or not.
///
/// `list_legal_moves` lists moves whose ids can be sent here.
#[utoipa::path(post, path = "/v1/games/{id}/play", operation_id = "play_move", tag = "play",
    params(("id" = String, Path, description = "The game's id.")),
    request_body = PlayRequest,
    responses((status = 200, description = "The move is played.", body = ActionResponse)),
    security(("token" = [])))]
pub async fn play_move(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &id, &request, |game| {
        let seat = game.seat()?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_person_plays(seat)?;
        game.check_state(Role::Seat(seat))?;
        game.stored.game.check_play(seat)?;
        game.check_limit()?;
        let mv = game.body::<PlayRequest>()?.mv()?;
        game.act(Role::Seat(seat), &Action::Play { seat, mv })
    })
    .await
}
