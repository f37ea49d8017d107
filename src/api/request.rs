//! The parts of an HTTP request that every route reads in the same way: who calls, what the body
//! says, under which conditions.

use std::{
    future::poll_fn,
    rc::Rc,
    task::Poll,
    time::{Duration, Instant},
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap, HeaderName},
    rt, web,
};
use dog_rules::{event::Viewer, record::MAX_LENGTH, seat::Seat};
use futures_util::{StreamExt, future::LocalBoxFuture};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    App,
    limits::{Client, connections::Connection, framing::RequestBody, memory::Reservation},
    problem::{Code, Problem},
    tags::Tags,
    wire::{
        game::Role,
        query::{NoQuery, query},
        request::shape,
    },
};
use crate::store::{Record, Scope, TokenHash, Tokens};

/// Bytes of a body at most.
pub const MAX_BODY: usize = 64 * 1024;

/// Bytes of a body that holds a game's record at most: a text may become longer in JSON.
pub const MAX_RECORD: usize = MAX_LENGTH + MAX_LENGTH / 8;

/// Bytes of a body that is too large that are read and thrown away, so that its sender gets to
/// see the answer.
const MAX_DISCARDED: usize = 4 * 1024 * 1024;

/// Bytes of a body that are too many to parse on an async worker.
const LONG_BODY: usize = 4 * 1024;

/// How many times as long a JSON text may be in memory: `[0,0,…]` takes 32 bytes for every two.
const JSON_GROWTH: usize = 17;

/// Bytes of a body a second that a client must send, after a while, to be waited for.
const SLOWEST: f64 = 16.0 * 1024.0;

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Who calls: the hash of the token presented, if one is.
#[derive(Clone, Copy, Debug)]
pub struct Caller(Option<TokenHash>);

impl Caller {
    /// Whoever sends these headers.
    pub fn of(headers: &HeaderMap) -> Caller {
        Caller(headers.get(header::AUTHORIZATION).map(|value| {
            match value.as_bytes().split_at_checked(7) {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => {
                    TokenHash::of(&String::from_utf8_lossy(token))
                }
                // Another scheme holds no token of ours, and no token has this hash.
                _ => TokenHash([0; 32]),
            }
        }))
    }

    /// What the caller is in this game.
    ///
    /// # Errors
    /// `unauthorized`, if a token was presented that is none of this game's.
    pub fn role(self, record: &Record) -> Result<Role, Problem> {
        let Some(presented) = self.0 else {
            return Ok(Role::Spectator);
        };
        // Every hash is compared, each in constant time, whichever fits.
        let mut role = (record.tokens.host == presented).then_some(Role::Host);
        for seat in record.game.rules().ring().seats() {
            if record.tokens.seats[seat] == Some(presented) {
                role = Some(Role::Seat(seat));
            }
        }
        role.ok_or_else(|| Problem::new(Code::Unauthorized, "the token is none of this game's"))
    }

    /// The hash of the token presented, if one is.
    pub fn token(self) -> Option<TokenHash> {
        self.0
    }

    /// Somebody without a token.
    #[cfg(test)]
    pub fn nobody() -> Caller {
        Caller(None)
    }

    /// Whoever presented the token of that hash.
    pub fn with_token(token: TokenHash) -> Caller {
        Caller(Some(token))
    }

    /// Whether the caller is still what it was by these tokens.
    ///
    /// # Errors
    /// `unauthorized`, if the token has been replaced.
    pub fn still(self, role: Role, tokens: &Tokens) -> Result<(), Problem> {
        let token = match role {
            Role::Spectator => return Ok(()),
            Role::Host => Some(tokens.host),
            Role::Seat(seat) => tokens.seats[seat],
        };
        if token == self.0 {
            return Ok(());
        }
        Err(Problem::new(Code::Unauthorized, "the token was replaced"))
    }

