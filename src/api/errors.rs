//! The errors of operations, with an example of each.

use std::collections::BTreeMap;

use dog_rules::Card;
use serde_json::{Value, json};
use utoipa::{
    IntoResponses, ToSchema,
    openapi::{
        Content, HeaderBuilder, Object, Ref, RefOr, Response, ResponseBuilder, Type,
        example::ExampleBuilder,
    },
};

use crate::http::problem::{
    Code::{self, *},
    ProblemDetails, Reason,
};

/// Responses by status.
pub type Responses = BTreeMap<String, RefOr<Response>>;

/// Errors of every operation.
const EVERYWHERE: &[Code] = &[
    BadRequest,
    NotAcceptable,
    UriTooLong,
    HeadersTooLarge,
    Internal,
    Unavailable,
];

/// Of what costs a request.
pub const LIMITED: &[Code] = &[TooManyRequests];
/// Of what reads a game.
pub const READ: &[Code] = &[GameNotFound, Unauthorized, TokenReplaced];
/// Of what has a body.
pub const BODY: &[Code] = &[
    OriginNotAllowed,
    MalformedJson,
    BodyTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
    InvalidRequest,
];
/// Of what may be repeated with an `Idempotency-Key`.
pub const RETRY: &[Code] = &[InvalidIdempotencyKey, IdempotencyKeyReused, DatabaseFull];
/// Of what changes a game.
pub const WRITE: &[Code] = &[
    OriginNotAllowed,
    GameNotFound,
    Unauthorized,
    TokenReplaced,
    MalformedJson,
    BodyTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
    InvalidRequest,
    InvalidIdempotencyKey,
    IdempotencyKeyReused,
    DatabaseFull,
    StaleVersion,
];
/// Of what answers a secret to a request with an `Idempotency-Key`.
pub const SECRET: &[Code] = &[WeakIdempotencyKey];
/// Of what makes a version by play.
pub const ACTION: &[Code] = &[
    Forbidden,
    GameOver,
    WrongPhase,
    NotYourTurn,
    TooManyVersions,
];
/// Of what concerns the seat to move.
pub const IN_TURN: &[Code] = &[GameOver, WrongPhase, NotYourTurn, Forbidden];
/// Of what has a position.
pub const POSITION: &[Code] = &[
    InvalidRules,
    InvalidBoard,
    InvalidHand,
    UnknownCard,
    FinishedPosition,
];

/// Defines the errors of operations, by which the attributes of the handlers name them: groups of
/// this module, and codes.
macro_rules! errors {
    ($($name:ident: [$($group:ident),*], [$($code:ident),*];)+) => {$(
        /// The errors of an operation.
        pub struct $name;

        impl utoipa::IntoResponses for $name {
            fn responses() -> $crate::api::errors::Responses {
                $crate::api::errors::responses(&[
                    $crate::api::errors::LIMITED,
                    $($crate::api::errors::$group,)*
                    &[$($crate::http::problem::Code::$code),*],
                ])
            }
        }
    )+};
}
pub(crate) use errors;

/// Those of one of them that has parameters.
pub struct ReadinessErrors;

impl IntoResponses for ReadinessErrors {
    fn responses() -> Responses {
        responses(&[&[Code::InvalidRequest]])
    }
}

/// The errors of operations that have no rate limit.
pub struct UnlimitedErrors;

impl IntoResponses for UnlimitedErrors {
    fn responses() -> Responses {
        responses(&[])
    }
}

/// The responses with these errors and those of every operation, by status.
pub fn responses(groups: &[&[Code]]) -> Responses {
    let mut codes = [groups.concat(), EVERYWHERE.to_vec()].concat();
    codes.sort();
    codes.dedup();
    let mut by_status: BTreeMap<String, Vec<Code>> = BTreeMap::new();
    for code in codes {
        let status = code.status().as_str().to_owned();
        by_status.entry(status).or_default().push(code);
    }
    by_status
        .into_iter()
        .map(|(status, codes)| (status, response(&codes).into()))
        .collect()
}

