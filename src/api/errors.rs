//! The errors of operations.

use std::collections::BTreeMap;

use utoipa::{
    IntoResponses,
    openapi::{Content, RefOr, Response, ResponseBuilder},
};

use crate::problem::Code::{self, *};

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
pub const READ: &[Code] = &[GameNotFound, Unauthorized, TokenReplaced, MatchRunning];
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
/// Of what changes a game, besides [`READ`], [`BODY`] and [`RETRY`].
pub const CHANGE: &[Code] = &[StaleVersion];
/// Of what a closed server does only for those with a key.
pub const KEY: &[Code] = &[KeyRequired];
/// Of what makes a game or takes a seat.
pub const GATE: &[Code] = &[Blocked];
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
                    &[$($crate::problem::Code::$code),*],
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

/// The responses with these errors and those of every operation, by status. They only name the
/// codes: `tests/openapi` writes down what these mean.
pub fn responses(groups: &[&[Code]]) -> Responses {
    let mut by_status = BTreeMap::<String, Vec<&str>>::new();
    for code in [groups.concat(), EVERYWHERE.to_vec()].concat() {
        let names = by_status.entry(code.status().as_str().to_owned());
        names.or_default().push(code.name());
    }
    let responses = by_status.into_iter().map(|(status, names)| {
        let response = ResponseBuilder::new()
            .description(names.join(" "))
            .content("application/problem+json", Content::default());
        (status, response.build().into())
    });
    responses.collect()
}