    /// What the caller is in this game, for routes that are not for everyone.
    ///
    /// # Errors
    /// `unauthorized`, without a token of this game's.
    pub fn known_role(self, record: &Record) -> Result<Role, Problem> {
        match self.role(record)? {
            Role::Spectator => Err(Problem::new(
                Code::Unauthorized,
                "this needs a token of this game's",
            )),
            role => Ok(role),
        }
    }

    /// The seat that calls, for routes that are for seats only.
    ///
    /// # Errors
    /// `unauthorized` without a token, `forbidden` for the host.
    pub fn seat(self, record: &Record) -> Result<Seat, Problem> {
        match self.known_role(record)?.viewer() {
            Viewer::Seat(seat) => Ok(seat),
            Viewer::Spectator => Err(Problem::new(
                Code::Forbidden,
                "this is for seats, the host has no cards",
            )),
        }
    }
}

impl FromRequest for Caller {
    type Error = Problem;
    type Future = std::future::Ready<Result<Caller, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(Ok(Caller::of(request.headers())))
    }
}

/// The body of a request, as JSON; an empty body is an empty object.
pub struct Body {
    pub value: Value,
    /// Held as long as a large body is.
    pub memory: Option<Reservation>,
}

impl FromRequest for Body {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Body, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        Box::pin(body(request, payload, MAX_BODY, false))
    }
}

/// Reads the body: JSON of so many bytes at most or, where a record is welcome, its text.
fn body(
    request: &HttpRequest,
    payload: &mut Payload,
    most: usize,
    record: bool,
) -> impl Future<Output = Result<Body, Problem>> + 'static {
    let json = is(request, "application/json");
    let text = record && is(request, "text/plain");
    let encoded = request
        .headers()
        .get(header::CONTENT_ENCODING)
        .is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    let app = request.app_data::<web::Data<App>>();
    let timeout = app.map_or(Duration::MAX, |app| app.limits.client_timeout);
    let memory = app.map_or(Ok(None), |app| reserve(request, app, most, json));
    let connection = request.conn_data::<Rc<Connection>>().cloned();
    let mut payload = payload.take();
    async move {
        let memory = memory?;
        let body = |value| Body { value, memory };
        let bytes = read(&mut payload, connection.as_deref(), most, timeout).await?;
        if bytes.is_empty() {
            return Ok(body(Value::Object(Default::default())));
        }
        if !(json || text) || encoded {
            let or_text = if record { " or text/plain" } else { "" };
            let detail =
                format!("send the body as application/json{or_text}, without a content encoding");
            return Err(Problem::new(Code::UnsupportedMediaType, detail));
        }
        if text {
            let malformed = |_| Problem::new(Code::MalformedJson, "the text is not UTF-8");
            let record = String::from_utf8(bytes).map_err(malformed)?;
            return Ok(body(json!({"record": record})));
        }
        let value = if bytes.len() > LONG_BODY {
            let parsed = web::block(move || serde_json::from_slice(&bytes)).await;
            parsed.map_err(Problem::internal)?
        } else {
            serde_json::from_slice(&bytes)
        };
        let malformed = |error| Problem::new(Code::MalformedJson, error);
        Ok(body(value.map_err(malformed)?))
    }
}

/// Memory for the body of a request, if it is long or does not say how long it is.
///
/// # Errors
/// `unavailable`, if there is no room.
fn reserve(
    request: &HttpRequest,
    app: &App,
    most: usize,
    json: bool,
) -> Result<Option<Reservation>, Problem> {
    let length = match RequestBody::of(request.head()) {
        RequestBody::Length(length) => {
            usize::try_from(length).map_or(most, |length| length.min(most))
        }
        RequestBody::Chunked(_) => most,
    };
    if length <= LONG_BODY {
        return Ok(None);
    }
    let Client(address) = Client::of(request);
    let bytes = length * if json { JSON_GROWTH } else { 2 };
    let memory = app.memory.reserve(address, bytes);
    let memory = memory
        .ok_or_else(|| Problem::new(Code::Unavailable, "too many large bodies are in memory"))?;
    Ok(Some(memory))
}

