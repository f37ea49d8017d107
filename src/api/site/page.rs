//! The page on which people play.
//!
//! A browser keeps the files of the page for good: the page names them in a folder whose name
//! changes with their content. Only the page itself is requested at each visit.

use std::borrow::Cow;

use actix_web::{
    Error, HttpRequest, HttpResponse, Responder,
    body::{BoxBody, EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method,
        header::{self, HeaderValue},
    },
    middleware::Next,
    web::{Bytes, Data, Path, Redirect},
};
use rust_embed::Embed;

use crate::{
    api::watch::pictures::SVG,
    app::App,
    http::etag::content_hash,
    problem::{Code, Problem},
};

/// The files of the page, which are part of the program. A debug build reads them from the folder,
/// so that a reload shows a change.
#[derive(Embed)]
#[folder = "web"]
struct PageFiles;

/// The file at `/`.
const INDEX: &str = "index.html";

/// Where the folders of all versions are. A server before 0.3.0 answers for every folder of `page/`,
/// with its own files, but has none in there.
const FOLDER: &str = "page/v/";

/// The content security policy of the page: only files of this server, and nothing inline.
const PAGE_CSP: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; object-src 'none'";

/// The page at `/`, and its files. Without the page, `/` leads to the documentation.
pub async fn get_page(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let path = match request.path().strip_prefix('/') {
        Some("") | None => INDEX,
        Some(path) => path,
    };
    let elsewhere = match path.strip_prefix("%23") {
        // A program has escaped the number sign of an address of the page.
        Some(rest) => Some("../".repeat(rest.matches('/').count()) + "#" + rest),
        None => (!app.has_page && path == INDEX).then(|| "/docs/".to_owned()),
    };
    if let Some(address) = elsewhere {
        let redirect = Redirect::to(address).respond_to(&request);
        return Ok(redirect.map_into_boxed_body());
    }
    let version = version();
    // The files of another version would not go together with those that the browser has.
    let (name, caching) = match path.strip_prefix(&format!("{FOLDER}{version}/")) {
        Some(name) => (name, "public, max-age=31536000, immutable"),
        // A page of a version before 0.3.0 has it in its folder. It says why nothing else is there.
        None if path.starts_with("page/") && path.ends_with("/src/start.js") => {
            ("start.js", "no-store")
        }
        // A tab of any version loads it when it is somebody's turn.
        None if path.starts_with("page/") && path.ends_with("/icon-turn.svg") => {
            ("icon-turn.svg", "no-store")
        }
        // Browsers read them at each visit, and to install the page.
        None if path.ends_with(".webmanifest") || path.starts_with("icon") => {
            (path, "public, max-age=86400")
        }
        None => (path, "no-cache"),
    };
    let Some(file) = PageFiles::get(name).filter(|_| app.has_page) else {
        let detail = "this version of the page has no such file";
        return Err(Problem::new(Code::RouteNotFound, detail));
    };
    let mut response = HttpResponse::Ok();
    response
        .content_type(content_type(name))
        .insert_header((header::CACHE_CONTROL, caching))
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE_CSP))
        .insert_header((header::REFERRER_POLICY, "no-referrer"));
    if name == INDEX {
        let key = format!("{name} {version}");
        let page = || with_version(&file.data, &version).into();
        return app.files.send(&request, &key, response, page).await;
    }
    let key = format!("{name} {:x?}", file.metadata.sha256_hash());
    app.files
        .send(&request, &key, response, || embedded(file.data))
        .await
}

/// A name for the content of all files. The files of a debug build can change at any time.
fn version() -> String {
    let mut names: Vec<_> = PageFiles::iter().collect();
    names.sort();
    let files = names.iter().filter_map(|name| {
        let file = PageFiles::get(name)?;
        Some(format!("{name} {:x?}\n", file.metadata.sha256_hash()))
    });
    content_hash(files.collect::<String>().as_bytes())
}

/// What a person sees in place of a refusal that passes. The browser loads it again after a while.
const COME_BACK: &str = include_str!("come_back.html");

/// Answers a person with a page in place of a refusal in JSON, if that passes: so the browser comes
/// back by itself. What is for programs stays as it is.
pub async fn come_back<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let accept = request.headers().get(header::ACCEPT);
    let accept = accept.and_then(|accept| accept.to_str().ok());
    let is_person = accept.is_some_and(|accept| accept.contains("text/html"))
        && request.method() == Method::GET
        && !request.path().starts_with("/v1/");
    let response = next.call(request).await?;
    // Too many requests, and unavailable.
    if !is_person || ![429, 503].contains(&response.status().as_u16()) {
        return Ok(response.map_into_left_body());
    }
    Ok(response.map_body(|head, _| {
        let content_type = HeaderValue::from_static("text/html; charset=utf-8");
        head.headers_mut()
            .insert(header::CONTENT_TYPE, content_type);
        EitherBody::right(BoxBody::new(COME_BACK))
    }))
}

/// The page, with its files in the folder of this version. Paths are relative, so that it works in
/// a folder of another site.
fn with_version(page: &[u8], version: &str) -> Vec<u8> {
    let mut page = String::from_utf8_lossy(page).into_owned();
    for path in ["src/", "vendor/", "icon", "colours.css", "style.css"] {
        for attribute in ["href", "src"] {
            page = page.replace(
                &format!("{attribute}=\"{path}"),
                &format!("{attribute}=\"{FOLDER}{version}/{path}"),
            );
        }
    }
    page.into_bytes()
}

/// The media type of a file with this name.
pub fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("webp") => "image/webp",
        Some("woff2") => "font/woff2",
        Some("webmanifest") => "application/manifest+json",
        _ => "text/plain; charset=utf-8",
    }
}

/// Redirects to the same path with a slash at its end.
pub async fn add_slash(request: HttpRequest) -> Redirect {
    Redirect::to(format!("{}/", request.path())).permanent()
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
    app.files
        .send(&request, &format!("docs/{file}"), response, || {
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
/// itself, its style and its icon.
fn docs_file(app: &App, file: &str) -> Result<(String, Cow<'static, [u8]>), Problem> {
    let own = match file {
        "" | "index.html" => Some(("text/html", include_str!("docs/index.html"))),
        "favicon.svg" => Some((SVG, include_str!("docs/favicon.svg"))),
        "index.css" => Some(("text/css", include_str!("docs/index.css"))),
        "swagger-initializer.js" => Some((
            "text/javascript",
            include_str!("docs/swagger-initializer.js"),
        )),
        _ => None,
    };
    if let Some((content_type, text)) = own {
        return Ok((content_type.to_owned(), Cow::Borrowed(text.as_bytes())));
    }
    let found = utoipa_swagger_ui::serve(file, app.docs.clone()).map_err(Problem::internal)?;
    let Some(found) = found else {
        let detail = "the documentation has no such file";
        return Err(Problem::new(Code::RouteNotFound, detail));
    };
    Ok((found.content_type, found.bytes))
}
