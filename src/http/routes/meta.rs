//! Routes that do not depend on a game: health, metrics, the API's documentation, and the rules.

use std::{
    borrow::Cow,
    collections::HashMap,
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
    web::{self, Bytes, Data, Path},
};
use serde::Serialize;
use tokio::{runtime::Handle, sync};
use utoipa::ToSchema;

use super::{App, SVG};
use crate::{
    http::{
        headers::{
            self, accepts_gzip, check_if_match, content_etag, content_hash, is_not_modified,
            send_content,
        },
        json::from_query,
        limits::{ClientAddress, memory::SharedBody},
        metrics::OPEN_METRICS,
        network::is_asked_here,
        problem::{Code, Problem},
        wire::{
            layout::{LayoutParams, LayoutView},
            request::NoQuery,
            rules::RulesCatalogue,
        },
    },
    store::{SpaceUsage, Store, StoreError},
};

/// How long a result of `/readyz` is reused, because each check costs a commit.
const READY_TTL: Duration = Duration::from_secs(1);

/// The expected cost of compressing a file.
const COMPRESSION_COST: Duration = Duration::from_millis(20);

/// The server's state.
#[derive(Serialize, ToSchema)]
pub struct Health {
    status: HealthStatus,
}

/// Whether all is well.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    Ok,
    /// The database is 80% full or more; from 90% on, new games are refused.
    NearlyFull,
}

/// Whether the process is alive.
///
/// It does not look at the store: see `get_readiness`.
#[utoipa::path(get, path = "/healthz", operation_id = "get_health", tag = "server",
    responses((status = 200, description = "It is alive.", body = Health)))]
pub async fn get_health() -> HttpResponse {
    HttpResponse::Ok().json(Health {
        status: HealthStatus::Ok,
    })
}

/// Whether the store is writable, and its schema is one that this program knows.
///
/// The result is at most one second old.
#[utoipa::path(get, path = "/readyz", operation_id = "get_readiness", tag = "server",
    responses((status = 200, description = "The server is ready.", body = Health)))]
pub async fn get_readiness(app: Data<App>) -> Result<HttpResponse, Problem> {
    let usage = app.readiness.check(&app.store).await?;
    let status = if usage.is_nearly_full() {
        HealthStatus::NearlyFull
    } else {
        HealthStatus::Ok
    };
    Ok(HttpResponse::Ok().json(Health { status }))
}

/// The last result and its time.
#[derive(Default)]
pub struct Readiness(sync::Mutex<Option<(Instant, Result<SpaceUsage, Problem>)>>);

impl Readiness {
    /// Checks that the store is writable, and that no newer program has changed its schema. Returns
    /// how full it is.
    async fn check(&self, store: &Store) -> Result<SpaceUsage, Problem> {
        // Requests that come during a check wait for its result.
        let mut last = self.0.lock().await;
        if let Some((at, answer)) = &*last
            && at.elapsed() < READY_TTL
        {
            return answer.clone();
        }
        let answer = store.ready().await.map_err(not_ready);
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

/// The problem that the client gets. A cause that may name a file is only logged.
fn not_ready(error: StoreError) -> Problem {
    use StoreError::{Busy, Full, Moved, Newer, Overloaded, Quota, ReadOnly};
    log::warn!("not ready: {error}");
    match error {
        Newer { .. } | Moved | ReadOnly | Full | Quota | Busy | Overloaded => {
            Problem::new(Code::Unavailable, error)
        }
        _ => Problem::new(Code::Unavailable, "the store cannot be written"),
    }
}

/// The metrics of the server, for Prometheus.
///
/// They contain no ids, no tokens and nothing about single games.
#[utoipa::path(get, path = "/metrics", operation_id = "get_metrics", tag = "server",
    responses((status = 200, description = "The metrics, in the OpenMetrics format.",
        body = String, content_type = "application/openmetrics-text")))]
pub async fn get_metrics(app: Data<App>) -> Result<HttpResponse, Problem> {
    // Not in a pool, whose queue may be full just when the metrics are needed.
    let text = web::block(move || Handle::current().block_on(app.metrics.text())).await;
    let text = text.map_err(Problem::internal)?;
    Ok(HttpResponse::Ok()
        .content_type(OPEN_METRICS)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(text.map_err(Problem::internal)?))
}

/// This API as an OpenAPI 3.1 document.
///
/// Clients can be generated from it. `/docs/` shows it as a page.
#[utoipa::path(get, path = "/openapi.json", operation_id = "get_openapi", tag = "server",
    responses((status = 200, description = "The document.", body = Object)))]
pub async fn get_openapi(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let mut response = HttpResponse::Ok();
    response.content_type("application/json");
    let document = || app.openapi.clone();
    send_file(&app, &request, "openapi.json", response, document).await
}

/// Where other devices in the same network reach the server.
#[derive(Serialize, ToSchema)]
pub struct AddressList {
    /// The URLs, the most likely one first.
    #[schema(example = json!(["http://192.168.1.5:8080"]))]
    pub addresses: Vec<String>,
}

/// Where other devices in the same network reach the server, for links and QR codes.
///
/// The list is empty unless the server listens on all addresses (such as `0.0.0.0:8080`) and the
/// client is on the same machine and asks for `localhost`. All others have an address that works.
#[utoipa::path(get, path = "/v1/addresses", operation_id = "list_addresses", tag = "server",
    responses((status = 200, description = "The addresses.", body = AddressList)))]
pub async fn list_addresses(
    app: Data<App>,
    client: ClientAddress,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    let addresses = if is_asked_here(client, &request) {
        app.network.addresses()
    } else {
        Vec::new()
    };
    let url = |address: SocketAddr| format!("http://{address}");
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(AddressList {
            addresses: addresses.into_iter().map(url).collect(),
        }))
}

