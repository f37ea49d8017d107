//! Every error a client can get, in one table: its code, status, log level and meaning. The table
//! also feeds the OpenAPI document and `docs/errors.md`.

use std::{fmt, time::Duration};

use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use dog_rules::{ActionRefusal, BoardError, ParseCardError, RulesError, shuffle::SeedError};
use log::Level;
use serde::{Serialize, Serializer};
use thiserror::Error;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, schema::Type},
};

use crate::{
    service,
    store::{DraftError, LimitReached, StoreError},
};

macro_rules! codes {
    ($($variant:ident $name:literal $status:ident $level:ident $title:literal $meaning:literal;)+) => {
        /// The stable code of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$variant),+];

            /// The code as a client sees it.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$variant => $name),+ }
            }

            /// The HTTP status it comes with.
            pub const fn status(self) -> StatusCode {
                match self { $(Code::$variant => StatusCode::$status),+ }
            }

            /// How loudly it is logged: a client's mistake is never an error of ours.
            pub const fn level(self) -> Level {
                match self { $(Code::$variant => Level::$level),+ }
            }

            /// A short summary, the same whenever it occurs.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),+ }
            }

            /// When it is answered.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning),+ }
            }
        }
    };
}

codes! {
    BadRequest "bad_request" BAD_REQUEST Debug "Bad request" "The request is not valid HTTP, or its If-Match header is malformed.";
    MalformedJson "malformed_json" BAD_REQUEST Debug "Malformed JSON" "The body is not JSON, or not UTF-8.";
    InvalidIdempotencyKey "invalid_idempotency_key" BAD_REQUEST Debug "Invalid idempotency key" "The Idempotency-Key is empty, longer than 255 characters, or not visible ASCII.";
    Unauthorized "unauthorized" UNAUTHORIZED Debug "Unauthorized" "The route needs a token and none was sent, or the token does not belong to this game.";
    Forbidden "forbidden" FORBIDDEN Debug "Forbidden" "The token is valid, but its holder may not do this. For example, a host plays no cards, and a seat cannot remove the game.";
    RouteNotFound "route_not_found" NOT_FOUND Debug "No such route" "There is no route with this path.";
    GameNotFound "game_not_found" NOT_FOUND Debug "No such game" "No game has this id, or it was removed.";
    SeatNotFound "seat_not_found" NOT_FOUND Debug "No such seat" "The game has no seat of this number.";
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED Debug "Method not allowed" "The path exists, but not for this method. The Allow header lists its methods.";
    NotAcceptable "not_acceptable" NOT_ACCEPTABLE Debug "Not acceptable" "The response is not available in a media type or an encoding that the request accepts.";
    RequestTimeout "request_timeout" REQUEST_TIMEOUT Debug "Request timeout" "The request took too long to arrive.";
    GameOver "game_over" CONFLICT Debug "The game is over" "A team has won, and the game no longer changes.";
    WrongPhase "wrong_phase" CONFLICT Debug "Wrong phase" "This action is not possible in the present phase of the game.";
    NotYourTurn "not_your_turn" CONFLICT Debug "Not your turn" "Another seat is to act, or this seat has already acted.";
    NoHuman "no_human" CONFLICT Debug "No human plays the seat" "A bot plays the seat, so it gets no token. The host must hand it to a human first.";
    TooManyVersions "too_many_versions" CONFLICT Debug "Too many versions" "The game has reached 50,000 versions by play, the maximum.";
    StaleVersion "stale_version" PRECONDITION_FAILED Debug "Stale version" "The game is no longer at the version that If-Match or the body names.";
    BodyTooLarge "body_too_large" PAYLOAD_TOO_LARGE Debug "Body too large" "The body is larger than 64 KiB, or a record larger than 1 MiB.";
    UriTooLong "uri_too_long" URI_TOO_LONG Debug "URI too long" "The path with its query is longer than 8 KiB.";
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE Debug "Unsupported media type" "A body must be sent as application/json, without a content encoding.";
    InvalidRequest "invalid_request" UNPROCESSABLE_ENTITY Debug "Invalid request" "The JSON or the query is well formed, but a field is missing, unknown or of the wrong type.";
    InvalidRules "invalid_rules" UNPROCESSABLE_ENTITY Debug "Invalid rules" "The preset or an option is unknown, out of range, or contradicts another.";
    InvalidBoard "invalid_board" UNPROCESSABLE_ENTITY Debug "Invalid board" "The board is impossible: two pieces on one field, more than four pieces of a seat, a field off the board, or `fresh` without a piece on the start.";
    InvalidHand "invalid_hand" UNPROCESSABLE_ENTITY Debug "Invalid hand" "The hand is empty, or contains more of a card than the deck.";
    InvalidKnowledge "invalid_knowledge" UNPROCESSABLE_ENTITY Debug "Invalid knowledge" "`known` contradicts itself, the hand or the deck.";
    FinishedPosition "finished_position" UNPROCESSABLE_ENTITY Debug "Finished position" "A team has all its pieces in its goals, so there is nothing to analyse.";
    UnknownCard "unknown_card" UNPROCESSABLE_ENTITY Debug "Unknown card" "There is no card of that name.";
    CardNotInHand "card_not_in_hand" UNPROCESSABLE_ENTITY Debug "Card not in hand" "The card to give to the partner is not in the hand.";
    IllegalMove "illegal_move" UNPROCESSABLE_ENTITY Debug "Illegal move" "The rules do not allow the move. The detail says why.";
    IllegalExchange "illegal_exchange" UNPROCESSABLE_ENTITY Debug "Illegal exchange" "The exchange does not allow this: declining or asking where it is mandatory, or asking twice.";
    InvalidSeed "invalid_seed" UNPROCESSABLE_ENTITY Debug "Invalid shuffle seed" "A shuffle seed is 64 hex digits.";
    InvalidRecord "invalid_record" UNPROCESSABLE_ENTITY Debug "Invalid record" "The text is not a record, or its game is not over or breaks the rules. The detail names the line and says why.";
    IdempotencyKeyReused "idempotency_key_reused" UNPROCESSABLE_ENTITY Debug "Idempotency key reused" "The Idempotency-Key was used before with another body. Bodies are compared byte by byte, blanks included.";
    WeakIdempotencyKey "weak_idempotency_key" UNPROCESSABLE_ENTITY Debug "Weak idempotency key" "Where the response contains a secret, the Idempotency-Key must carry 128 random bits or more.";
    TooManyRequests "too_many_requests" TOO_MANY_REQUESTS Debug "Too many requests" "Rate limit exceeded for the address or the token. Try again after Retry-After seconds.";
    TooManyChanges "too_many_changes" TOO_MANY_REQUESTS Debug "Too many changes" "Limit exceeded for hand-overs, names and tokens of this game: 100, and one more for every 4 versions by play.";
    HeadersTooLarge "headers_too_large" REQUEST_HEADER_FIELDS_TOO_LARGE Debug "Headers too large" "There are more than 64 headers, or more than 16 KiB of them.";
    Internal "internal" INTERNAL_SERVER_ERROR Error "Internal error" "The server failed, and nothing was changed. Its log has more under the request id.";
    DatabaseFull "database_full" INSUFFICIENT_STORAGE Warn "Database full" "The database is nearly full, so new games are refused, or it is full, so all writes are. Nothing was changed.";
    Unavailable "unavailable" SERVICE_UNAVAILABLE Warn "Unavailable" "The server cannot do this at present: it is overloaded, or the disk is full or read-only. Try again after Retry-After seconds.";
}

