//! Parts of a request: its body, its caller and its conditions.

use std::{
    convert::Infallible,
    future::{Ready, poll_fn, ready},
    rc::Rc,
    task::Poll,
    time::{Duration, Instant},
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
    rt,
    web::{self, Bytes},
};
use dog_store::{SavedResponse, Scope, StoredGame};
use futures_util::{StreamExt, future::LocalBoxFuture};
use serde::{Deserialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use utoipa::{IntoParams, ToSchema};

use super::{
    answer::Answer,
    etag::{EntityTags, condition},
    idempotency::{IdempotencyKey, Retry},
    json::{check_body, from_body, from_query},
    secrets::Secrets,
};
use crate::{
    access::{AccessError, Caller, Role, state_tag},
    headers::{IDEMPOTENCY_KEY, negotiation::accepts_gzip, token::caller},
    limits::{
        ClientAddress, LimitState,
        connections::Connection,
        framing::BodyFraming,
        gates::is_by_operator,
        memory::{BodyMemory, Reservation, no_memory},
    },
    problem::{Code, Problem},
};

/// No parameters.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct NoQuery {}

/// Maximum bytes of a body without a record.
const MAX_BODY: usize = 64 * 1024;

/// Maximum bytes of a body with a list of what are bodies elsewhere.
pub const MAX_LIST_BODY: usize = 512 * 1024;

/// Bytes of an oversized body that are read and discarded, so that its sender can read the
/// response.
const MAX_DISCARDED: usize = 4 * 1024 * 1024;

/// Bodies up to this size are checked and hashed on the async worker.
const MAX_INLINE_PARSE: usize = 4 * 1024;

/// How many times its size parsed JSON may take in memory: a list of empty strings takes 24 bytes
/// for every three, and has room for twice as many.
const JSON_MEMORY_FACTOR: usize = 17;

/// The same for a body with a record, which is one string.
const RECORD_MEMORY_FACTOR: usize = 4;

/// The minimum rate at which a client must send a body, after the timeout.
const MIN_BYTES_PER_SECOND: f64 = 16.0 * 1024.0;

/// The complete body of a request.
struct ReadBody {
    content: BodyContent,
    /// The memory of a large body.
    memory: Option<Reservation>,
}

/// The bytes of a body, which all clones share.
#[derive(Clone)]
pub struct BodyContent {
    bytes: Bytes,
    /// Whether it is a game's record as plain text, not JSON.
    is_text: bool,
}

impl BodyContent {
    /// Checks the syntax.
    ///
    /// # Errors
    /// `malformed_json`.
    fn check(&self) -> Result<(), Problem> {
        if !self.is_text {
            return check_body(&self.bytes);
        }
        let text = str::from_utf8(&self.bytes).map(drop);
        text.map_err(|_| Problem::new(Code::MalformedJson, "the text is not UTF-8"))
    }

    /// Its text, if it is not JSON.
    pub fn plain_text(&self) -> Option<&str> {
        let text = str::from_utf8(&self.bytes).ok();
        text.filter(|_| self.is_text)
    }

    /// Reads the JSON.
    ///
    /// # Errors
    /// What is wrong with its shape.
    pub fn parse<T: DeserializeOwned + ToSchema>(&self) -> Result<T, Problem> {
        from_body(&self.bytes)
    }

    /// The version that it names, even if the rest of it is invalid.
    fn version(&self) -> Option<u64> {
        #[derive(Deserialize, ToSchema)]
        struct BodyVersion {
            version: u64,
        }
        let versioned = self.parse::<BodyVersion>().ok();
        versioned.map(|body| body.version)
    }

    /// What `read` returns; of a long body not on an async worker.
    pub async fn read_with<T: Send + 'static>(
        &self,
        read: impl FnOnce(&BodyContent) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        if self.bytes.len() <= MAX_INLINE_PARSE {
            return read(self);
        }
        let content = self.clone();
        let result = web::block(move || read(&content)).await;
        result.map_err(Problem::internal)?
    }
}

/// The JSON body of a request that changes nothing: its content, or why it is invalid. An empty
/// body is an empty object.
pub struct Body<T, const MOST: usize = MAX_BODY> {
    pub content: Result<T, Problem>,
    _memory: Option<Reservation>,
}

impl<T, const MOST: usize> FromRequest for Body<T, MOST>
where
    T: DeserializeOwned + ToSchema + Send + 'static,
{
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = body(request, payload, MOST, false);
        Box::pin(async move {
            let ReadBody { content, memory } = body.await?;
            let read = content.read_with(|content| {
                content.check()?;
                Ok(content.parse())
            });
            Ok(Body {
                content: read.await?,
                _memory: memory,
            })
        })
    }
}

