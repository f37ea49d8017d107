//! The bodies and queries that clients send, and their conversion to types of the rules.

use std::{fmt, marker::PhantomData};

use dog_rules::{
    Card, Level, Move, ParseCardError, Phase, Player, Refusal, Rules, Seat, SeatKind, Seed, Setup,
    name::{NameError, checked, default_name, distinct},
    seat::MAX_SEATS,
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeOwned, SeqAccess, Visitor},
};
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, schema::Type},
};

use super::{
    change::Include,
    moves::MovesOptions,
    rules::{self, RulesRequest},
};
use crate::{
    http::problem::{Code, Problem},
    service::{
        Creation, ExchangeAction, Join, QuickJoin, RematchRequest, SeatChange, SettingsChange,
        random_bytes,
    },
    store::{JoinPolicy, StartPolicy, Timing},
};

/// Games on a page of the list: the default and the maximum.
const LIST_LIMIT: (u32, u32) = (20, 100);

/// The default pace of bots in games with humans, in milliseconds.
const BOT_PACE_MS: u32 = 250;

/// Maximum pace in milliseconds.
const MAX_BOT_PACE_MS: u32 = 60_000;

/// Maximum seconds until bots take the seats that are still open: a day.
const MAX_BOTS_AFTER_SECONDS: u32 = 24 * 60 * 60;

/// Maximum characters of an invitation: more than any has.
const INVITATION_LENGTH: usize = 100;

/// Maximum seconds of the turn clock: a week.
const MAX_TURN_SECONDS: u32 = 7 * 24 * 60 * 60;

/// The body of a write.
pub trait WriteBody: DeserializeOwned + Send + 'static {
    /// Whether it may also be a game's record as plain text, with the size limit of records.
    const IS_RECORD: bool = false;

    /// The version that the game must be at, if the body names one.
    fn version(&self) -> Option<u64> {
        None
    }

    /// The body for a record as plain text.
    ///
    /// # Errors
    /// If the route takes no record.
    fn of_text(_: String) -> Result<Self, Problem> {
        Err(Problem::wrong_combination("this route takes no plain text"))
    }
}

/// No parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoQuery {}

/// How to wait for a change.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GameParams {
    /// While the game is at this version, wait for the next one, up to 25 seconds; then the answer is
    /// 304.
    #[param(format = "uint64")]
    pub after_version: Option<u64>,
}

/// Where a stream begins, and a ticket for it.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsParams {
    /// The last version that was received; the stream continues after it. For clients that cannot send
    /// the header `Last-Event-ID`.
    #[param(value_type = Option<u64>)]
    pub last_event_id: Option<String>,
    /// A ticket in place of a token, for clients that cannot send one.
    pub ticket: Option<String>,
    /// What the newest change includes besides its events.
    #[param(inline)]
    pub include: Option<Include>,
    /// Whether the stream stays open after the end of the game, for an hour at most, and tells of the
    /// rematch; false by default.
    pub after_end: Option<bool>,
}

/// Which games to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// Only games in this phase.
    pub phase: Option<Phase>,
    /// Whether to list only tables with a seat that anyone may take; false by default.
    pub open: Option<bool>,
    /// Where to continue: `next` of an earlier response.
    #[param(pattern = "^(0|[1-9a-f][0-9a-f]{0,14}|[1-7][0-9a-f]{15})$")]
    pub cursor: Option<String>,
    /// Maximum number of games; 20 by default.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

impl ListParams {
    /// Maximum number of games.
    pub fn limit(&self) -> Result<u32, Problem> {
        let (default, max) = LIST_LIMIT;
        in_range("limit", self.limit, 1, max).map(|limit| limit.unwrap_or(default))
    }
}

/// Parameters of a list of moves.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MovesParams {
    /// Whether each move includes the board after it; true by default. A seven can have thousands of
    /// outcomes.
    board: Option<bool>,
    /// List the moves of this card only. The list is empty if the hand does not have the card, or if
    /// the card has no legal move.
    #[param(value_type = Option<Card>)]
    card: Option<String>,
}

impl MovesParams {
    /// What the list is to have.
    ///
    /// # Errors
    /// `unknown_card`.
    pub fn options(&self) -> Result<MovesOptions, Problem> {
        moves_options(self.board, self.card.as_deref())
    }
}

