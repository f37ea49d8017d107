//! Outside `/v1`: is the server alive, what does it serve, and the pages that show it.

use std::borrow::Cow;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{self, Bytes, Data, Path},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::{
    App,
    accept::preferred,
    limits::memory::Shared,
    metrics,
    problem::{Code, Problem},
};

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

/// What the server counts of itself, for Prometheus.
///
/// No id, no token and nothing of any game is in it.
#[utoipa::path(get, path = "/metrics", operation_id = "get_metrics", tag = "server",
    responses((status = 200, description = "The metrics as Prometheus reads them; or as OpenMetrics, if Accept prefers that.",
        content((String = "text/plain"), (String = "application/openmetrics-text")))))]
pub async fn get_metrics(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let form = preferred(request.headers(), &metrics::FORMS)?;
    // Not on a pool whose queue may be full just when somebody wants to know why.
    let text = web::block(move || app.metrics.text(form)).await;
    let text = text.map_err(Problem::internal)?;
    Ok(HttpResponse::Ok()
        .content_type(metrics::content_type(form))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::VARY, "Accept, Accept-Encoding"))
        .body(text.map_err(Problem::internal)?))
}

/// This API as an OpenAPI 3.1 document.
#[utoipa::path(get, path = "/openapi.json", operation_id = "get_openapi", tag = "server",
    responses((status = 200, description = "The document.", body = Object)))]
pub async fn get_openapi(app: Data<App>) -> HttpResponse {
    let mut response = HttpResponse::Ok()
        .content_type("application/json")
        .body(app.openapi.clone());
    response.extensions_mut().insert(Shared);
    response
}

/// `/docs` is `/docs/`.
pub async fn redirect_to_docs() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, "/docs/"))
        .finish()
}

/// What a browser may load for the documentation page: its own files, pictures that are written
/// into its style sheet. It asks this server only, and no other page may show it in a frame.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// The files of the documentation page; they come with the server and need no internet.
pub async fn get_docs(app: Data<App>, file: Path<String>) -> Result<HttpResponse, Problem> {
    match utoipa_swagger_ui::serve(&file, app.docs.clone()) {
        Ok(Some(found)) => {
            let mut response = HttpResponse::Ok();
            response
                .content_type(found.content_type)
                .insert_header((header::CONTENT_SECURITY_POLICY, DOCS_POLICY))
                .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
            Ok(match found.bytes {
                Cow::Borrowed(bytes) => {
                    response.extensions_mut().insert(Shared);
                    response.body(Bytes::from_static(bytes))
                }
                Cow::Owned(bytes) => response.body(bytes),
            })
        }
        Ok(None) => Err(Problem::new(
            Code::RouteNotFound,
            "the documentation has no such file",
        )),
        Err(error) => Err(Problem::internal(error)),
    }
}