/// When to try again where a game must be played on first.
const NEXT_CHANGE: Duration = Duration::from_secs(60);

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("The stable code of an error."))
            .enum_values(Some(Code::ALL.iter().map(|code| code.name())))
            .into()
    }
}

impl ToSchema for Code {}

/// The table as a Markdown page.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Errors\n\n\
         Every error is an `application/problem+json` document (RFC 9457) with `type`, `title`,\n\
         `status`, `detail` and a stable `code`: branch on the code, show the detail. This page is\n\
         printed by `dog errors` from the table that the server answers from; a test fails when it\n\
         is out of date.\n\n\
         | code | status | meaning |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        let (name, status, meaning) = (code.name(), code.status().as_u16(), code.meaning());
        page += &format!("| `{name}` | {status} | {meaning} |\n");
    }
    page
}

/// An answer that is an error: a code from the table and what is wrong in this case.
#[derive(Clone, Debug, Error)]
#[error("{}: {detail}", code.name())]
pub struct Problem {
    code: Code,
    detail: String,
    /// What the log is told besides, never the client.
    cause: Option<String>,
    allow: Option<String>,
    /// Seconds after which another try may go well.
    retry_after: Option<u64>,
    /// Whether the connection is to end with this.
    close: bool,
}

/// An error (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "type": "urn:dog:problem:illegal_move",
    "title": "Illegal move",
    "status": 422,
    "detail": "field 16 is blocked: seat 1's fresh piece",
    "code": "illegal_move"
}))]
pub struct ProblemDetails<'a> {
    /// A URI for the code.
    #[serde(rename = "type")]
    type_: String,
    /// The code in words.
    title: &'a str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong in this case.
    detail: &'a str,
    /// The stable code: branch on this.
    code: Code,
}

impl Problem {
    /// A problem of this code; the detail says what is wrong in this case.
    pub fn new(code: Code, detail: impl fmt::Display) -> Problem {
        Problem {
            code,
            detail: detail.to_string(),
            cause: None,
            allow: None,
            retry_after: (code == Code::Unavailable).then_some(1),
            close: false,
        }
    }

    /// `invalid_request`: what is wrong with the body or the query.
    pub fn invalid(detail: impl fmt::Display) -> Problem {
        Problem::new(Code::InvalidRequest, detail)
    }

    /// `game_not_found`.
    pub fn game_not_found() -> Problem {
        Problem::new(Code::GameNotFound, "no game has this id")
    }

    /// The same, with the time after which another try may go well: whole seconds, rounded up.
    pub fn retry_after(mut self, wait: Duration) -> Problem {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        self.retry_after = Some(seconds.max(1));
        self
    }

