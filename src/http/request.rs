//! What a request says: its body, who calls, and the conditions under which it is to be carried out.

use std::{
    convert::Infallible,
    fmt,
    future::{Ready, poll_fn, ready},
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
use futures_util::{StreamExt, future::LocalBoxFuture};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, SeqAccess, Visitor},
};

use super::{
    headers::EntityTags,
    limits::{
        ClientAddress, LimitState, MAX_RECORD,
        connections::Connection,
        framing::BodyFraming,
        memory::{BodyMemory, Reservation, no_memory},
    },
    problem::{Code, Problem},
    wire::request::{NoQuery, WriteBody, query},
};
use crate::{
    service::{Caller, IdempotencyKey, RequestContext, Retry},
    store::TokenHash,
};

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Bytes of a body at most.
const MAX_BODY: usize = 64 * 1024;

/// Bytes of a body that is too large that are read and thrown away, so that its sender gets to
/// see the answer.
const MAX_DISCARDED: usize = 4 * 1024 * 1024;

/// Bytes of a body that are too many to parse on an async worker.
const LONG_BODY: usize = 4 * 1024;

/// How many times as long a body of JSON may be in memory when it is parsed: a list of empty texts
/// takes 24 bytes for every three, and has room for twice as many.
const JSON_MEMORY_FACTOR: usize = 17;

/// The same for a body with a record, which is one text.
const RECORD_MEMORY_FACTOR: usize = 4;

/// Bytes of a body a second that a client must send, after a while, to be waited for.
const SLOWEST: f64 = 16.0 * 1024.0;

/// The body of a request that was read whole.
struct Read {
    bytes: Vec<u8>,
    /// Whether it is a game's record as plain text rather than JSON.
    is_text: bool,
    /// Held as long as a large body is.
    memory: Option<Reservation>,
}

/// The body of a request that changes nothing, as JSON: what was asked for, or why that makes no
/// sense. An empty body is an empty object.
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
            let Read { bytes, memory, .. } = body.await?;
            let content = parse_blocking(bytes, parse::<T>).await?.0;
            Ok(Body {
                content,
                _memory: memory,
            })
        })
    }
}

/// Reads the body: JSON of so many bytes at most or, where a record is welcome, its text.
fn body(
    request: &HttpRequest,
    payload: &mut Payload,
    most: usize,
    record: bool,
) -> impl Future<Output = Result<Read, Problem>> + 'static {
    let json = is(request, "application/json");
    let is_text = record && is(request, "text/plain");
    let encoding = request.headers().get(header::CONTENT_ENCODING);
    let encoded = encoding.is_some_and(|name| !name.as_bytes().eq_ignore_ascii_case(b"identity"));
    let counted = request.app_data::<web::Data<LimitState>>();
    let limits = &counted.expect("every server has its limits").limits;
    let timeout = limits.client_timeout;
    let growth = match (record, json) {
        (true, _) => RECORD_MEMORY_FACTOR,
        (false, true) => JSON_MEMORY_FACTOR,
        // It is thrown away.
        (false, false) => 2,
    };
    let memory = reserve(request, most, growth);
    let connection = request.conn_data::<Rc<Connection>>().cloned();
    let mut payload = payload.take();
    async move {
        let memory = memory?;
        let bytes = read(&mut payload, connection.as_deref(), most, timeout).await?;
        if !bytes.is_empty() && (!(json || is_text) || encoded) {
            let or_text = if record { " or text/plain" } else { "" };
            let detail =
                format!("send the body as application/json{or_text}, without a content encoding");
            return Err(Problem::new(Code::UnsupportedMediaType, detail));
        }
        Ok(Read {
            bytes,
            is_text,
            memory,
        })
    }
}

/// Parses a body where it harms nobody: a long one not on an async worker.
async fn parse_blocking<T: Send + 'static>(
    bytes: Vec<u8>,
    parse: impl FnOnce(&[u8]) -> Result<T, Problem> + Send + 'static,
) -> Result<(T, Vec<u8>), Problem> {
    if bytes.len() <= LONG_BODY {
        return Ok((parse(&bytes)?, bytes));
    }
    let parsed = web::block(move || Ok((parse(&bytes)?, bytes))).await;
    parsed.map_err(Problem::internal)?
}

/// Reads JSON of the right shape; an empty text is an empty object. If it has another shape, the
/// content is `invalid_request`.
///
/// # Errors
/// `malformed_json`.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<Result<T, Problem>, Problem> {
    let malformed = |error: &dyn fmt::Display| Problem::new(Code::MalformedJson, error);
    let text = str::from_utf8(bytes).map_err(|error| malformed(&error))?;
    let text = if text.is_empty() { "{}" } else { text };
    match serde_json::from_str(text) {
        Ok(content) => Ok(Ok(content)),
        Err(error) => match serde_json::from_str::<AnyJson>(text) {
            Ok(AnyJson) => Ok(Err(Problem::invalid(error))),
            Err(error) => Err(malformed(&error)),
        },
    }
}

/// Any JSON, which is read and thrown away. (`IgnoredAny` does not read texts and numbers.)
struct AnyJson;

impl<'de> Deserialize<'de> for AnyJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AnyJson, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

impl<'de> Visitor<'de> for AnyJson {
    type Value = AnyJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<AnyJson, E> {
        Ok(AnyJson)
    }

