//! OpenAPI schemas of types that serialize as text or numbers by hand. Only with the feature
//! `utoipa`.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, schema::Type},
};

use crate::{Card, Move, Seat};

impl PartialSchema for Card {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A card. Suits never matter."))
            .enum_values(Some(Card::ALL.map(Card::name)))
            .into()
    }
}

impl ToSchema for Card {}

impl PartialSchema for Move {
    fn schema() -> RefOr<Schema> {
        let part = "[gp]?[0-9]{1,2}>[gp]?[0-9]{1,2}";
        let swap = "[0-9]{1,2}<>[0-9]{1,2}";
        let pattern =
            format!("^(fold|(joker=)?([2-9AJQK]|10):(out|none|{swap}|{part}(,{part}){{0,6}}))$");
        let about = "The id of a move, such as `Q:17>29`: the card, and where each piece goes. \
            `g0` is a field of the seat's own goal, `p0` of the partner's.";
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(pattern))
            .description(Some(about))
            .examples(["Q:17>29"])
            .into()
    }
}

impl ToSchema for Move {
    fn name() -> Cow<'static, str> {
        "MoveId".into()
    }
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
