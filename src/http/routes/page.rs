//! The page on which people play.

use actix_web::{HttpRequest, HttpResponse, http::header, web::Data};
use rust_embed::Embed;

use super::{
    App,
    meta::{embedded, send_file},
};
use crate::http::problem::{Code, Problem};

/// The files of the page, which are part of the program. A debug build reads them from the folder,
/// so that a reload shows a change.
#[derive(Embed)]
#[folder = "web"]
struct PageFiles;

/// The content security policy of the page: only files of this server, and nothing inline.
const PAGE_CSP: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; object-src 'none'";

/// The page at `/`, and its files. Without the page, `/` leads to the documentation.
pub async fn get_page(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let name = match request.path().strip_prefix('/') {
        Some("") | None => "index.html",
        Some(name) => name,
    };
    if !app.page && name == "index.html" {
        return Ok(HttpResponse::TemporaryRedirect()
            .insert_header((header::LOCATION, "/docs/"))
            .finish());
    }
    let file = PageFiles::get(name).filter(|_| app.page);
    let Some(file) = file else {
        let detail = "the page has no such file";
        return Err(Problem::new(Code::RouteNotFound, detail));
    };
    let mut response = HttpResponse::Ok();
    response
        .content_type(content_type(name))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE_CSP))
        .insert_header((header::REFERRER_POLICY, "no-referrer"));
    let key = format!("{name} {:x?}", file.metadata.sha256_hash());
    send_file(&app, &request, &key, response, || embedded(file.data)).await
}

/// The media type of a file of the page.
fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