/// Reads the body: JSON or, if `record` is set, a game's record as text.
fn body(
    request: &HttpRequest,
    payload: &mut Payload,
    max_bytes: usize,
    record: bool,
) -> impl Future<Output = Result<ReadBody, Problem>> + 'static {
    let json = has_media_type(request, "application/json");
    let is_text = record && has_media_type(request, "text/plain");
    let encoding = request.headers().get(header::CONTENT_ENCODING);
    let encoded = encoding.is_some_and(|name| !name.as_bytes().eq_ignore_ascii_case(b"identity"));
    let state = request.app_data::<web::Data<LimitState>>();
    let limits = &state.expect("every server has its limits").limits;
    let timeout = limits.client_timeout;
    let memory_factor = match (record, json) {
        (true, _) => RECORD_MEMORY_FACTOR,
        (false, true) => JSON_MEMORY_FACTOR,
        // It is discarded.
        (false, false) => 2,
    };
    let memory = reserve(request, max_bytes, memory_factor);
    let connection = request.conn_data::<Rc<Connection>>().cloned();
    let mut payload = payload.take();
    async move {
        let memory = memory?;
        let bytes = read(&mut payload, connection.as_deref(), max_bytes, timeout).await?;
        if !bytes.is_empty() && (!(json || is_text) || encoded) {
            let or_text = if record { " or text/plain" } else { "" };
            let detail =
                format!("send the body as application/json{or_text}, without a content encoding");
            return Err(Problem::new(Code::UnsupportedMediaType, detail));
        }
        let bytes = bytes.into();
        Ok(ReadBody {
            content: BodyContent { bytes, is_text },
            memory,
        })
    }
}

/// Reserves memory for the body of a request, if it is long or of unknown length.
fn reserve(
    request: &HttpRequest,
    max_bytes: usize,
    memory_factor: usize,
) -> Result<Option<Reservation>, Problem> {
    let length = match BodyFraming::from_head(request.head()) {
        BodyFraming::Length(length) => usize::try_from(length).unwrap_or(max_bytes).min(max_bytes),
        BodyFraming::Chunked(_) => max_bytes,
    };
    if length <= MAX_INLINE_PARSE {
        return Ok(None);
    }
    let ClientAddress(address) = ClientAddress::from_extensions(request);
    let memory = request.app_data::<web::Data<BodyMemory>>();
    let memory = memory.expect("every server has its memory");
    let reservation = memory.reserve(address, length * memory_factor);
    reservation.ok_or_else(no_memory).map(Some)
}

/// Whether the `Content-Type` is this media type.
fn has_media_type(request: &HttpRequest, media_type: &str) -> bool {
    request
        .content_type()
        .trim()
        .eq_ignore_ascii_case(media_type)
}

/// Reads a body to its end, unless it comes too slowly: it may take the timeout, and longer for a
/// long body by [`MIN_BYTES_PER_SECOND`].
async fn read(
    payload: &mut Payload,
    connection: Option<&Connection>,
    max_bytes: usize,
    timeout: Duration,
) -> Result<Vec<u8>, Problem> {
    let started = Instant::now();
    let mut body = Vec::new();
    let mut length = 0;
    loop {
        let allowed = timeout.saturating_add(Duration::from_secs_f64(
            length as f64 / MIN_BYTES_PER_SECOND,
        ));
        let left = allowed.saturating_sub(started.elapsed());
        // The connection reads a body only on request.
        let next = poll_fn(|context| {
            let next = payload.poll_next_unpin(context);
            if let (Poll::Pending, Some(connection)) = (&next, connection) {
                connection.want_body();
            }
            next
        });
        let next = rt::time::timeout(left, next).await;
        let too_slow = |_| Problem::from(Code::RequestTimeout).and_close();
        let Some(chunk) = next.map_err(too_slow)? else {
            break;
        };
        let broken = |error| format!("cannot read the body: {error}");
        let chunk = chunk.map_err(|error| Problem::new(Code::BadRequest, broken(error)))?;
        length += chunk.len();
        if length <= max_bytes {
            body.extend_from_slice(&chunk);
        } else if length > MAX_DISCARDED {
            break;
        }
    }
    if length > max_bytes {
        return Err(Code::BodyTooLarge.into());
    }
    Ok(body)
}

/// A write: its caller, its conditions, and its body, which is read first and parsed last.
pub struct WriteRequest {
    pub caller: Caller,
    /// Whether it has the operator's key.
    pub by_operator: bool,
    /// For a request with an `Idempotency-Key`.
    pub retry: Option<Retry>,
    /// What `If-Match` names: the game must be in one of these states.
    if_match: Option<EntityTags>,
    /// What `If-None-Match` names: the game must be in none of these states.
    if_none_match: Option<EntityTags>,
    query: String,
    body: BodyContent,
    /// The version that the body names.
    version: Option<u64>,
    /// Whether the answer is compressed.
    pub gzip: bool,
    _memory: Option<Reservation>,
}

