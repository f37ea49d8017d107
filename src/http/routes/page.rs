//! The page on which people play.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
    web::{Bytes, Data},
};
use rust_embed::Embed;

use super::{App, meta::send_file};
use crate::http::{
    headers::{content_etag, is_not_modified},
    problem::{Code, Problem},
};

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
    let etag = content_etag(&file.data);
    let unchanged = is_not_modified(request.headers(), &etag);
    let mut response = HttpResponse::build(if unchanged {
        StatusCode::NOT_MODIFIED
    } else {
        StatusCode::OK
    });
    response
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE_CSP))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::ETAG, etag.as_str()));
    if unchanged {
        response.insert_header((header::VARY, "Accept-Encoding"));
        return Ok(response.finish());
    }
    response.content_type(content_type(name));
    let data = Bytes::from(file.data.into_owned());
    send_file(&app, &request, &(name.to_owned() + &etag), response, data).await
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
