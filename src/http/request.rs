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
    rt, web,
};
use futures_util::{StreamExt, future::LocalBoxFuture};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    headers::{EntityTags, IDEMPOTENCY_KEY, caller, condition},
    json::{from_body, from_query},
    limits::{
        ClientAddress, LimitState, MAX_RECORD,
        connections::Connection,
        framing::BodyFraming,
        memory::{BodyMemory, Reservation, no_memory},
    },
    problem::{Code, Problem},
    wire::request::{NoQuery, WriteBody},
};
use crate::service::{Caller, IdempotencyKey, RequestContext, Retry};

/// Maximum bytes of a body without a record.
const MAX_BODY: usize = 64 * 1024;

/// Bytes of an oversized body that are read and discarded, so that its sender can read the response.
const MAX_DISCARDED: usize = 4 * 1024 * 1024;

/// Bodies up to this size are parsed on the async worker.
const MAX_INLINE_PARSE: usize = 4 * 1024;

/// How many times its size parsed JSON may take in memory: a list of empty strings takes 24 bytes for
/// every three, and has room for twice as many.
const JSON_MEMORY_FACTOR: usize = 17;

/// The same for a body with a record, which is one string.
const RECORD_MEMORY_FACTOR: usize = 4;

/// The minimum rate at which a client must send a body, after the timeout.
const MIN_BYTES_PER_SECOND: f64 = 16.0 * 1024.0;

/// The complete body of a request.
struct ReadBody {
    bytes: Vec<u8>,
    /// Whether it is a game's record as plain text, not JSON.
    is_text: bool,
    /// The memory of a large body.
    memory: Option<Reservation>,
}

/// The JSON body of a request that changes nothing: its content, or why it is invalid. An empty body
/// is an empty object.
pub struct Body<T> {
    pub content: Result<T, Problem>,
    _memory: Option<Reservation>,
}

impl<T: DeserializeOwned + Send + 'static> FromRequest for Body<T> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Body<T>, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = body(request, payload, MAX_BODY, false);
        Box::pin(async move {
            let ReadBody { bytes, memory, .. } = body.await?;
            let content = parse_blocking(bytes, from_body::<T>).await?.0;
            Ok(Body {
                content,
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
        Ok(ReadBody {
            bytes,
            is_text,
            memory,
        })
    }
}

/// Parses a body; a long one not on an async worker.
async fn parse_blocking<T: Send + 'static>(
    bytes: Vec<u8>,
    parse: impl FnOnce(&[u8]) -> Result<T, Problem> + Send + 'static,
) -> Result<(T, Vec<u8>), Problem> {
    if bytes.len() <= MAX_INLINE_PARSE {
        return Ok((parse(&bytes)?, bytes));
    }
    let parsed = web::block(move || Ok((parse(&bytes)?, bytes))).await;
    parsed.map_err(Problem::internal)?
}

/// The version that a body names, even if the rest of it is invalid.
fn version_of(bytes: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct BodyVersion {
        version: u64,
    }
    let versioned = from_body::<BodyVersion>(bytes).ok()?;
    versioned.ok().map(|body| body.version)
}

/// Reserves memory for the body of a request, if it is long or of unknown length.
fn reserve(
    request: &HttpRequest,
    max_bytes: usize,
    memory_factor: usize,
) -> Result<Option<Reservation>, Problem> {
    let length = match BodyFraming::of(request.head()) {
        BodyFraming::Length(length) => usize::try_from(length).unwrap_or(max_bytes).min(max_bytes),
        BodyFraming::Chunked(_) => max_bytes,
    };
    if length <= MAX_INLINE_PARSE {
        return Ok(None);
    }
    let ClientAddress(address) = ClientAddress::of(request);
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
    let begun = Instant::now();
    let mut body = Vec::new();
    let mut length = 0;
    loop {
        let allowed = timeout.saturating_add(Duration::from_secs_f64(
            length as f64 / MIN_BYTES_PER_SECOND,
        ));
        let left = allowed.saturating_sub(begun.elapsed());
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

/// A write: its caller and conditions, and the content of its body or why that is invalid.
pub struct WriteRequest<T> {
    pub context: RequestContext,
    pub content: Result<T, Problem>,
    _memory: Option<Reservation>,
}

impl<T: WriteBody> FromRequest for WriteRequest<T> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<WriteRequest<T>, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let max_bytes = if T::IS_RECORD { MAX_RECORD } else { MAX_BODY };
        let body = body(request, payload, max_bytes, T::IS_RECORD);
        let request = request.clone();
        Box::pin(async move { WriteRequest::read(&request, body.await?).await })
    }
}

impl<T: WriteBody> WriteRequest<T> {
    /// Parses a write with this body.
    async fn read(request: &HttpRequest, body: ReadBody) -> Result<WriteRequest<T>, Problem> {
        let ReadBody {
            bytes,
            is_text,
            memory,
        } = body;
        let (content, bytes) = parse_blocking(bytes, move |bytes| {
            if !is_text {
                return from_body::<T>(bytes);
            }
            let malformed = |_| Problem::new(Code::MalformedJson, "the text is not UTF-8");
            let text = str::from_utf8(bytes).map_err(malformed)?;
            Ok(T::of_text(text.to_owned()))
        })
        .await?;
        let (headers, caller) = (request.headers(), caller(request.headers()));
        let key = idempotency_key(headers)?;
        let if_match = condition(headers, &header::IF_MATCH)?;
        let if_none_match = condition(headers, &header::IF_NONE_MATCH)?;
        let (method, path) = (request.method().as_str(), request.path());
        let version = match &content {
            Ok(content) => content.version(),
            Err(_) => version_of(&bytes),
        };
        let no_query = from_query(request.query_string()).map(|NoQuery {}| ());
        Ok(WriteRequest {
            context: RequestContext {
                caller,
                retry: key.map(|key| Retry::new(key, caller, method, path, &bytes)),
                if_match: if_match.map(EntityTags::strong),
                if_none_match: if_none_match.map(EntityTags::weak),
                version,
            },
            content: no_query.and(content),
            _memory: memory,
        })
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