    fn visit_i64<E>(self, _: i64) -> Result<AnyJson, E> {
        Ok(AnyJson)
    }

    fn visit_u64<E>(self, _: u64) -> Result<AnyJson, E> {
        Ok(AnyJson)
    }

    fn visit_f64<E>(self, _: f64) -> Result<AnyJson, E> {
        Ok(AnyJson)
    }

    fn visit_str<E>(self, _: &str) -> Result<AnyJson, E> {
        Ok(AnyJson)
    }

    fn visit_unit<E>(self) -> Result<AnyJson, E> {
        Ok(AnyJson)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<AnyJson, A::Error> {
        while list.next_element::<AnyJson>()?.is_some() {}
        Ok(AnyJson)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<AnyJson, A::Error> {
        while object.next_entry::<AnyJson, AnyJson>()?.is_some() {}
        Ok(AnyJson)
    }
}

/// The version that a body of whatever shape names.
fn version_of(bytes: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let versioned = serde_json::from_slice::<Versioned>(bytes);
    versioned.ok().map(|body| body.version)
}

/// Memory for the body of a request, if it is long or does not say how long it is.
fn reserve(
    request: &HttpRequest,
    most: usize,
    growth: usize,
) -> Result<Option<Reservation>, Problem> {
    let length = match BodyFraming::of(request.head()) {
        BodyFraming::Length(length) => usize::try_from(length).unwrap_or(most).min(most),
        BodyFraming::Chunked(_) => most,
    };
    if length <= LONG_BODY {
        return Ok(None);
    }
    let ClientAddress(address) = ClientAddress::of(request);
    let memory = request.app_data::<web::Data<BodyMemory>>();
    let memory = memory.expect("every server has its memory");
    let reservation = memory.reserve(address, length * growth);
    reservation.ok_or_else(no_memory).map(Some)
}

/// Whether the body is said to be of this media type.
fn is(request: &HttpRequest, media_type: &str) -> bool {
    request
        .content_type()
        .trim()
        .eq_ignore_ascii_case(media_type)
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
        let too_slow = |_| Problem::from(Code::RequestTimeout).and_close();
        let Some(chunk) = next.map_err(too_slow)? else {
            break;
        };
        let broken = |error| format!("the body cannot be read: {error}");
        let chunk = chunk.map_err(|error| Problem::new(Code::BadRequest, broken(error)))?;
        length += chunk.len();
        if length <= most {
            body.extend_from_slice(&chunk);
        } else if length > MAX_DISCARDED {
            break;
        }
    }
    if length > most {
        return Err(Code::BodyTooLarge.into());
    }
    Ok(body)
}

/// A write: who calls, the conditions, and what the body asks for or why that makes no sense.
pub struct WriteRequest<T> {
    pub context: RequestContext,
    pub content: Result<T, Problem>,
    _memory: Option<Reservation>,
}

impl<T: WriteBody> FromRequest for WriteRequest<T> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<WriteRequest<T>, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let most = if T::IS_RECORD { MAX_RECORD } else { MAX_BODY };
        let body = body(request, payload, most, T::IS_RECORD);
        let request = request.clone();
        Box::pin(async move { WriteRequest::read(&request, body.await?).await })
    }
}

impl<T: WriteBody> WriteRequest<T> {
    /// The write that a request with that body asks for.
    async fn read(request: &HttpRequest, body: Read) -> Result<WriteRequest<T>, Problem> {
        let Read {
            bytes,
            is_text,
            memory,
        } = body;
        let (content, bytes) = parse_blocking(bytes, move |bytes| {
            if !is_text {
                return parse::<T>(bytes);
            }
            let malformed = |_| Problem::new(Code::MalformedJson, "the text is not UTF-8");
            let text = str::from_utf8(bytes).map_err(malformed)?;
            Ok(T::of_text(text.to_owned()))
        })
        .await?;
        let (headers, caller) = (request.headers(), caller(request.headers()));
        let key = idempotency_key(headers)?;
        let unreadable = |error| format!("If-Match cannot be read: {error}");
        let if_match = EntityTags::of(headers, &header::IF_MATCH)
            .map_err(|error| Problem::new(Code::BadRequest, unreadable(error)))?;
        let (method, path) = (request.method().as_str(), request.path());
        let version = match &content {
            Ok(content) => content.version(),
            Err(_) => version_of(&bytes),
        };
        let no_query = query(request.query_string()).map(|NoQuery {}| ());
        Ok(WriteRequest {
            context: RequestContext {
                caller,
                retry: key.map(|key| Retry::new(key, caller, method, path, &bytes)),
                if_match: if_match.and_then(EntityTags::strong),
                version,
            },
            content: no_query.and(content),
            _memory: memory,
        })
    }
}

/// Whoever sends these headers.
pub fn caller(headers: &HeaderMap) -> Caller {
    Caller::new(headers.get(header::AUTHORIZATION).map(|value| {
        match value.as_bytes().split_at_checked(7) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => {
                TokenHash::of(&String::from_utf8_lossy(token))
            }
            // Another scheme holds no token of ours, and no token has this hash.
            _ => TokenHash([0; 32]),
        }
    }))
}

impl FromRequest for Caller {
    type Error = Infallible;
    type Future = Ready<Result<Caller, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(caller(request.headers())))
    }
}

/// The key by which a retry is known, if there is one.
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