/// A static file, and what was computed of it.
#[derive(Clone)]
struct StaticFile {
    content: Bytes,
    hash: String,
    compressed: Option<Bytes>,
}

/// The static files that were sent, by a key that names their content.
#[derive(Default)]
pub struct StaticFiles(Mutex<HashMap<String, StaticFile>>);

impl StaticFiles {
    /// The file with this key; `content` makes it for the first reader.
    fn get(&self, key: &str, content: impl FnOnce() -> Bytes) -> StaticFile {
        if let Some(file) = self.lock().get(key) {
            return file.clone();
        }
        let content = content();
        let file = StaticFile {
            hash: content_hash(&content),
            content,
            compressed: None,
        };
        self.lock().insert(key.to_owned(), file.clone());
        file
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, StaticFile>> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The response with a static file, whose memory all readers share, compressed or not; 304 if the
/// client has it.
pub async fn send_file(
    app: &Data<App>,
    request: &HttpRequest,
    key: &str,
    mut response: HttpResponseBuilder,
    content: impl FnOnce() -> Bytes,
) -> Result<HttpResponse, Problem> {
    let gzip = accepts_gzip(request);
    let file = app.files.get(key, content);
    let etag = content_etag(&file.hash, gzip);
    check_if_match(request.headers(), &[&etag])?;
    response
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header((header::ETAG, etag.as_str()));
    if is_not_modified(request.headers(), &etag) {
        return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
    }
    response.extensions_mut().insert(SharedBody);
    if !gzip {
        // Another encoding would be applied for each reader again.
        response.insert_header((header::CONTENT_ENCODING, "identity"));
        return Ok(response.body(file.content));
    }
    response.insert_header((header::CONTENT_ENCODING, "gzip"));
    if let Some(compressed) = file.compressed {
        return Ok(response.body(compressed));
    }
    let content = file.content;
    let compress = move || headers::gzip(&content);
    let client = ClientAddress::of(request);
    let compressed = app.move_pool.run(client, COMPRESSION_COST, compress);
    let compressed = Bytes::from(compressed.await?);
    if let Some(file) = app.files.lock().get_mut(key) {
        file.compressed = Some(compressed.clone());
    }
    Ok(response.body(compressed))
}

/// Redirects `/docs` to `/docs/`.
pub async fn redirect_docs() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, "/docs/"))
        .finish()
}

/// The content security policy of the documentation page. It allows the page's own files, images
/// inlined in its style sheet, and the styles of Swagger UI's logo, by their hash. The page may
/// connect to this server only, and no other page may frame it.
const DOCS_CSP: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// The files of the documentation page, which are part of the program.
pub async fn get_docs(
    app: Data<App>,
    file: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let (content_type, bytes) = docs_file(&app, &file)?;
    let mut response = HttpResponse::Ok();
    response
        .content_type(content_type)
        .insert_header((header::CONTENT_SECURITY_POLICY, DOCS_CSP));
    send_file(&app, &request, &format!("docs/{file}"), response, || {
        embedded(bytes)
    })
    .await
}

/// The bytes of a file that is part of the program.
pub fn embedded(bytes: Cow<'static, [u8]>) -> Bytes {
    match bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    }
}

/// The type and the content of a file of the documentation page: of Swagger UI, apart from the page
/// itself and its icon.
fn docs_file(app: &App, file: &str) -> Result<(String, Cow<'static, [u8]>), Problem> {
    let own = |content_type: &str, text: &'static str| {
        Ok((content_type.to_owned(), Cow::Borrowed(text.as_bytes())))
    };
    match file {
        "" | "index.html" => return own("text/html", include_str!("../docs/index.html")),
        "favicon.svg" => return own(SVG, include_str!("../docs/favicon.svg")),
        _ => {}
    }
    let found = utoipa_swagger_ui::serve(file, app.docs.clone()).map_err(Problem::internal)?;
    let Some(found) = found else {
        let detail = "the documentation has no such file";
        return Err(Problem::new(Code::RouteNotFound, detail));
    };
    Ok((found.content_type, found.bytes))
}

/// The presets with all options, and what each option means.
///
/// A creation and an analysis take a preset and the options that differ from it.
#[utoipa::path(get, path = "/v1/rules", operation_id = "list_rules", tag = "rules",
    responses((status = 200, description = "The five presets and the options.", body = RulesCatalogue)))]
pub async fn list_rules(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    Ok(HttpResponse::Ok().json(RulesCatalogue::new()))
}

/// Where a picture of the board draws everything, and in which colours and shapes.
///
/// A layout never changes, so it may be cached for a year. The picture without its legend has the
/// same coordinates.
#[utoipa::path(get, path = "/v1/layout", operation_id = "get_layout", tag = "rules",
    params(LayoutParams, ("If-None-Match" = Option<String>, Header, description = "An ETag; the \
        response is 304 if the layout is still the same.")),
    responses(
        (status = 200, description = "The layout.", body = LayoutView,
            headers(("ETag" = String, description = "A hash of the content."),
                ("Cache-Control" = String, description = "`public, max-age=31536000, immutable`."))),
        (status = 304, description = "The layout is still the one of If-None-Match.")))]
pub async fn get_layout(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let params: LayoutParams = from_query(request.query_string())?;
    let view = LayoutView::new(&params.layout()?);
    let content = serde_json::to_vec(&view).map_err(Problem::internal)?;
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/json")
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"));
    send_content(&request, &mut response, content)
}