impl FromRequest for WriteRequest {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<WriteRequest, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        WriteRequest::read(request, payload, MAX_BODY, false)
    }
}

impl WriteRequest {
    fn read(
        request: &HttpRequest,
        payload: &mut Payload,
        max_bytes: usize,
        record: bool,
    ) -> LocalBoxFuture<'static, Result<WriteRequest, Problem>> {
        let body = body(request, payload, max_bytes, record);
        let request = request.clone();
        Box::pin(async move {
            let ReadBody { content, memory } = body.await?;
            let read = content.read_with(|content| {
                content.check()?;
                Ok((content.version(), Sha256::digest(&content.bytes).into()))
            });
            let (version, body_hash) = read.await?;
            let (headers, caller) = (request.headers(), caller(request.headers()));
            let key = idempotency_key(headers)?;
            let (method, path) = (request.method().as_str(), request.path());
            Ok(WriteRequest {
                caller,
                by_operator: is_by_operator(&request),
                retry: key.map(|key| Retry::new(key, caller, method, path, body_hash)),
                if_match: condition(headers, &header::IF_MATCH)?,
                if_none_match: condition(headers, &header::IF_NONE_MATCH)?,
                query: request.query_string().to_owned(),
                body: content,
                version,
                gzip: accepts_gzip(&request),
                _memory: memory,
            })
        })
    }

    /// The body, to be read elsewhere.
    ///
    /// # Errors
    /// What is wrong with the query, which must be empty.
    pub fn content(&self) -> Result<BodyContent, Problem> {
        let NoQuery {} = from_query(&self.query)?;
        Ok(self.body.clone())
    }

    /// The content of the body.
    ///
    /// # Errors
    /// What is wrong with it, or with the query, which must be empty.
    pub fn body<T: DeserializeOwned + ToSchema>(&self) -> Result<T, Problem> {
        self.content()?.parse()
    }

    /// Where the answer is saved; none without an `Idempotency-Key`.
    pub fn scope(&self) -> Option<&Scope> {
        self.retry.as_ref().map(|retry| &retry.scope)
    }

    /// The answer to the first copy of this request, from the saved one.
    ///
    /// # Errors
    /// `idempotency_key_reused`.
    pub fn first_answer(&self, saved: Option<&SavedResponse>) -> Result<Option<Answer>, Problem> {
        let (Some(retry), Some(saved)) = (&self.retry, saved) else {
            return Ok(None);
        };
        retry.saved_answer(saved).map(Some)
    }

    /// Fresh secrets for the answer.
    ///
    /// # Errors
    /// `weak_idempotency_key`.
    pub fn secrets(&self) -> Result<Secrets, Problem> {
        Secrets::new(self.retry.as_ref())
    }

    /// Refuses a write in a game that is in a state which the request excludes.
    ///
    /// # Errors
    /// `stale_version`.
    pub fn check_state(&self, stored: &StoredGame, role: Role) -> Result<(), Problem> {
        let (excluded, tag) = (self.if_none_match.as_ref(), state_tag(stored, role));
        if excluded.is_some_and(|tags| tags.include_state(&tag, false)) {
            return Err(AccessError::StaleVersion(stored.game.version()).into());
        }
        self.check_version(stored, role)
    }

    /// Refuses a write that names another version than the present one, in `If-Match` or in its
    /// body, even if the rest of that is invalid.
    ///
    /// # Errors
    /// `stale_version`.
    pub fn check_version(&self, stored: &StoredGame, role: Role) -> Result<(), Problem> {
        let (named, version) = (self.if_match.as_ref(), stored.game.version());
        let tag = state_tag(stored, role);
        let matches = named.is_none_or(|tags| tags.include_state(&tag, false));
        if matches && self.version.is_none_or(|named| named == version) {
            return Ok(());
        }
        Err(AccessError::StaleVersion(version).into())
    }
}

/// A write with a body of at most so many bytes, which may be a game's record as plain text if
/// `RECORD` is set.
pub struct LongWrite<const MOST: usize, const RECORD: bool>(pub WriteRequest);

impl<const MOST: usize, const RECORD: bool> FromRequest for LongWrite<MOST, RECORD> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let write = WriteRequest::read(request, payload, MOST, RECORD);
        Box::pin(async move { write.await.map(LongWrite) })
    }
}

impl FromRequest for Caller {
    type Error = Infallible;
    type Future = Ready<Result<Caller, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(caller(request.headers())))
    }
}

/// The `Idempotency-Key`, if there is one.
///
/// # Errors
/// `invalid_idempotency_key`.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let key = IdempotencyKey::new(value.as_bytes());
    key.map(Some)
        .ok_or_else(|| Code::InvalidIdempotencyKey.into())
}
