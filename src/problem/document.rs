//! The response for an error: a problem document (RFC 9457).

use std::{fmt, time::Duration};

use actix_web::{
    HttpResponse, ResponseError,
    http::{
        StatusCode,
        header::{self, HeaderValue},
    },
};
use dog_rules::{Card, Phase, Seat};
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use super::{
    announce::announce,
    request_id::RequestId,
    table::{Code, Reason},
};
use crate::quota::{RateLimit, whole_seconds};

/// The value of `X-Content-Type-Options`: a browser is not to guess another type than the stated
/// one.
pub const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");

/// An error response: a code from the table, and what is wrong in this case.
#[derive(Clone, Debug, Error)]
#[error("{}: {}", details.code.name(), details.detail)]
pub struct Problem {
    pub details: Box<ProblemDetails>,
    /// For the log only, never for the client.
    cause: Option<String>,
    allow: Option<String>,
    /// Seconds after which a retry may succeed.
    retry_after: Option<u64>,
    /// The limit that was exceeded.
    limit: Option<Box<RateLimit>>,
    /// Whether the connection ends with this response.
    close: bool,
}

/// An error (RFC 9457). The members after `code` are there if they apply.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProblemDetails {
    /// A link to what the guide says of the code, relative to the server.
    #[serde(rename = "type")]
    #[schema(format = "uri-reference")]
    type_: String,
    /// The code in words.
    title: &'static str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong in this case, for people.
    detail: String,
    code: Code,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The seat that the reason is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// The place that the reason is about, as in the parts of a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(kennel|[0-9]{1,3}|goal:[0-9]{1,3})$")]
    pub place: Option<String>,
    /// The card that the reason is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// The part of a seven that is refused, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 8)]
    pub part: Option<usize>,
    /// The version of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The phase of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The phase that the action needs, if it is a certain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Phase>,
    /// The id of the request, as in `X-Request-Id` and in the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// The line of the record that is wrong, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The character of the text `position` where the wrong part begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub character: Option<usize>,
    /// What is wrong with the body or the query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
}

/// A mistake in a body or a query.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// A JSON pointer (RFC 6901) to the member of the body. A parameter is a member of the query.
    #[schema(examples("/seats/0/kind"))]
    pointer: String,
    /// The names or values that may be there; null if no list says it.
    #[schema(required)]
    allowed: Option<Vec<&'static str>>,
}

impl Problem {
    /// A problem of this code; the detail says what is wrong in this case.
    pub fn new(code: Code, detail: impl fmt::Display) -> Problem {
        Problem {
            details: Box::new(ProblemDetails {
                type_: code.type_reference(),
                title: code.title(),
                status: code.status().as_u16(),
                detail: detail.to_string(),
                code,
                reason: None,
                seat: None,
                place: None,
                card: None,
                part: None,
                version: None,
                phase: None,
                expected: None,
                request_id: None,
                line: None,
                character: None,
                errors: Vec::new(),
            }),
            cause: None,
            allow: None,
            retry_after: (code == Code::Unavailable).then_some(1),
            limit: None,
            close: false,
        }
    }

    /// `invalid_request`: a member of the body or a parameter of the query has a wrong value.
    pub fn wrong_value(name: &str, detail: impl fmt::Display) -> Problem {
        Problem::new(Code::InvalidRequest, detail)
            .because(Reason::WrongValue)
            .at(format!("/{name}"), None)
    }

    /// `invalid_request`: the members of the body or the parameters of the query do not go
    /// together.
    pub fn wrong_combination(detail: impl fmt::Display) -> Problem {
        Problem::new(Code::InvalidRequest, detail).because(Reason::WrongCombination)
    }

    /// `too_many_requests`: this limit was exceeded.
    pub fn too_many(detail: impl fmt::Display, limit: RateLimit) -> Problem {
        let problem = Problem::new(Code::TooManyRequests, detail).retry_after(limit.wait);
        Problem {
            limit: Some(limit.into()),
            ..problem
        }
    }

    /// The problem of a part of the body, which is at this place.
    pub fn within(mut self, place: &str) -> Problem {
        if self.details.errors.is_empty() {
            return self.at(place.to_owned(), None);
        }
        for error in &mut self.details.errors {
            error.pointer.insert_str(0, place);
        }
        self
    }