/// The response with one of these errors.
fn response(codes: &[Code]) -> Response {
    let lines = codes
        .iter()
        .map(|code| format!("* `{}`: {}", code.name(), code.meaning()));
    let examples = codes.iter().map(|&code| {
        let example = ExampleBuilder::new()
            .summary(code.title())
            .value(Some(example(code)));
        (code.name(), RefOr::from(example.build()))
    });
    let content = Content::builder()
        .schema(Some(Ref::from_schema_name(ProblemDetails::name())))
        .examples_from_iter(examples);
    let response = ResponseBuilder::new()
        .description(lines.collect::<Vec<_>>().join("\n"))
        .content("application/problem+json", content.build());
    let (name, about, example) = match codes[0].status().as_u16() {
        401 => (
            "WWW-Authenticate",
            "The scheme.",
            json!("Bearer realm=\"dog\""),
        ),
        429 | 503 => ("Retry-After", "When to try again, in seconds.", json!("1")),
        _ => return response.build(),
    };
    let header = HeaderBuilder::new()
        .schema(Some(Object::with_type(Type::String)))
        .description(Some(about))
        .example(Some(example));
    response.header(name, header.build()).build()
}

/// The problem document of a typical error of this code.
fn example(code: Code) -> Value {
    let (detail, members) = typical(code).unwrap_or((code.meaning(), json!({})));
    let mut problem = json!({
        "type": code.type_reference(),
        "title": code.title(),
        "status": code.status().as_u16(),
        "detail": detail,
        "code": code.name(),
    });
    if let (Value::Object(problem), Value::Object(members)) = (&mut problem, members) {
        problem.extend(members);
    }
    problem
}

/// The detail of a typical error of this code, and what else it says for programs. None of an error
/// that says no more than its code.
fn typical(code: Code) -> Option<(&'static str, Value)> {
    let because = |reason: Reason| json!({"reason": reason.name()});
    let mistake = |pointer: &str, allowed: &[&str]| {
        json!({
            "reason": Reason::WrongValue.name(),
            "errors": [{"pointer": pointer, "allowed": allowed}]
        })
    };
    Some(match code {
        Unauthorized => ("this needs a token of this game", because(Reason::NoToken)),
        Forbidden => ("only the host may do this", because(Reason::HostOnly)),
        MalformedJson => ("the body is not JSON at line 1, column 9", json!({})),
        NotAcceptable => ("this is available as application/json", json!({})),
        GameNotFound => ("no game has this id", json!({})),
        SeatNotFound => ("the game has no such seat", json!({})),
        GameOver => ("the game is over", json!({})),
        WrongPhase => (
            "this is for the play phase, the game is in the exchange phase",
            json!({"phase": "exchange", "expected": "play"}),
        ),
        NotYourTurn => (
            "seat 2 is to move",
            json!({"reason": Reason::AnotherSeatMoves.name(), "seat": 2}),
        ),
        SeatTaken => ("seat 2 is taken", json!({"seat": 2})),
        NoHuman => (
            "a bot plays seat 3: hand it to a human first",
            json!({"seat": 3}),
        ),
        StaleVersion => ("the game is at version 19", json!({"version": 19})),
        InvalidRequest => ("/seats/0/kind must be one of human, bot, open", {
            mistake("/seats/0/kind", &["human", "bot", "open"])
        }),
        InvalidRules => ("/rules/dealer must be one of rotates, fixed", {
            mistake("/rules/dealer", &["rotates", "fixed"])
        }),
        InvalidBoard => (
            "two pieces stand on track field 17",
            json!({"reason": Reason::FieldTwice.name(), "place": "17"}),
        ),
        InvalidHand => (
            "the deck has only 8 K",
            json!({"reason": Reason::MoreThanDeck.name(), "card": "K"}),
        ),
        InvalidKnowledge => (
            "counts must have 4 entries",
            json!({"errors": [{"pointer": "/known/counts", "allowed": null}]}),
        ),
        UnknownCard => (
            "there is no card \"Z\": the cards are A 2 3 4 5 6 7 8 9 10 J Q K joker",
            json!({"errors": [{"pointer": "/card", "allowed": Card::ALL.map(Card::name)}]}),
        ),
        CardNotInHand => ("there is no K in the hand", json!({"card": "K"})),
        IllegalMove => (
            "field 16 is blocked: seat 1's fresh piece",
            json!({"reason": Reason::Blocked.name(), "seat": 1, "place": "16"}),
        ),
        IllegalExchange => (
            "by these rules the exchange is mandatory: each seat lays down a card",
            because(Reason::ExchangeMandatory),
        ),
        InvalidRecord => ("line 12: there is no 7 in the hand", json!({"line": 12})),
        Internal => ("the server failed; nothing was changed", json!({})),
        Unavailable => ("the store is unavailable at present", json!({})),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_give_reasons_of_their_codes() {
        for &code in Code::ALL {
            let names = code.reasons().iter().map(|reason| reason.name());
            let mut names = names.map(Value::from);
            if let Some(reason) = example(code).get("reason") {
                assert!(names.any(|name| name == *reason), "{code:?}: {reason}");
            }
        }
    }
}