/// What a list of moves with these parameters is to have.
///
/// # Errors
/// `unknown_card`.
pub(super) fn moves_options(
    board: Option<bool>,
    card: Option<&str>,
) -> Result<MovesOptions, Problem> {
    let card = card.map(|name| card_of(name, "/card".to_owned()));
    Ok(MovesOptions {
        card: card.transpose()?,
        with_boards: board.unwrap_or(true),
    })
}

/// The seven whose next parts are listed.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SevenParams {
    /// The seven so far: `7:` or `joker=7:`, then the parts that are chosen.
    #[param(max_length = 63, example = "7:")]
    pub begun: String,
}

pub(super) fn seat_of(number: u8, rules: &Rules, what: &str) -> Result<Seat, Problem> {
    Seat::new(number, rules.seats).ok_or_else(|| {
        let last = rules.seats - 1;
        Problem::wrong_value(what, format!("/{what} must be a seat from 0 to {last}"))
    })
}

/// The card of this name, which stands at that place in the body.
///
/// # Errors
/// `unknown_card`.
pub(super) fn card_of(name: &str, pointer: String) -> Result<Card, Problem> {
    let unknown = |error| Problem::new(Code::UnknownCard, error);
    let parsed = name.parse().map_err(|error: ParseCardError| unknown(error));
    parsed.map_err(|problem| problem.at(pointer, Some(&Card::ALL.map(Card::name))))
}

pub(super) fn in_range(
    name: &str,
    value: Option<u32>,
    min: u32,
    max: u32,
) -> Result<Option<u32>, Problem> {
    match value {
        Some(value) if !(min..=max).contains(&value) => Err(Problem::wrong_value(
            name,
            format!("/{name} must be {min} to {max}"),
        )),
        value => Ok(value),
    }
}

/// Creates a game. All fields may be omitted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "rules": {"preset": "hausregeln"},
    "seats": [{"name": "Anna"}, {"name": "Beat"}, {"name": "Carla"}, {"name": "Dani"}]
}))]
pub struct CreateGame {
    /// The rules to play by; `dogspiel-it` by default.
    #[serde(default)]
    rules: Option<RulesRequest>,
    /// One entry per seat; by default humans with default names.
    #[schema(value_type = Option<Vec<SeatRequest>>)]
    seats: Option<BySeatList<SeatRequest>>,
    /// Who deals the first round; by default drawn from the shuffle seed.
    #[schema(maximum = 5)]
    first_dealer: Option<u8>,
    /// 64 hex digits; random by default. Whoever knows the seed knows every card.
    #[schema(pattern = "^[0-9A-Fa-f]{64}$")]
    shuffle_seed: Option<String>,
    /// Whether the game is in the public list; true by default.
    listed: Option<bool>,
    /// Minimum milliseconds between a change and a bot's next action, so that people can follow; by
    /// default 250, or 0 if only bots play.
    #[schema(maximum = 60_000)]
    bot_pace_ms: Option<u32>,
    /// Seconds that a seat has to act; then the server acts for it, by the seat's level. By default
    /// there is no clock.
    #[schema(minimum = 1, maximum = 604_800)]
    turn_seconds: Option<u32>,
    /// Who may take the open seats; by default those who are invited.
    join: Option<JoinPolicy>,
    /// Who has the rounds dealt; by default the host or the dealer's seat.
    start: Option<StartPolicy>,
    /// Seats still open this many seconds after the creation are given to bots. By default they stay
    /// open.
    #[schema(minimum = 1, maximum = 86_400)]
    bots_after_seconds: Option<u32>,
}

/// A list with one entry per seat. Parsing stops at more entries than a game can have.
pub struct BySeatList<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for BySeatList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BySeatList<T>, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = BySeatList<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "a list with an entry for each of {MAX_SEATS} seats at most"
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element()? {
                    entries.push(entry);
                    if entries.len() > MAX_SEATS {
                        return Err(de::Error::invalid_length(entries.len(), &self));
                    }
                }
                Ok(BySeatList(entries))
            }
        }

        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

/// Who plays a seat.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "bot", "level": "fast"}))]
pub struct SeatRequest {
    /// `human` by default. People can take an open seat.
    kind: Option<SeatKind>,
    /// 1 to 40 characters, of which one can be seen; by default `Seat` or `Bot` and its number. White
    /// space around it is left out. The second `Anna` at a table is `Anna (2)`. A person's name is not
    /// `Bot` and a number.
    #[schema(
        min_length = 1,
        max_length = 40,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
    )]
    name: Option<String>,
    /// A bot's level, `fast` by default. For a human, how the server plays when the time is up; for an
    /// open seat, how the bot plays that stands in.
    level: Option<Level>,
}