    /// Adds the reason.
    pub fn because(mut self, reason: Reason) -> Problem {
        debug_assert!(self.code().reasons().contains(&reason), "{reason:?}");
        self.details.reason = Some(reason);
        self
    }

    /// Adds the place of a mistake in the body or the query, and the names or values that may be
    /// there.
    pub fn at(mut self, pointer: String, allowed: Option<&[&'static str]>) -> Problem {
        let allowed = allowed.map(<[_]>::to_vec);
        self.details.errors.push(FieldError { pointer, allowed });
        self
    }

    /// Adds the reason, and the seat and the place that it is about.
    pub fn about(self, reason: Reason, seat: Seat, place: impl fmt::Display) -> Problem {
        self.because(reason).seat(seat).place(place)
    }

    /// Adds the seat that the reason is about.
    pub fn seat(mut self, seat: Seat) -> Problem {
        self.details.seat = Some(seat);
        self
    }

    /// Adds the place that the reason is about.
    pub fn place(mut self, place: impl fmt::Display) -> Problem {
        self.details.place = Some(place.to_string());
        self
    }

    /// Adds the card that the reason is about.
    pub fn card(mut self, card: Card) -> Problem {
        self.details.card = Some(card);
        self
    }

    /// Adds the phase of the game.
    pub fn in_phase(mut self, phase: Phase) -> Problem {
        self.details.phase = Some(phase);
        self
    }

    /// Adds the cause, for the log.
    pub(super) fn caused_by(mut self, cause: impl fmt::Display) -> Problem {
        self.cause = Some(cause.to_string());
        self
    }

    /// Says what is wrong in other words.
    pub fn detail(mut self, detail: String) -> Problem {
        self.details.detail = detail;
        self
    }

    /// `game_not_found`.
    pub fn game_not_found() -> Problem {
        Problem::new(Code::GameNotFound, "no game has this id")
    }

    /// Adds `Retry-After`, in whole seconds, rounded up.
    pub fn retry_after(mut self, wait: Duration) -> Problem {
        self.retry_after = Some(whole_seconds(wait));
        self
    }

    /// Closes the connection after this response.
    pub fn and_close(mut self) -> Problem {
        self.close = true;
        self
    }

    /// The method is not one of these.
    pub fn method_not_allowed(allow: &str) -> Problem {
        let detail = format!("this path allows {allow}");
        Problem {
            allow: Some(allow.to_owned()),
            ..Problem::new(Code::MethodNotAllowed, detail)
        }
    }

    /// A failure of which the client learns no details.
    pub fn internal(cause: impl fmt::Display) -> Problem {
        Problem::new(Code::Internal, "the server failed; nothing was changed").caused_by(cause)
    }

    /// The problem for an error status set by the framework.
    pub fn from_status(status: StatusCode) -> Problem {
        match Code::ALL.iter().find(|code| code.status() == status) {
            Some(&code) => code.into(),
            None if status.is_server_error() => Problem::internal(status),
            None => Code::BadRequest.into(),
        }
    }

    pub fn code(&self) -> Code {
        self.details.code
    }

    /// Logs the problem of the request with this id, without the detail, which may contain the
    /// caller's cards.
    pub fn log(&self, id: &RequestId) {
        let (id, code) = (id.text(), self.code().name());
        let cause = self.cause.as_deref().unwrap_or(self.code().title());
        log::log!(
            target: "dog::problem", self.code().level(),
            request_id = id, code; "{id} {code}: {cause}"
        );
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.code().status()
    }

    /// Makes the response, with the problem for the log, which the middleware writes.
    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.code().status());
        response.extensions_mut().insert(self.clone());
        response.content_type("application/problem+json");
        response.insert_header((header::CACHE_CONTROL, "no-store"));
        // Here too, because the response to a panic passes no middleware.
        response.insert_header((header::X_CONTENT_TYPE_OPTIONS, NO_SNIFFING));
        if self.code().status() == StatusCode::UNAUTHORIZED {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer realm=\"dog\""));
        }
        if let Some(seconds) = self.retry_after {
            response.insert_header((header::RETRY_AFTER, seconds.to_string()));
        }
        if self.close {
            response.force_close();
        }
        if let Some(allow) = &self.allow {
            response.insert_header((header::ALLOW, allow.as_str()));
        }
        let mut response = response.json(&ProblemDetails {
            request_id: RequestId::current(),
            ..(*self.details).clone()
        });
        announce(self.limit.as_deref(), response.headers_mut());
        response
    }
}