    /// The same, as the last thing that is said over the connection.
    pub fn and_close(mut self) -> Problem {
        self.close = true;
        self
    }

    /// The method is not one of these.
    pub fn method_not_allowed(allow: &str) -> Problem {
        let detail = format!("this path takes {allow}");
        Problem {
            allow: Some(allow.to_owned()),
            ..Problem::new(Code::MethodNotAllowed, detail)
        }
    }

    /// Something failed that the client cannot be told more about.
    pub fn internal(cause: impl fmt::Display) -> Problem {
        let detail = "the request could not be served; nothing was changed";
        Problem {
            cause: Some(cause.to_string()),
            ..Problem::new(Code::Internal, detail)
        }
    }

    /// The problem for a status that a framework answered by itself.
    pub fn of_status(status: StatusCode) -> Problem {
        match Code::ALL.iter().find(|code| code.status() == status) {
            Some(&code) => code.into(),
            None if status.is_server_error() => Problem::internal(status),
            None => Code::BadRequest.into(),
        }
    }

    pub fn code(&self) -> Code {
        self.code
    }

    /// Tells the log of it. The detail stays out of there, since it may tell the caller of the
    /// caller's own hand.
    pub fn log(&self) {
        let cause = self.cause.as_deref().unwrap_or(self.code.title());
        log::log!(target: "dog::problem", self.code.level(), "{}: {cause}", self.code.name());
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.code.status()
    }

    /// Answers, and logs once: here, at the boundary.
    fn error_response(&self) -> HttpResponse {
        self.log();
        let mut response = HttpResponse::build(self.code.status());
        response.content_type("application/problem+json");
        response.insert_header((header::CACHE_CONTROL, "no-store"));
        if self.code == Code::Unauthorized {
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
        response.json(ProblemDetails {
            type_: format!("urn:dog:problem:{}", self.code.name()),
            title: self.code.title(),
            status: self.code.status().as_u16(),
            detail: &self.detail,
            code: self.code,
        })
    }
}

impl From<Code> for Problem {
    /// The problem of this code of which there is no more to say.
    fn from(code: Code) -> Problem {
        Problem::new(code, code.meaning())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        if matches!(error, StoreError::Quota) {
            Problem::new(Code::DatabaseFull, error)
        } else if error.is_temporary() {
            Problem {
                cause: Some(error.to_string()),
                ..Problem::new(Code::Unavailable, "the store cannot do this just now")
            }
        } else {
            Problem::internal(error)
        }
    }
}

impl From<service::ServiceError> for Problem {
    fn from(error: service::ServiceError) -> Problem {
        use service::ServiceError::*;
        let code = match error {
            GameNotFound => Code::GameNotFound,
            SeatNotFound => Code::SeatNotFound,
            Unauthorized(_) => Code::Unauthorized,
            Forbidden(_) | BotPlays(_) => Code::Forbidden,
            NoHuman(_) => Code::NoHuman,
            StaleVersion(_) => Code::StaleVersion,
            IdempotencyKeyReused => return Code::IdempotencyKeyReused.into(),
            WeakIdempotencyKey => return Code::WeakIdempotencyKey.into(),
            Contended => Code::Unavailable,
            Act(error) => return error.into(),
            Internal(cause) => return Problem::internal(cause),
        };
        Problem::new(code, error)
    }
}

impl From<DraftError> for Problem {
    fn from(error: DraftError) -> Problem {
        match error {
            DraftError::Refused(refusal) => refusal.into(),
            DraftError::LimitReached(exhausted) => exhausted.into(),
            DraftError::Store(error) => error.into(),
        }
    }
}

impl From<LimitReached> for Problem {
    fn from(exhausted: LimitReached) -> Problem {
        match exhausted {
            LimitReached::Play => Problem::new(Code::TooManyVersions, exhausted),
            LimitReached::Admin => {
                Problem::new(Code::TooManyChanges, exhausted).retry_after(NEXT_CHANGE)
            }
        }
    }
}

impl From<ActionRefusal> for Problem {
    fn from(refusal: ActionRefusal) -> Problem {
        let code = match refusal {
            ActionRefusal::GameOver => Code::GameOver,
            ActionRefusal::WrongPhase { .. } => Code::WrongPhase,
            ActionRefusal::NotYourTurn(_)
            | ActionRefusal::NotTheDealer(_)
            | ActionRefusal::AlreadyAnswered(_)
            | ActionRefusal::PairDone(_) => Code::NotYourTurn,
            ActionRefusal::ExchangeMandatory | ActionRefusal::AlreadyAsked(_) => {
                Code::IllegalExchange
            }
            ActionRefusal::NotInHand(_) => Code::CardNotInHand,
            ActionRefusal::IllegalMove(_) => Code::IllegalMove,
        };
        Problem::new(code, refusal)
    }
}

/// Domain errors that are always the same code.
macro_rules! always {
    ($($error:ty => $code:ident),+ $(,)?) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Problem {
                Problem::new(Code::$code, error)
            }
        })+
    };
}

always! {
    BoardError => InvalidBoard,
    RulesError => InvalidRules,
    SeedError => InvalidSeed,
    ParseCardError => UnknownCard,
}