impl WriteBody for CreateGame {}

impl CreateGame {
    /// The game to create.
    ///
    /// # Errors
    /// What is wrong with it, with the code of that error.
    pub fn creation(self) -> Result<Creation, Problem> {
        let rules = rules::rules(self.rules)?;
        let seats = self.seats.map(|BySeatList(seats)| seats);
        let seats = seats.unwrap_or_else(|| {
            let seats = Seat::all(rules.seats);
            seats.map(|_| SeatRequest::default()).collect()
        });
        if seats.len() != usize::from(rules.seats) {
            let (found, needed) = (seats.len(), rules.seats);
            let detail =
                format!("seats has {found} entries, but the rules are for {needed} players");
            return Err(Problem::wrong_value("seats", detail));
        }
        let players = players(&rules, seats)?;
        let dealer = |number| seat_of(number, &rules, "first_dealer");
        let first_dealer = self.first_dealer.map(dealer).transpose()?;
        let given = self.shuffle_seed.as_deref();
        let given = given.map(Seed::from_hex).transpose()?;
        let setup = Setup {
            players,
            first_dealer,
            seed_given: given.is_some(),
            seed: given.unwrap_or_else(|| Seed::new(random_bytes())),
            rules,
            awaited: Vec::new(),
        };
        let is = |kind| move |player: &Player| player.kind == kind;
        if setup.seed_given && setup.players.iter().any(is(SeatKind::Open)) {
            let detail = "with open seats no shuffle seed can be chosen: its chooser would know the \
                          hands of those who join";
            return Err(Problem::wrong_combination(detail));
        }
        let has_human = !setup.players.iter().all(is(SeatKind::Bot));
        let turn_seconds = in_range("turn_seconds", self.turn_seconds, 1, MAX_TURN_SECONDS)?;
        let pace = in_range("bot_pace_ms", self.bot_pace_ms, 0, MAX_BOT_PACE_MS)?;
        let timing = Timing {
            bot_pace_ms: pace.unwrap_or(if has_human { BOT_PACE_MS } else { 0 }),
            turn_seconds,
        };
        let bots_after_seconds = in_range(
            "bots_after_seconds",
            self.bots_after_seconds,
            1,
            MAX_BOTS_AFTER_SECONDS,
        )?;
        Ok(Creation::New {
            setup,
            listed: self.listed.unwrap_or(true),
            timing,
            join: self.join.unwrap_or_default(),
            start: self.start.unwrap_or_default(),
            bots_after_seconds,
        })
    }
}

/// The players of a new game, one a seat. A given name that another seat has is numbered.
fn players(rules: &Rules, seats: Vec<SeatRequest>) -> Result<Vec<Player>, Problem> {
    let given: Vec<bool> = seats.iter().map(|seat| seat.name.is_some()).collect();
    let players = Seat::all(rules.seats).zip(seats).map(|(seat, request)| {
        let kind = request.kind.unwrap_or_default();
        let member = format!("seats/{}/name", seat.number());
        let name = given_name(request.name.as_deref(), kind, &member)?;
        Ok(Player {
            name: name.unwrap_or_else(|| default_name(seat, kind)),
            kind,
            level: request.level.unwrap_or_default(),
        })
    });
    let mut players = players.collect::<Result<Vec<_>, Problem>>()?;
    let (mut named, unnamed): (Vec<_>, Vec<_>) =
        (players.iter_mut().zip(given)).partition(|&(_, given)| given);
    let mut taken: Vec<String> = unnamed
        .iter()
        .map(|(other, _)| other.name.clone())
        .collect();
    for (player, _) in &mut named {
        player.name = distinct(&player.name, taken.iter().map(String::as_str));
        taken.push(player.name.clone());
    }
    Ok(players)
}

/// The name that this member of the body gives to a player of that kind; none if it is not there.
///
/// # Errors
/// `invalid_request`, if no such player may have it.
fn given_name(text: Option<&str>, kind: SeatKind, member: &str) -> Result<Option<String>, Problem> {
    let name = text.map(|text| checked(text, kind)).transpose();
    name.map_err(|error| Problem::wrong_value(member, error))
}

