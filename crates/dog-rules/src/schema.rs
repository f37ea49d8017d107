//! OpenAPI schemas of types that serialize as text or numbers by hand. Only with the feature
//! `utoipa`.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, schema::Type},
};

use crate::Move;

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
