//! The errors of operations, with an example of each.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Map, Value, json};
use utoipa::{
    IntoResponses, ToSchema,
    openapi::{
        Content, HeaderBuilder, Object, Ref, RefOr, Response, ResponseBuilder, Type,
        example::ExampleBuilder,
    },
};

use crate::http::problem::{
    Code::{self, *},
    ProblemDetails,
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

/// What typical errors say for people and for programs, by code. The others say no more than their
/// code.
static TYPICAL: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("openapi/errors.json")).expect("it is a JSON object")
});

/// The problem document of a typical error of this code.
fn example(code: Code) -> Value {
    let mut problem = json!({
        "type": code.type_reference(),
        "title": code.title(),
        "status": code.status().as_u16(),
        "detail": code.meaning(),
        "code": code.name(),
    });
    let members = TYPICAL.get(code.name()).and_then(Value::as_object);
    for (name, value) in members.into_iter().flatten() {
        problem[name] = value.clone();
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_give_reasons_of_their_codes() {
        for name in TYPICAL.keys() {
            assert!(Code::ALL.iter().any(|code| code.name() == name), "{name}");
        }
        for &code in Code::ALL {
            let names = code.reasons().iter().map(|reason| reason.name());
            let mut names = names.map(Value::from);
            if let Some(reason) = example(code).get("reason") {
                assert!(names.any(|name| name == *reason), "{code:?}: {reason}");
            }
        }
    }
}