/// Changes who plays a seat. A member that is left out keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "bot", "level": "fast"}), min_properties = 1)]
pub struct HandOverRequest {
    /// By the seat itself: `bot` to leave, `human` to come back, `open` to give the seat up. By the
    /// host: `bot`, `open` for somebody else, `human` for a seat that nobody joined.
    kind: Option<SeatKind>,
    /// As for a seat of a new game. Without it the player keeps the name, but a person does not keep
    /// that of a bot.
    #[schema(
        min_length = 1,
        max_length = 40,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
    )]
    name: Option<String>,
    /// As for a seat of a new game.
    level: Option<Level>,
    /// Refuse with 412 unless the game is at this version.
    version: Option<u64>,
}

impl HandOverRequest {
    /// The change of the seat.
    ///
    /// # Errors
    /// `invalid_request`, if it changes nothing, or nobody may have the name.
    pub fn change(self) -> Result<SeatChange<Problem>, Problem> {
        if self.kind.is_none() && self.name.is_none() && self.level.is_none() {
            let detail = "one of kind, name and level must be there";
            return Err(Problem::wrong_combination(detail));
        }
        Ok(SeatChange {
            kind: self.kind,
            name: given_name(self.name.as_deref(), SeatKind::Bot, "name")?,
            level: self.level,
            name_of_bot: Problem::wrong_value("name", NameError::OfBot),
        })
    }
}

/// Takes an open seat.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"invitation": "any-5f2b8c1d9e7a40364bd1c2e8f90a7b53", "name": "Eva"}))]
pub struct JoinRequest {
    /// The invitation, unless anyone may join.
    #[schema(max_length = 100)]
    invitation: Option<String>,
    /// The seat to take; by default an open one of the team with the fewest people.
    #[schema(maximum = 5)]
    seat: Option<u8>,
    /// As for a seat of a new game; by default `Seat` and its number.
    #[schema(
        min_length = 1,
        max_length = 40,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
    )]
    name: Option<String>,
}

impl WriteBody for JoinRequest {}

impl JoinRequest {
    /// What to take, and by which name.
    ///
    /// # Errors
    /// `invalid_request`, if the invitation is longer than any.
    pub fn join(self) -> Result<Join<Problem>, Problem> {
        let too_long = |text: &String| text.len() > INVITATION_LENGTH;
        if self.invitation.as_ref().is_some_and(too_long) {
            let detail = "/invitation is too long for an invitation";
            return Err(Problem::wrong_value("invitation", detail));
        }
        Ok(Join {
            invitation: self.invitation,
            seat: self.seat,
            name: given_name(self.name.as_deref(), SeatKind::Human, "name"),
        })
    }
}

/// Takes a seat at any table.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"rules": {"preset": "hausregeln"}, "name": "Eva"}))]
pub struct QuickJoinRequest {
    /// The rules of the table; `dogspiel-it` by default.
    #[serde(default)]
    rules: Option<RulesRequest>,
    /// As for a seat of a new game; by default `Seat` and its number.
    #[schema(
        min_length = 1,
        max_length = 40,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
    )]
    name: Option<String>,
}

impl WriteBody for QuickJoinRequest {}

impl QuickJoinRequest {
    /// The wanted table and name.
    ///
    /// # Errors
    /// What is wrong with the rules.
    pub fn wanted(self) -> Result<QuickJoin<Problem>, Problem> {
        Ok(QuickJoin {
            rules: rules::rules(self.rules)?,
            name: given_name(self.name.as_deref(), SeatKind::Human, "name"),
        })
    }
}

/// Changes settings of a game. A member that is left out keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"turn_seconds": 60}), min_properties = 1)]
pub struct SettingsRequest {
    /// Seconds that a seat has to act, from the next turn on: 10 or more once cards were dealt. Null
    /// removes the clock.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 604_800)]
    turn_seconds: Option<Option<u32>>,
    /// Minimum milliseconds between a change and a bot's next action.
    #[schema(maximum = 60_000)]
    bot_pace_ms: Option<u32>,
    /// Whether the game is in the public list.
    listed: Option<bool>,
    /// Refuse with 412 unless the game is at this version.
    version: Option<u64>,
}

