//! What does not depend on any game: is the server alive, what does it serve, the pages that show
//! it, and the rules that games can be played by.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::header,
    web::{self, Bytes, Data, Path},
};
use serde::Serialize;
use tokio::{runtime::Handle, sync};
use utoipa::ToSchema;

use super::App;
use crate::{
    http::{
        headers::{accepts_gzip, gzip},
        limits::{ClientAddress, memory::SharedBody},
        metrics::OPEN_METRICS,
        problem::{Code, Problem},
        wire::{
            request::{NoQuery, query},
            rules::RulesCatalogue,
        },
    },
    store::{Store, StoreError, Usage},
};

/// How long an answer of `/readyz` is good: each new one costs a commit.
const READY_TTL: Duration = Duration::from_secs(1);

/// What it is taken to cost to compress a file.
const COMPRESSION: Duration = Duration::from_millis(20);

/// The server's state.
#[derive(Serialize, ToSchema)]
pub struct Health {
    status: HealthStatus,
}

/// How the server does.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    Ok,
    /// The database holds 80 % or more of what it may; from 90 % on there are no new games.
    NearlyFull,
}

/// Whether the process is alive.
#[utoipa::path(get, path = "/healthz", operation_id = "get_health", tag = "server",
    responses((status = 200, description = "It is.", body = Health)))]
pub async fn get_health() -> HttpResponse {
    HttpResponse::Ok().json(Health {
        status: HealthStatus::Ok,
    })
}

/// Whether the store can be written, and is at the version that this program knows.
///
/// The answer is at most a second old.
#[utoipa::path(get, path = "/readyz", operation_id = "get_readiness", tag = "server",
    responses((status = 200, description = "It can.", body = Health)))]
pub async fn get_readiness(app: Data<App>) -> Result<HttpResponse, Problem> {
    let usage = app.readiness.check(&app.store).await?;
    let status = if usage.is_nearly_full() {
        HealthStatus::NearlyFull
    } else {
        HealthStatus::Ok
    };
    Ok(HttpResponse::Ok().json(Health { status }))
}

/// The last answer, and when it was found.
#[derive(Default)]
pub struct Readiness(sync::Mutex<Option<(Instant, Result<Usage, Problem>)>>);

impl Readiness {
    /// Makes sure that the store can be written, and that no newer program has brought it to a
    /// version that this one does not know. Says how full the store is.
    async fn check(&self, store: &Store) -> Result<Usage, Problem> {
        // Those who come while somebody asks wait for that answer.
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

/// What is told of the reason. Where it may name a file, the log alone has it.
fn not_ready(error: StoreError) -> Problem {
    use StoreError::{Busy, Full, Newer, Overloaded, Quota, ReadOnly};
    log::warn!("not ready: {error}");
    match error {
        Newer { .. } | ReadOnly | Full | Quota | Busy | Overloaded => {
            Problem::new(Code::Unavailable, error)
        }
        _ => Problem::new(Code::Unavailable, "the store cannot be written"),
    }
}

/// What the server counts of itself, for Prometheus.
///
/// No id, no token and nothing of any game is in it.
#[utoipa::path(get, path = "/metrics", operation_id = "get_metrics", tag = "server",
    responses((status = 200, description = "The metrics, in the OpenMetrics format.",
        body = String, content_type = "application/openmetrics-text")))]
pub async fn get_metrics(app: Data<App>) -> Result<HttpResponse, Problem> {
    // Not on a pool whose queue may be full just when somebody wants to know why.
    let text = web::block(move || Handle::current().block_on(app.metrics.text())).await;
    let text = text.map_err(Problem::internal)?;
    Ok(HttpResponse::Ok()
        .content_type(OPEN_METRICS)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(text.map_err(Problem::internal)?))
}

/// This API as an OpenAPI 3.1 document.
#[utoipa::path(get, path = "/openapi.json", operation_id = "get_openapi", tag = "server",
    responses((status = 200, description = "The document.", body = Object)))]
pub async fn get_openapi(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let mut response = HttpResponse::Ok();
    response.content_type("application/json");
    let document = app.openapi.clone();
    send_file(&app, &request, "openapi.json", response, document).await
}

/// Files of the server that were compressed, each once.
#[derive(Default)]
pub struct CompressedFiles(Mutex<HashMap<String, Bytes>>);

impl CompressedFiles {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Bytes>> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers with one of the server's own files, which all readers share, compressed or not.
async fn send_file(
    app: &Data<App>,
    request: &HttpRequest,
    name: &str,
    mut response: HttpResponseBuilder,
    file: Bytes,
) -> Result<HttpResponse, Problem> {
    response.insert_header((header::VARY, "Accept-Encoding"));
    response.extensions_mut().insert(SharedBody);
    if !accepts_gzip(request) {
        // Not in any other encoding, which would be done for each reader anew.
        response.insert_header((header::CONTENT_ENCODING, "identity"));
        return Ok(response.body(file));
    }
    response.insert_header((header::CONTENT_ENCODING, "gzip"));
    let known = app.compressed.lock().get(name).cloned();
    if let Some(known) = known {
        return Ok(response.body(known));
    }
    let compressed = app
        .move_pool
        .run(ClientAddress::of(request), COMPRESSION, move || gzip(&file));
    let compressed = Bytes::from(compressed.await?);
    let mut files = app.compressed.lock();
    files.insert(name.to_owned(), compressed.clone());
    Ok(response.body(compressed))
}

/// `/docs` is `/docs/`.
pub async fn redirect_to_docs() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, "/docs/"))
        .finish()
}

/// What a browser may load for the documentation page: its own files, pictures that are written
/// into its style sheet, and the styles of Swagger UI's logo, by their hash. The page asks this
/// server only, and no other page may show it in a frame.
const DOCS_CSP: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// The files of the documentation page; they come with the server and need no internet.
pub async fn get_docs(
    app: Data<App>,
    file: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let found = utoipa_swagger_ui::serve(&file, app.docs.clone()).map_err(Problem::internal)?;
    let Some(found) = found else {
        let detail = "the documentation has no such file";
        return Err(Problem::new(Code::RouteNotFound, detail));
    };
    let mut response = HttpResponse::Ok();
    response
        .content_type(found.content_type)
        .insert_header((header::CONTENT_SECURITY_POLICY, DOCS_CSP))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    match found.bytes {
        Cow::Borrowed(bytes) => {
            let bytes = Bytes::from_static(bytes);
            send_file(&app, &request, &file, response, bytes).await
        }
        Cow::Owned(bytes) => Ok(response.body(bytes)),
    }
}

/// The presets with every option's value, and what each option means.
#[utoipa::path(get, path = "/v1/rules", operation_id = "list_rules", tag = "rules",
    responses((status = 200, description = "The five presets and the options.", body = RulesCatalogue)))]
pub async fn list_rules(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let NoQuery {} = query(request.query_string())?;
    Ok(HttpResponse::Ok().json(RulesCatalogue::new()))
}
