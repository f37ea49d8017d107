//! Outside `/v1`: is the server alive, what does it serve, and the pages that show it.

use actix_web::{
    HttpResponse,
    http::header,
    web::{Data, Path},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::{
    App,
    problem::{Code, Problem},
};

/// The server's state.
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    status: &'static str,
}

/// Whether the process is alive.
#[utoipa::path(get, path = "/healthz", operation_id = "get_health", tag = "server",
    responses((status = 200, description = "It is.", body = Health)))]
pub async fn get_health() -> HttpResponse {
    HttpResponse::Ok().json(Health { status: "ok" })
}

/// Whether the store can be written.
#[utoipa::path(get, path = "/readyz", operation_id = "get_readiness", tag = "server",
    responses((status = 200, description = "It can.", body = Health)))]
pub async fn get_readiness(app: Data<App>) -> Result<HttpResponse, Problem> {
    app.store.ready().await?;
    Ok(HttpResponse::Ok().json(Health { status: "ok" }))
}

/// This API as an OpenAPI 3.1 document.
#[utoipa::path(get, path = "/openapi.json", operation_id = "get_openapi", tag = "server",
    responses((status = 200, description = "The document.", body = Object)))]
pub async fn get_openapi(app: Data<App>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .body(app.openapi.clone())
}

/// `/docs` is `/docs/`.
pub async fn redirect_to_docs() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, "/docs/"))
        .finish()
}

/// The files of the documentation page; they come with the server and need no internet.
pub async fn get_docs(app: Data<App>, file: Path<String>) -> Result<HttpResponse, Problem> {
    match utoipa_swagger_ui::serve(&file, app.docs.clone()) {
        Ok(Some(found)) => Ok(HttpResponse::Ok()
            .content_type(found.content_type)
            .body(found.bytes.into_owned())),
        Ok(None) => Err(Problem::new(
            Code::RouteNotFound,
            "the documentation has no such file",
        )),
        Err(error) => Err(Problem::internal(error)),
    }
}