/// A member that is there, if only as null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl SettingsRequest {
    /// The change of settings.
    ///
    /// # Errors
    /// `invalid_request`, if it changes nothing, or a value is out of range.
    pub fn change(self) -> Result<SettingsChange<Problem>, Problem> {
        if self.turn_seconds.is_none() && self.bot_pace_ms.is_none() && self.listed.is_none() {
            let detail = "one of turn_seconds, bot_pace_ms and listed must be there";
            return Err(Problem::wrong_combination(detail));
        }
        let seconds = self.turn_seconds.flatten();
        in_range("turn_seconds", seconds, 1, MAX_TURN_SECONDS)?;
        Ok(SettingsChange {
            turn_seconds: self.turn_seconds,
            bot_pace_ms: in_range("bot_pace_ms", self.bot_pace_ms, 0, MAX_BOT_PACE_MS)?,
            listed: self.listed,
            too_short: Problem::wrong_value(
                "turn_seconds",
                "/turn_seconds must be 10 or more once cards were dealt",
            ),
        })
    }
}

/// Asks for a rematch. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RematchRequest, example = json!({"seats": [0, 2, 1, 3]}))]
pub struct RematchBody {
    /// The old seat of whoever sits at each new one; by default nobody moves. That of the first who
    /// asks counts.
    #[schema(value_type = Option<Vec<u8>>, min_items = 4, max_items = 6)]
    seats: Option<BySeatList<u8>>,
}

impl WriteBody for RematchBody {}

impl RematchBody {
    /// What is asked for.
    pub fn request(self) -> RematchRequest<Problem> {
        let detail = "/seats must name each seat of the game once";
        RematchRequest {
            seats: self.seats.map(|BySeatList(seats)| seats),
            wrong_seats: Problem::wrong_value("seats", detail),
        }
    }
}

/// Deals the round. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct DealRequest {
    /// Refuse with 412 unless the game is at this version.
    version: Option<u64>,
}

/// An answer in the exchange: exactly one of `card`, `decline` and `ask`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwapRequest {
    card: Option<String>,
    decline: Option<bool>,
    ask: Option<bool>,
    version: Option<u64>,
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
    /// The action; exactly one field must be set.
    ///
    /// # Errors
    /// `unknown_card`; `invalid_request`, if not exactly one field is set.
    pub fn action(self) -> Result<ExchangeAction, Problem> {
        match (self.card, self.decline, self.ask) {
            (Some(card), None | Some(false), None | Some(false)) => {
                Ok(ExchangeAction::Offer(card_of(&card, "/card".to_owned())?))
            }
            (None, Some(true), None | Some(false)) => Ok(ExchangeAction::Decline),
            (None, None | Some(false), Some(true)) => Ok(ExchangeAction::Ask),
            _ => Err(Problem::wrong_combination(
                r#"send one of {"card": "K"}, {"decline": true} and {"ask": true}"#,
            )),
        }
    }
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
    version: Option<u64>,
}

impl PlayRequest {
    /// The move; `illegal_move`, if the id is not that of a move.
    pub fn mv(self) -> Result<Move, Problem> {
        let mv = self.id.parse().map_err(Refusal::Notation)?;
        Ok(mv)
    }
}

/// Imports a finished game.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"record": "[Dog \"1\"]\n[Rules \"hausregeln\"]\n…", "listed": false}))]
pub struct ImportRequest {
    /// The game's text record.
    pub record: String,
    /// Whether the game is in the public list; true by default.
    pub listed: Option<bool>,
}

/// Gives a seat a fresh token. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct TokenRequest {
    /// Refuse with 412 unless the game is at this version.
    version: Option<u64>,
}

/// Removes a game. The body may be empty; unknown fields are ignored.
#[derive(Deserialize)]
pub struct RemoveRequest {
    version: Option<u64>,
}

impl WriteBody for ImportRequest {
    const IS_RECORD: bool = true;

    fn of_text(record: String) -> Result<ImportRequest, Problem> {
        let listed = None;
        Ok(ImportRequest { record, listed })
    }
}

macro_rules! versioned {
    ($($body:ty),+) => {
        $(impl WriteBody for $body {
            fn version(&self) -> Option<u64> {
                self.version
            }
        })+
    };
}

versioned!(
    HandOverRequest,
    SettingsRequest,
    DealRequest,
    SwapRequest,
    PlayRequest,
    TokenRequest,
    RemoveRequest
);