/// Whether the body is said to be of this media type.
fn is(request: &HttpRequest, media_type: &str) -> bool {
    let essence = request.content_type().trim();
    essence.eq_ignore_ascii_case(media_type)
}

/// Reads a body to its end, unless it comes too slowly: it may take so long, and longer if it is
/// long, as [`SLOWEST`] says.
async fn read(
    payload: &mut Payload,
    connection: Option<&Connection>,
    most: usize,
    timeout: Duration,
) -> Result<Vec<u8>, Problem> {
    let begun = Instant::now();
    let mut body = Vec::new();
    let mut length = 0;
    loop {
        let allowed = timeout.saturating_add(Duration::from_secs_f64(length as f64 / SLOWEST));
        let left = allowed.saturating_sub(begun.elapsed());
        // The connection hands over what is waited for.
        let next = poll_fn(|context| {
            let next = payload.poll_next_unpin(context);
            if let (Poll::Pending, Some(connection)) = (&next, connection) {
                connection.want_body();
            }
            next
        });
        let next = rt::time::timeout(left, next).await;
        let Some(chunk) = next.map_err(|_| too_slow())? else {
            break;
        };
        let chunk = chunk.map_err(|error| {
            Problem::new(
                Code::BadRequest,
                format!("the body cannot be read: {error}"),
            )
        })?;
        length += chunk.len();
        if length <= most {
            body.extend_from_slice(&chunk);
        } else if length > MAX_DISCARDED {
            break;
        }
    }
    if length > most {
        return Err(Problem::new(
            Code::BodyTooLarge,
            Code::BodyTooLarge.meaning(),
        ));
    }
    Ok(body)
}

fn too_slow() -> Problem {
    Problem::new(Code::RequestTimeout, Code::RequestTimeout.meaning()).and_close()
}

/// What a write names beside its path: who calls, the body, the conditions.
pub struct WriteRequest {
    pub caller: Caller,
    pub body: Value,
    _memory: Option<Reservation>,
    key: Option<IdempotencyKey>,
    if_match: Option<Tags>,
    query: String,
    method: String,
    path: String,
}

/// The client's name for one write, by which a retry is known.
#[derive(Clone)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub(super) fn of(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Problem> {
        let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
            return Ok(None);
        };
        let visible = |byte: &u8| byte.is_ascii_graphic();
        let key = value.as_bytes();
        if !(1..=255).contains(&key.len()) || !key.iter().all(visible) {
            let code = Code::InvalidIdempotencyKey;
            return Err(Problem::new(code, code.meaning()));
        }
        Ok(Some(IdempotencyKey(
            String::from_utf8_lossy(key).into_owned(),
        )))
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Whether the key can carry 128 random bits: enough digits for the alphabet it is written
    /// in, and not the same few over and over.
    pub fn is_strong(&self) -> bool {
        let digits: Vec<u8> = self.0.bytes().filter(u8::is_ascii_alphanumeric).collect();
        let bits_a_digit = if digits.iter().all(u8::is_ascii_digit) {
            3.32
        } else if digits.iter().all(u8::is_ascii_hexdigit) {
            4.0
        } else {
            5.9
        };
        let mut different = digits.clone();
        different.sort_unstable();
        different.dedup();
        digits.len() as f64 * bits_a_digit >= 128.0 && different.len() >= 8
    }
}

impl FromRequest for WriteRequest {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<WriteRequest, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = body(request, payload, MAX_BODY, false);
        Box::pin(WriteRequest::of(request, body))
    }
}

/// A write whose body may be a game's record: as long as that may be, and plain text, too.
pub struct RecordRequest(pub WriteRequest);

impl FromRequest for RecordRequest {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<RecordRequest, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = body(request, payload, MAX_RECORD, true);
        let request = WriteRequest::of(request, body);
        Box::pin(async move { request.await.map(RecordRequest) })
    }
}

