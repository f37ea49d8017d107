//! OpenAPI schemas of the small types that are strings or numbers in JSON. Only with the feature
//! `utoipa`.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, schema::Type},
};

use crate::{
    By, Card, Dealer, Exchange, ExchangeChoice, ExchangeState, GoalEntry, JackWithoutEffectWhen,
    Level, Phase, Preset, Protection, Reshuffle, Seat, SeatKind, SevenLanding, SevenPartner,
    SevenRest, SevenSurplus, judge::MoveKind,
};

fn text(description: &str, values: &[&str]) -> RefOr<Schema> {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description));
    schema.enum_values(Some(values.iter().copied())).into()
}

macro_rules! texts {
    ($($type:ty, $name:literal, $description:literal, $values:expr;)+) => {
        $(impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                text($description, &$values)
            }
        }
        impl ToSchema for $type {
            fn name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
        })+
    };
}

texts! {
    By, "By",
        "Who did something that the seat's person did not do: the server for a person whose time was \
         up or who is away, the bot that plays the seat or stands in, or the server.",
        By::ALL.map(By::name);
    SeatKind, "SeatKind",
        "What plays a seat: a person who holds its token, or a bot. An open seat can be taken; once \
         the game has begun, a bot stands in.",
        SeatKind::ALL.map(SeatKind::name);
    Card, "Card", "A card. Suits never matter.", Card::ALL.map(Card::name);
    Preset, "Preset", "One of the five published rule sheets.", Preset::ALL.map(Preset::name);
    Level, "BotLevel",
        "How well a bot or an adviser thinks. `random` and `greedy` answer at once; `fast` and \
         `strong` play on from what looks best, with the hidden cards dealt in many ways that fit \
         what the seat knows, for a few milliseconds and for 200 unless a budget is given.",
        Level::ALL.map(Level::name);
    Phase, "Phase", "Where a game stands: before its first deal while somebody is missing (`seating`), in a round, or over.", Phase::ALL.map(Phase::name);
    Dealer, "Dealer", "Whether the deal passes on each round.", ["rotates", "fixed"];
    Exchange, "Exchange", "Whether partners must swap a card.", ["mandatory", "optional", "on_request"];
    Reshuffle, "Reshuffle", "When the discard pile is shuffled into the stock.", ["when_empty", "before_deal"];
    Protection, "Protection", "When a piece on its own start is protected.", ["always", "fresh"];
    GoalEntry, "GoalEntry", "The door to the goal.", ["on_start", "before_start"];
    SevenLanding, "SevenLanding", "Where a part of a seven may end.", ["captures", "must_be_free"];
    SevenSurplus, "SevenSurplus", "What becomes of a seven's spare steps.", ["must_be_used", "lapses_on_win"];
    SevenPartner, "SevenPartner", "When a seven may move the partner's pieces.", ["when_home", "always"];
    SevenRest, "SevenRest",
        "Whose pieces take the rest of a seven that brings the seat's last piece home.",
        ["any_pieces", "one_piece"];
    JackWithoutEffectWhen, "JackWithoutEffectWhen",
        "When a jack may be played without effect.", ["no_other_on_ring", "no_swap_possible"];
    MoveKind, "MoveKind", "What a card is played for.",
        ["leave_kennel", "advance", "retreat", "swap", "seven", "no_effect", "fold"];
    ExchangeState, "ExchangeState", "A seat's part in this round's exchange, as all can see it.",
        ["pending", "passed", "asked", "offered", "declined", "swapped", "kept"];
    ExchangeChoice, "ExchangeChoice",
        "What a seat may do in the exchange: offer its partner a card, ask, decline or pass.",
        ["card", "ask", "decline", "pass"];
}

impl PartialSchema for Seat {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int32)))
            .description(Some("A seat, numbered from 0 in turn order."))
            .minimum(Some(0))
            .maximum(Some(5))
            .into()
    }
}

impl ToSchema for Seat {}
