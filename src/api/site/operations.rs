//! The state of the server, its metrics, its addresses and its OpenAPI document.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{self, Bytes, Data},
};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{
        errors::{ReadinessErrors, UnlimitedErrors, errors},
        openapi::DOCUMENT,
        parameters::ReadHeaders,
    },
    app::App,
    headers::negotiation::accepts_gzip,
    http::{content::Content, json::from_query, request::NoQuery},
    limits::ClientAddress,
    metrics::in_preferred_format,
    problem::Problem,
    version::{REVISION, VERSION},
    view::notice::NoticeView,
};

errors! {
    MetricsErrors: [], [];
    DocumentErrors: [], [StaleVersion];
    AddressErrors: [], [InvalidRequest];
    NoticeErrors: [], [InvalidRequest];
}

/// The server's state.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"status": "ok", "version": "0.2.0", "revision": "1a2b3c4d5e6f"}))]
pub struct Health {
    status: HealthStatus,
    /// The version of the program.
    #[schema(inline, max_length = 32)]
    version: &'static str,
    /// The commit it was built from; left out if that is not known.
    #[schema(max_length = 64)]
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
}

impl Health {
    fn new(status: HealthStatus) -> Health {
        Health {
            status,
            version: VERSION,
            revision: REVISION.map(str::to_owned),
        }
    }
}

/// Whether all is well.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    Ok,
    /// The database is 80% full or more; from 90% on, new games are refused.
    NearlyFull,
}

/// See whether the server is alive.
///
/// Whether the process is alive.
///
/// It does not look at the store: see `get_readiness`.
#[utoipa::path(get, path = "/healthz", tag = "server",
    responses((status = 200, description = "It is alive.", body = Health),
        UnlimitedErrors))]
pub async fn get_health() -> HttpResponse {
    HttpResponse::Ok().json(Health::new(HealthStatus::Ok))
}

/// Read the operator's notice.
///
/// What the operator has to say to all, such as when the server is upgraded. Streams tell of a new
/// one within 15 seconds.
#[utoipa::path(get, path = "/v1/notice", tag = "server",
    responses((status = 200, description = "The notice.", body = NoticeView),
        NoticeErrors))]
pub async fn get_notice(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    Ok(HttpResponse::Ok().json(app.notice.get().view()))
}

/// What a server must be ready for.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReadinessParams {
    /// Whether the store must be writable; true by default.
    writes: Option<bool>,
}

/// See whether the server is ready.
///
/// Whether the store is writable, its schema is one that this program knows, and the server is not
/// about to stop.
///
/// The result is at most one second old. With `writes=false`, a store that can only be read is
/// enough, so that a full disk does not keep players from reading.
#[utoipa::path(get, path = "/readyz", tag = "server",
    params(ReadinessParams),
    responses((status = 200, description = "The server is ready.", body = Health),
        ReadinessErrors))]
pub async fn get_readiness(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let ReadinessParams { writes } = from_query(request.query_string())?;
    let usage = app
        .readiness
        .check(&app.store, writes.unwrap_or(true))
        .await?;
    let status = if usage.is_nearly_full() {
        HealthStatus::NearlyFull
    } else {
        HealthStatus::Ok
    };
    Ok(HttpResponse::Ok().json(Health::new(status)))
}

/// Read the metrics.
///
/// The metrics of the server, for Prometheus.
///
/// They contain no ids, no tokens and nothing about single games.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, description = "The metrics, in OpenMetrics if `Accept` prefers it, \
            else in the text format 0.0.4.",
        content(
            (String = "text/plain",
                example = json!("# HELP dog_streams_open Open event streams.\n# TYPE dog_streams_open gauge\ndog_streams_open 3\n")),
            (String = "application/openmetrics-text",
                example = json!("# HELP dog_streams_open Open event streams.\n# TYPE dog_streams_open gauge\ndog_streams_open 3\n# EOF\n")))),
        MetricsErrors))]
pub async fn get_metrics(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let (headers, gzip) = (request.headers().clone(), accepts_gzip(&request));
    // Not in a pool, whose queue may be full just when the metrics are needed.
    let metrics = web::block(move || {
        let text = Handle::current().block_on(app.metrics.text());
        let (content_type, text) = in_preferred_format(&headers, text.map_err(Problem::internal)?);
        Ok::<_, Problem>((content_type, Content::new(text, gzip)?))
    });
    let (content_type, content) = metrics.await.map_err(Problem::internal)??;
    Ok(content.respond(
        HttpResponse::Ok()
            .content_type(content_type)
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .insert_header((header::VARY, "Accept, Accept-Encoding")),
    ))
}

/// Read this document.
///
/// This API as an OpenAPI 3.1 document.
///
/// Clients can be generated from it. `/docs/` shows it as a page.
#[utoipa::path(get, path = "/openapi.json", tag = "server",
    params(ReadHeaders),
    responses((status = 200, description = "The document.", body = Object,
            headers(("ETag" = String, description = "A hash of the content.")),
            example = json!({"openapi": "3.1.0", "info": {"title": "dog-server"}})),
        (status = 304, description = "The document is still the one of If-None-Match."),
        DocumentErrors))]
pub async fn get_openapi(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let mut response = HttpResponse::Ok();
    response.content_type("application/json");
    let document = || Bytes::from_static(DOCUMENT.as_bytes());
    app.files
        .send(&request, "openapi.json", response, document)
        .await
}

/// Where other devices in the same network reach the server.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"addresses": ["http://192.168.1.5:8080"]}))]
pub struct AddressList {
    /// The URLs, the most likely one first.
    #[schema(example = json!(["http://192.168.1.5:8080"]))]
    pub addresses: Vec<String>,
}

/// List the addresses of the server.
///
/// Where other devices in the same network reach the server, for links and QR codes.
///
/// The list is empty unless the server listens on all addresses (such as `0.0.0.0:8080`) and the
/// client is on the same machine and asks for `localhost`. Other clients already use an address
/// that works.
#[utoipa::path(get, path = "/v1/addresses", tag = "server",
    responses((status = 200, description = "The addresses.", body = AddressList),
        AddressErrors))]
pub async fn list_addresses(
    app: Data<App>,
    client: ClientAddress,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    let addresses = if app.network.is_local(client, &request) {
        app.network.addresses()
    } else {
        Vec::new()
    };
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(AddressList {
            addresses: addresses
                .into_iter()
                .map(|address| format!("http://{address}"))
                .collect(),
        }))
}