impl WriteRequest {
    /// The write that this request asks for, with that body.
    fn of(
        request: &HttpRequest,
        body: impl Future<Output = Result<Body, Problem>> + 'static,
    ) -> impl Future<Output = Result<WriteRequest, Problem>> + 'static {
        let key = IdempotencyKey::of(request.headers());
        let caller = Caller::of(request.headers());
        let if_match = Tags::of(request.headers(), &header::IF_MATCH).map_err(|error| {
            Problem::new(
                Code::BadRequest,
                format!("If-Match cannot be read: {error}"),
            )
        });
        let (method, path) = (request.method().to_string(), request.path().to_owned());
        let query = request.query_string().to_owned();
        async move {
            let Body { value, memory } = body.await?;
            Ok(WriteRequest {
                caller,
                body: value,
                _memory: memory,
                key: key?,
                if_match: if_match?,
                query,
                method,
                path,
            })
        }
    }

    /// The client's key, if it sent one.
    pub fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }

    /// The body, of the right shape; no write takes a query.
    ///
    /// # Errors
    /// `invalid_request`, saying what is wrong.
    pub fn content<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        self.check_query()?;
        shape(self.body.clone())
    }

    /// Refuses a query.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn check_query(&self) -> Result<(), Problem> {
        query(&self.query).map(|NoQuery {}| ())
    }

    /// Under what the answer is remembered: the key belongs to the caller's token, the method and
    /// the path.
    pub fn scope(&self) -> Option<Scope> {
        let key = self.key.as_ref()?;
        let caller = self.caller.0.map_or([0; 32], |hash| hash.0);
        let parts = [
            &caller[..],
            self.method.as_bytes(),
            self.path.as_bytes(),
            key.as_bytes(),
        ];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Some(Scope(hash.finalize().into()))
    }

    /// SHA-256 of the body, the same however its JSON is spaced and ordered.
    pub fn body_hash(&self) -> [u8; 32] {
        Sha256::digest(self.body.to_string()).into()
    }

    /// Refuses a write whose author knew another version than the game is at.
    ///
    /// # Errors
    /// `stale_version`.
    pub fn check_version(&self, version: u64, role: Role) -> Result<(), Problem> {
        let stale = || {
            Problem::new(
                Code::StaleVersion,
                format!("the game is at version {version}"),
            )
        };
        if let Some(tags) = &self.if_match {
            let own = format!("{version}-{}", role.tag());
            if !tags.match_strongly(&[&version.to_string(), &own]) {
                return Err(stale());
            }
        }
        match self.body.get("version").and_then(Value::as_u64) {
            Some(known) if known != version => Err(stale()),
            _ => Ok(()),
        }
    }
}

/// The `ETag` of a game at this version as this role sees it.
pub fn etag(version: u64, role: Role) -> String {
    format!("\"{version}-{}\"", role.tag())
}

/// Whether the client has what this `ETag` stands for already, by its `If-None-Match`. A header
/// that cannot be read is ignored.
pub fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let known = Tags::of(headers, &header::IF_NONE_MATCH);
    known.is_ok_and(|tags| tags.is_some_and(|tags| tags.match_weakly(etag.trim_matches('"'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strong_keys_can_carry_128_bits() {
        let strong = |key: &str| IdempotencyKey(key.to_owned()).is_strong();
        assert!(strong("5f2b8c1d9e7a40364bd1c2e8f90a7b53"));
        assert!(strong("5f2b8c1d-9e7a-4036-abd1-c2e8f90a7b53"));
        assert!(strong("Zk3vQ9xT1bN7cR5wY8mLpA"));
        assert!(!strong("order-17"));
        assert!(!strong("5f2b8c1d9e7a40364bd1c2e8f90a7b5"));
        assert!(!strong("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
        assert!(!strong("12345678901234567890123456789012345678"));
        assert!(strong("123456789012345678901234567890123456789"));
    }
}
