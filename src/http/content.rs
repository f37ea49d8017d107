//! The content of an answer, in the encoding that the client prefers and with its tag.

use std::{io::Write, mem, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{
        StatusCode,
        header::{self, HeaderMap},
    },
    web::Bytes,
};
use dog_store::StoredGame;
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

use super::{
    etag::{condition, content_etag, content_hash, is_known},
    json::to_json,
};
use crate::{
    access::{AccessError, Role, state_tag},
    headers::negotiation::accepts_gzip,
    limits::ClientAddress,
    pool::WorkerPool,
    problem::Problem,
};

/// Content as it is sent.
pub struct Content {
    pub etag: Option<String>,
    /// None if the client has it.
    pub bytes: Option<Bytes>,
    /// Whether the bytes are compressed.
    pub gzip: bool,
}

impl Content {
    /// Content without a tag.
    ///
    /// # Errors
    /// Those of [`encode`].
    pub fn new(content: impl Into<Bytes>, gzip: bool) -> Result<Content, Problem> {
        Ok(Content {
            etag: None,
            bytes: Some(encode(content.into(), gzip)?),
            gzip,
        })
    }

    /// Content with a hash of it as its tag, for a request with these headers.
    ///
    /// # Errors
    /// Those of [`is_known`].
    pub fn tagged(
        headers: &HeaderMap,
        content: impl Into<Bytes>,
        gzip: bool,
    ) -> Result<Content, Problem> {
        let content = content.into();
        let etag = content_etag(&content_hash(&content), gzip);
        let bytes = match is_known(headers, &etag)? {
            true => None,
            false => Some(encode(content, gzip)?),
        };
        let etag = Some(etag);
        Ok(Content { etag, bytes, gzip })
    }

    /// The response; 304 if the client has the content.
    pub fn respond(self, response: &mut HttpResponseBuilder) -> HttpResponse {
        if let Some(etag) = self.etag {
            response.insert_header((header::ETAG, etag));
        }
        let Some(bytes) = self.bytes else {
            return response.status(StatusCode::NOT_MODIFIED).finish();
        };
        if self.gzip {
            response.insert_header((header::CONTENT_ENCODING, "gzip"));
        }
        response.body(bytes)
    }
}

/// The bytes, with `gzip` compressed.
///
/// # Errors
/// Never in practice: writing to memory does not fail.
pub fn encode(content: Bytes, gzip: bool) -> Result<Bytes, Problem> {
    Encoder::new(gzip).encode(content, true)
}

/// Encodes content that is sent in parts.
pub struct Encoder(Option<GzEncoder<Vec<u8>>>);

impl Encoder {
    /// One that compresses with `gzip`, else leaves the content as it is.
    pub fn new(gzip: bool) -> Encoder {
        Encoder(gzip.then(|| GzEncoder::new(Vec::new(), Compression::fast())))
    }

    /// The next part as it is sent.
    ///
    /// # Errors
    /// Never in practice: writing to memory does not fail.
    pub fn encode(&mut self, part: Bytes, is_last: bool) -> Result<Bytes, Problem> {
        let Some(packed) = &mut self.0 else {
            return Ok(part);
        };
        let written = packed.write_all(&part).and_then(|()| match is_last {
            true => packed.try_finish(),
            false => packed.flush(),
        });
        written.map_err(Problem::internal)?;
        Ok(mem::take(packed.get_mut()).into())
    }
}

/// A response for the caller only, which may depend on what the caller accepts.
pub fn private_response(status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response
        .insert_header((header::VARY, "Authorization, Accept, Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "private, no-cache"));
    response
}

/// The response with this content, with an `ETag`. Compressing some 10 KB takes less time than
/// passing them to another thread.
///
/// # Errors
/// Those of [`is_known`].
pub fn send_content(
    request: &HttpRequest,
    response: &mut HttpResponseBuilder,
    content: impl Into<Bytes>,
) -> Result<HttpResponse, Problem> {
    let content = Content::tagged(request.headers(), content, accepts_gzip(request))?;
    Ok(content.respond(response))
}

/// The response with JSON that is the same for all, and may be kept as `caching` says.
///
/// # Errors
/// Those of [`is_known`].
pub fn send_json(
    request: &HttpRequest,
    caching: &'static str,
    value: &impl Serialize,
) -> Result<HttpResponse, Problem> {
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/json")
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, caching));
    send_content(request, &mut response, to_json(value)?)
}

/// The response with what this role sees of a game, which `json` writes; 304 if the client has it.
/// It `is_known` to a client that has waited for another version in vain.
///
/// # Errors
/// `stale_version`; `bad_request`, if a condition cannot be parsed.
pub fn send_state(
    request: &HttpRequest,
    stored: &StoredGame,
    role: Role,
    is_known: bool,
    json: impl FnOnce() -> Result<Bytes, Problem>,
) -> Result<HttpResponse, Problem> {
    let (headers, gzip) = (request.headers(), accepts_gzip(request));
    let tag = state_tag(stored, role);
    let needed = condition(headers, &header::IF_MATCH)?;
    if needed.is_some_and(|tags| !tags.include_state(&tag, false)) {
        return Err(AccessError::StaleVersion(stored.game.version()).into());
    }
    let known = condition(headers, &header::IF_NONE_MATCH)?;
    let more = tag.matches('-').count() > 1;
    let mut response = private_response(StatusCode::OK);
    response.insert_header((header::ETAG, content_etag(&tag, gzip)));
    if is_known || known.is_some_and(|tags| tags.include_state(&tag, more)) {
        return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
    }
    response.content_type("application/json");
    Ok(Content::new(json()?, gzip)?.respond(&mut response))
}

impl WorkerPool {
    /// Computes a response on one of the threads and writes it as JSON, which may be megabytes
    /// long. If the client accepts gzip, the response is compressed there too, because that takes
    /// longer than writing it.
    pub async fn answer<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let gzip = accepts_gzip(request);
        let content = move || Content::new(to_json(&work()?)?, gzip);
        self.send(request, cost, content).await
    }

    /// The same with an `ETag`, a hash of the content. The response is 304 if the client has that
    /// content already.
    pub async fn answer_if_changed<T: Serialize>(
        &self,
        request: &HttpRequest,
        cost: Duration,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let (headers, gzip) = (request.headers().clone(), accepts_gzip(request));
        let content = move || Content::tagged(&headers, to_json(&work()?)?, gzip);
        self.send(request, cost, content).await
    }

    async fn send(
        &self,
        request: &HttpRequest,
        cost: Duration,
        content: impl FnOnce() -> Result<Content, Problem> + Send + 'static,
    ) -> Result<HttpResponse, Problem> {
        let client = ClientAddress::from_extensions(request);
        let content = self.run(client, cost, content).await?;
        let mut response = private_response(StatusCode::OK);
        response.content_type("application/json");
        Ok(content.respond(&mut response))
    }
}
