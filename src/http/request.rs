//! The body of a request, and the conditions under which it is to be carried out.

use std::{
    future::poll_fn,
    rc::Rc,
    task::Poll,
    time::{Duration, Instant},
};

use actix_web::{FromRequest, HttpMessage, HttpRequest, dev::Payload, http::header, rt, web};
use futures_util::{StreamExt, future::LocalBoxFuture};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    caller::{Caller, IdempotencyKey},
    headers::Tags,
    limits::{
        Client, Counted, MAX_RECORD,
        connections::Connection,
        framing::RequestBody,
        memory::{BodyMemory, Reservation, no_memory},
    },
    problem::{Code, Problem},
    wire::{
        game::Role,
        request::{NoQuery, query, shape},
    },
};
use crate::store::Scope;

/// Bytes of a body at most.
const MAX_BODY: usize = 64 * 1024;

/// Bytes of a body that is too large that are read and thrown away, so that its sender gets to
/// see the answer.
const MAX_DISCARDED: usize = 4 * 1024 * 1024;

/// Bytes of a body that are too many to parse on an async worker.
const LONG_BODY: usize = 4 * 1024;

/// How many times as long a JSON text may be in memory: `[0,0,…]` takes 32 bytes for every two.
const JSON_GROWTH: usize = 17;

/// Bytes of a body a second that a client must send, after a while, to be waited for.
const SLOWEST: f64 = 16.0 * 1024.0;

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
    let encoding = request.headers().get(header::CONTENT_ENCODING);
    let encoded = encoding.is_some_and(|name| !name.as_bytes().eq_ignore_ascii_case(b"identity"));
    let counted = request.app_data::<web::Data<Counted>>();
    let limits = &counted.expect("every server has its limits").limits;
    let timeout = limits.client_timeout;
    let memory = reserve(request, most, json);
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
fn reserve(request: &HttpRequest, most: usize, json: bool) -> Result<Option<Reservation>, Problem> {
    let length = match RequestBody::of(request.head()) {
        RequestBody::Length(length) => usize::try_from(length).unwrap_or(most).min(most),
        RequestBody::Chunked(_) => most,
    };
    if length <= LONG_BODY {
        return Ok(None);
    }
    let Client(address) = Client::of(request);
    let bytes = length * if json { JSON_GROWTH } else { 2 };
    let memory = request.app_data::<web::Data<BodyMemory>>();
    let memory = memory.expect("every server has its memory");
    let reservation = memory.reserve(address, bytes);
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

/// What a write names beside its path: who calls, the body, the conditions.
pub struct WriteRequest {
    pub caller: Caller,
    pub body: Value,
    _memory: Option<Reservation>,
    pub key: Option<IdempotencyKey>,
    if_match: Option<Tags>,
    query: String,
    method: String,
    path: String,
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
        let unreadable = |error| format!("If-Match cannot be read: {error}");
        let if_match = Tags::of(request.headers(), &header::IF_MATCH)
            .map_err(|error| Problem::new(Code::BadRequest, unreadable(error)));
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

    /// The body, of the right shape; no write takes a query.
    pub fn content<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        self.check_query()?;
        shape(self.body.clone())
    }

    /// Refuses a query.
    pub fn check_query(&self) -> Result<(), Problem> {
        query(&self.query).map(|NoQuery {}| ())
    }

    /// Under what the answer is remembered: the key belongs to the caller's token, the method and
    /// the path.
    pub fn scope(&self) -> Option<Scope> {
        let key = self.key.as_ref()?;
        let caller = self.caller.token().map_or([0; 32], |hash| hash.0);
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

    /// Refuses a write whose author knew another version than the game is at: `stale_version`.
    pub fn check_version(&self, version: u64, role: Role) -> Result<(), Problem> {
        let detail = || format!("the game is at version {version}");
        let stale = || Problem::new(Code::StaleVersion, detail());
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
